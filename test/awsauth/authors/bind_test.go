package authors

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestAnAdministratorBindsARole that was made by hand to a request that names none.
func TestAnAdministratorBindsARole(t *testing.T) {
	w := newWorld(t)
	w.apply("")
	w.serveRequests()
	w.register()
	w.install("--infrastructure-name=prod")
	w.allow("arn:aws:iam::" + account + ":role/another/*")
	w.bindSecrets()
	controller := w.fulfil()
	spec := w.wantSpec("")
	delete(spec["providerSpec"].(map[string]any), "stsIAMRoleARN")
	must.Get(w.Dynamic.Resource(requests).Namespace(name).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": requests.GroupVersion().String(), "kind": "CredentialsRequest", "metadata": map[string]any{"name": name}, "spec": spec,
	}}, metav1.CreateOptions{}))(t)
	role := w.role("by-hand", "sts.amazonaws.com")

	bind := []string{"bind", name, "-n", name, "--role-arn", role}
	if said, err := w.credentials(bind...); err == nil || !strings.Contains(said, "do not allow statementEntries[0]") {
		t.Fatalf("a role that allows nothing: %v, %s", err, said)
	}
	must.Get(w.administrator().PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName: aws.String("by-hand"), PolicyName: aws.String("whoami"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:GetCallerIdentity","Resource":"*"}]}`),
	}))(t)
	if said, err := w.credentials(bind...); err != nil || !strings.Contains(said, "checked: the role "+role+" allows what the request asks for") {
		t.Fatalf("a role that fits: %v, %s", err, said)
	}
	want := content(role, w.dir+"/token")
	w.await("the Secret to name the role", func() (string, bool) { return w.secret(), w.secret() == want })

	if said, err := w.credentials("unbind", name, "-n", name); err != nil || !strings.Contains(said, "no longer bound to "+role) {
		t.Fatalf("unbind: %v, %s", err, said)
	}
	w.await("the request to wait again", func() (string, bool) {
		said, err := w.credentials("describe", name, "-n", name)
		return said, err != nil && strings.Contains(said, "what was made before stays until the request is deleted")
	})
	must.Do(t, w.Dynamic.Resource(requests).Namespace(name).Delete(t.Context(), name, metav1.DeleteOptions{}))
	w.await("the Secret to go with the request", func() (string, bool) { return w.secret(), w.secret() == "" })
	must.Get(w.administrator().GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("by-hand")}))(t)
	controller.End()
}
