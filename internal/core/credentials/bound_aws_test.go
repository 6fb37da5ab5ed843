package credentials_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// bootstrapped is the policy that the bootstrap makes, for issuers with these buckets.
func bootstrapped(t *testing.T, buckets ...string) string {
	t.Helper()
	return must.Get(credentials.Minter{
		Partition: "aws", Account: testAccount, Infrastructure: "infra", Paths: []string{"/tabard/"}, Buckets: buckets,
		Providers: []string{keptByBootstrap},
	}.BoundaryPolicy())(t)
}

const keptByBootstrap = "arn:aws:iam::" + testAccount + ":oidc-provider/issuer1.example"

func TestABoundaryIsJudgedByWhatIsInAWS(t *testing.T) {
	narrow := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::data/*"}]}`
	objectsOnly := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"s3:*","Resource":"arn:aws:s3:::keys/*"}]}`
	bucketsOnly := strings.Replace(objectsOnly, `"arn:aws:s3:::keys/*"`, `["arn:aws:s3:::keys","arn:aws:s3:::keys/*"]`, 1)
	twoActions := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":["s3:PutObject","s3:PutBucketPolicy"],"Resource":["arn:aws:s3:::keys","arn:aws:s3:::keys/*"]}]}`
	denying := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"s3:PutObject","Resource":"arn:aws:s3:::data/secret/*"}]}`
	tests := map[string]struct {
		change func(*credentials.BoundaryWorld)
		reason condition.Reason
		says   string
		again  time.Duration
	}{
		"as the bootstrap makes it": {func(*credentials.BoundaryWorld) {}, credentials.ReasonReady, testBound + " in AWS allows all of it", time.Hour},
		"an issuer that came later": {func(w *credentials.BoundaryWorld) { w.Protected.Buckets = []string{"keys", "later"} }, credentials.ReasonIssuerNotKept, "the bucket later of an issuer: run tabard credentials bootstrap", 15 * time.Second},
		"a provider that came later": {func(w *credentials.BoundaryWorld) {
			w.Protected.Providers = append(w.Protected.Providers, "arn:aws:iam::"+testAccount+":oidc-provider/later.example")
		}, credentials.ReasonIssuerNotKept, "oidc-provider/later.example of an issuer: run tabard credentials bootstrap", 15 * time.Second},
		"a policy of one's own that keeps buckets only": {func(w *credentials.BoundaryWorld) { w.Document = bucketsOnly }, credentials.ReasonIssuerNotKept, "the provider " + keptByBootstrap, 15 * time.Second},
		"a policy that keeps objects only":              {func(w *credentials.BoundaryWorld) { w.Document = objectsOnly }, credentials.ReasonIssuerNotKept, "the bucket keys of an issuer", 15 * time.Second},
		"a policy that denies two actions":              {func(w *credentials.BoundaryWorld) { w.Document = twoActions }, credentials.ReasonIssuerNotKept, "the bucket keys of an issuer", 15 * time.Second},
		"a policy that allows less":                     {func(w *credentials.BoundaryWorld) { w.Document, w.Protected = narrow, credentials.Protected{} }, credentials.ReasonBeyondAWSBoundary, "s3:PutObject", 15 * time.Second},
		"a policy that denies a part":                   {func(w *credentials.BoundaryWorld) { w.Document, w.Protected = denying, credentials.Protected{} }, credentials.ReasonReady, "which cuts roles down", time.Hour},
		"a policy that is none":                         {func(w *credentials.BoundaryWorld) { w.Document = "{" }, credentials.ReasonBeyondAWSBoundary, "cannot be read", 15 * time.Second},
		"no policy of the ARN":                          {func(w *credentials.BoundaryWorld) { w.Exists = false }, credentials.ReasonNoPermissionsBoundary, "there is no policy " + testBound, 15 * time.Second},
		"no ARN":                                        {func(w *credentials.BoundaryWorld) { w.Settings.PermissionsBoundary = "" }, credentials.ReasonNoPermissionsBoundary, "tabard credentials bootstrap", 15 * time.Second},
		"AWS is busy":                                   {func(w *credentials.BoundaryWorld) { w.Fault = &fault.Fault{Class: fault.Throttled} }, credentials.ReasonAWSUnavailable, "", 30 * time.Second},
		"the controller may not read":                   {func(w *credentials.BoundaryWorld) { w.Fault = &fault.Fault{Class: fault.Denied} }, credentials.ReasonAccessDenied, "tabard credentials bootstrap", 15 * time.Second},
		"the boundary itself is wrong":                  {func(w *credentials.BoundaryWorld) { w.Boundary.Spec.Namespaces = nil }, credentials.ReasonBoundaryInvalid, "no namespace", 15 * time.Second},
		"no ceiling, and no policy":                     {func(w *credentials.BoundaryWorld) { w.Boundary.Spec.AWS.Ceiling, w.Exists = "", false }, credentials.ReasonReady, "no role is made", time.Hour},
		"nothing of AWS":                                {func(w *credentials.BoundaryWorld) { w.Boundary.Spec.AWS, w.Exists = nil, false }, credentials.ReasonReady, "without spec.aws", time.Hour},
		"its own policy, not there": {func(w *credentials.BoundaryWorld) {
			w.Boundary.Spec.AWS.PermissionsBoundary, w.Exists = "arn:aws:iam::"+testAccount+":policy/team", false
		}, credentials.ReasonNoPermissionsBoundary, "policy/team", 15 * time.Second},
		"the default one, for anything": {func(w *credentials.BoundaryWorld) {
			w.Boundary.Name, w.Boundary.Spec.Namespaces, w.Boundary.Spec.AWS.Ceiling = "default", nil, strings.Replace(narrow, `"s3:GetObject"`, `"*"`, 1)
		}, credentials.ReasonReady, "", time.Hour},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			boundary := testBoundary()
			boundary.Generation = 3
			w := credentials.BoundaryWorld{
				Boundary: &boundary, Settings: credentials.Settings{Partition: "aws", PermissionsBoundary: testBound},
				PolicyInAWS: credentials.PolicyInAWS{Document: bootstrapped(t, "keys"), Exists: true}, Now: noon,
				Protected: credentials.Protected{Buckets: []string{"keys"}, Providers: []string{keptByBootstrap}},
			}
			test.change(&w)
			status, again := credentials.DecideBoundary(w)
			ready, _ := condition.Read(status.Conditions, credentials.TypeReady)
			if ready.Reason != test.reason || !strings.Contains(ready.Message, test.says) || again != test.again || status.ObservedGeneration != 3 {
				t.Errorf("Ready is %+v, again in %s, generation %d; want %s saying %q, again in %s", ready, again, status.ObservedGeneration, test.reason, test.says, test.again)
			}
			w.Boundary.Status = status
			w.Now = w.Now.Add(time.Hour)
			if second, _ := credentials.DecideBoundary(w); len(second.Conditions) != 1 || second.Conditions[0] != status.Conditions[0] {
				t.Errorf("the second look says %+v, want %+v", second, status)
			}
		})
	}
}

// TestTheExamplesAreWithinWhatTheBootstrapMakes, so that who applies them is told nothing.
func TestTheExamplesAreWithinWhatTheBootstrapMakes(t *testing.T) {
	files := must.Get(filepath.Glob("../../../examples/credentials/*/boundary.yaml"))(t)
	if len(files) != 4 {
		t.Fatalf("there are the examples %q, want four", files)
	}
	for _, file := range files {
		var boundary v1alpha1.CredentialsBoundary
		must.Do(t, yaml.UnmarshalStrict(must.Get(os.ReadFile(file))(t), &boundary))
		status, _ := credentials.DecideBoundary(credentials.BoundaryWorld{
			Boundary: &boundary, Settings: credentials.Settings{Partition: "aws", PermissionsBoundary: testBound},
			PolicyInAWS: credentials.PolicyInAWS{Document: bootstrapped(t, "keys"), Exists: true}, Now: noon,
			Protected: credentials.Protected{Buckets: []string{"keys"}, Providers: []string{keptByBootstrap}},
		})
		if ready, _ := condition.Read(status.Conditions, credentials.TypeReady); !ready.IsTrue() {
			t.Errorf("%s is %+v", file, ready)
		}
	}
}
