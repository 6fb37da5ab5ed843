package authors

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const someRole = "arn:aws:iam::" + account + ":role/operators/some"

func TestTheOperatorBecomesItsRole(t *testing.T) {
	w := newWorld(t)
	w.apply("")
	w.serveCluster()
	w.serveRequests()
	w.describe("AWS", "Manual")
	w.register()
	first, second := w.role("first", audience), w.role("second", "sts.amazonaws.com")

	p := w.start(first)
	w.awaitCondition("WaitingForSecret", "the Secret token-operator/token-operator-aws does not exist")
	w.awaitEvent("Normal", "WaitingForSecret", "CredentialsRequest token-operator")
	request := w.object(requests)
	if diff := cmp.Diff(w.wantSpec(first), request.Object["spec"]); diff != "" {
		t.Errorf("spec of the CredentialsRequest (-want +got):\n%s", diff)
	}
	if !metav1.IsControlledBy(request, w.object(whoamis)) {
		t.Errorf("the CredentialsRequest's owners are %v", request.GetOwnerReferences())
	}

	// No CredentialsBoundary is for the namespace: the controller's reason is the operator's.
	w.install()
	controller := w.fulfil()
	w.awaitCondition("SecretMissing", "failed to grant creds: Accepted: no CredentialsBoundary is for the namespace")
	w.awaitEvent("Warning", "SecretMissing", "failed to grant creds: Accepted: no CredentialsBoundary is for the namespace")
	w.aws.Admin().ClearJournal()
	w.allow(first)
	w.awaitCondition("SecretMissing", "create rolebinding tabard-credentials-secrets")
	w.bindSecrets()
	w.awaitCondition("Assumed", "this operator is "+session("first"))
	if got, want := w.secret(), content(first, w.dir+"/token"); got != want {
		t.Errorf("the Secret has %q, want %q", got, want)
	}
	w.awaitEvent("Normal", "Assumed", session("first"))
	if calls := w.calls(); !strings.Contains(calls, "AssumeRoleWithWebIdentity by anonymous \n") ||
		!strings.Contains(calls, "GetCallerIdentity by "+session("first")+" \n") {
		t.Errorf("AWS's journal does not say that the operator became the role:\n%s", calls)
	}
	p.End()

	// The administrator changes the environment: the pod starts anew.
	p = w.start(second)
	w.awaitCondition("SecretOutdated", "does not name "+second+" yet: failed to grant creds: Accepted: the role "+second+" is none of those")
	if got := w.roleOf(); got != second {
		t.Errorf("the CredentialsRequest asks for %s, want %s", got, second)
	}
	w.allow(pagesPattern)
	w.awaitCondition("Refused", "check its Federated principal and its sub and aud conditions")
	w.awaitEvent("Warning", "Refused", "STS AssumeRoleWithWebIdentity")
	must.Get(w.administrator().UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{
		RoleName: aws.String("second"), PolicyDocument: w.trust(audience),
	}))(t)
	w.awaitCondition("Assumed", "this operator is "+session("second"))
	p.End()

	// Without patience a Secret that is gone is a warning at once; that it is gone, and
	// that it is back, the operator can only know from its watch.
	w.aws.Admin().ClearJournal()
	p = w.start(second, "-patience", "0s", "-every", "24h")
	w.await("the operator to be its role again", func() (string, bool) {
		return w.calls(), strings.Contains(w.calls(), "GetCallerIdentity by "+session("second")+" \n")
	})
	controller.End()
	must.Do(t, w.Kube.CoreV1().Secrets(name).Delete(t.Context(), name+"-aws", metav1.DeleteOptions{}))
	w.awaitCondition("SecretMissing", "nothing; is one of them running?")
	w.awaitEvent("Warning", "SecretMissing", "nothing; is one of them running?")
	controller = w.fulfil()
	w.awaitCondition("Assumed", "this operator is "+session("second"))
	p.End()

	must.Do(t, w.Dynamic.Resource(requests).Namespace(name).Delete(t.Context(), name, metav1.DeleteOptions{}))
	w.await("the Secret to go with the request", func() (string, bool) {
		return w.secret(), w.secret() == "" && w.object(requests) == nil
	})
	controller.End()
}

// TestTheOperatorBecomesItsRoleOnAnyKubernetes that has Tabard and is not OpenShift.
func TestTheOperatorBecomesItsRoleOnAnyKubernetes(t *testing.T) {
	w := newWorld(t)
	w.apply("")
	w.serveRequests()
	w.register()
	w.install("--infrastructure-name=prod")
	w.allow(pagesPattern)
	w.bindSecrets()
	controller := w.fulfil()
	w.environment = append(w.inAWS(), "AWS_REGION="+region)
	p := w.start(w.role("first", audience))
	w.awaitCondition("Assumed", "this operator is "+session("first"))
	p.End()
	controller.End()
}

// wantSpec is that of the CredentialsRequest for a role.
func (w *world) wantSpec(role string) map[string]any {
	return map[string]any{
		"secretRef":           map[string]any{"namespace": name, "name": name + "-aws"},
		"serviceAccountNames": []any{name},
		"cloudTokenPath":      w.dir + "/token",
		"providerSpec": map[string]any{
			"apiVersion": "cloudcredential.openshift.io/v1", "kind": "AWSProviderSpec", "stsIAMRoleARN": role,
			"statementEntries": []any{map[string]any{"effect": "Allow", "action": []any{"sts:GetCallerIdentity"}, "resource": "*"}},
		},
	}
}

func TestTheOperatorAsksForNothingThatItMayNot(t *testing.T) {
	w := newWorld(t)
	w.apply("")
	w.serveCluster()
	w.serveRequests()
	cases := []struct{ platform, mode, role, reason, message string }{
		{"AWS", "Mint", someRole, "NotTokenMode", "the credentials mode is Mint, not Manual"},
		{"None", "Manual", someRole, "NotTokenMode", "the platform is None"},
		{"Azure", "Manual", someRole, "NotTokenMode", "not with Azure"},
		{"AWS", "Manual", "", "RoleMissing", `ROLEARN is ""`},
		{"AWS", "Manual", "whatever", "RoleMissing", `ROLEARN is "whatever"`},
	}
	for _, c := range cases {
		w.describe(c.platform, c.mode)
		p := w.start(c.role)
		w.awaitCondition(c.reason, c.message)
		p.End()
		if got := w.object(requests); got != nil {
			t.Fatalf("on %s in mode %s with the role %q there is a CredentialsRequest: %v", c.platform, c.mode, c.role, got.Object["spec"])
		}
	}

	// Somebody else's CredentialsRequest has the operator's name.
	foreign := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cloudcredential.openshift.io/v1", "kind": "CredentialsRequest", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"secretRef": map[string]any{"namespace": name, "name": "else"}, "providerSpec": map[string]any{"kind": "AWSProviderSpec"}},
	}}
	before := must.Get(w.Dynamic.Resource(requests).Namespace(name).Create(t.Context(), foreign, metav1.CreateOptions{}))(t)
	p := w.start(someRole)
	w.awaitCondition("RequestFailed", "this operator did not make; it is left alone")
	w.awaitEvent("Warning", "RequestFailed", "it is left alone")
	p.End()
	if diff := cmp.Diff(before.Object, w.object(requests).Object); diff != "" {
		t.Errorf("somebody else's CredentialsRequest was touched (-before +after):\n%s", diff)
	}
	if calls := w.calls(); calls != "" {
		t.Errorf("AWS was called:\n%s", calls)
	}
}

func TestTheOperatorWaitsForWhatIsLate(t *testing.T) {
	w := newWorld(t)
	w.apply("00-namespace.yaml", "rbac.yaml")
	p := w.start("")
	w.await("a log that tells of the status", func() (string, bool) {
		return p.Log(), strings.Contains(p.Log(), "the status cannot be written")
	})
	w.apply("crd.yaml")
	w.awaitCondition("NotTokenMode", `no Infrastructure "cluster" names a platform`)
	p.End()
	p = w.start(someRole)
	w.awaitCondition("RequestFailed", "the cluster serves no CredentialsRequests")
	w.serveCluster()
	w.describe("AWS", "Mint")
	w.awaitCondition("NotTokenMode", "the credentials mode is Mint")
	w.describe("AWS", "Manual")
	w.awaitCondition("RequestFailed", "the cluster serves no CredentialsRequests")
	w.awaitEvent("Warning", "RequestFailed", "is the Cloud Credential Operator or Tabard installed?")
	must.Do(t, w.Dynamic.Resource(authentications).Delete(t.Context(), "cluster", metav1.DeleteOptions{}))
	w.awaitCondition("ClusterUnreadable", `the Authentication "cluster" does not exist`)
	w.serveRequests()
	w.describe("AWS", "Manual")
	w.awaitCondition("WaitingForSecret", "does not exist")
	if got := w.roleOf(); got != someRole {
		t.Errorf("the CredentialsRequest asks for %q, want %s", got, someRole)
	}
	p.End()
}
