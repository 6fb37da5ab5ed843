package handoff_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/handoff"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// gcloudStub is a gcloud that writes down how it was called, and knows what it made. Making a thing
// twice is an error, and binding twice is none, as with gcloud.
const gcloudStub = `
case "$1 $2 $3" in
"projects describe "*) echo 123456789;;
"iam workload-identity-pools providers") test "$4 $format" = "describe value(oidc.issuerUri)" || exit 1; echo "` + issuer + `";;
"iam service-accounts describe") cat "$STATE/account.owner" || exit 1;;
"iam service-accounts create") thing=$STATE/account; fresh "$@"; printf '%s\n' "$MARK" >"$thing.owner";;
"iam roles describe") cat "$STATE/role.owner" || exit 1;;
"iam roles create") thing=$STATE/role; fresh "$@"; printf '%s\n' "$MARK" >"$thing.owner";;
"iam roles update") thing=$STATE/role; test -e "$thing" || exit 1; keep "$@";;
*add-iam-policy-binding*) named "$1-$member-$role"; keep "$@";;
*) exit 9;;
esac
`

// google holds one text wherever one may be.
func google(text string) handoff.GoogleWork {
	return handoff.GoogleWork{
		About: []string{text}, Owner: handoff.Tag{Key: "tabard.dev/operator", Value: "o" + printable(text)},
		Project: "my-project", Number: "123456789", Pool: "my-pool", Provider: "my-provider", Issuer: issuer,
		Account: "cluster-operator", DisplayName: text,
		Subjects: []string{"system:serviceaccount:ns:one", "system:serviceaccount:ns:two.b"},
		Roles:    []string{"roles/storage.objectViewer", "roles/viewer"},
		Custom:   &handoff.GoogleRole{ID: "cluster_operator", Title: "t" + text, Permissions: []string{"storage.objects.get", "storage.objects.list"}},
	}
}

const (
	poolMember = "principal://iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/my-pool/subject/"
	email      = "cluster-operator@my-project.iam.gserviceaccount.com"
)

// googleChanges are the calls that make what google holds.
func googleChanges(w handoff.GoogleWork) [][]string {
	mark := "--description=" + w.Owner.Key + "=" + w.Owner.Value
	out := [][]string{
		{"gcloud", "iam", "service-accounts", "create", w.Account, "--project=my-project", "--display-name=" + w.DisplayName, mark, "--quiet"},
		{"gcloud", "iam", "roles", "create", w.Custom.ID, "--project=my-project", "--title=" + w.Custom.Title, mark, "--permissions=storage.objects.get,storage.objects.list", "--quiet"},
	}
	for _, subject := range w.Subjects {
		out = append(out, []string{"gcloud", "iam", "service-accounts", "add-iam-policy-binding", email, "--member=" + poolMember + subject, "--role=roles/iam.workloadIdentityUser", "--condition=None", "--project=my-project", "--quiet"})
	}
	for _, role := range append(w.Roles, "projects/my-project/roles/cluster_operator") {
		out = append(out, []string{"gcloud", "projects", "add-iam-policy-binding", "my-project", "--member=serviceAccount:" + email, "--role=" + role, "--condition=None", "--quiet"})
	}
	return out
}

func TestTheScriptForGoogleSaysWhatWasMeantAndMayBeRunAgain(t *testing.T) {
	for _, text := range append(nasty, "-x", "^,^a,b", "@/etc/passwd") {
		t.Run(strconv.Quote(text), func(t *testing.T) {
			t.Parallel()
			w := google(text)
			cloud := newCloud(t, "gcloud", gcloudStub, w.Owner)
			script := must.Get(w.Text(handoff.GoogleCLI))(t)
			out, err := cloud.run(t, script)
			if err != nil {
				t.Fatalf("%q: %v: %s\n%s", text, err, out, script)
			}
			want := "service account: " + email + "\nproject number: 123456789\npool: my-pool\nprovider: my-provider\n" +
				"audience: //iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/my-pool/providers/my-provider\n"
			if out != want {
				t.Errorf("%q prints %q, want %q", text, out, want)
			}
			if diff := cmp.Diff(googleChanges(w), cloud.calls(t, "create", "update", "add-iam-policy-binding")); diff != "" {
				t.Errorf("%q (-want +got):\n%s", text, diff)
			}
			cloud.wantTheSame(t, script)
		})
	}
}

func TestTheScriptForGoogleLeavesWhatIsSomebodyElses(t *testing.T) {
	w := google("x")
	script := must.Get(w.Text(handoff.GoogleCLI))(t)
	for name, test := range map[string]struct {
		spoil        func(*cloud)
		said, absent string
	}{
		"a service account": {func(c *cloud) { c.disown(t, "account") }, "the service account " + email + " is there and is not marked tabard.dev/operator=ox", "binding"},
		"a custom role":     {func(c *cloud) { c.disown(t, "role") }, "the role projects/my-project/roles/cluster_operator is there and is not marked tabard.dev/operator=ox", "update"},
		"another project":   {func(c *cloud) { c.replace(t, "echo 123456789", "echo 5") }, "the project my-project has the number 5, expected 123456789", "service-accounts"},
		"another issuer":    {func(c *cloud) { c.replace(t, issuer, "https://other.example") }, "trusts the issuer https://other.example, expected " + issuer, "service-accounts"},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := newCloud(t, "gcloud", gcloudStub, w.Owner)
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

func TestWhatGoogleWouldNotTakeIsRefused(t *testing.T) {
	for want, change := range map[string]func(*handoff.GoogleWork){
		"the key of the owner's mark":                     func(w *handoff.GoogleWork) { w.Owner.Key = "a b" },
		"at most 256 bytes with the key":                  func(w *handoff.GoogleWork) { w.Owner.Value = strings.Repeat("a", 250) },
		"the project is":                                  func(w *handoff.GoogleWork) { w.Project = "my_project" },
		"not the id of a project":                         func(w *handoff.GoogleWork) { w.Number = "my-project" },
		"the pool is":                                     func(w *handoff.GoogleWork) { w.Pool = "abc" },
		"the provider is":                                 func(w *handoff.GoogleWork) { w.Provider = "Provider" },
		"which only Google may use":                       func(w *handoff.GoogleWork) { w.Pool = "gcp-pool" },
		"the issuer is":                                   func(w *handoff.GoogleWork) { w.Issuer = "" },
		"the id of the service account is":                func(w *handoff.GoogleWork) { w.Account = "short" },
		"the display name has 101":                        func(w *handoff.GoogleWork) { w.DisplayName = strings.Repeat("a", 101) },
		"no ServiceAccount is named":                      func(w *handoff.GoogleWork) { w.Subjects = nil },
		"the subject is":                                  func(w *handoff.GoogleWork) { w.Subjects[0] = "system:serviceaccount:ns" },
		"at most 127":                                     func(w *handoff.GoogleWork) { w.Subjects[0] = "system:serviceaccount:ns:" + strings.Repeat("a", 103) },
		"the role is \"projects/p/roles/x\"":              func(w *handoff.GoogleWork) { w.Roles[0] = "projects/p/roles/x" },
		"the id of the custom role is":                    func(w *handoff.GoogleWork) { w.Custom.ID = "a-b" },
		"the permission is \"storage.objects.get,other\"": func(w *handoff.GoogleWork) { w.Custom.Permissions[0] = "storage.objects.get,other" },
		"has 0 permissions":                               func(w *handoff.GoogleWork) { w.Custom.Permissions = nil },
		"has 0 bytes":                                     func(w *handoff.GoogleWork) { w.Custom.Title = "" },
		"zero byte":                                       func(w *handoff.GoogleWork) { w.Custom.Title = "a\x00" },
		"UTF-8":                                           func(w *handoff.GoogleWork) { w.DisplayName = "\xff" },
	} {
		for _, form := range []handoff.Form{handoff.GoogleCLI, handoff.Terraform} {
			w := google("x")
			change(&w)
			if got, err := w.Text(form); err == nil || !strings.Contains(err.Error(), want) || got != "" {
				t.Errorf("%s: %v, want one that says %q", form, err, want)
			}
		}
	}
	if _, err := google("x").Text(handoff.AzureCLI); err == nil || !strings.Contains(err.Error(), "gcp or terraform") {
		t.Errorf("another cloud's form: %v", err)
	}
}
