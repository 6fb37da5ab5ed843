package issuer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

func TestFailed(t *testing.T) {
	denied := func(service, operation, message string) fault.Fault {
		return fault.Fault{Class: fault.Denied, Service: service, Operation: operation, Code: "AccessDenied", Message: message}
	}
	other := identity.Identity{}.Assuming(testRole)
	arn := issuer.ProviderARN("aws", "444455556666", testURL)
	tests := map[string]struct {
		step  issuer.Step
		fault fault.Fault
		want  []string
		says  string
	}{
		"a right to write is missing":     {issuer.PutDocument{}, denied("S3", "PutObject", ""), failing("IssuerPublished", "False AccessDenied"), "lacks s3:PutObject for bucket tabard-demo"},
		"the access block may not be set": {issuer.SetPublicAccess{}, denied("S3", "PutPublicAccessBlock", ""), failing("IssuerPublished", "False AccessDenied"), "lacks s3:PutBucketPublicAccessBlock"},
		"the account blocks public policies": {issuer.PutBucketPolicy{}, denied("S3", "PutBucketPolicy", "because public policies are prevented by the BlockPublicPolicy setting"),
			failing("IssuerPublished", "False PublicAccessBlocked"), "set publicRead to None"},
		"a bucket of this account is in use": {issuer.CreateBucket{}, fault.Fault{Class: fault.Exists, Service: "S3", Operation: "CreateBucket", Message: "in use"},
			failing("IssuerPublished", "False BucketNotYours"), "choose another name"},
		"somebody took the name of a bucket that was published in": {issuer.CreateBucket{}, fault.Fault{Class: fault.Exists, Service: "S3", Operation: "CreateBucket", Code: "BucketAlreadyExists"},
			failing("IssuerPublished", "False BucketNotYours"), "aws iam delete-open-id-connect-provider --open-id-connect-provider-arn arn:aws:iam::ACCOUNT:oidc-provider/tabard-demo"},
		"somebody wrote in between": {issuer.PutDocument{}, fault.Fault{Class: fault.Changed, Service: "S3", Operation: "PutObject"}, healthy, ""},
		"AWS has a bad minute":      {issuer.PutDocument{}, fault.Fault{Class: fault.Retry, Service: "S3", Operation: "PutObject", Code: "InternalError", Message: "attempt 7"}, failing("IssuerPublished", "Unknown AWSUnavailable"), "(S3 PutObject: InternalError)"},
		"a quota is used up": {issuer.CreateProvider{Identity: other, ARN: arn, URL: testURL}, fault.Fault{Class: fault.Invalid, Service: "IAM", Operation: "CreateOpenIDConnectProvider", Code: "LimitExceeded", Message: "Cannot exceed quota"},
			failing("ProviderReady", "False AWSRefused"), "account 444455556666: AWS refused: IAM CreateOpenIDConnectProvider: LimitExceeded: Cannot exceed quota"},
		"the provider may not be made":              {issuer.CreateProvider{Identity: other, ARN: arn, URL: testURL}, denied("IAM", "CreateOpenIDConnectProvider", ""), failing("ProviderReady", "False AccessDenied"), "is lacking on " + arn},
		"an audience may not be added":              {issuer.AddAudience{Identity: other, ARN: arn}, denied("IAM", "AddClientIDToOpenIDConnectProvider", ""), failing("ProviderReady", "False AccessDenied"), arn},
		"one may not be taken away":                 {issuer.RemoveAudience{ARN: arn}, denied("IAM", "RemoveClientIDFromOpenIDConnectProvider", ""), failing("ProviderReady", "False AccessDenied"), "account " + testAccount},
		"an unwanted one may not go":                {issuer.DeleteProvider{ARN: arn}, denied("IAM", "DeleteOpenIDConnectProvider", ""), failing("ProviderReady", "False AccessDenied"), ""},
		"a step inside the cluster is no condition": {issuer.Record{}, denied("", "", ""), healthy, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			w := m.Observe()
			plan := issuer.Decide(w)
			status := issuer.Failed(plan, test.step, test.fault, w)
			if diff := cmp.Diff(test.want, lines(status.Conditions)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			text := messages(status)
			if !strings.Contains(text, test.says) || strings.Contains(text, "attempt") {
				t.Errorf("messages are\n%s\nwant one to say %q, and no count", text, test.says)
			}
		})
	}
}

func TestFailedDeletion(t *testing.T) {
	m := newModel()
	m.settle(t)
	m.stored.DeletionTimestamp = &metav1.Time{Time: m.now}
	w := m.Observe()
	plan := issuer.Decide(w)
	tests := map[string]struct {
		step  issuer.Step
		class fault.Class
		want  string
	}{
		"a provider that may not be deleted": {issuer.DeleteProvider{}, fault.Denied, "True AccessDenied"},
		"a document that may not be deleted": {issuer.DeleteDocument{}, fault.Denied, "True AccessDenied"},
		"throttling is no block":             {issuer.DeleteBucket{}, fault.Throttled, "Unknown AWSUnavailable"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status := issuer.Failed(plan, test.step, fault.Fault{Class: test.class, Service: "S3", Operation: "x"}, w)
			reason := strings.Fields(test.want)[1]
			if diff := cmp.Diff(going(reason, test.want), lines(status.Conditions)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAFailingStepDoesNotFlap: the same failure twice leaves the same status,
// and no Record shows another one in between.
func TestAFailingStepDoesNotFlap(t *testing.T) {
	m := newModel()
	m.settle(t)
	m.bucket.policy = ""
	failure := fault.Fault{Class: fault.Denied, Service: "S3", Operation: "PutBucketPolicy"}
	attempt := func() []string {
		w := m.Observe()
		plan := issuer.Decide(w)
		m.stored.Status = issuer.Failed(plan, plan.Steps[len(plan.Steps)-1], failure, w)
		m.now = m.now.Add(time.Minute)
		return kinds(plan.Steps)
	}
	attempt()
	before := m.stored.Status.DeepCopy()
	if diff := cmp.Diff([]string{"PutBucketPolicy"}, attempt()); diff != "" {
		t.Errorf("steps of the second attempt (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(*before, m.stored.Status); diff != "" {
		t.Errorf("status changes between attempts (-before +after):\n%s", diff)
	}
}

func TestTransitionTimesMoveOnFlipsOnly(t *testing.T) {
	m := newModel()
	m.settle(t)
	start := m.stored.Status.Conditions[3].LastTransitionTime.Time
	tests := []struct {
		after  time.Duration
		change func(*issuer.Token)
		reason string
		since  time.Duration
	}{
		{time.Hour, func(*issuer.Token) {}, "Verified", 0},
		{2 * time.Hour, func(k *issuer.Token) { k.PublicError = "another key" }, "TokenNotVerified", 2 * time.Hour},
		{3 * time.Hour, func(k *issuer.Token) { k.Issuer = "other" }, "IssuerMismatch", 2 * time.Hour},
		{4 * time.Hour, func(*issuer.Token) {}, "Verified", 4 * time.Hour},
	}
	for _, test := range tests {
		m.now = start.Add(test.after)
		w := m.Observe()
		test.change(&w.Cluster.APIServers[0].Token)
		m.stored.Status = issuer.Decide(w).Status
		for _, c := range m.stored.Status.Conditions {
			want := start
			if c.Type == issuer.TypeReady {
				want = start.Add(test.since)
			}
			if !c.LastTransitionTime.Time.Equal(want) || c.ObservedGeneration != 1 {
				t.Errorf("after %s %s is so since %s, generation %d, want since %s", test.after, c.Type, c.LastTransitionTime.Time, c.ObservedGeneration, want)
			}
			if c.Type == issuer.TypeReady && c.Reason != test.reason {
				t.Errorf("after %s Ready has the reason %s, want %s", test.after, c.Reason, test.reason)
			}
		}
	}
}

// TestFailedRepair: what was published and is gone is the cause, and comes before why
// the repair failed.
func TestFailedRepair(t *testing.T) {
	denied := func(service, operation string) fault.Fault {
		return fault.Fault{Class: fault.Denied, Service: service, Operation: operation, Code: "AccessDenied"}
	}
	busy := fault.Fault{Class: fault.Retry, Service: "S3", Operation: "CreateBucket", Code: "OperationAborted"}
	full := fault.Fault{Class: fault.Invalid, Service: "S3", Operation: "CreateBucket", Code: "TooManyBuckets", Message: "too many"}
	noBucket := func(_ *model, w *issuer.World) {
		w.Bucket, w.Public = issuer.Bucket{}, issuer.Public{Keys: issuer.Fetch{Status: 404}, Discovery: issuer.Fetch{Status: 404}}
	}
	noDocument := func(_ *model, w *issuer.World) { w.Bucket.Keys = issuer.Document{} }
	closed := func(_ *model, w *issuer.World) {
		w.Bucket.Policy, w.Public = nil, issuer.Public{Keys: issuer.Fetch{Status: 403}, Discovery: issuer.Fetch{Status: 403}}
	}
	never := func(_ *model, w *issuer.World) {
		noBucket(nil, w)
		for i := range w.Issuer.Status.Keys {
			w.Issuer.Status.Keys[i].ReadableSince = nil
		}
	}
	noProvider := func(_ *model, w *issuer.World) { w.Providers[0].Exists, w.Providers[0].Owner = false, "" }
	arn := issuer.ProviderARN("aws", testAccount, testURL)
	tests := map[string]struct {
		change func(*model, *issuer.World)
		step   issuer.Step
		fault  fault.Fault
		kind   string
		want   string
		// says are texts of its message, in this order.
		says []string
	}{
		"the bucket, which may not be made": {noBucket, issuer.CreateBucket{}, denied("S3", "CreateBucket"), "IssuerPublished", "False BucketMissing",
			[]string{"there is no bucket tabard-demo in account " + testAccount + " any more", "act at once", "can become every role that trusts " + testURL, "could not be made anew", "lacks s3:CreateBucket", "tabard issuer bootstrap -f FILE"}},
		"the bucket, which cannot be made for a while": {noBucket, issuer.CreateBucket{}, busy, "IssuerPublished", "False BucketMissing", []string{"there is no bucket", "act at once", "OperationAborted"}},
		"the bucket, and a quota is used up":           {noBucket, issuer.CreateBucket{}, full, "IssuerPublished", "False BucketMissing", []string{"there is no bucket", "act at once", "TooManyBuckets"}},
		"the bucket, and another account has its name": {noBucket, issuer.CreateBucket{}, fault.Fault{Class: fault.Exists, Code: "BucketAlreadyExists"}, "IssuerPublished", "False BucketNotYours", []string{"was deleted, and another account"}},
		"a bucket that was never published in":         {never, issuer.CreateBucket{}, denied("S3", "CreateBucket"), "IssuerPublished", "False AccessDenied", []string{"lacks s3:CreateBucket for bucket"}},
		"a document that may not be written": {noDocument, issuer.PutDocument{Key: "keys.json"}, denied("S3", "PutObject"), "IssuerPublished", "False DocumentsMissing",
			[]string{"keys.json is not in bucket tabard-demo any more", "act at once", "lacks s3:PutObject"}},
		"another document that is there": {noDocument, issuer.PutDocument{Key: ".well-known/openid-configuration"}, denied("S3", "PutObject"), "IssuerPublished", "False AccessDenied", []string{"lacks s3:PutObject"}},
		"the right of everybody to read": {closed, issuer.PutBucketPolicy{}, denied("S3", "PutBucketPolicy"), "IssuerPublished", "False NotReadable",
			[]string{"keys.json answers 403, and did not before", "act at once", "lacks s3:PutBucketPolicy"}},
		"the same, by the account": {closed, issuer.PutBucketPolicy{}, fault.Fault{Class: fault.Denied, Service: "S3", Operation: "PutBucketPolicy", Message: "BlockPublicPolicy"}, "IssuerPublished", "False PublicAccessBlocked", []string{"forbids a public policy"}},
		"a bucket that a CDN alone reads": {func(m *model, w *issuer.World) {
			closed(m, w)
			w.Issuer.Spec.Publication.S3.PublicRead = v1alpha1.PublicReadNone
		}, issuer.PutBucketPolicy{}, denied("S3", "PutBucketPolicy"), "IssuerPublished", "False AccessDenied", []string{"lacks s3:PutBucketPolicy"}},
		"the provider, which may not be made": {noProvider, issuer.CreateProvider{ARN: arn, URL: testURL}, denied("IAM", "CreateOpenIDConnectProvider"), "ProviderReady", "False ProviderNotRegistered",
			[]string{"account " + testAccount + ": there is no " + arn, "AWS refuses the cluster's tokens", "iam:CreateOpenIDConnectProvider is lacking", "tabard issuer bootstrap -f FILE"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			w := m.Observe()
			test.change(m, &w)
			status := issuer.Failed(issuer.Decide(w), test.step, test.fault, w)
			for _, c := range status.Conditions {
				if c.Type != test.kind {
					continue
				}
				if got := string(c.Status) + " " + c.Reason; got != test.want {
					t.Errorf("%s is %s, want %s", c.Type, got, test.want)
				}
				rest := c.Message
				for _, text := range test.says {
					_, after, found := strings.Cut(rest, text)
					if rest = after; !found {
						t.Fatalf("the message is\n%s\nwant it to say %q, in the order of %q", c.Message, text, test.says)
					}
				}
			}
		})
	}
}
