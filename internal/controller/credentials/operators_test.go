package credentials_test

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/iampolicy"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var update = flag.Bool("update", false, "write the table of operators in docs/credentials.md anew")

// example is a folder of examples/credentials/operators.
type example struct {
	name     string
	boundary *v1alpha1.CredentialsBoundary
	request  *cloudv1.CredentialsRequest
	entries  []cloudv1.StatementEntry
}

// account is the namespace and the name of the ServiceAccount that the role is for.
func (o example) account() *cloudv1.StorageRef { return o.request.Spec.Storage.ServiceAccount }

// examples are all folders. A field that no kind has fails the test.
func examples(t *testing.T) (all []example) {
	t.Helper()
	root := filepath.Join(testkit.Root(), "examples/credentials/operators")
	for _, folder := range must.Get(filepath.Glob(filepath.Join(root, "*")))(t) {
		one := example{name: filepath.Base(folder), boundary: &v1alpha1.CredentialsBoundary{}, request: &cloudv1.CredentialsRequest{}}
		for file, into := range map[string]any{"boundary.yaml": one.boundary, "request.yaml": one.request} {
			if err := yaml.UnmarshalStrict(must.Get(os.ReadFile(filepath.Join(folder, file)))(t), into); err != nil {
				t.Fatalf("%s/%s: %v", one.name, file, err)
			}
		}
		var spec cloudv1.AWSProviderSpec
		if err := yaml.UnmarshalStrict(one.request.Spec.ProviderSpec.Raw, &spec); err != nil {
			t.Fatalf("the providerSpec of %s: %v", one.name, err)
		}
		one.entries = spec.StatementEntries
		all = append(all, one)
	}
	if len(all) != 12 {
		t.Fatalf("there are %d operators, want twelve", len(all))
	}
	return all
}

// TestOperatorsThatPeopleRunDoWhatTheyAskFor: the request of each is refused without a
// boundary and under that of another operator. Under its own it has its role, which a token
// of its ServiceAccount alone becomes, and which can do what was asked and nothing else. The
// table of docs/credentials.md has what was counted.
func TestOperatorsThatPeopleRunDoWhatTheyAskFor(t *testing.T) {
	cluster := shared(t)
	world := newOperatorWorld(newFixtureBy(t, cluster.Issuer(), cluster.Roots))
	all := examples(t)
	table := "| operator | namespace and ServiceAccount | statements | its boundary lists actions of | judged: allowed, refused | made: allowed, refused |\n| --- | --- | --- | --- | --- | --- |\n"
	for i, one := range all {
		t.Run(one.name, func(t *testing.T) {
			world := world.in(t)
			world.refuses(one, all[(i+1)%len(all)].boundary)
			role := world.gives(one)
			judged := world.judges(t, one, role, all)
			made := world.makes(t, one, role)
			world.takesAway(one, role)
			table += fmt.Sprintf("| [%s](../examples/credentials/operators/%s) | %s/%s | %d | %s | %s | %s |\n", one.name, one.name,
				one.account().Namespace, one.account().Name, len(one.entries), strings.Join(services(t, one.boundary), ", "), judged, made)
		})
	}
	if !t.Failed() {
		thePageHas(t, table)
	}
}

// services are those whose actions a boundary lists.
func services(t *testing.T, boundary *v1alpha1.CredentialsBoundary) (out []string) {
	t.Helper()
	var ceiling struct{ Statement []struct{ Action any } }
	must.Do(t, json.Unmarshal([]byte(boundary.Spec.AWS.Ceiling), &ceiling))
	for _, s := range ceiling.Statement {
		actions, many := s.Action.([]any)
		if !many {
			actions = []any{s.Action}
		}
		for _, action := range actions {
			service, _, _ := strings.Cut(action.(string), ":")
			out = append(out, service)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// thePageHas compares the table of the page with what was counted, or writes it.
func thePageHas(t *testing.T, want string) {
	t.Helper()
	const command = "go test ./internal/controller/credentials -run OperatorsThatPeopleRun -update"
	const begin, end = "<!-- operators: " + command + " -->\n", "<!-- end of operators -->\n"
	path := filepath.Join(testkit.Root(), "docs/credentials.md")
	before, rest, found := strings.Cut(string(must.Get(os.ReadFile(path))(t)), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the operators: %q and %q", path, begin, end)
	}
	if *update {
		must.Do(t, os.WriteFile(path, []byte(before+begin+want+end+after), 0o644)) //nolint:gosec // a page
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the page's table of operators is another (-counted +page); %s writes it:\n%s", command, diff)
	}
}

// refuses makes the namespace and the request, which gets nothing without a boundary, nor
// under another operator's.
func (w *operatorWorld) refuses(one example, other *v1alpha1.CredentialsBoundary) {
	w.Helper()
	if err := w.Create(w.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: one.request.Namespace}}); err != nil && !apierrors.IsAlreadyExists(err) {
		w.Fatal(err)
	}
	w.Make(one.request.DeepCopy())
	w.until(one.request, has(core.TypeReady, metav1.ConditionFalse, string(core.ReasonNoBoundary)))
	wrong := other.DeepCopy()
	wrong.Name, wrong.Spec.Namespaces = "of-another", []string{one.request.Namespace}
	w.Make(wrong)
	grant := w.until(one.request, has(core.TypeReady, metav1.ConditionFalse, string(core.ReasonBeyondCeiling)))
	if grant.Status.Role != nil {
		w.Errorf("%s has the role %+v under the boundary of %s", one.name, grant.Status.Role, other.Name)
	}
	w.Remove(wrong)
}

// gives makes the operator's own boundary, and wants the role as it was asked for.
func (w *operatorWorld) gives(one example) *v1alpha1.GrantedRole {
	w.Helper()
	w.Make(one.boundary.DeepCopy())
	granted := w.until(one.request, isReady).Status.Role
	role := w.role(granted.Name).Role
	if *role.Path != "/tabard/" || role.PermissionsBoundary == nil || *role.PermissionsBoundary.PermissionsBoundaryArn != testPolicyARN {
		w.Errorf("the role of %s has the path %s and the boundary %+v, want /tabard/ and %s", one.name, *role.Path, role.PermissionsBoundary, testPolicyARN)
	}
	trust := must.Get(url.PathUnescape(*role.AssumeRolePolicyDocument))(w)
	subject := "system:serviceaccount:" + one.account().Namespace + ":" + one.account().Name
	want := must.Get(json.Marshal(iampolicy.Document{iampolicy.WebIdentity(w.provider, "sts.amazonaws.com", subject)}))(w)
	if trust != string(want) {
		w.Errorf("the role of %s trusts %s, want %s", one.name, trust, want)
	}
	if got, want := w.document(granted), core.PermissionPolicy(one.entries); got != want {
		w.Errorf("the role of %s has the policy\n%s, want\n%s", one.name, got, want)
	}
	return granted
}

// document is the policy of a role as AWS has it.
func (w *operatorWorld) document(role *v1alpha1.GrantedRole) string {
	w.Helper()
	out := must.Get(w.iam.GetRolePolicy(w.Context(), &iam.GetRolePolicyInput{RoleName: &role.Name, PolicyName: &role.PolicyName}))(w)
	return must.Get(url.PathUnescape(aws.ToString(out.PolicyDocument)))(w)
}

// takesAway deletes the request, and wants that there is no role any more.
func (w *operatorWorld) takesAway(one example, role *v1alpha1.GrantedRole) {
	w.Helper()
	w.Remove(one.request.DeepCopy())
	w.until(one.request, isGone)
	if w.role(role.Name) != nil {
		w.Errorf("the request of %s is gone, and its role is there", one.name)
	}
	w.Remove(one.boundary.DeepCopy())
}
