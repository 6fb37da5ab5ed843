package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// shop is a workload that somebody breaks, in a lab.
type shop struct {
	*testing.T
	*Story
	// bin has kubectl and tabard.
	bin string
}

// openShop tells the story until a pod becomes its role, and starts a Deployment of the same
// ServiceAccount.
func openShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{T: t, Story: must.Get(Programs(root, t.TempDir(), t.Output()))(t), bin: t.TempDir()}
	t.Cleanup(func() {
		if err := s.Down(context.WithoutCancel(t.Context()), false); err != nil {
			t.Errorf("take the lab down: %v", err)
		}
	})
	for i, step := range Steps()[:7] {
		must.Do(t, s.take(t.Context(), i+1, step))
	}
	kubectl := fmt.Sprintf("#!/bin/sh\nexec %s kubectl \"$@\"\n", must.Get(filepath.Abs(s.Localkube))(t))
	must.Do(t, os.WriteFile(filepath.Join(s.bin, "kubectl"), []byte(kubectl), 0o755)) //nolint:gosec // it is a program
	must.Do(t, os.Symlink(must.Get(filepath.Abs(s.Tabard))(t), filepath.Join(s.bin, "tabard")))
	labels := map[string]string{"app": "shop"}
	must.Get(s.kube.AppsV1().Deployments(team).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "shop"},
		Spec: appsv1.DeploymentSpec{Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{ServiceAccountName: account, TerminationGracePeriodSeconds: new(int64), Containers: []corev1.Container{{Name: "app", Image: "example.com/keyless-pod:1"}}},
		}},
	}, metav1.CreateOptions{}))(t)
	return s
}

// sh types a command in a shell of the administrator's.
func (s *shop) sh(command string) (string, error) {
	env := []string{"PATH=" + s.bin + ":" + os.Getenv("PATH")}
	for name, value := range s.Env {
		if name != "PATH" {
			env = append(env, name+"="+value)
		}
	}
	return s.Exec(s.Context(), env, "bash", "-euo", "pipefail", "-c", command)
}

// pod is the name of the Deployment's youngest pod, of which there is one in the end.
func (s *shop) pod() (name string) {
	s.Helper()
	must.Do(s.T, onlab.Eventually(s.Context(), onlab.Patience, func(ctx context.Context) error {
		list, err := s.kube.CoreV1().Pods(team).List(ctx, metav1.ListOptions{LabelSelector: "app=shop"})
		if err != nil {
			return err
		}
		if len(list.Items) == 0 {
			return errors.New("the Deployment has no pod yet")
		}
		name = slices.MaxFunc(list.Items, func(a, b corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) }).Name
		return nil
	}))
	return name
}

// explained is what "tabard explain pod" says of the Deployment's pod.
func (s *shop) explained() (r chain.Report, code int) {
	s.Helper()
	out, err := s.sh("tabard explain pod " + s.pod() + " -n " + team + " -o json")
	if refused, is := errors.AsType[*onlab.RefusedError](err); is {
		code, err = refused.Code, nil
	}
	must.Do(s.T, err)
	if err := json.Unmarshal([]byte(out), &r); err != nil && code != 2 { // of a pod that is gone meanwhile
		s.Fatal(err)
	}
	return r, code
}

// works says whether the pod's program becomes the role.
func (s *shop) works() error {
	caller, err := s.programIn(s.Context(), team, s.pod(), "whoami")
	if err == nil && !strings.Contains(caller["arn"], ":assumed-role/"+RoleName+"/") {
		err = fmt.Errorf("the caller is %s", caller["arn"])
	}
	return err
}

// mends says that the first finding has a code, that its commands are typed as they are printed, and
// that the pod works then.
func (s *shop) mends(code chain.Code) {
	s.Helper()
	var r chain.Report
	var exit int
	must.Do(s.T, onlab.Eventually(s.Context(), onlab.Patience, func(context.Context) error {
		if r, exit = s.explained(); r.First == nil || r.First.Code != code || exit != 1 {
			return fmt.Errorf("exit code %d, the first finding is %+v, want %s", exit, r.First, code)
		}
		return nil
	}))
	if err := s.works(); err == nil {
		s.Errorf("%s: the pod becomes its role all the same", code)
	}
	for _, command := range r.First.Mend {
		command = strings.ReplaceAll(command, "=ROLE_ARN", "="+s.role) // what a person fills in
		s.Logf("$ %s", command)
		if _, err := s.sh(command); err != nil {
			s.Fatalf("%s: the command that mends it: %v", code, err)
		}
	}
	must.Do(s.T, onlab.Eventually(s.Context(), onlab.Patience, func(context.Context) error {
		if r, exit := s.explained(); exit != 0 {
			return fmt.Errorf("%s: when it is mended, the exit code is %d, and the first finding %+v", code, exit, r.First)
		}
		return s.works()
	}))
}

// trust writes the role's trust policy, with texts replaced.
func (s *shop) trust(replace ...string) {
	s.Helper()
	document := must.Get(onlab.Document(s.Trust(s.AccountID, team, account)))(s.T)
	broken := strings.NewReplacer(replace...).Replace(document)
	if len(replace) > 0 && broken == document {
		s.Fatalf("nothing of %s was replaced by %q", document, replace)
	}
	must.Get(s.sh("aws iam update-assume-role-policy --role-name " + RoleName + " --policy-document '" + broken + "'"))(s.T)
}

// TestCommandLineExplainFindsWhatIsBrokenAndMendsIt breaks a workload in the ways that people do, one
// after another. The AWS command line and kubectl type what the program prints.
func TestCommandLineExplainFindsWhatIsBrokenAndMendsIt(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if r, code := s.explained(); code != 0 || r.Role != s.role {
		t.Fatalf("before anything is broken: exit code %d, %+v", code, r.First)
	}
	must.Do(t, s.works())
	subject := "system:serviceaccount:" + team + ":" + account
	issuer := s.IssuerPath()
	for _, each := range []planted{
		{chain.CodeSubject, func() { s.trust(subject, "system:serviceaccount:"+team+":ap") }},
		{chain.CodeSubjectOperator, func() { s.trust(subject, "system:serviceaccount:"+team+":*") }},
		{chain.CodeTrustAudience, func() { s.trust(`"`+audience+`"`, `"sts.amazon.com"`) }},
		{chain.CodeKeyIssuer, func() {
			s.trust(issuer+":sub", s.ProviderARN(s.AccountID)+":sub", issuer+":aud", s.ProviderARN(s.AccountID)+":aud")
		}},
		{chain.CodeKeysSwapped, func() { s.trust(`"`+audience+`"`, `"`+subject+`"`) }},
		{chain.CodeTrustAction, func() { s.trust("sts:AssumeRoleWithWebIdentity", "sts:AssumeRole") }},
		{chain.CodeWrongProvider, func() {
			s.trust(issuer, "oidc.eks.eu-central-1.amazonaws.com/id/FORMER")
		}},
		{chain.CodeProviderAudience, func() {
			must.Get(s.sh("aws iam remove-client-id-from-open-id-connect-provider --client-id " + audience + " --open-id-connect-provider-arn " + s.ProviderARN(s.AccountID)))(t)
		}},
	} {
		each.plant()
		s.mends(each.code)
		s.trust()
	}
	for _, each := range s.inTheCluster() {
		each.plant()
		s.mends(each.code)
	}
}

// planted is a way to break the workload.
type planted struct {
	code  chain.Code
	plant func()
}

// inTheCluster are the ways that are not in the trust policy.
func (s *shop) inTheCluster() []planted {
	typed := func(command string) { must.Get(s.sh(command))(s.T) }
	annotate, restart := "kubectl -n "+team+" annotate serviceaccount "+account+" --overwrite ", "sleep 1.1 && kubectl -n "+team+" rollout restart deployment/shop && sleep 1.1" // kubectl restarts once a second at most
	return []planted{
		{chain.CodeNotInjected, func() { // the webhook is away while the pod is created
			must.Do(s.T, s.Stop(s.Context(), "tabard-webhook"))
			before := s.pod()
			typed(restart)
			must.Do(s.T, onlab.Eventually(s.Context(), onlab.Patience, func(context.Context) error {
				if s.pod() == before {
					return errors.New("there is no new pod yet")
				}
				return nil
			}))
			must.Do(s.T, s.detachWebhook(s.Context()))
			must.Get(s.injectedPod(s.Context(), team, podName, account))(s.T) // it answers
		}},
		{chain.CodeStaleRole, func() {
			typed(annotate + "eks.amazonaws.com/role-arn=" + s.role + "-of-before")
			typed(restart)
			must.Do(s.T, onlab.Eventually(s.Context(), onlab.Patience, func(context.Context) error { return s.has(s.role + "-of-before") }))
			typed(annotate + "eks.amazonaws.com/role-arn=" + s.role)
		}},
		{chain.CodeStaticKeys, func() {
			typed("kubectl -n " + team + " set env deployment/shop AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE AWS_SECRET_ACCESS_KEY=of-before")
		}},
		{chain.CodeAnnotationSlip, func() {
			typed(annotate + "eks.amazonaws.com/role-arn- eks.amazonaws.com/role_arn=" + s.role)
			typed(restart)
			must.Do(s.T, onlab.Eventually(s.Context(), onlab.Patience, func(context.Context) error { return s.has("") }))
		}},
		{chain.CodeNoRole, func() {
			typed(annotate + "eks.amazonaws.com/role-arn- eks.amazonaws.com/role_arn-")
			typed(restart)
			must.Do(s.T, onlab.Eventually(s.Context(), onlab.Patience, func(context.Context) error { return s.has("") }))
		}},
		{chain.CodeRoleARN, func() {
			typed(annotate + "eks.amazonaws.com/role-arn=" + RoleName)
			typed(restart)
			must.Do(s.T, onlab.Eventually(s.Context(), onlab.Patience, func(context.Context) error { return s.has("") }))
		}},
		{chain.CodeNoToken, func() {
			typed(annotate + "eks.amazonaws.com/role-arn-")
			typed("kubectl -n " + team + " set env deployment/shop AWS_ROLE_ARN=" + s.role)
		}},
		{chain.CodeAPIToken, func() {
			typed(annotate + "eks.amazonaws.com/role-arn-")
			typed("kubectl -n " + team + " set env deployment/shop AWS_ROLE_ARN=" + s.role + " AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/secrets/kubernetes.io/serviceaccount/token")
		}},
		{chain.CodeNoProvider, func() {
			must.Do(s.T, s.Stop(s.Context(), "tabard-issuer")) // it would register the issuer again
			typed("aws iam delete-open-id-connect-provider --open-id-connect-provider-arn " + s.ProviderARN(s.AccountID))
		}},
		{chain.CodeNoRoleInAWS, func() {
			typed("aws iam delete-role-policy --role-name " + RoleName + " --policy-name " + onlab.PolicyName)
			typed("aws iam delete-role --role-name " + RoleName)
		}},
	}
}

// has says whether the pod was created with a role.
func (s *shop) has(role string) error {
	pod, err := s.kube.CoreV1().Pods(team).Get(s.Context(), s.pod(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	got := ""
	for _, variable := range pod.Spec.Containers[0].Env {
		if variable.Name == "AWS_ROLE_ARN" {
			got = variable.Value
		}
	}
	if got != role {
		return fmt.Errorf("the pod has the role %q, want %q", got, role)
	}
	return nil
}
