package install

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/testkit/fakeolm"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// operates is the operator: when its Deployment names its role it asks for it, and gets its Secret.
func (w *world) operates(actions ...string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-w.Context().Done():
				return
			case <-tick.C:
			}
			deployment, err := w.Kube.AppsV1().Deployments(w.namespace).Get(w.Context(), "p", metav1.GetOptions{})
			if err != nil {
				continue
			}
			for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
				if variable.Name == "ROLEARN" && w.asks(variable.Value, actions) == nil {
					return
				}
			}
		}
	}()
	w.Cleanup(func() { <-done })
}

func (w *world) asks(role string, actions []string) error {
	object := &unstructured.Unstructured{Object: request(w.namespace, "p", role, actions)}
	made, err := w.of("credentialsrequests").Create(w.Context(), object, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "p-aws"}, StringData: map[string]string{"credentials": "[default]"}}
	if _, err := w.Kube.CoreV1().Secrets(w.namespace).Create(w.Context(), secret, metav1.CreateOptions{}); err != nil {
		return err
	}
	made.Object["status"] = map[string]any{"provisioned": true, "lastSyncGeneration": int64(1)}
	_, err = w.of("credentialsrequests").UpdateStatus(w.Context(), made, metav1.UpdateOptions{})
	return err
}

// nothing demands that nothing was made.
func (w *world) nothing() {
	w.Helper()
	for _, resource := range []string{"subscriptions", "operatorgroups", "installplans"} {
		if all := w.all(resource); len(all) > 0 {
			w.Errorf("there are %d %s", len(all), resource)
		}
	}
}

func TestScenario25NothingIsMadeForWhatIsNoRole(t *testing.T) {
	w := begin(t, nil)
	for role, says := range map[string]string{
		"arn:aws:sts::123456789012:assumed-role/p/session": "session of a role",
		"arn:aws-cn:iam::123456789012:role/p":              "partition",
		"arn:aws:iam::12345678901:role/p":                  "twelve digits",
		arn + " ":                                          "blank",
	} {
		got := w.tabard(append(w.install("1.0.0"), "--role-arn", role)...)
		w.wants(got, 2, says, "expected")
		w.nothing()
	}
}

func TestScenario26ARoleThatLacksPermissionsIsRefused(t *testing.T) {
	w := begin(t, nil)
	w.allow("s3:ListBucket")
	got := w.tabard(w.install("1.0.0")...)
	w.wants(got, 1, "Missing", "s3:GetObject", "nothing was written", "--accept missing=sha256:")
	w.nothing()
	for _, dry := range []string{"client", "server", "files"} {
		w.wants(w.tabard(w.install("1.0.0", "--dry-run="+dry)...), 1, "would be refused: Missing")
		w.nothing()
	}
	_, digest, _ := strings.Cut(got.err, "--accept missing=")
	digest = strings.TrimSpace(digest)
	w.wants(w.tabard(w.install("1.0.0", "--accept", "missing=sha256:"+strings.Repeat("0", 64))...), 1, "nothing was written")
	w.nothing()
	w.wants(w.tabard(w.install("1.0.0", "--accept", "missing="+digest, "--reason", "one\ntwo")...), 2, "--reason: the reason has an end of a line")
	w.nothing()
	// An Event of the API server has room for the longest reason, beside what was done.
	reason := "CHG-1: " + strings.Repeat("ä", 396)
	w.wants(w.tabard(w.install("1.0.0", "--accept", "missing="+digest, "--reason", reason)...), 0, "+ Subscription")
	events := w.all("events")
	if !slices.ContainsFunc(events, func(e unstructured.Unstructured) bool {
		kind, _, _ := unstructured.NestedString(e.Object, "regarding", "kind")
		note, _, _ := unstructured.NestedString(e.Object, "note")
		return kind == "Subscription" && e.Object["reason"] == "PermissionsOverridden" && e.Object["type"] == "Warning" && strings.HasSuffix(note, ". Reason: "+reason)
	}) {
		t.Errorf("the override is no event: %v", events)
	}
}

// TestWhatIsPrintedCanBeApplied: --dry-run=files prints what an install would make, to the byte the same
// each time, and the API server takes it.
func TestWhatIsPrintedCanBeApplied(t *testing.T) {
	w := begin(t, nil)
	printed := w.tabard(w.install("1.0.0", "--dry-run=files", "--env", "LEVEL=debug")...)
	w.wants(printed, 0, "kind: OperatorGroup", "kind: Subscription", "startingCSV: p.v1.0.0", "value: "+arn)
	if again := w.tabard(w.install("1.0.0", "--dry-run=files", "--env", "LEVEL=debug")...); again.out != printed.out {
		t.Errorf("the second run printed\n%s", again.out)
	}
	w.nothing()
	w.Shell("kubectl apply -f - <<'END'\n" + printed.out + "\nEND\n")
	w.wants(w.tabard(w.install("1.0.0", "--env", "LEVEL=debug")...), 0, "= OperatorGroup", "= Subscription")
}

func TestScenario27AnInstallIsFollowedToItsCredentials(t *testing.T) {
	w := begin(t, nil)
	w.operates("s3:GetObject")
	got := w.tabard(w.install("1.0.0", "--wait")...)
	w.wants(got, 0, "p.v1.0.0: Satisfied", "p.v1.0.0 is installed")
	at := 0
	for n := range 10 {
		line := fmt.Sprintf("%2d/10 ", n+1)
		next := strings.Index(got.err[at:], line)
		if next < 0 {
			t.Fatalf("stage %d is not told after those before:\n%s", n+1, got.err)
		}
		at += next
	}
	subscription := w.only("subscriptions", nil)
	w.only("operatorgroups", nil)
	env, _, _ := unstructured.NestedSlice(subscription.Object, "spec", "config", "env")
	if len(env) != 1 || env[0].(map[string]any)["name"] != "ROLEARN" || env[0].(map[string]any)["value"] != arn {
		t.Errorf("env is %v", env)
	}
	if approval, _, _ := unstructured.NestedString(subscription.Object, "spec", "installPlanApproval"); approval != "Manual" {
		t.Errorf("the approval is %q", approval)
	}
	plan := w.only("installplans", func(u unstructured.Unstructured) bool { return versionOf(u) == first })
	if checked, err := operator.ParseChecked(plan.GetAnnotations()[operator.CheckedAnnotation]); err != nil || checked.Verdict != operator.VerdictSatisfied {
		t.Errorf("the plan says %v: %v", checked, err)
	}
	w.Await(func() error {
		for _, plan := range w.all("installplans") {
			if phase, _, _ := unstructured.NestedString(plan.Object, "status", "phase"); versionOf(plan) == second && phase == "RequiresApproval" {
				return nil
			}
		}
		return errors.New("no InstallPlan of the next version waits")
	})
	next := w.only("installplans", func(u unstructured.Unstructured) bool { return versionOf(u) == second })
	if isApproved(next) {
		t.Error("the plan of the next version was approved")
	}

	w.wants(w.tabard(w.install("1.0.0", "--wait")...), 0, "= Subscription", "p.v1.0.0 is installed")
	if again := w.only("subscriptions", nil); again.GetGeneration() != subscription.GetGeneration() {
		t.Error("the second run changed the Subscription")
	}
	w.wants(w.tabard("status", "p", "-n", w.namespace), 0, "10/10 done", "An upgrade to p.v1.1.0 waits")
}

// only is the one object of a kind that is chosen.
func (w *world) only(resource string, choose func(unstructured.Unstructured) bool) unstructured.Unstructured {
	w.Helper()
	all := w.all(resource)
	if choose != nil {
		all = slices.DeleteFunc(all, func(u unstructured.Unstructured) bool { return !choose(u) })
	}
	if len(all) != 1 {
		w.Fatalf("there are %d %s", len(all), resource)
	}
	return all[0]
}

func versionOf(plan unstructured.Unstructured) string {
	names, _, _ := unstructured.NestedStringSlice(plan.Object, "spec", "clusterServiceVersionNames")
	return strings.Join(names, " ")
}

func isApproved(plan unstructured.Unstructured) bool {
	approved, _, _ := unstructured.NestedBool(plan.Object, "spec", "approved")
	return approved
}

func TestScenario28APlanThatUpgradesAnotherIsLeftToAPerson(t *testing.T) {
	w := begin(t, nil)
	w.object("v1", "OperatorGroup", "own", map[string]any{"targetNamespaces": []any{w.namespace}})
	w.object("v1alpha1", "Subscription", "q", map[string]any{
		"name": "q", "channel": "stable", "source": "vendor", "sourceNamespace": w.namespace, "installPlanApproval": "Manual", "startingCSV": "q.v1.0.0",
	})
	w.Await(func() error {
		if got := w.tabard("approve", "q", "-n", w.namespace, "--dry-run"); got.code != 0 {
			return errors.New(got.out + got.err)
		}
		return nil
	})
	w.wants(w.tabard("approve", "q", "-n", w.namespace, "--wait", "--timeout", "60s"), 0, "q.v1.0.0 is installed")
	got := w.tabard(w.install("1.0.0", "--wait")...)
	w.wants(got, 1, "6/10 approved", "p.v1.0.0", "q.v1.1.0", "not approved", "tabard operators approve p -n "+w.namespace)
	for _, plan := range w.all("installplans") {
		if strings.Contains(versionOf(plan), first) && isApproved(plan) {
			t.Errorf("the plan of %s was approved", versionOf(plan))
		}
	}
}

func TestScenario29AnUpgradeNeedsARoleThatIsEnough(t *testing.T) {
	w := begin(t, nil)
	w.operates("s3:GetObject")
	w.wants(w.tabard(w.install("1.0.0", "--wait")...), 0)
	w.Await(func() error {
		if got := w.tabard("status", "p", "-n", w.namespace); !strings.Contains(got.out, "An upgrade to p.v1.1.0 waits") {
			return errors.New(got.out + got.err)
		}
		return nil
	})
	approve := []string{"approve", "p", "-n", w.namespace, "--timeout", "60s"}
	w.wants(w.tabard("upgrade-diff", "p", "-n", w.namespace), 1, "p.v1.1.0: Missing", "s3:PutObject", "sqs:SendMessage")
	w.wants(w.tabard(approve...), 1, "Missing", "s3:PutObject", "sqs:SendMessage", "tabard operators handoff", "--accept missing=sha256:")
	waiting := func() *unstructured.Unstructured {
		plan := w.only("installplans", func(u unstructured.Unstructured) bool { return versionOf(u) == second })
		return &plan
	}
	if isApproved(*waiting()) {
		t.Fatal("it was approved")
	}

	// The plan, and then the Subscription's role, change while the role is looked at.
	w.allow("s3:GetObject", "s3:PutObject", "sqs:SendMessage")
	changes := 0
	w.reading = func() {
		changes++
		w.touch("installplans", waiting().GetName(), fmt.Sprintf(`{"metadata":{"labels":{"a":"%d"}}}`, changes))
	}
	w.wants(w.tabard(approve...), 1, "changed in between")
	w.reading = func() {
		w.touch("subscriptions", "p", `{"spec":{"config":{"env":[{"name":"ROLEARN","value":"arn:aws:iam::123456789012:role/other"}]}}}`)
	}
	w.wants(w.tabard(approve...), 1, "changed in between")
	w.reading = nil
	w.touch("subscriptions", "p", `{"spec":{"config":{"env":[{"name":"ROLEARN","value":"`+arn+`"}]}}}`)
	if isApproved(*waiting()) {
		t.Fatal("it was approved")
	}

	// Somebody else notes a verdict in between.
	w.reading = func() {
		w.touch("installplans", waiting().GetName(), `{"metadata":{"annotations":{"`+operator.CheckedAnnotation+`":"Unknown - 2026-01-31T12:00:00Z"}}}`)
	}
	w.wants(w.tabard(append(approve, "--wait")...), 0, "p.v1.1.0: Satisfied", "approved InstallPlan", "p.v1.1.0 is installed")
	if checked, err := operator.ParseChecked(waiting().GetAnnotations()[operator.CheckedAnnotation]); err != nil || checked.Verdict != operator.VerdictSatisfied {
		t.Errorf("the plan says %v: %v", checked, err)
	}
	w.wants(w.tabard(approve...), 1, "no InstallPlan waits")
}

func (w *world) touch(resource, name, patch string) {
	must.Get(w.of(resource).Patch(w.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}))(w)
}

// TestWhatGoesWrongIsAStage: each fault ends in a sentence and a command, and never in a hang.
func TestWhatGoesWrongIsAStage(t *testing.T) {
	for name, c := range map[string]struct {
		of    string
		fault fakeolm.Fault
		says  []string
	}{
		"never resolved":       {first, fakeolm.Fault{How: fakeolm.NeverResolves}, []string{"4/10 resolved: OLM has not chosen a version yet"}},
		"unsatisfiable":        {first, fakeolm.Fault{How: fakeolm.Unsatisfiable, Message: "no such thing"}, []string{"4/10 resolved: OLM cannot resolve", "no such thing"}},
		"unpack failed":        {first, fakeolm.Fault{How: fakeolm.UnpackFails, Message: "DeadlineExceeded"}, []string{"5/10 unpacked: the bundle could not be unpacked", "DeadlineExceeded", "delete the Job"}},
		"unpacks for ever":     {first, fakeolm.Fault{How: fakeolm.Unpacks, Message: "ErrImagePull"}, []string{"5/10 unpacked: the bundle is being unpacked", "ErrImagePull"}},
		"the plan fails":       {first, fakeolm.Fault{How: fakeolm.PlanFails, Message: "no right"}, []string{"7/10 installed: the InstallPlan failed", "no right"}},
		"the operator crashes": {first, fakeolm.Fault{How: fakeolm.CheckFails}, []string{"7/10 installed: the ClusterServiceVersion is", "get pods"}},
		"nobody can install":   {first, fakeolm.Fault{How: fakeolm.InstallFails}, []string{"7/10 installed", "InstallComponentFailedNoRetry"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, map[string]fakeolm.Fault{c.of: c.fault})
			w.wants(w.tabard(append(w.install("1.0.0", "--wait"), "--timeout", "30s")...), 1, c.says...)
		})
	}
	t.Run("the catalogue dies", func(t *testing.T) {
		t.Parallel()
		w := begin(t, nil)
		w.olm.Fail(w.namespace+"/vendor", fakeolm.Fault{How: fakeolm.CatalogueStops})
		w.wants(w.tabard(append(w.install("1.0.0", "--wait"), "--timeout", "20s")...), 1, "1/10 catalogue", "TRANSIENT_FAILURE", "get pods")
	})
	t.Run("the cluster falls silent", func(t *testing.T) { // what was seen before counts
		t.Parallel()
		w := begin(t, map[string]fakeolm.Fault{first: {How: fakeolm.CheckFails}})
		w.person = rest.CopyConfig(w.Config)
		w.person.Wrap(func(next http.RoundTripper) http.RoundTripper { return &silent{next: next} })
		w.wants(w.tabard(append(w.install("1.0.0", "--wait"), "--timeout", "30s")...), 1, "not done after 30s: the ClusterServiceVersion is", "get pods")
	})
	t.Run("the operator asks for nothing", func(t *testing.T) {
		t.Parallel()
		w := begin(t, nil)
		w.wants(w.tabard(append(w.install("1.0.0", "--wait"), "--timeout", "30s")...), 1, "9/10 request: the operator has not made a CredentialsRequest")
	})
	t.Run("the operator ignores the value", func(t *testing.T) {
		t.Parallel()
		w := begin(t, nil)
		must.Do(t, w.asks("arn:aws:iam::123456789012:role/own", []string{"s3:GetObject"}))
		w.wants(w.tabard(append(w.install("1.0.0", "--wait"), "--timeout", "30s")...), 1, "9/10 request", "role/own", "not the role that was given")
	})
	t.Run("the operator asks for more", func(t *testing.T) {
		t.Parallel()
		w := begin(t, nil)
		w.operates("s3:GetObject", "iam:CreateUser")
		w.wants(w.tabard(w.install("1.0.0", "--wait")...), 0, "9/10 request", "more than its version declares", "iam:CreateUser")
	})
}

// silent answers the first two reads of a Deployment, and no other one.
type silent struct {
	next http.RoundTripper
	read atomic.Int32
}

// RoundTrip implements http.RoundTripper.
func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, "/deployments/") && s.read.Add(1) > 2 {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return s.next.RoundTrip(r)
}

func TestAnotherRoleIsSet(t *testing.T) {
	w := begin(t, nil)
	w.operates("s3:GetObject")
	w.wants(w.tabard(w.install("1.0.0", "--wait", "--env", "LEVEL=debug")...), 0)
	const other = "arn:aws:iam::123456789012:role/other"
	w.wants(w.tabard("set-role", "p", "-n", w.namespace, "--role-arn", other, "--dry-run"), 0, "ROLEARN becomes "+other, "nothing was written")
	w.wants(w.tabard("set-role", "p", "-n", w.namespace, "--role-arn", other), 0, "has the role "+other)
	subscription := w.only("subscriptions", nil)
	env, _, _ := unstructured.NestedSlice(subscription.Object, "spec", "config", "env")
	if fmt.Sprint(env) != "[map[name:LEVEL value:debug] map[name:ROLEARN value:"+other+"]]" {
		t.Errorf("env is %v", env)
	}
	w.wants(w.tabard("set-role", "p", "-n", w.namespace, "--role-arn", other), 0, "has this role already")
	// REGION is the person's own, and stays.
	beside := fmt.Appendf(nil, `{"spec":{"config":{"env":[{"name":"ROLEARN","value":%q},{"name":"REGION","value":"eu-central-1"}]}}}`, other)
	must.Do(t, w.Patch(t.Context(), &subscription, client.RawPatch(types.MergePatchType, beside)))
	w.wants(w.tabard("set-role", "p", "-n", w.namespace, "--role-arn", other), 0, "has this role already")
	w.wants(w.tabard("set-role", "p", "-n", w.namespace, "--role-arn", strings.Replace(other, "aws", "aws-cn", 1)), 2, "of the partition aws-cn, expected the partition aws")
	w.wants(w.tabard("set-role", "p", "-n", w.namespace, "--role-arn", other, "--timeout", "0s"), 2, "--timeout is 0s, expected more than 0")
	w.wants(w.tabard("set-role", "p", "-n", w.namespace, "--role-arn", arn, "--issuer", "https://other.example.com"), 1, "oidc-provider/other.example.com")
	w.allow("s3:ListBucket")
	w.wants(w.tabard("set-role", "p", "-n", w.namespace, "--role-arn", arn), 1, "the role is not enough for p.v1.0.0")
}

// TestWithoutTheRightNothingIsWritten: a person who may read everything, and make Subscriptions alone, is
// told what is missing before anything is made.
func TestWithoutTheRightNothingIsWritten(t *testing.T) {
	w := begin(t, nil)
	w.person = w.As("reader")
	w.Grant("reader", &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"operators.coreos.com"}, Resources: []string{"subscriptions"}, Verbs: []string{"create"}},
	}})
	w.wants(w.tabard(w.install("1.0.0", "--wait")...), 1, "nothing was written", "create operatorgroups.operators.coreos.com in the namespace "+w.namespace,
		"patch installplans.operators.coreos.com", "kubectl create role tabard-operators-create-operatorgroups -n "+w.namespace)
	w.nothing()
}

// TestWhatMayNotBeReadIsUnknown: nothing is said to be missing that a person may not see.
func TestWhatMayNotBeReadIsUnknown(t *testing.T) {
	w := begin(t, nil)
	w.operates("s3:GetObject")
	w.wants(w.tabard(w.install("1.0.0", "--wait")...), 0)
	w.person = w.As("half")
	w.GrantIn(w.namespace, "half", rbacv1.PolicyRule{APIGroups: []string{"operators.coreos.com"}, Resources: []string{"*"}, Verbs: []string{"get", "list"}})
	w.wants(w.tabard("status", "p", "-n", w.namespace), 1, "unknown", "the Namespace could not be read")
	w.person = w.As("nobody")
	w.wants(w.tabard("status", "p", "-n", w.namespace), 1, "list the Subscriptions", "forbidden")
}
