package webhook

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/azure"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	tenant   = "22222222-0000-0000-0000-000000000000"
	clientID = "11111111-0000-0000-0000-000000000000"
	provider = "projects/123456/locations/global/workloadIdentityPools/tabard/providers/cluster"

	clientIDName = "azure.workload.identity/client-id"
	providerName = "cloud.google.com/workload-identity-provider"
)

// labelled is a pod of shop/app that asks for its Azure identity.
var labelled = strings.Replace(pod, `{"name":"app"}`, `{"name":"app","labels":{"azure.workload.identity/use":"true"}}`, 1)

// cloudServer is a server for some clouds.
func cloudServer(t testing.TB, clouds string, known accounts) *server {
	t.Helper()
	o := must.Get(parse("--clouds="+clouds, "--azure-tenant-id="+tenant))(t)
	o.Azure.Environment = azure.Defaults().Environment
	return serverFor(t, o, known)
}

// TestEachCloudHasItsPaths, and those of clouds that are off say so.
func TestEachCloudHasItsPaths(t *testing.T) {
	t.Parallel()
	const off = " needs "
	tests := map[string]map[string]string{ // by clouds that are on and path
		"aws": {"/mutate": "AWS_ROLE_ARN", "/mutate/required": "AWS_ROLE_ARN", "/mutate/azure": off, "/mutate/gcp": off,
			"/mutate/gcp/required": off, "/mutate-v1-pod": "/mutate-v1-pod needs one of azure and gcp alone: this server runs with --clouds=aws"},
		"azure": {"/mutate": "/mutate needs aws: this server runs with --clouds=azure", "/mutate/required": off, "/mutate/azure": "AZURE_CLIENT_ID",
			"/mutate/gcp": off, "/mutate/gcp/required": off, "/mutate-v1-pod": "AZURE_CLIENT_ID"},
		"aws,gcp": {"/mutate": "AWS_ROLE_ARN", "/mutate/azure": "/mutate/azure needs azure: this server runs with --clouds=aws,gcp",
			"/mutate/gcp": "GOOGLE_APPLICATION_CREDENTIALS", "/mutate/gcp/required": "GOOGLE_APPLICATION_CREDENTIALS", "/mutate-v1-pod": "GOOGLE_APPLICATION_CREDENTIALS"},
		"aws,azure,gcp": {"/mutate": "AWS_ROLE_ARN", "/mutate/azure": "AZURE_CLIENT_ID", "/mutate/gcp": "GOOGLE_APPLICATION_CREDENTIALS", "/mutate-v1-pod": off},
	}
	account := &inject.ServiceAccount{Annotations: map[string]string{withRoleName: role, clientIDName: clientID, providerName: provider}}
	for on, paths := range tests {
		t.Run(on, func(t *testing.T) {
			t.Parallel()
			s := cloudServer(t, on, fixedAccounts{found: account})
			for path, want := range paths {
				code, text := postTo(t, s, path, labelled)
				wantCode := http.StatusOK
				if strings.Contains(want, off) {
					wantCode = http.StatusNotFound
				}
				if code != wantCode || !strings.Contains(text, want) {
					t.Errorf("%s is %d %s, want %d %s", path, code, text, wantCode, want)
				}
			}
		})
	}
}

// TestHowCloudsAnswer in what goes wrong.
func TestHowCloudsAnswer(t *testing.T) {
	t.Parallel()
	noProvider := &inject.ServiceAccount{Annotations: map[string]string{providerName: "projects/x"}}
	badLife := &inject.ServiceAccount{Annotations: map[string]string{"azure.workload.identity/service-account-token-expiration": "60"}}
	tests := map[string]struct {
		path, pod string
		known     accounts
		code      int
		want      string
	}{
		"Azure refuses a pod of no ServiceAccount": {"/mutate/azure", labelled, fixedAccounts{}, 200,
			`"allowed":false,"status":{"code":400,"message":"there is no ServiceAccount \"app\"`},
		"and one that asks for what cannot be":     {"/mutate/azure", labelled, fixedAccounts{found: badLife}, 200, `"allowed":false,"status":{"code":400,"message":"annotation azure`},
		"and answers nothing if it cannot know":    {"/mutate/azure", labelled, fixedAccounts{err: errors.New("down")}, 500, "could not be read"},
		"nor by what was heard of last":            {"/mutate/azure", labelled, fixedAccounts{found: &inject.ServiceAccount{}, err: errors.New("down")}, 500, "could not be read"},
		"nor before it has read ServiceAccounts":   {"/mutate/azure", labelled, fakeAccounts{unsynced: true}, 500, "have not been read yet"},
		"it looks up nothing for other pods":       {"/mutate/azure", pod, fixedAccounts{err: errors.New("down")}, 200, `"allowed":true}`},
		"Google Cloud lets a stranger pass":        {"/mutate/gcp", pod, fixedAccounts{}, 200, `"allowed":true}`},
		"unless the identity is required":          {"/mutate/gcp/required", pod, fixedAccounts{}, 200, `"message":"ServiceAccount shop/app does not exist`},
		"a provider that is none is warned of":     {"/mutate/gcp", pod, fixedAccounts{found: noProvider}, 200, `"allowed":true,"warnings":["ServiceAccount \"app\": annotation cloud`},
		"and refused where it is required":         {"/mutate/gcp/required", pod, fixedAccounts{found: noProvider}, 200, `"allowed":false,"status":{"code":400,"message":"the pod must not start without its identity: Service`},
		"who is to have none passes there, too":    {"/mutate/gcp/required", pod, fixedAccounts{found: &inject.ServiceAccount{}}, 200, `"allowed":true}`},
		"it answers nothing if it cannot know":     {"/mutate/gcp", pod, fixedAccounts{err: errors.New("down")}, 500, "could not be read"},
		"AWS's configuration is no business of it": {"/mutate/gcp", pod, fixedAccounts{found: annotated(role)}, 200, `"allowed":true}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cloudServer(t, "aws,azure,gcp", test.known)
			s.config.mapping.awaited.Store(true)
			if code, text := postTo(t, s, test.path, test.pod); code != test.code || !strings.Contains(text, test.want) {
				t.Errorf("%s is %d %s, want %d %s", test.path, code, text, test.code, test.want)
			}
		})
	}
}

// postTo asks a path about a pod of shop.
func postTo(t *testing.T, s *server, path, pod string) (code int, text string) {
	t.Helper()
	recorder := askPath(t, s, path, "application/json", reviewOf("v1", "shop", pod))
	text = recorder.Body.String()
	if answer := readAnswer(t, recorder); answer.Response != nil && answer.Response.Patch != nil {
		text = string(answer.Response.Patch)
	}
	return recorder.Code, text
}

// TestAnotherCloudsIdentityIsNotCertain: a ServiceAccount that has just been given
// one cloud's identity may be given the other's in the next step.
func TestAnotherCloudsIdentityIsNotCertain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		known := newStore(newInterest(withRoleName, clientIDName, providerName))
		relist(t, known, "100")
		known.watching(true)
		event(t, known.put, account("shop", "app", "101", withRole))
		certain := func() (names []string) {
			for _, name := range []string{withRoleName, clientIDName, providerName} {
				if _, there, certain := known.get(app, name); there && certain {
					names = append(names, name)
				}
			}
			return names
		}
		expectNames := func(when string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, certain()); diff != "" {
				t.Errorf("%s, what is certain (-want +got):\n%s", when, diff)
			}
		}
		expectNames("just annotated", withRoleName)
		found := account("shop", "app", "110", map[string]string{clientIDName: clientID, "cloud.google.com/project": "x", "other/x": "y"})
		read := must.Get(known.interest.read(seen(t, found), nil))(t)
		known.learn(seen(t, found), read)
		expectNames("looked at live", clientIDName)
		event(t, known.put, found)
		known.reached("110")
		expectNames("told of by the watch", clientIDName)
		<-time.After(freshFor)
		expectNames("later", withRoleName, clientIDName, providerName)
		kept, _, _ := known.get(app, clientIDName)
		if want := []string{clientIDName, clientID, "cloud.google.com/project", "x"}; !slices.Equal(kept.annotations, want) {
			t.Errorf("kept are %q, want %q", kept.annotations, want)
		}
	})
}

// TestOnlyWhatIsOnIsKept of annotations.
func TestOnlyWhatIsOnIsKept(t *testing.T) {
	t.Parallel()
	all := map[string]string{withRoleName: role, clientIDName: clientID, providerName: provider, "eks.amazon.com/role-arn": role, "google.example/workload-identity-provider": provider}
	for args, want := range map[string][]string{
		"--clouds=aws":       {"eks.amazon.com/role-arn", withRoleName},
		"--clouds=azure,gcp": {clientIDName, providerName},
		"--clouds=gcp --gcp-annotation-prefix=google.example": {"google.example/workload-identity-provider"},
	} {
		o := must.Get(parse(strings.Fields(args)...))(t)
		o.Azure.TenantID, o.Azure.Environment = tenant, azure.Defaults().Environment
		on := must.Get(newClouds(o))(t)
		found := must.Get(interestOf(on).read(seen(t, account("shop", "app", "5", all)), nil))(t)
		var got []string
		for k := 0; k < len(found.annotations); k += 2 {
			got = append(got, found.annotations[k])
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s keeps %q, want %q", args, got, want)
		}
	}
}

// TestALabelOptsIn: a ServiceAccount without client ID that has changed just now
// is looked at live for Azure, for which it may have been given one, and not for
// pods that do not ask.
func TestALabelOptsIn(t *testing.T) {
	t.Parallel()
	known := newStore(newInterest(clientIDName))
	relist(t, known, "100", account("shop", "app", "5", nil))
	known.watching(true)
	event(t, known.put, account("shop", "app", "101", nil))
	looks := 0
	live := func(context.Context, types.NamespacedName) (object, error) {
		looks++
		return seen(t, account("shop", "app", "105", map[string]string{clientIDName: clientID})), nil
	}
	s := cloudServer(t, "azure", newAccounts(known, live, 0, newMetrics()))
	if _, text := postTo(t, s, "/mutate/azure", pod); looks != 0 {
		t.Errorf("%d looks for a pod without the label: %s", looks, text)
	}
	if _, text := postTo(t, s, "/mutate/azure", labelled); looks != 1 || !strings.Contains(text, clientID) {
		t.Errorf("%d looks for a pod with the label: %s", looks, text)
	}
}

func TestMetricsCountByCloud(t *testing.T) {
	t.Parallel()
	s := cloudServer(t, "aws,azure,gcp", fixedAccounts{found: &inject.ServiceAccount{Annotations: map[string]string{clientIDName: clientID}}})
	none := cloudServer(t, "azure,gcp", fixedAccounts{})
	for _, path := range []string{"/mutate", "/mutate/azure", "/mutate/gcp"} {
		postTo(t, s, path, labelled)
		postTo(t, none, path, labelled)
	}
	for _, test := range []struct {
		of    *server
		lines []string
	}{
		{s, []string{
			`tabard_webhook_admissions_total{cloud="aws",outcome="unchanged",reason="NotOptedIn"} 1`,
			`tabard_webhook_admissions_total{cloud="azure",outcome="injected",reason="Injected"} 1`,
			`tabard_webhook_admissions_total{cloud="gcp",outcome="unchanged",reason="NotOptedIn"} 1`,
			`http_request_count{code="200",path="/mutate/azure",verb="POST"} 1`,
		}},
		{none, []string{
			`tabard_webhook_admissions_total{cloud="azure",outcome="refused",reason="UnknownServiceAccount"} 1`,
			`tabard_webhook_admissions_total{cloud="gcp",outcome="unchanged",reason="UnknownServiceAccount"} 1`,
			`http_request_count{code="404",path="/mutate",verb="POST"} 1`,
			`pod_identity_webhook_missing_sa_count 0`,
		}},
	} {
		_, text := get(t, test.of.observer(), "/metrics")
		for _, want := range test.lines {
			if !strings.Contains(text, "\n"+want+"\n") {
				t.Errorf("metrics lack %s:\n%s", want, grep(text, "_total"))
			}
		}
	}
}

func TestOptionsOfCloudsAreChecked(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ args, want string }{ // an empty want is for what is right
		"a flag of Azure needs Azure":      {"--custom-token-endpoint-audience=x", "--custom-token-endpoint-audience is set, and --clouds has no azure"},
		"a flag of Google Cloud needs it":  {"--clouds=azure --gcp-default-region=x", "--gcp-default-region is set, and --clouds has no gcp"},
		"a flag of AWS needs AWS":          {"--clouds=gcp --watch-config-map", "--watch-config-map is set, and --clouds has no aws"},
		"also if it is set to what it is":  {"--clouds=gcp --azure-audience=api://AzureADTokenExchange", "--azure-audience is set"},
		"Azure needs a tenant":             {"--clouds=azure", "--azure-tenant-id is empty, and AZURE_TENANT_ID is not set"},
		"which is enough":                  {"--clouds=azure --azure-tenant-id=x", ""},
		"an environment that nobody knows": {"--clouds=azure --azure-tenant-id=x --azure-environment=Mars", `--azure-environment is "Mars"`},
		"a token endpoint is given whole":  {"--clouds=azure --azure-tenant-id=x --custom-token-endpoint-audience=x", `--custom-token-endpoint-annotation-suffix is ""`},
		"Google Cloud needs nothing":       {"--clouds=gcp", ""},
		"a life of tokens that cannot be":  {"--clouds=gcp --gcp-token-expiration=5", "--gcp-token-expiration is 5"},
		"what is wrong with two clouds":    {"--clouds=aws,gcp --gcp-token-audience= --token-audience=", "--token-audience is empty"},
		"all that is wrong":                {"--clouds=aws,gcp --gcp-token-audience= --token-audience=", "--gcp-token-audience is empty"},
		"all three go together":            {"--clouds=aws,azure,gcp --azure-tenant-id=x --partition=aws --gcp-default-region=x", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := parse(strings.Fields(test.args)...)
			if err != nil {
				t.Fatal(err)
			}
			o.Config = &rest.Config{}
			if err = o.complete(); err == nil {
				_, err = newClouds(o)
			}
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
