package issuer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// Conditions as lines, in the order in which they are stored.
const (
	publishedTrue = "IssuerPublished True Published"
	keysTrue      = "KeysInSync True InSync"
	providerTrue  = "ProviderReady True Registered"
	readyTrue     = "Ready True Verified"
)

var healthy = []string{publishedTrue, keysTrue, providerTrue, readyTrue}

// lines are conditions without their messages.
func lines(conditions []metav1.Condition) (out []string) {
	for _, c := range conditions {
		out = append(out, fmt.Sprintf("%s %s %s", c.Type, c.Status, c.Reason))
	}
	return out
}

// messages are all messages of a status.
func messages(status v1alpha1.OIDCIssuerStatus) string {
	var out []string
	for _, c := range status.Conditions {
		out = append(out, c.Message)
	}
	return strings.Join(out, "\n")
}

// decision is a row on one decision.
type decision struct {
	// change makes the healthy world of the model into the row's.
	change     func(m *model, w *issuer.World)
	steps      []string
	conditions []string
	// says is a text that some message must hold.
	says string
}

func runDecisions(t *testing.T, tests map[string]decision) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			w := m.Observe()
			test.change(m, &w)
			plan := issuer.Decide(w)
			if diff := cmp.Diff(test.steps, kinds(plan.Steps)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.conditions, lines(plan.Status.Conditions)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if text := messages(plan.Status); !strings.Contains(text, test.says) {
				t.Errorf("messages are\n%s\nwant one to say %q", text, test.says)
			}
			wantAgain := issuer.LookAgain
			if len(plan.Steps) > 0 {
				wantAgain = 2 * time.Second
			}
			if plan.Again != wantAgain {
				t.Errorf("looks again after %s, want %s", plan.Again, wantAgain)
			}
		})
	}
}

// failing is the conditions when one fails and Ready repeats it.
func failing(kind, rest string) []string {
	out := []string{publishedTrue, keysTrue, providerTrue, "Ready " + rest}
	for i, line := range out[:3] {
		if strings.HasPrefix(line, kind+" ") {
			out[i] = kind + " " + rest
		}
	}
	return out
}

func spec(change func(*v1alpha1.OIDCIssuerSpec)) func(*model, *issuer.World) {
	return func(_ *model, w *issuer.World) { change(&w.Issuer.Spec) }
}

func TestDecideOnTheObject(t *testing.T) {
	refused := func(reason string) []string {
		return []string{"IssuerPublished False " + reason, "KeysInSync Unknown NotReached", "ProviderReady Unknown NotReached", "Ready False " + reason}
	}
	rival := func(change func(*v1alpha1.OIDCIssuer)) func(*model, *issuer.World) {
		return func(_ *model, w *issuer.World) {
			other := testIssuer()
			other.Name = "other"
			other.CreationTimestamp = metav1.NewTime(testTime.Add(-2 * time.Hour))
			change(other)
			w.Rivals = []v1alpha1.OIDCIssuer{*other}
		}
	}
	runDecisions(t, map[string]decision{
		"a healthy world needs nothing": {func(*model, *issuer.World) {}, nil, healthy, "verifies against"},
		"a spec that cannot be used does nothing outside": {spec(func(s *v1alpha1.OIDCIssuerSpec) { s.URL += "/" }),
			nil, refused("InvalidSpec"), "no slash at the end"},
		"an older issuer keeps its URL": {rival(func(o *v1alpha1.OIDCIssuer) { o.Spec.Publication.S3.Bucket = "other" }),
			nil, refused("DuplicateURL"), "OIDCIssuer other has the URL"},
		"an older issuer keeps its place in a bucket": {rival(func(o *v1alpha1.OIDCIssuer) { o.Spec.URL = "https://other.example.org" }),
			nil, refused("DuplicateLocation"), "OIDCIssuer other publishes to bucket tabard-demo"},
		"of the same age, the first by name is first": {rival(func(o *v1alpha1.OIDCIssuer) {
			o.Name, o.CreationTimestamp = "a", metav1.NewTime(testTime.Add(-time.Hour))
		}), nil, refused("DuplicateURL"), "OIDCIssuer a has"},
		"a younger rival changes nothing": {rival(func(o *v1alpha1.OIDCIssuer) { o.CreationTimestamp = metav1.NewTime(testTime) }), nil, healthy, ""},
		"another prefix of the bucket is no rival": {rival(func(o *v1alpha1.OIDCIssuer) {
			o.Spec.URL, o.Spec.Publication.S3.Prefix = "https://other.example.org", "other"
		}), nil, healthy, ""},
		"the finalizer comes back before anything else": {func(_ *model, w *issuer.World) { w.Issuer.Finalizers = nil },
			[]string{"HoldFinalizer", "Record"}, healthy, ""},
	})
}

func TestDecideOnTheFirstPass(t *testing.T) {
	m := newModel()
	plan := issuer.Decide(m.Observe())
	want := []string{"HoldFinalizer", "Record", "CreateBucket", "PutDocument keys.json", "PutDocument .well-known/openid-configuration", "SetPublicAccess", "PutBucketPolicy"}
	if diff := cmp.Diff(want, kinds(plan.Steps)); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	conditions := []string{"IssuerPublished False Publishing", "KeysInSync False KeyNotPublished", "ProviderReady Unknown WaitingForPublication", "Ready False Publishing"}
	if diff := cmp.Diff(conditions, lines(plan.Status.Conditions)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if plan.Status.Publication.Bucket != testBucket || len(plan.Status.Keys) != 1 {
		t.Errorf("status does not remember bucket and key: %+v", plan.Status)
	}
	m.pass(t)
	plan = issuer.Decide(m.Observe())
	if diff := cmp.Diff([]string{"Record", "CreateProvider", "CreateProvider"}, kinds(plan.Steps)); diff != "" {
		t.Errorf("steps once published (-want +got):\n%s", diff)
	}
	wantProviders := []v1alpha1.ProviderStatus{
		{AccountID: testAccount, ARN: issuer.ProviderARN("aws", testAccount, testURL)},
		{AccountID: "444455556666", ARN: issuer.ProviderARN("aws", "444455556666", testURL), AssumeRoleARN: testRole},
	}
	if diff := cmp.Diff(wantProviders, plan.Status.Providers); diff != "" {
		t.Errorf("providers are remembered before they are made (-want +got):\n%s", diff)
	}
	if plan.Status.Publication.ObservedAnonymouslyAt == nil || len(plan.Status.Publication.Digest) != 64 {
		t.Errorf("publication is %+v, want a digest and when it was seen", plan.Status.Publication)
	}
}

func TestDecideOnTheToken(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a token of another issuer is named with both": {func(_ *model, w *issuer.World) { w.Cluster.APIServers[0].Token.Issuer = testURL + "/" },
			nil, failing("", "False IssuerMismatch"), `name the issuer "` + testURL + `/", spec.url is "` + testURL + `"`},
		"without a token nothing is proved": {func(_ *model, w *issuer.World) { w.Cluster.APIServers[0].Token = issuer.Token{Error: "forbidden"} },
			nil, failing("", "Unknown TokenUnavailable"), "serviceaccounts/token"},
		"a token that does not verify": {func(_ *model, w *issuer.World) { w.Cluster.APIServers[0].Token.PublicError = "the clock is wrong" },
			nil, failing("", "False TokenNotVerified"), "the clock is wrong"},
	})
}

func TestDecideOnTheBucket(t *testing.T) {
	broken := func(f fault.Fault) func(*model, *issuer.World) {
		return func(_ *model, w *issuer.World) { w.Bucket = issuer.Bucket{Fault: &f} }
	}
	gone := func(create bool) func(*model, *issuer.World) {
		return func(_ *model, w *issuer.World) {
			w.Bucket, w.Public = issuer.Bucket{}, issuer.Public{Keys: issuer.Fetch{Status: 404}, Discovery: issuer.Fetch{Status: 404}}
			w.Issuer.Spec.Publication.S3.Create = create
		}
	}
	lost := func(reason string) []string {
		return []string{"IssuerPublished False " + reason, "KeysInSync False KeyNotPublished", providerTrue, "Ready False " + reason}
	}
	rebuilt := []string{"CreateBucket", "PutDocument keys.json", "PutDocument .well-known/openid-configuration", "SetPublicAccess", "PutBucketPolicy"}
	runDecisions(t, map[string]decision{
		"a right is missing": {broken(fault.Fault{Class: fault.Denied, Service: "S3", Operation: "GetPublicAccessBlock"}),
			nil, failing("IssuerPublished", "False AccessDenied"), "lacks s3:GetBucketPublicAccessBlock for bucket tabard-demo"},
		"a bucket that may not even be looked at": {broken(fault.Fault{Class: fault.Denied, Service: "S3", Operation: "HeadBucket"}),
			nil, failing("IssuerPublished", "False AccessDenied"), "or the bucket belongs to another account"},
		"somebody else's bucket": {broken(fault.Fault{Class: fault.Exists, Service: "S3", Operation: "HeadBucket"}),
			nil, failing("IssuerPublished", "False BucketNotYours"), "choose another name"},
		"AWS asks for less": {broken(fault.Fault{Class: fault.Throttled, Service: "S3", Operation: "HeadBucket", Code: "SlowDown"}),
			nil, failing("IssuerPublished", "Unknown AWSUnavailable"), "S3 HeadBucket: SlowDown"},
		"the operator's clock is wrong": {broken(fault.Fault{Class: fault.Denied, Service: "S3", Operation: "HeadBucket", Code: "RequestTimeTooSkewed"}),
			nil, failing("IssuerPublished", "False NotAuthenticated"), "set it by NTP"},
		"a bucket in another region": {func(_ *model, w *issuer.World) { w.Bucket.Region = "us-east-1" },
			nil, failing("IssuerPublished", "False WrongRegion"), "is in us-east-1, the spec says eu-central-1"},
		"a bucket of another issuer": {func(_ *model, w *issuer.World) { w.Bucket.Owner = "https://other.example.org" },
			nil, failing("IssuerPublished", "False BucketOfAnotherIssuer"), "https://other.example.org"},
		"a missing bucket that is not to be made": {gone(false), nil, lost("BucketMissing"), "there is no bucket tabard-demo in account " + testAccount},
		"a missing bucket that is to be made":     {gone(true), append([]string{"Record"}, rebuilt...), lost("Publishing"), ""},
		"another bucket in the spec than in status": {spec(func(s *v1alpha1.OIDCIssuerSpec) { s.Publication.S3.Bucket = "moved" }),
			nil, failing("IssuerPublished", "False BucketChanged"), "set tabard-demo again"},
	})
}

func TestDecideOnOpeningTheBucket(t *testing.T) {
	closed := func(_ *model, w *issuer.World) {
		w.Bucket.Policy = nil
		w.Public.Keys, w.Public.Discovery = issuer.Fetch{Status: 403}, issuer.Fetch{Status: 403}
	}
	theirs := func(m *model, w *issuer.World) {
		closed(m, w)
		w.Bucket.Owner = ""
		w.Issuer.Status.Publication.Created = false
	}
	runDecisions(t, map[string]decision{
		"a bucket of ours gets its statement": {closed, []string{"PutBucketPolicy"}, failing("IssuerPublished", "False Publishing"), "is being opened"},
		"a bucket of ours that blocks policies is opened first": {func(m *model, w *issuer.World) {
			closed(m, w)
			w.Bucket.Access.RestrictPublicBuckets = true
		}, []string{"SetPublicAccess", "PutBucketPolicy"}, failing("IssuerPublished", "False Publishing"), ""},
		"a bucket of others is not opened, the statement is printed": {theirs, nil,
			failing("IssuerPublished", "False PublicReadMissing"), `"arn:aws:s3:::tabard-demo/keys.json"`},
		"a bucket of others that a CDN reads": {func(m *model, w *issuer.World) {
			theirs(m, w)
			w.Issuer.Spec.Publication.S3.PublicRead = v1alpha1.PublicReadNone
		}, nil, failing("IssuerPublished", "False NotReadable"), "let your CDN read"},
		"a bucket of ours is closed when a CDN shall read it": {spec(func(s *v1alpha1.OIDCIssuerSpec) { s.Publication.S3.PublicRead = v1alpha1.PublicReadNone }),
			[]string{"PutBucketPolicy"}, healthy, ""},
		"a policy that cannot be understood is left alone": {func(m *model, w *issuer.World) {
			closed(m, w)
			w.Bucket.Policy = []byte("{")
		}, nil, failing("IssuerPublished", "False BucketPolicyUnreadable"), "repair the policy of bucket tabard-demo"},
		"documents are mended in a bucket of others": {func(m *model, w *issuer.World) {
			theirs(m, w)
			w.Bucket.Discovery = issuer.Document{}
		}, []string{"PutDocument .well-known/openid-configuration"}, failing("IssuerPublished", "False Publishing"), ""},
	})
}

func TestDecideOnWhatAnybodySees(t *testing.T) {
	see := func(f issuer.Fetch) func(*model, *issuer.World) {
		return func(_ *model, w *issuer.World) { w.Public.Discovery = f }
	}
	runDecisions(t, map[string]decision{
		"no answer is unknown, not False": {see(issuer.Fetch{Error: "dial tcp: lookup failed"}),
			nil, failing("IssuerPublished", "Unknown NotReachableFromHere"), "lookup failed"},
		"what changes in an error is left out": {see(issuer.Fetch{Error: "read tcp 10.0.0.7:50123->10.9.9.9:443: reset"}),
			nil, failing("IssuerPublished", "Unknown NotReachableFromHere"), "(read tcp 10.9.9.9:443: reset)"},
		"a server's error is unknown": {see(issuer.Fetch{Status: 503}),
			nil, failing("IssuerPublished", "Unknown NotReachableFromHere"), "answered 503"},
		"a document that is not there": {see(issuer.Fetch{Status: 404}),
			nil, failing("IssuerPublished", "False NotReadable"), "answered 404, expected 200"},
		"somebody else's document": {see(issuer.Fetch{Status: 200, Body: []byte(`{"issuer":"https://other.example.org"}`)}),
			nil, failing("IssuerPublished", "False DocumentsDiffer"), "who else publishes there"},
		"a redirect is none of the documents": {see(issuer.Fetch{Status: 307, Redirect: "http://cdn.example.org/" + strings.Repeat("a", 5000)}),
			nil, failing("IssuerPublished", "False Redirected"), `redirects to "http://cdn.example.org/aaa`},
		"an older version of ours": {func(_ *model, w *issuer.World) { w.Public.Keys.Body = keySet(0, 1) },
			nil, failing("IssuerPublished", "False NotYetVisible"), "wait for the cache"},
	})
}

func TestDecideOnTheCaller(t *testing.T) {
	nobody := func(public int) func(*model, *issuer.World) {
		return func(_ *model, w *issuer.World) {
			w.Caller = issuer.Caller{Fault: &fault.Fault{Class: fault.Unauthenticated, Service: "STS", Operation: "AssumeRoleWithWebIdentity", Code: "InvalidIdentityToken"}}
			w.Bucket, w.Providers = issuer.Bucket{}, nil
			if public != 200 {
				w.Public = issuer.Public{Keys: issuer.Fetch{Status: public}, Discovery: issuer.Fetch{Status: public}}
			}
		}
	}
	runDecisions(t, map[string]decision{
		"documents are gone, so that the operator cannot log in": {nobody(404), nil,
			[]string{"IssuerPublished False NotAuthenticated", "KeysInSync False KeyNotPublished", "ProviderReady False NotAuthenticated", "Ready False NotAuthenticated"},
			"keys.json answers 404: without the document AWS verifies no token of this cluster, and does not accept the operator's (STS AssumeRoleWithWebIdentity: InvalidIdentityToken); act at once: " +
				"run tabard issuer bootstrap -f FILE with an AWS session of your own, it publishes the documents again"},
		"documents are fine, the role is not": {nobody(200), nil,
			[]string{"IssuerPublished False NotAuthenticated", keysTrue, "ProviderReady False NotAuthenticated", "Ready False NotAuthenticated"}, "repairs both"},
		"AWS is down": {func(m *model, w *issuer.World) {
			nobody(200)(m, w)
			w.Caller.Fault.Class = fault.Retry
		}, nil, []string{"IssuerPublished Unknown AWSUnavailable", keysTrue, "ProviderReady Unknown AWSUnavailable", "Ready Unknown AWSUnavailable"}, "by itself"},
	})
}
