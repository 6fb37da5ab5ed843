package authors

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// start runs the operator as its Deployment does: with its ServiceAccount's
// rights and tokens, and an environment that holds nothing else.
func (w *world) start(role string, flags ...string) *testkit.Process {
	w.Helper()
	kubeconfig := w.Kubeconfig(w.Account(name, name))
	tokenFile := w.write("token", []byte(w.Token(name, name, 0, audience)))
	command := exec.CommandContext(context.WithoutCancel(w.Context()), program, append([]string{"-token-file", tokenFile, "-every", "200ms"}, flags...)...)
	command.Env = append([]string{
		"KUBECONFIG=" + kubeconfig, "POD_NAMESPACE=" + name, "ROLEARN=" + role,
		"AWS_CA_BUNDLE=" + w.dir + "/ca.pem", "AWS_ROLE_SESSION_NAME=pod",
	}, w.environment...)
	return testkit.StartProcess(w, command)
}

// await waits until something is as it should be; is says how it is.
func (w *world) await(what string, is func() (string, bool)) {
	w.Helper()
	w.Await(func() error {
		if seen, ok := is(); !ok {
			return fmt.Errorf("want %s, got %s", what, seen)
		}
		return nil
	})
}

// condition is the operator's: STATUS REASON: MESSAGE, and its ARN.
func (w *world) condition() (text, arn string) {
	w.Helper()
	found := w.object(whoamis)
	if found == nil {
		return "", ""
	}
	arn, _, _ = unstructured.NestedString(found.Object, "status", "arn")
	conditions, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
	for _, each := range conditions {
		c := each.(map[string]any)
		text += fmt.Sprintf("%s=%s %s: %s", c["type"], c["status"], c["reason"], c["message"])
	}
	return text, arn
}

// awaitCondition waits for a reason and a part of its message.
func (w *world) awaitCondition(reason, message string) {
	w.Helper()
	status := "False"
	if reason == "Assumed" {
		status = "True"
	}
	want := fmt.Sprintf("Ready=%s %s: ", status, reason)
	w.await(want+"…"+message, func() (string, bool) {
		text, arn := w.condition()
		return text + " " + arn, strings.HasPrefix(text, want) && strings.Contains(text, message) && (arn != "") == (status == "True")
	})
}

// awaitEvent waits for an event about the operator's status object.
func (w *world) awaitEvent(kind, reason, message string) {
	w.Helper()
	w.await("the event "+kind+" "+reason+": …"+message, func() (string, bool) {
		list := must.Get(w.Kube.EventsV1().Events(name).List(w.Context(), metav1.ListOptions{}))(w)
		var seen []string
		for _, e := range list.Items {
			if e.Regarding.Kind == "Whoami" && e.Regarding.Name == name && e.Type == kind && e.Reason == reason && strings.Contains(e.Note, message) {
				return "", true
			}
			seen = append(seen, e.Type+" "+e.Reason+": "+e.Note)
		}
		return strings.Join(seen, "\n"), false
	})
}

// field is a text in an object, by its path.
func (w *world) field(object *unstructured.Unstructured, path ...string) string {
	w.Helper()
	found, _, err := unstructured.NestedString(object.Object, path...)
	if err != nil {
		w.Fatal(err)
	}
	return found
}

// roleOf is the role that the CredentialsRequest asks for, empty if there is
// none.
func (w *world) roleOf() string {
	w.Helper()
	if found := w.object(requests); found != nil {
		return w.field(found, "spec", "providerSpec", "stsIAMRoleARN")
	}
	return ""
}

// secret is the content of the operator's Secret, empty if there is none.
func (w *world) secret() string {
	w.Helper()
	found, err := w.Kube.CoreV1().Secrets(name).Get(w.Context(), name+"-aws", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return ""
	}
	must.Do(w, err)
	return string(found.Data["credentials"])
}

// content is what stands in a Secret for a role.
func content(role, tokenFile string) string {
	return "[default]\nsts_regional_endpoints = regional\nrole_arn = " + role + "\nweb_identity_token_file = " + tokenFile
}

func (w *world) administrator() *iam.Client { return w.aws.IAM(account) }

// register makes the issuer's provider known to AWS.
func (w *world) register() {
	w.Helper()
	w.aws.Provider(account, w.Issuer(), "openshift", "sts.amazonaws.com")
}

// trust is a trust policy for tokens of the operator with an audience.
func (w *world) trust(audience string) *string {
	provider := "arn:aws:iam::" + account + ":oidc-provider/" + strings.TrimPrefix(w.Issuer(), "https://")
	return aws.String(awstest.Trust(provider, "system:serviceaccount:"+name+":"+name, audience))
}

// role makes a role that trusts the operator's tokens of an audience.
func (w *world) role(name, audience string) (arn string) {
	w.Helper()
	made := must.Get(w.administrator().CreateRole(w.Context(), &iam.CreateRoleInput{
		RoleName: &name, Path: aws.String("/operators/"), AssumeRolePolicyDocument: w.trust(audience),
	}))(w)
	return *made.Role.Arn
}

// session is the ARN by which STS knows the operator in a role.
func session(role string) string {
	return "arn:aws:sts::" + account + ":assumed-role/" + role + "/pod"
}

// calls are the journal's, as OPERATION by CALLER ERROR.
func (w *world) calls() string {
	text := ""
	for _, e := range w.aws.Admin().Journal() {
		text += fmt.Sprintf("%s by %s %s\n", e.Operation, e.Caller, e.Error)
	}
	return text
}
