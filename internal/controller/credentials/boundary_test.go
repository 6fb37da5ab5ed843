package credentials_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/controller/credentials"
	"github.com/tabard-dev/tabard/internal/core/condition"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestABoundarySaysWhetherItCanBeUsed: in the fixture's AWS the policy lets roles write to
// all buckets, the issuer's too.
func TestABoundarySaysWhetherItCanBeUsed(t *testing.T) {
	f := newFixture(t)
	var ahead time.Duration
	f.options = func(o *credentials.Options) { o.Now = func() time.Time { return time.Now().Add(ahead) } }
	f.start(t)
	judge := credentials.NewBoundaries(controller.Kit{
		Client: f.as, Live: f.as, Events: f.told, Owner: "tabard.credentialsboundary",
		Metrics: controller.NewMetrics(prometheus.NewRegistry(), credentials.BoundaryName),
	}, f.controller)
	boundary := &v1alpha1.CredentialsBoundary{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}}
	says := func(reason condition.Reason, text string) {
		t.Helper()
		must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(boundary), boundary))
		must.Get(judge.Reconcile(t.Context(), boundary))(t)
		must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(boundary), boundary))
		ready, _ := condition.Read(boundary.Status.Conditions, core.TypeReady)
		if ready.Reason != reason || !strings.Contains(ready.Message, text) || boundary.Status.ObservedGeneration != boundary.Generation {
			t.Errorf("the boundary says %+v of generation %d, want %s saying %q", ready, boundary.Status.ObservedGeneration, reason, text)
		}
	}
	says(core.ReasonIssuerNotKept, "the bucket keys of an issuer")
	before := boundary.ResourceVersion
	says(core.ReasonIssuerNotKept, "the bucket keys of an issuer")
	if boundary.ResourceVersion != before {
		t.Error("the same look wrote the status again")
	}
	read := func() (calls int) {
		for _, entry := range f.aws.Admin().Journal() {
			if entry.Operation == "GetPolicy" {
				calls++
			}
		}
		return calls
	}
	if got := read(); got != 1 {
		t.Errorf("two looks read the policy %d times, want once", got)
	}
	ahead += 2 * time.Minute
	f.aws.Must(f.iam.CreatePolicyVersion(t.Context(), &iam.CreatePolicyVersionInput{
		PolicyArn: aws.String(testPolicyARN), PolicyDocument: aws.String(document("s3:GetObject", "arn:aws:s3:::team/*")), SetAsDefault: true,
	}))
	says(core.ReasonReady, testPolicyARN+" in AWS allows all of it")
	f.Merge(boundary, `{"spec":{"aws":{"permissionsBoundary":"arn:aws:iam::`+testAccount+`:policy/nowhere"}}}`)
	says(core.ReasonNoPermissionsBoundary, "there is no policy arn:aws:iam::"+testAccount+":policy/nowhere")
	f.Merge(boundary, `{"spec":{"aws":{"ceiling":"{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"*\",\"Resource\":\"*\"}]}"}}}`)
	says(core.ReasonCeilingTooWide, "statement 1")
	if told := f.heard(); strings.Count(told, string(core.ReasonIssuerNotKept)) != 1 {
		t.Errorf("told %q, want once that the bucket is not kept", told)
	}
}
