// Package payload tests that Tabard fulfils OpenShift's own requests as docs/credentials.md
// says, with the rights of the manifests and at the local AWS. The cluster says that it is
// OpenShift, and has no Cloud Credential Operator.
package payload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// ingress is the Secret of the page's request, in which ccoctl has put a role of its own.
func ingress() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-ingress-operator", Name: "cloud-credentials"},
		Data:       map[string][]byte{"credentials": []byte(content(ccoctls))},
	}
}

const ccoctls = "arn:aws:iam::" + account + ":role/prod-openshift-ingress-operator-cloud-credentials"

// content is what stands in a Secret for a role.
func content(role string) string {
	return "[default]\nsts_regional_endpoints = regional\nrole_arn = " + role + "\nweb_identity_token_file = /var/run/secrets/openshift/serviceaccount/token"
}

// TestThePagesCommands types the part on ccoctl of docs/credentials.md, and again, on a
// cluster that ccoctl has prepared. Then the ingress operator can become the role in its
// Secret, and a deleted request leaves an empty Secret of ccoctl's.
func TestThePagesCommands(t *testing.T) {
	w := newWorld(t)
	w.Make(ingress())
	for _, name := range []string{"ingress-operator", "default"} {
		w.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ingress().Namespace, Name: name}})
	}
	w.install()
	w.start()
	page := w.section()
	if said := w.Shell(page + page); !strings.HasSuffix(said, "/token") || strings.Contains(said, ccoctls) {
		t.Errorf("the last command prints no Secret of Tabard's:\n%s", said)
	}
	role := w.roleInSecret()
	if err := w.become("ingress-operator", role); err != nil {
		t.Errorf("the ingress operator does not become %s: %v", role, err)
	}
	if err := w.become("default", role); err == nil {
		t.Errorf("every ServiceAccount of the namespace becomes %s", role)
	}
	w.reachesNoOthers()

	w.Shell("kubectl -n openshift-cloud-credential-operator delete credentialsrequest openshift-ingress")
	name := role[strings.LastIndex(role, "/")+1:]
	if _, err := w.aws.IAM(account).GetRole(t.Context(), &iam.GetRoleInput{RoleName: &name}); err == nil {
		t.Errorf("the request is gone, and its role %s is there", name)
	}
	left := ingress()
	must.Do(t, w.Get(t.Context(), client.ObjectKeyFromObject(left), left))
	if len(left.Data)+len(left.Annotations)+len(left.Labels) > 0 {
		t.Errorf("the request is gone, and the Secret, which ccoctl had made, is %+v, want that it is empty", left)
	}
}

// section are the commands of the part on ccoctl, with the tested program.
func (w *world) section() string {
	w.Helper()
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "credentials.md")))(w))
	_, part, found := strings.Cut(page, "\n## Coming from ccoctl\n")
	part, _, ended := strings.Cut(part, "\n## ")
	blocks := testkit.Blocks(part, "sh")
	if !found || !ended || len(blocks) != 3 {
		w.Fatalf("docs/credentials.md has %d commands on ccoctl, the test knows 3", len(blocks))
	}
	return strings.ReplaceAll(strings.Join(blocks, "\n"), "bin/tabard ", testkit.Tabard(w)+" ") + "\n"
}

// roleInSecret is the role in the Secret of the ingress operator, which holds nothing else.
func (w *world) roleInSecret() string {
	w.Helper()
	secret := ingress()
	must.Do(w, w.Get(w.Context(), client.ObjectKeyFromObject(secret), secret))
	text := string(secret.Data["credentials"])
	_, after, _ := strings.Cut(text, "role_arn = ")
	role, _, _ := strings.Cut(after, "\n")
	if want := "arn:aws:iam::" + account + ":role/tabard/" + infra + "-openshift-ingress-"; !strings.HasPrefix(role, want) || text != content(role) || len(secret.Data) != 1 {
		w.Fatalf("the Secret holds %d keys and %q, want a role %s... alone", len(secret.Data), text, want)
	}
	return role
}

// become has a ServiceAccount beside the Secret become a role, by a token of the audience
// that OpenShift's operators ask for.
func (w *world) become(name, role string) error {
	w.Helper()
	client := sts.New(sts.Options{Region: region, BaseEndpoint: aws.String(w.aws.URL()), HTTPClient: w.aws.Client()})
	_, err := client.AssumeRoleWithWebIdentity(w.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &role, RoleSessionName: aws.String("test"), WebIdentityToken: aws.String(w.Token(ingress().Namespace, name, 0, "openshift")),
	})
	return err
}

// reachesNoOthers: beside the request's Secret the controller's account reads and changes
// none of the operator's namespace.
func (w *world) reachesNoOthers() {
	w.Helper()
	other := ingress()
	other.Name = "router-certs"
	w.Make(other)
	as := w.ClientFor(w.Account(system, controller))
	must.Do(w, as.Get(w.Context(), client.ObjectKeyFromObject(ingress()), &corev1.Secret{}))
	for what, err := range map[string]error{
		"read another Secret":  as.Get(w.Context(), client.ObjectKeyFromObject(other), &corev1.Secret{}),
		"list Secrets":         as.List(w.Context(), &corev1.SecretList{}, client.InNamespace(other.Namespace)),
		"change another":       as.Patch(w.Context(), other, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))),
		"delete another":       as.Delete(w.Context(), other),
		"make one without tag": as.Create(w.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: other.Namespace, Name: "new"}}),
	} {
		if !apierrors.IsForbidden(err) {
			w.Errorf("the controller's account tries to %s: %v, want that it is forbidden", what, err)
		}
	}
}
