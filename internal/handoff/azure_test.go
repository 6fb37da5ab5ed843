package handoff_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/handoff"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	subscription = "11111111-2222-3333-4444-555555555555"
	tenant       = "99999999-2222-3333-4444-555555555555"
	client       = "77777777-2222-3333-4444-555555555555"
	scope        = "/subscriptions/" + subscription
	issuer       = "https://issuer.example/it's"
)

// azStub is an az that writes down how it was called, and knows what it made. A thing that is missing
// ends show with 3, as with az; making one twice is an error.
const azStub = `
named "$1-$name-$role-$scope"
case "$1 $2 $3" in
"account show "*) case $query in id) echo ` + subscription + `;; tenantId) echo ` + tenant + `;; esac;;
"identity show "*)
  test -e "$thing" || exit 3
  case $query in clientId) echo ` + client + `;; principalId) echo the-principal;; tags.*) cat "$thing.owner";; esac;;
"identity create "*) fresh "$@"; printf '%s\n' "${tags#*=}" >"$thing.owner";;
"identity federated-credential show") test -e "$STATE/c$name" || exit 3;;
"identity federated-credential create") thing=$STATE/c$name; fresh "$@";;
"identity federated-credential update") thing=$STATE/c$name; keep "$@";;
"role definition list")
  thing=$STATE/role; test -e "$thing" || exit 0
  case $query in *name) echo the-role;; *description) cat "$thing.owner";; esac;;
"role definition create") thing=$STATE/role; fresh "$@"; printf '%s\n' "$MARK" >"$thing.owner";;
"role definition update") thing=$STATE/role; keep "$@";;
"role assignment list") test "$query" = "[?principalId=='the-principal'].id" || exit 1; test ! -e "$thing" || echo there;;
"role assignment create") fresh "$@";;
*) exit 9;;
esac
`

// azure holds one text wherever one may be.
func azure(text string) handoff.AzureWork {
	return handoff.AzureWork{
		About: []string{text}, Owner: handoff.Tag{Key: "tabard.dev:operator", Value: "o" + printable(text)},
		Subscription: subscription, ResourceGroup: "my-group_(1)", Region: "westeurope", Identity: "cluster-operator",
		Credentials: []handoff.FederatedCredential{
			{Name: "one", Issuer: issuer, Subject: "system:serviceaccount:ns:one", Audience: "a" + text},
			{Name: "two", Issuer: issuer, Subject: "system:serviceaccount:ns:two", Audience: "openshift"},
		},
		Assignments: []handoff.AzureAssignment{{Role: "r" + text, Scope: scope + "/" + text}, {Role: "Reader", Scope: scope}},
		Custom:      &handoff.AzureRole{Name: "n" + text, Scope: scope, Actions: []string{"x" + text, "y/read"}, DataActions: []string{text + "z"}},
	}
}

func printable(text string) string {
	return strings.Map(func(char rune) rune {
		if unicode.IsPrint(char) {
			return char
		}
		return -1
	}, text)
}

// azureChanges are the calls that make what azure holds.
func azureChanges(w handoff.AzureWork) [][]string {
	out := [][]string{{"az", "identity", "create", "--name=" + w.Identity, "--resource-group=" + w.ResourceGroup, "--location=" + w.Region, "--tags=" + w.Owner.Key + "=" + w.Owner.Value, "--output=none"}}
	for _, c := range w.Credentials {
		out = append(out, []string{"az", "identity", "federated-credential", "create", "--name=" + c.Name, "--identity-name=" + w.Identity, "--resource-group=" + w.ResourceGroup, "--issuer=" + c.Issuer, "--subject=" + c.Subject, "--audiences=" + c.Audience, "--output=none"})
	}
	assign := func(role, scope string) {
		out = append(out, []string{"az", "role", "assignment", "create", "--assignee-object-id=the-principal", "--assignee-principal-type=ServicePrincipal", "--role=" + role, "--scope=" + scope, "--description=" + w.Owner.Key + "=" + w.Owner.Value, "--output=none"})
	}
	for _, a := range w.Assignments {
		assign(a.Role, a.Scope)
	}
	if w.Custom != nil {
		out = append(out, []string{"az", "role", "definition", "create", "--role-definition=", "--output=none"})
		assign("the-role", w.Custom.Scope)
	}
	return out
}

// definitionOf takes the custom role out of calls.
func definitionOf(t *testing.T, calls [][]string) (out map[string]any) {
	t.Helper()
	for _, call := range calls {
		for i, word := range call {
			if text, is := strings.CutPrefix(word, "--role-definition="); is {
				must.Do(t, json.Unmarshal([]byte(text), &out))
				call[i] = "--role-definition="
			}
		}
	}
	return out
}

func TestTheScriptForAzureSaysWhatWasMeantAndMayBeRunAgain(t *testing.T) {
	for _, text := range append(nasty, "-x", "@/etc/passwd", "a=@/etc/passwd") {
		t.Run(strconv.Quote(text), func(t *testing.T) {
			t.Parallel()
			w := azure(text)
			w.Tenant = tenant
			if strings.HasPrefix(text, "@") { // is the beginning of no value
				w.Custom.DataActions[0] = text
			}
			cloud := newCloud(t, "az", azStub, w.Owner)
			script := must.Get(w.Text(handoff.AzureCLI))(t)
			out, err := cloud.run(t, script)
			if err != nil {
				t.Fatalf("%q: %v: %s\n%s", text, err, out, script)
			}
			if want := fmt.Sprintf("client id: %s\ntenant id: %s\nsubscription id: %s\n", client, tenant, subscription); out != want {
				t.Errorf("%q prints %q, want %q", text, out, want)
			}
			changes := cloud.calls(t, "create", "update")
			role := definitionOf(t, changes)
			if diff := cmp.Diff(azureChanges(w), changes); diff != "" {
				t.Errorf("%q (-want +got):\n%s", text, diff)
			}
			want := map[string]any{
				"Name": w.Custom.Name, "IsCustom": true, "Description": w.Owner.Key + "=" + w.Owner.Value, "AssignableScopes": []any{scope},
				"Actions": []any{w.Custom.Actions[0], "y/read"}, "NotActions": []any{}, "DataActions": []any{w.Custom.DataActions[0]}, "NotDataActions": []any{},
			}
			if diff := cmp.Diff(want, role); diff != "" {
				t.Errorf("the role of %q (-want +got):\n%s", text, diff)
			}
			cloud.wantTheSame(t, script)
		})
	}
}

func TestTheScriptForAzureLeavesWhatIsSomebodyElses(t *testing.T) {
	w := azure("x")
	script := must.Get(w.Text(handoff.AzureCLI))(t)
	for name, test := range map[string]struct {
		spoil        func(*cloud)
		said, absent string
	}{
		"an identity":        {func(c *cloud) { c.disown(t, "identity-*") }, "the identity cluster-operator is there and is not marked tabard.dev:operator=ox", "federated-credential"},
		"a custom role":      {func(c *cloud) { c.disown(t, "role") }, "the role nx is there and is not marked tabard.dev:operator=ox", "definition update"},
		"a subscription":     {func(c *cloud) { c.replace(t, "echo "+subscription, "echo other") }, "az account set --subscription " + subscription, "identity"},
		"az that cannot say": {func(c *cloud) { c.replace(t, "test -e \"$thing\" || exit 3", "echo no network >&2; exit 1") }, "no network", "identity create"},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := newCloud(t, "az", azStub, w.Owner)
			if out, err := cloud.run(t, script); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			test.spoil(cloud)
			cloud.forget(t)
			out, err := cloud.run(t, script)
			if err == nil || !strings.Contains(out, test.said) {
				t.Errorf("it ends with %v and says %q, want %q", err, out, test.said)
			}
			if said := fmt.Sprint(cloud.calls(t)); strings.Contains(said, test.absent) {
				t.Errorf("it went on to %s: %s", test.absent, said)
			}
		})
	}
}

func TestAnotherTenantEndsTheScriptForAzure(t *testing.T) {
	w := azure("x")
	w.Tenant = client
	cloud := newCloud(t, "az", azStub, w.Owner)
	out, err := cloud.run(t, must.Get(w.Text(handoff.AzureCLI))(t))
	if err == nil || !strings.Contains(out, "the tenant "+tenant+", expected "+client) || len(cloud.calls(t, "create")) > 0 {
		t.Errorf("it ends with %v and says %q", err, out)
	}
}

func TestWhatAzureWouldNotTakeIsRefused(t *testing.T) {
	for want, change := range map[string]func(*handoff.AzureWork){
		"which Azure takes as the name of a tag":          func(w *handoff.AzureWork) { w.Owner.Key = "tabard.dev/operator" },
		"the owner's tag is":                              func(w *handoff.AzureWork) { w.Owner.Value = "a\nb" },
		"the subscription is":                             func(w *handoff.AzureWork) { w.Subscription = "mine" },
		"is all zeros":                                    func(w *handoff.AzureWork) { w.Tenant = "00000000-0000-0000-0000-000000000000" },
		"the tenant is":                                   func(w *handoff.AzureWork) { w.Tenant = "contoso" },
		"the resource group is":                           func(w *handoff.AzureWork) { w.ResourceGroup = "group." },
		"the region is":                                   func(w *handoff.AzureWork) { w.Region = "West Europe" },
		"the name of the identity is":                     func(w *handoff.AzureWork) { w.Identity = "ab" },
		"the name of a federated credential is":           func(w *handoff.AzureWork) { w.Credentials[0].Name = "a b" },
		"the issuer is":                                   func(w *handoff.AzureWork) { w.Credentials[0].Issuer = "http://issuer.example" },
		"the subject is":                                  func(w *handoff.AzureWork) { w.Credentials[0].Subject = "system:serviceaccount:$(NAMESPACE):a" },
		"the audience of":                                 func(w *handoff.AzureWork) { w.Credentials[0].Audience = "" },
		"longer than 600":                                 func(w *handoff.AzureWork) { w.Credentials[0].Audience = strings.Repeat("a", 601) },
		"is named twice":                                  func(w *handoff.AzureWork) { w.Credentials[1].Name = "ONE" },
		"for system:serviceaccount:ns:one is named twice": func(w *handoff.AzureWork) { w.Credentials[1].Subject = w.Credentials[0].Subject },
		"no ServiceAccount is named":                      func(w *handoff.AzureWork) { w.Credentials = nil },
		"allows an identity 20 federated credentials": func(w *handoff.AzureWork) {
			w.Credentials = slices.Repeat(w.Credentials[:1], handoff.MaxCredentials+1)
		},
		"a scope within /subscriptions/" + subscription: func(w *handoff.AzureWork) { w.Assignments[0].Scope = scope + "0" },
		"expected the name of a role":                   func(w *handoff.AzureWork) { w.Assignments[0].Role = "" },
		"has 513 bytes":                                 func(w *handoff.AzureWork) { w.Custom.Name = strings.Repeat("a", 513) },
		"the custom role is to be assigned at":          func(w *handoff.AzureWork) { w.Custom.Scope = scope + "/providers/x" },
		"has no permission":                             func(w *handoff.AzureWork) { w.Custom.Actions, w.Custom.DataActions = nil, nil },
		"zero byte":                                     func(w *handoff.AzureWork) { w.Custom.Actions[0] = "\xff" },
	} {
		for _, form := range []handoff.Form{handoff.AzureCLI, handoff.Terraform} {
			w := azure("x")
			change(&w)
			if got, err := w.Text(form); err == nil || !strings.Contains(err.Error(), want) || got != "" {
				t.Errorf("%s: %v, want one that says %q", form, err, want)
			}
		}
	}
	w := azure("x")
	w.Credentials[0].Audience = "@/etc/passwd"
	if _, err := w.Text(handoff.AzureCLI); err == nil || !strings.Contains(err.Error(), "az would read it from a file") {
		t.Errorf("a value that az would read from a file: %v", err)
	}
	must.Get(w.Text(handoff.Terraform))(t)
	if _, err := w.Text(handoff.AWS); err == nil || !strings.Contains(err.Error(), "azure or terraform") {
		t.Errorf("another cloud's form: %v", err)
	}
}
