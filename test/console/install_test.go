package console

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/fakeolm"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const account = "123456789012"

// world is a cluster in which a fake of OLM acts, with a local AWS.
type world struct {
	*testkit.Cluster
	olm *fakeolm.OLM
	aws *awstest.Lab
}

// begin starts a fake of OLM that installs in a namespace.
func begin(t *testing.T, namespace string) *world {
	t.Helper()
	w := &world{Cluster: shared(t)}
	awstest.Isolate(t)
	w.aws = awstest.Start(t, awslocal.Options{Accounts: []string{account}})
	key := w.aws.Administrator(account)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": w.aws.PlainURL(), "AWS_REGION": awstest.Region, "AWS_ACCESS_KEY_ID": key.AccessKeyID, "AWS_SECRET_ACCESS_KEY": key.SecretAccessKey,
	} {
		t.Setenv(name, value)
	}
	var offers []fakeolm.Package
	for _, one := range packages() {
		offers = append(offers, fakeolm.Package{Name: one.name, Channel: "stable", CSVs: []fakeolm.CSV{one.version("1.0.0"), one.version("1.1.0")}})
	}
	w.olm = fakeolm.Start(t, w.Dynamic, w.Kube, fakeolm.Script{Packages: offers, Namespaces: []string{"olm", namespace}})
	return w
}

// version is one of a package, for the fake of OLM. The first version of the object keeper asks for less.
func (p offered) version(number string) fakeolm.CSV {
	labels, annotations := map[string]string{"app": p.name}, maps.Clone(p.annotations)
	if p.name == "object-keeper" && number == "1.0.0" {
		annotations["operators.tabard.dev/credentials-requests"] = requests(p.name, "s3:GetObject")
	}
	return fakeolm.CSV{
		Name: p.name + ".v" + number, Annotations: annotations,
		Spec: map[string]any{"version": number, "installModes": p.installModes()},
		Deployments: map[string]appsv1.DeploymentSpec{p.name: {
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				ServiceAccountName: p.name, Containers: []corev1.Container{{Name: "operator", Image: "image:" + number}},
			}},
		}},
	}
}

// role makes a role in AWS for the operator of a namespace, and returns its ARN.
func (w *world) role(name, namespace, operator string, actions ...string) string {
	w.Helper()
	host := strings.TrimPrefix(issuer, "https://")
	trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::%[4]s:oidc-provider/%[1]s"},"Action":"sts:AssumeRoleWithWebIdentity",`+
		`"Condition":{"StringEquals":{"%[1]s:sub":"system:serviceaccount:%[2]s:%[3]s","%[1]s:aud":"openshift"}}}]}`, host, namespace, operator, account)
	policy := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["%s"],"Resource":"*"}]}`, strings.Join(actions, `","`))
	return w.aws.Role(account, name, trust, policy)
}

// operates is the operator: when its Deployment names its role it asks for it, and gets its Secret.
func (w *world) operates(namespace, name string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-w.Context().Done():
				return
			case <-tick.C:
			}
			deployment, err := w.Kube.AppsV1().Deployments(namespace).Get(w.Context(), name, metav1.GetOptions{})
			if err != nil {
				continue
			}
			for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
				if variable.Name == "ROLEARN" && w.asks(namespace, name, variable.Value) == nil {
					return
				}
			}
		}
	}()
	w.Cleanup(func() { <-done })
}

func (w *world) asks(namespace, name, role string) error {
	requests := w.Dynamic.Resource(schema.GroupVersionResource{Group: "cloudcredential.openshift.io", Version: "v1", Resource: "credentialsrequests"}).Namespace(namespace)
	made, err := requests.Create(w.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cloudcredential.openshift.io/v1", "kind": "CredentialsRequest", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"secretRef": map[string]any{"name": name + "-aws", "namespace": namespace}, "serviceAccountNames": []any{name},
			"providerSpec": map[string]any{"apiVersion": "cloudcredential.openshift.io/v1", "kind": "AWSProviderSpec", "stsIAMRoleARN": role, "statementEntries": []any{
				map[string]any{"effect": "Allow", "action": []any{"s3:GetObject"}, "resource": "arn:aws:s3:::objects/*"},
			}},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name + "-aws"}, StringData: map[string]string{"credentials": "[default]"}}
	if _, err := w.Kube.CoreV1().Secrets(namespace).Create(w.Context(), secret, metav1.CreateOptions{}); err != nil {
		return err
	}
	made.Object["status"] = map[string]any{"provisioned": true, "lastSyncGeneration": int64(1)}
	_, err = requests.UpdateStatus(w.Context(), made, metav1.UpdateOptions{})
	return err
}

// Scenario 30 of the specification: by keyboard alone, with a pasted ARN, through all stages.
func TestBrowserInstallsByKeyboard(t *testing.T) {
	const namespace = "object-keeper"
	w := begin(t, namespace)
	arn := w.role("keeper", namespace, "object-keeper", "s3:GetObject", "s3:PutObject", "iam:PassRole")
	w.operates(namespace, "object-keeper")
	start(t, "--kubeconfig", w.Kubeconfig(w.Config)).plays("install-by-keyboard", map[string]string{"arn": arn, "namespace": namespace})
}

// The same over the API: what a program sees of an install.
func TestAnInstallOverTheAPI(t *testing.T) {
	const namespace = "over-the-api"
	w := begin(t, namespace)
	good := w.role("good", namespace, "object-keeper", "s3:GetObject", "s3:PutObject", "iam:PassRole")
	poor := w.role("poor", namespace, "object-keeper", "s3:GetObject")
	w.operates(namespace, "object-keeper")
	c := start(t, "--kubeconfig", w.Kubeconfig(w.Config)).open()
	question := map[string]any{"operator": "CatalogSource:olm/vendor:object-keeper", "namespace": namespace, "approval": "manual", "role": map[string]any{"arn": poor}}
	type plan struct {
		Digest, Accept string
		MayPass        bool
		Judgement      struct{ Verdict string }
	}
	var bad, fine plan
	c.post("installs/plan", question, &bad)
	if bad.MayPass || bad.Judgement.Verdict != "Missing" || !strings.HasPrefix(bad.Accept, "missing=sha256:") {
		t.Errorf("a role that lacks something: %+v", bad)
	}
	question["digest"] = bad.Digest
	if p := c.refused("installs", question); p.Status != 409 || p.Code != "RoleNotEnough" {
		t.Errorf("installed with a role that is not enough: %+v", p)
	}
	question["role"] = map[string]any{"arn": good}
	if p := c.refused("installs", question); p.Code != "changed" {
		t.Errorf("another plan than was seen: %+v", p)
	}
	delete(question, "digest")
	c.post("installs/plan", question, &fine)
	if !fine.MayPass || fine.Judgement.Verdict != "Satisfied" {
		t.Fatalf("a role that is enough: %+v", fine)
	}
	question["digest"] = fine.Digest
	var written struct {
		Namespace, Name string
		Said            []string
	}
	c.post("installs", question, &written)
	if len(written.Said) != 3 || written.Name != "object-keeper" {
		t.Errorf("it says %+v", written)
	}
	w.Await(func() error {
		var seen struct {
			Installed bool
			Stages    []struct{ Name, State, Sentence string }
		}
		c.get("installs/"+namespace+"/object-keeper", &seen)
		if !seen.Installed {
			return fmt.Errorf("the stages are %+v", seen.Stages)
		}
		return nil
	})
	for _, wrong := range []map[string]any{{"arn": "arn:aws:sts::" + account + ":assumed-role/p/x"}, {"arn": good + " "}, {"arn": strings.Replace(good, "aws", "aws-cn", 1)}, {}} {
		question["role"] = wrong
		if p := c.refused("installs/plan", question); p.Status != 400 || p.Code != "role" {
			t.Errorf("the role %v: %+v", wrong, p)
		}
	}
}

// A role that cannot be one, then one that is not enough, whose risk a person takes.
func TestBrowserAsksBeforeARisk(t *testing.T) {
	const namespace = "risky"
	w := begin(t, namespace)
	arn := w.role("risky", namespace, "object-keeper", "s3:GetObject")
	w.operates(namespace, "object-keeper")
	start(t, "--kubeconfig", w.Kubeconfig(w.Config)).plays("risk", map[string]string{"arn": arn, "namespace": namespace, "reason": risky, "flag": riskyFlag})
	w.tells(namespace, "Subscription")
}

// risky is why a person takes a risk, and riskyFlag how a command says it.
const (
	risky     = `it's <b>known</b>: $(rm -rf /), CHG-1`
	riskyFlag = `--reason 'it'\''s <b>known</b>: $(rm -rf /), CHG-1'`
)

// tells fails unless an Event about an object tells of the risk that was taken, and why.
func (w *world) tells(namespace, kind string) {
	w.Helper()
	events := must.Get(w.Kube.EventsV1().Events(namespace).List(w.Context(), metav1.ListOptions{}))(w)
	if !slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool {
		return e.Reason == "PermissionsOverridden" && e.Regarding.Kind == kind && strings.HasSuffix(e.Note, ". Reason: "+risky)
	}) {
		w.Errorf("no Event of the %s tells of the risk that was taken, and why: %+v", kind, events.Items)
	}
}

// A plan whose role is not enough is approved by who takes the risk.
func TestBrowserTakesTheRiskOfAPlan(t *testing.T) {
	const namespace = "dared"
	w := begin(t, namespace)
	arn := w.role("dared", namespace, "object-keeper", "s3:ListBucket")
	w.operates(namespace, "object-keeper")
	w.subscribed(namespace, arn)
	run := start(t, "--kubeconfig", w.Kubeconfig(w.Config))
	c := run.open()
	w.Await(func() error {
		var waits struct{ Plan string }
		return c.tries("installs/"+namespace+"/object-keeper/upgrade", &waits)
	})
	run.plays("upgrade-risk", map[string]string{"namespace": namespace, "reason": risky, "flag": riskyFlag})
	w.tells(namespace, "InstallPlan")
	// The fake ends with this test, and other tests see the install as it leaves it.
	versions := w.Dynamic.Resource(schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "clusterserviceversions"}).Namespace(namespace)
	w.Await(func() error {
		version, err := versions.Get(w.Context(), "object-keeper.v1.0.0", metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("read the version: %w", err)
		}
		if phase, _, _ := unstructured.NestedString(version.Object, "status", "phase"); phase != "Succeeded" {
			return fmt.Errorf("the version is %q", phase)
		}
		return nil
	})
}

// A person installs without a role, and gives one later.
func TestBrowserGivesARoleLater(t *testing.T) {
	const namespace = "later"
	w := begin(t, namespace)
	arn := w.role("later", namespace, "object-keeper", "s3:*", "iam:PassRole")
	w.operates(namespace, "object-keeper")
	start(t, "--kubeconfig", w.Kubeconfig(w.Config)).plays("later", map[string]string{"arn": arn, "namespace": namespace})
}

// A person chooses the namespace that an operator watches.
func TestBrowserInstallsInAMode(t *testing.T) {
	const namespace, watched = "quiet", "watched"
	w := begin(t, namespace)
	w.MakeNamespaces(watched)
	start(t, "--kubeconfig", w.Kubeconfig(w.Config)).plays("modes", map[string]string{"namespace": namespace, "watched": watched})
	groups := w.Dynamic.Resource(schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1", Resource: "operatorgroups"}).Namespace(namespace)
	group := must.Get(groups.Get(t.Context(), namespace, metav1.GetOptions{}))(t)
	if targets, _, err := unstructured.NestedStringSlice(group.Object, "spec", "targetNamespaces"); err != nil || !slices.Equal(targets, []string{watched}) {
		t.Errorf("the OperatorGroup watches %q: %v", targets, err)
	}
}

// A hand-off is made, and the role that comes back is checked.
func TestBrowserHandsOff(t *testing.T) {
	const namespace = "handed"
	w := begin(t, namespace)
	arn := w.role("handed", namespace, "object-keeper", "s3:GetObject", "s3:PutObject", "iam:PassRole")
	start(t, "--kubeconfig", w.Kubeconfig(w.Config)).plays("handoff", map[string]string{"arn": arn, "namespace": namespace, "account": account})
}

// subscribed makes a Subscription of the older version of object-keeper, which gets a role.
func (w *world) subscribed(namespace, arn string) {
	w.Helper()
	w.MakeNamespaces(namespace)
	object(w.Cluster, fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1","kind":"OperatorGroup","metadata":{"name":%[1]q,"namespace":%[1]q},"spec":{"targetNamespaces":[%[1]q]}}`, namespace))
	object(w.Cluster, fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"object-keeper","namespace":%[1]q},"spec":{"name":"object-keeper","source":"vendor",
"sourceNamespace":"olm","channel":"stable","startingCSV":"object-keeper.v1.0.0","installPlanApproval":"Manual","config":{"env":[{"name":"ROLEARN","value":%[2]q}]}}}`, namespace, arn))
}

// An upgrade asks for more than the role has. It is approved when the role has it.
func TestBrowserApprovesAnUpgrade(t *testing.T) {
	const namespace = "upgraded"
	w := begin(t, namespace)
	arn := w.role("upgraded", namespace, "object-keeper", "s3:GetObject")
	w.operates(namespace, "object-keeper")
	w.subscribed(namespace, arn)
	run := start(t, "--kubeconfig", w.Kubeconfig(w.Config))
	c := run.open()
	path := "installs/" + namespace + "/object-keeper"
	type upgrade struct {
		Plan, Verdict, Digest string
		MayPass               bool
	}
	var first upgrade
	w.Await(func() error { return c.tries(path+"/upgrade", &first) })
	var written struct{ Said []string }
	c.post(path+"/approve", map[string]string{"plan": first.Plan, "verdict": first.Verdict, "digest": first.Digest}, &written)
	w.Await(func() error {
		var next upgrade
		if err := c.tries(path+"/upgrade", &next); err != nil || next.Plan == first.Plan {
			return fmt.Errorf("no upgrade waits: %+v, %w", next, err)
		}
		return nil
	})
	if p := c.refused(path+"/approve", map[string]string{"plan": first.Plan, "verdict": first.Verdict, "digest": first.Digest}); p.Code != "changed" {
		t.Errorf("the plan of before is approved once more: %+v", p)
	}
	run.plays("upgrade", map[string]string{"namespace": namespace})
	w.aws.RolePolicy(account, "upgraded", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:*","iam:PassRole"],"Resource":"*"}]}`)
	run.plays("upgrade-approved", map[string]string{"namespace": namespace})
}
