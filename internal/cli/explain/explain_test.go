package explain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/explain"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/evidence"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	roleARN = "arn:aws:iam::111122223333:role/checkout"
	bare    = "oidc.example.com/prod"
	trusts  = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::111122223333:oidc-provider/` + bare + `"},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"` + bare + `:aud":"sts.amazonaws.com","` + bare + `:sub":"system:serviceaccount:shop:%s"}}}]}`
)

// api is an API server that has some objects and counts what is read.
type api struct {
	objects map[string]string
	mu      sync.Mutex
	reads   []string
	// documents are what anybody gets at the issuer's host, by path; what is not there is 404.
	documents map[string]string
	// silent says that requests are taken and never answered. Patience is how long they are waited for.
	silent   bool
	patience time.Duration
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.reads = append(a.reads, strings.TrimSuffix(r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery, "?"))
	a.mu.Unlock()
	if a.silent {
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	text, has := a.objects[r.URL.Path]
	switch {
	case !has:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"NotFound","code":404,"message":"not found"}`))
	case text == "":
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Forbidden","code":403,"message":"jane may not"}`))
	default:
		_, _ = w.Write([]byte(text))
	}
}

// cloud is AWS as it answers one session.
type cloud struct {
	account  string
	role     *chain.Role
	provider *chain.OIDCProvider
	denies   error
	// inline and attached are the role's policies, by name and by ARN; those in unread may not be read.
	inline, attached map[string]string
	unread           []string
	calls            int
	mu               sync.Mutex
}

func (c *cloud) call() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
}

func (c *cloud) Account(context.Context, string) (string, error) {
	c.call()
	if c.account == "" {
		return "", errors.New("no EC2 IMDS role found")
	}
	return c.account, nil
}

func (c *cloud) Role(_ context.Context, _, name string) (*chain.Role, error) {
	c.call()
	if name != "checkout" {
		return nil, nil
	}
	return c.role, c.denies
}

func (c *cloud) Provider(context.Context, string) (*chain.OIDCProvider, error) {
	c.call()
	return c.provider, c.denies
}

func (c *cloud) InlineNames(context.Context, string, string) ([]string, error) {
	c.call()
	return slices.Sorted(maps.Keys(c.inline)), c.denied("ListRolePolicies")
}

func (c *cloud) Attached(context.Context, string, string) ([]string, error) {
	c.call()
	return slices.Sorted(maps.Keys(c.attached)), c.denied("ListAttachedRolePolicies")
}

func (c *cloud) InlinePolicy(_ context.Context, _, _, name string) (string, error) {
	c.call()
	return c.inline[name], c.denied(name)
}

func (c *cloud) ManagedPolicy(_ context.Context, _, arn string) (string, error) {
	c.call() // of the policy, and of its version
	c.call()
	return c.attached[arn], c.denied(arn)
}

// denied says whether a call may be made.
func (c *cloud) denied(what string) error {
	if slices.Contains(c.unread, what) {
		return fmt.Errorf("%w: %s", evidence.ErrDenied, what)
	}
	return c.denies
}

const (
	podPath     = "/api/v1/namespaces/shop/pods/checkout-6d9c"
	accountPath = "/api/v1/namespaces/shop/serviceaccounts/checkout"
	issuerPath  = "/.well-known/openid-configuration"
	newPodPath  = "/api/v1/namespaces/shop/pods"
	hooksPath   = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
	spacePath   = "/api/v1/namespaces/shop"
	keysPath    = "/openid/v1/jwks"
	tokenPath   = accountPath + "/token"
)

// world is a cluster without Tabard, whose hook is EKS's, and the account of the role.
func world(trusted string) (*api, *cloud) {
	const injected = `"env":[{"name":"AWS_ROLE_ARN","value":"` + roleARN + `"},{"name":"AWS_WEB_IDENTITY_TOKEN_FILE","value":"/var/run/secrets/eks.amazonaws.com/serviceaccount/token"}]`
	return &api{objects: map[string]string{
			newPodPath: `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"tabard-explain-x2k4p"},"spec":{"serviceAccountName":"checkout","containers":[{"name":"none",` + injected + `}]}}`,
			hooksPath:  "", spacePath: "",
			podPath: `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"checkout-6d9c","ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"checkout","uid":"1","controller":true}]},
			"spec":{"serviceAccountName":"checkout","containers":[{"name":"app","env":[{"name":"AWS_ROLE_ARN","value":"` + roleARN + `"},{"name":"AWS_WEB_IDENTITY_TOKEN_FILE","value":"/var/run/secrets/eks.amazonaws.com/serviceaccount/token"},{"name":"PASSWORD","value":"hunter2"}],
			"volumeMounts":[{"name":"aws-iam-token","mountPath":"/var/run/secrets/eks.amazonaws.com/serviceaccount"}]}],
			"volumes":[{"name":"aws-iam-token","projected":{"sources":[{"serviceAccountToken":{"audience":"sts.amazonaws.com","path":"token"}}]}}]},"status":{"phase":"Running"}}`,
			accountPath: `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"namespace":"shop","name":"checkout","annotations":{"eks.amazonaws.com/role-arn":"` + roleARN + `"}}}`,
			issuerPath:  `{"issuer":"https://` + bare + `"}`,
			keysPath:    keySet("a1b2"),
		}, documents: map[string]string{
			"/prod/.well-known/openid-configuration": `{"issuer":"https://` + bare + `","jwks_uri":"https://` + bare + `/keys"}`,
			"/prod/keys":                             keySet("old", "a1b2"),
		}}, &cloud{account: "111122223333", role: &chain.Role{ARN: roleARN, Trust: fmt.Sprintf(trusts, trusted)}, provider: &chain.OIDCProvider{Audiences: []string{"sts.amazonaws.com"}},
			inline: map[string]string{"orders": `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::orders/*"}}`}, attached: map[string]string{queues: `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"*"}}`}}
}

const (
	queues = "arn:aws:iam::111122223333:policy/queues"
	limit  = "arn:aws:iam::111122223333:policy/limit"
)

// silentPod is a new pod that no webhook has changed.
const silentPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"tabard-explain-x2k4p"},"spec":{"serviceAccountName":"checkout","containers":[{"name":"none"}]}}`

// typed types "explain" with some words.
func typed(t *testing.T, a *api, c *cloud, words ...string) (code int, out, said string) {
	t.Helper()
	server := httptest.NewServer(a)
	defer server.Close()
	var stdout, stderr bytes.Buffer
	streams := command.Streams{Out: &stdout, Err: &stderr}
	parent := &cobra.Command{Use: "explain", SilenceUsage: true, SilenceErrors: true, Args: cobra.ExactArgs(1), RunE: command.Spoken(streams, func(_ *cobra.Command, args []string) error {
		return fmt.Errorf("a resource: %s", args[0])
	})}
	parent.Flags().StringP("namespace", "n", "", "")
	parent.Flags().StringP("output", "o", "", "")
	explain.AddTo(parent, explain.World{Streams: streams, Connect: func(*command.Kubeconfig) (evidence.Sources, string, error) {
		kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
		return evidence.Sources{Kube: kube, AWS: c, Public: a.fetch, Patience: a.patience}, "default", err
	}})
	parent.SetArgs(words)
	if err := parent.ExecuteContext(t.Context()); err != nil {
		code = must.Get(exitOf(err))(t)
	}
	return code, stdout.String(), stderr.String()
}

func exitOf(err error) (int, error) {
	if exit, is := errors.AsType[*command.Exit](err); is {
		return exit.Code, nil
	}
	return 0, err
}

// TestWhatIsSaidOfAPod: all is well, a word is misspelt, and rights are missing.
func TestWhatIsSaidOfAPod(t *testing.T) {
	for name, each := range map[string]struct {
		change func(*api, *cloud)
		code   int
	}{
		"well":     {func(*api, *cloud) {}, 0},
		"broken":   {func(_ *api, c *cloud) { c.role.Trust = fmt.Sprintf(trusts, "check-out") }, 1},
		"two":      {func(_ *api, c *cloud) { c.role.Trust, c.provider = fmt.Sprintf(trusts, "check-out"), nil }, 1},
		"denied":   {func(_ *api, c *cloud) { c.denies = fmt.Errorf("%w: IAM GetRole: AccessDenied", evidence.ErrDenied) }, 3},
		"nobody":   {func(_ *api, c *cloud) { c.account = "" }, 3},
		"stranger": {func(_ *api, c *cloud) { c.account = "999988887777" }, 3},
		"account":  {func(a *api, _ *cloud) { a.objects[accountPath] = "" }, 3},
		"issuer":   {func(a *api, _ *cloud) { a.objects[issuerPath], a.objects[keysPath] = "", "" }, 3},
		"keys":     {func(a *api, _ *cloud) { a.documents["/prod/keys"] = keySet("old") }, 1},
		"offline":  {func(a *api, _ *cloud) { a.documents = nil }, 3},
		"nopod":    {func(a *api, _ *cloud) { a.objects[newPodPath] = "" }, 3},
		"silent":   {func(a *api, _ *cloud) { a.objects[newPodPath] = silentPod }, 1},
		"unasked": {func(a *api, _ *cloud) {
			a.objects[newPodPath], a.objects[spacePath] = silentPod, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}`
			a.objects[hooksPath] = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfigurationList","items":[{"metadata":{"name":"pod-identity-webhook"},"webhooks":[{"name":"pod-identity-webhook.amazonaws.com",
				"clientConfig":{"service":{"namespace":"kube-system","name":"pod-identity-webhook","path":"/mutate"}},"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}],"namespaceSelector":{"matchLabels":{"identity":"on"}}}]}]}`
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			a, c := world("checkout")
			each.change(a, c)
			code, out, said := typed(t, a, c, "pod", "checkout-6d9c", "-n", "shop")
			if code != each.code || said != "" || strings.Contains(out, "hunter2") {
				t.Errorf("exit code %d, want %d: %s", code, each.code, said)
			}
			wantPrinted(t, name, out)
			if len(a.reads) > 25 || c.calls > 12 {
				t.Errorf("%d reads of the cluster, and %d calls of AWS", len(a.reads), c.calls)
			}
			for _, read := range a.reads {
				if !strings.HasPrefix(read, "GET ") && read != "POST "+tokenPath && read != "POST "+newPodPath+"?dryRun=All" {
					t.Errorf("it does %s", read)
				}
			}
		})
	}
}

// TestASubjectIsNamedInEachOfTheUsualWays, and what is not there or cannot be meant is refused.
func TestASubjectIsNamedInEachOfTheUsualWays(t *testing.T) {
	for words, want := range map[string]struct {
		code int
		says string
	}{
		"pod checkout-6d9c -n shop":            {0, "pod shop/checkout-6d9c → "},
		"pod shop/checkout-6d9c":               {0, "pod shop/checkout-6d9c → "},
		"po shop/checkout-6d9c":                {0, "pod shop/checkout-6d9c → "},
		"pod/checkout-6d9c -n shop":            {0, "pod shop/checkout-6d9c → "},
		"serviceaccount checkout -n shop":      {0, "ServiceAccount shop/checkout → "},
		"sa/checkout -n shop":                  {0, "ServiceAccount shop/checkout → "},
		"pod checkout-6d9c":                    {2, "there is no pod default/checkout-6d9c; kubectl -n default get pods"},
		"sa nobody -n shop":                    {2, "there is no serviceaccount shop/nobody"},
		"pod shop/checkout-6d9c -n other":      {2, "leave one of them out"},
		"pod shop/":                            {2, "expected NAME or NAMESPACE/NAME"},
		"pod a/b/c":                            {2, "expected NAME or NAMESPACE/NAME"},
		"pod":                                  {2, "takes the name of one pod"},
		"resource/bucket/logs":                 {2, "a resource: resource/bucket/logs"},
		"pod shop/checkout-6d9c -o xml":        {2, "xml"},
		"serviceaccount shop/checkout -o json": {0, `"verdict": "healthy"`},
		"pod/checkout-6d9c -n shop --action s3:GetObject --resource arn:aws:s3:::orders/a": {0, "allow s3:GetObject on arn:aws:s3:::orders/a"},
		"sa shop/checkout --action s3:PutObject --resource *":                              {1, `"Action":["s3:PutObject"],"Resource":["*"]`},
		"sa shop/checkout --action s3:PutObject --context prod":                            {1, "explain serviceaccount --context prod checkout -n shop --action s3:PutObject"},
		"sa shop/checkout --action s3:PutObject":                                           {1, `"Resource":["RESOURCE_ARN"]`},
		"sa/checkout -n shop --action s3:GetObject":                                        {3, "--resource with the ARN"},
		"pod shop/checkout-6d9c --action GetObject":                                        {2, "expected SERVICE:ACTION"},
		"pod shop/checkout-6d9c --action s3:Get*":                                          {2, "expected SERVICE:ACTION"},
		"pod shop/checkout-6d9c --action s3:GetObject --resource orders":                   {2, "expected one that begins with arn:"},
		"pod shop/checkout-6d9c --resource *":                                              {2, "expected an action SERVICE:ACTION too"},
		"resource/bucket/logs --action s3:GetObject":                                       {2, "for pods and ServiceAccounts"},
	} {
		a, c := world("checkout")
		if code, out, said := typed(t, a, c, strings.Fields(words)...); code != want.code || !strings.Contains(out+said, want.says) {
			t.Errorf("%s: exit code %d, want %d saying %q:\n%s%s", words, code, want.code, want.says, out, said)
		}
	}
}

// wantPrinted compares what is printed with a file of testdata, which UPDATE=1 writes anew.
func wantPrinted(t *testing.T, name, out string) {
	t.Helper()
	file := "testdata/" + name + ".txt"
	if os.Getenv("UPDATE") != "" {
		must.Do(t, os.WriteFile(file, []byte(out), 0o600))
	}
	if diff := cmp.Diff(string(must.Get(os.ReadFile(file))(t)), out); diff != "" {
		t.Errorf("-%s +printed:\n%s", file, diff)
	}
}

// TestTheClustersNoIsARefusal: who may not see the pod learns nothing of it.
func TestTheClustersNoIsARefusal(t *testing.T) {
	a, c := world("checkout")
	a.objects[podPath] = ""
	if code, out, said := typed(t, a, c, "pod", "shop/checkout-6d9c"); code != 1 || out != "" || !strings.Contains(said, "jane may not") {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
}

// TestAClusterThatIsSilentIsNotWaitedForForever: the API server takes requests and answers none.
func TestAClusterThatIsSilentIsNotWaitedForForever(t *testing.T) {
	for _, words := range []string{"pod shop/checkout-6d9c", "serviceaccount shop/checkout"} {
		a, c := world("checkout")
		a.silent, a.patience = true, time.Millisecond
		if code, out, said := typed(t, a, c, strings.Fields(words)...); code == 0 || out != "" || !strings.Contains(said, "the cluster did not answer within 1ms") {
			t.Errorf("%s: exit code %d: %s%s", words, code, out, said)
		}
	}
}

// TestProgramsReadTheSame: the document has all that the text says.
func TestProgramsReadTheSame(t *testing.T) {
	a, c := world("check-out")
	code, out, _ := typed(t, a, c, "pod", "shop/checkout-6d9c", "-o", "json")
	var document struct {
		APIVersion, Kind string
		chain.Report
	}
	must.Do(t, json.Unmarshal([]byte(out), &document))
	if code != 1 || document.Kind != "Explanation" || document.APIVersion != "tabard.dev/v1alpha1" || document.First.Code != chain.CodeSubject || len(document.Links) != 13 {
		t.Errorf("exit code %d: %+v", code, document)
	}
}

// TestThePageAndTheHelpAreTyped types what they have for a shell, twice: the page's story is that of a
// misspelt trust policy, and its output is what is printed.
func TestThePageAndTheHelpAreTyped(t *testing.T) {
	page := string(must.Get(os.ReadFile("../../../docs/explain.md"))(t))
	if printed := string(must.Get(os.ReadFile("testdata/broken.txt"))(t)); !strings.Contains(page, "```text\n"+printed+"```\n") {
		t.Error("the page shows another output than testdata/broken.txt")
	}
	var lines []string
	for _, block := range strings.Split(page, "```sh\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		if !strings.HasPrefix(text, "tabard decode") && !strings.HasPrefix(text, "tabard lab") { // which other tests type
			lines = append(lines, strings.Split(strings.TrimSpace(text), "\n")...)
		}
	}
	if len(lines) != 6 {
		t.Errorf("the page has %d commands, want 6", len(lines))
	}
	parent := &cobra.Command{Use: "explain", RunE: func(*cobra.Command, []string) error { return nil }}
	explain.AddTo(parent, explain.World{})
	for _, c := range parent.Commands() {
		for line := range strings.Lines(c.Example) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	for range 2 {
		a, c := world("check-out")
		c.role.Trust = fmt.Sprintf(trusts, "check-out")
		var codes []int
		for _, line := range lines {
			if document, is := strings.CutPrefix(line, "aws iam update-assume-role-policy --role-name checkout --policy-document '"); is {
				c.role.Trust = strings.TrimSuffix(document, "'")
				continue
			}
			words, is := strings.CutPrefix(line, "tabard explain ")
			code, _, said := typed(t, a, c, strings.Fields(strings.ReplaceAll(words, "'", ""))...)
			if codes = append(codes, code); !is || said != "" {
				t.Errorf("%s: exit code %d: %s", line, code, said)
			}
		}
		if want := []int{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}; !cmp.Equal(codes, want) {
			t.Errorf("the exit codes are %v, want %v", codes, want)
		}
	}
}

// TestNoTextOfOthersReachesTheTerminal: who may annotate a ServiceAccount controls no terminal.
func TestNoTextOfOthersReachesTheTerminal(t *testing.T) {
	a, c := world("checkout")
	a.objects[accountPath] = strings.ReplaceAll(a.objects[accountPath], roleARN, "x\\u001b[2J\\nroot\\u202egnp")
	code, out, _ := typed(t, a, c, "pod", "shop/checkout-6d9c")
	if code != 1 || !strings.Contains(out, "L3-ROLE-ARN") || strings.ContainsAny(out, "\x1b\u202e") || strings.Contains(out, "\nroot") {
		t.Errorf("exit code %d: %q", code, out)
	}
}
