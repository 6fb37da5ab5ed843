package credentials_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		must.Do(t, os.MkdirAll("testdata", 0o755))
		must.Do(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(file))(t)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// many are requests in all states.
func many() (*cloudv1.CredentialsRequest, []*cloudv1.CredentialsRequest, []*v1alpha1.CredentialsGrant) {
	reports := request("reports")
	changed := request("changed", func(r *cloudv1.CredentialsRequest) { r.Generation = 2 })
	nameless := request("nameless", toSecret)
	again := request("again")
	old := grant(again, metav1.ConditionTrue, core.ReasonReady, "ready", func(g *v1alpha1.CredentialsGrant) { g.Spec.Request.UID = "an-earlier-one" })
	return reports, []*cloudv1.CredentialsRequest{
			reports, changed, nameless, again, request("new"), request("former", ofCCO),
			request("cloudless", provider(struct{}{})), request("elsewhere", func(r *cloudv1.CredentialsRequest) { r.Namespace = "team-b" }),
		}, []*v1alpha1.CredentialsGrant{
			grant(reports, metav1.ConditionTrue, core.ReasonReady, "ready", withRole),
			grant(changed, metav1.ConditionTrue, core.ReasonReady, "ready", withRole),
			grant(nameless, metav1.ConditionFalse, core.ReasonNoServiceAccountNames, "no key is ever stored in a Secret: set spec.serviceAccountNames"), old,
		}
}

func manyBed(t *testing.T) *bed {
	b := newBed(t, plainKubernetes)
	_, requests, grants := many()
	for _, r := range requests {
		must.Do(t, b.client.Create(t.Context(), r))
	}
	for _, g := range grants {
		must.Do(t, b.client.Create(t.Context(), g))
	}
	return b
}

func TestAListSaysWhoFulfilsWhatAndWhatItWaitsFor(t *testing.T) {
	code, out, said := manyBed(t).run("list", "-A")
	if code != command.Found || said != "" {
		t.Errorf("exit code %d, said %q", code, said)
	}
	golden(t, "list.txt", out)
	code, out, _ = manyBed(t).run("list", "-n", "team-b", "-o", "json")
	var list command.List[map[string]any]
	must.Do(t, json.Unmarshal([]byte(out), &list))
	rows := list.Items
	if list.Meta != command.MetaOf("CredentialsList") {
		t.Errorf("it is a %+v", list.Meta)
	}
	if code != command.Found || len(rows) != 1 || rows[0]["name"] != "elsewhere" || rows[0]["reason"] != "NotLookedAt" {
		t.Errorf("exit code %d, one namespace: %s", code, out)
	}
}

func TestAListIsWellWhereNothingWaits(t *testing.T) {
	reports := request("reports")
	done := newBed(t, plainKubernetes, reports, grant(reports, metav1.ConditionTrue, core.ReasonReady, "ready", withRole))
	if code, out, said := done.run("list"); code != 0 || !strings.Contains(out, "Ready") || said != "" {
		t.Errorf("exit code %d: %s %s", code, out, said)
	}
	if code, out, _ := newBed(t, plainKubernetes).run("list", "-o", "json"); code != 0 || !strings.Contains(out, `"items": []`) {
		t.Errorf("none, exit code %d: %q", code, out)
	}
	if code, out, _ := newBed(t, plainKubernetes).run("list"); code != 0 || !strings.Contains(out, "no CredentialsRequests in namespace team-a") {
		t.Errorf("none, exit code %d: %q", code, out)
	}
}

func TestBesideACloudCredentialOperatorAListSaysWhoseARequestIs(t *testing.T) {
	done := request("minted", toSecret)
	done.Status.Provisioned = true
	stuck := request("stuck", toSecret)
	stuck.Status.Conditions = []cloudv1.CredentialsRequestCondition{{Type: cloudv1.InsufficientCloudCredentials, Status: metav1.ConditionTrue, Message: "no rights"}}
	azure := request("azure", provider(cloudv1.AzureProviderSpec{}))
	code, out, _ := newBed(t, beside, done, stuck, azure, request("account")).run("list")
	if code != command.Found {
		t.Errorf("exit code %d", code)
	}
	golden(t, "list-beside.txt", out)
}

func TestAListIsPrintedAsItIsAskedFor(t *testing.T) {
	for args, want := range map[string]string{
		"-A -o name":                               "credentialsrequest.cloudcredential.openshift.io/elsewhere\n",
		"-n team-b -o jsonpath={.items[*].name}":   "elsewhere",
		"-n team-b -o wide":                        "WAITS FOR\nteam-b",
		"-n team-b --no-headers":                   "team-b  elsewhere",
		"-n team-b -o yaml":                        "  name: elsewhere\n",
		"-n nowhere -o name":                       "",
		"-n nowhere --no-headers":                  "There are no CredentialsRequests in namespace nowhere",
		"-n team-b -o jsonpath={.items[*].weight}": "",
	} {
		_, out, said := manyBed(t).run(append([]string{"list"}, strings.Fields(args)...)...)
		if !strings.Contains(out, want) || want == "" && out != "" || strings.Contains(args, "no-headers") && strings.Contains(out, "NAMESPACE") {
			t.Errorf("list %s: %q and %q, want %q", args, out, said, want)
		}
	}
	if _, out, _ := manyBed(t).run("describe", "reports", "-o", "name"); out != "credentialsrequest.cloudcredential.openshift.io/reports\n" {
		t.Errorf("describe -o name: %q", out)
	}
}

func TestADescriptionSaysWhatToDo(t *testing.T) {
	for file, name := range map[string]string{"describe-ready.txt": "reports", "describe-waiting.txt": "nameless", "describe-former.txt": "former", "describe-again.txt": "again"} {
		code, out, said := manyBed(t).run("describe", name)
		if want := name != "reports"; (code == command.Found) != want || said != "" {
			t.Errorf("%s: exit code %d, said %q", name, code, said)
		}
		golden(t, file, out)
	}
}

// TestADescriptionHasTheCommandOfAMissingAudience as it is to be typed, of a request that is ready.
func TestADescriptionHasTheCommandOfAMissingAudience(t *testing.T) {
	const command = `add it: kubectl patch oidcissuer prod --type=json -p '[{"op":"add","path":"/spec/providers/0/audiences/-","value":"openshift"}]'`
	asks := request("asks", toSecret)
	code, out, said := newBed(t, plainKubernetes, asks, grant(asks, metav1.ConditionTrue, core.ReasonReady, "Secret team-a/asks-secret has the token configuration", func(g *v1alpha1.CredentialsGrant) {
		g.Status.Conditions = append(g.Status.Conditions, metav1.Condition{
			Type: core.TypeAudiencesServed, Status: metav1.ConditionFalse, Reason: string(core.ReasonAudienceMissing), Message: command,
		})
	})).run("describe", "asks")
	if want := "AudiencesServed is False (AudienceMissing): " + command + "\n"; code != 0 || !strings.Contains(out, want) {
		t.Errorf("exit code %d, %q and %q, want %q", code, out, said, want)
	}
}

func TestADescriptionHasNoCharactersThatControlATerminal(t *testing.T) {
	evil := request("evil", provider(cloudv1.AWSProviderSpec{StatementEntries: []cloudv1.StatementEntry{{Effect: "Allow", Action: []string{"\x1b[2Js3:*\nState: Ready"}, Resource: "*"}}}))
	_, out, _ := newBed(t, plainKubernetes, evil).run("describe", "evil")
	if strings.Contains(out, "\x1b") || strings.Contains(out, "\nState: Ready") {
		t.Errorf("%q", out)
	}
}

func TestWhatCannotBeAnsweredIsSaid(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"a name that is none":     {[]string{"describe", "nosuch"}, "there is no CredentialsRequest team-a/nosuch"},
		"no name":                 {[]string{"describe"}, "takes the name of one CredentialsRequest"},
		"a form that is none":     {[]string{"list", "-o", "xml"}, "expected table, wide, json, yaml, name or jsonpath=TEMPLATE"},
		"all namespaces and one":  {[]string{"list", "-A", "-n", "team-a"}, "-A and -n"},
		"an argument that is one": {[]string{"list", "x"}, "takes no arguments"},
	} {
		if code, out, said := newBed(t, plainKubernetes).run(test.args...); code != command.Unusable || out != "" || !strings.Contains(said, test.want) {
			t.Errorf("%s: exit code %d, %q and %q, want %q", name, code, out, said, test.want)
		}
	}
	unknown := newBed(t, platform.Facts{Missing: []string{"the Infrastructure cluster could not be read"}}, request("reports"))
	if code, out, _ := unknown.run("list"); code != command.Found || !strings.Contains(out, "PlatformUnknown") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
