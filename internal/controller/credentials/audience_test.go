package credentials_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// lackOpenShift leaves the provider in AWS with the audience that "tabard issuer init" names on
// Kubernetes, made by Tabard or by somebody else.
func (f *fixture) lackOpenShift(byTabard bool) (arn string) {
	f.Helper()
	arn = issuer.ProviderARN("aws", testAccount, f.issuer)
	f.aws.Must(f.iam.RemoveClientIDFromOpenIDConnectProvider(f.Context(), &iam.RemoveClientIDFromOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn, ClientID: aws.String("openshift")}))
	if byTabard {
		f.aws.Must(f.iam.TagOpenIDConnectProvider(f.Context(), &iam.TagOpenIDConnectProviderInput{
			OpenIDConnectProviderArn: &arn, Tags: []types.Tag{{Key: aws.String(issuer.OwnerTag), Value: aws.String(f.issuer)}},
		}))
	}
	return arn
}

// TestTheCommandOfAudiencesServedAddsTheAudience: kubectl runs it as it stands in the condition.
// The request is ready before and after, and is woken once AWS knows what the OIDCIssuer names.
func TestTheCommandOfAudiencesServedAddsTheAudience(t *testing.T) {
	f := newFixture(t)
	arn := f.lackOpenShift(true)
	request := f.forSecret("asks", "creds", "AWSProviderSpec", readTeam)
	request.Spec.ServiceAccountNames = []string{"operator"}
	f.Make(request)
	told := f.until(request, has(core.TypeAudiencesServed, metav1.ConditionFalse, string(core.ReasonAudienceMissing)))
	f.until(request, isReady)
	if f.secret("creds") == nil {
		t.Error("there is no Secret, though a missing audience stops nothing")
	}
	_, command, is := strings.Cut(messageOf(told, core.TypeAudiencesServed), ": add it: ")
	if !is {
		t.Fatalf("the condition has no command: %s", messageOf(told, core.TypeAudiencesServed))
	}
	f.drain()
	f.Shell(command)
	var stored v1alpha1.OIDCIssuer
	must.Do(t, f.Get(t.Context(), client.ObjectKey{Name: "cluster"}, &stored))
	if got := stored.Spec.Providers[0].Audiences; !slices.Equal(got, []string{"sts.amazonaws.com", "openshift"}) {
		t.Fatalf("after %s the OIDCIssuer has the audiences %s", command, got)
	}
	f.awaitWake(request)
	f.until(request, has(core.TypeAudiencesServed, metav1.ConditionFalse, string(core.ReasonAudiencePending)))
	f.drain()
	// The controller "issuer" does the rest: see internal/controller/issuer.
	f.aws.Must(f.iam.AddClientIDToOpenIDConnectProvider(t.Context(), &iam.AddClientIDToOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn, ClientID: aws.String("openshift")}))
	stored.Status.Conditions = []metav1.Condition{{
		Type: issuer.TypeProviderReady, Status: metav1.ConditionTrue, Reason: string(issuer.ReasonRegistered), ObservedGeneration: stored.Generation, LastTransitionTime: metav1.Now(),
	}}
	must.Do(t, f.Status().Update(t.Context(), &stored))
	f.awaitWake(request)
	grant := f.until(request, has(core.TypeAudiencesServed, metav1.ConditionTrue, ""))
	if err := isReady(grant); err != nil {
		t.Error(err)
	}
	if trust := aws.ToString(f.role(grant.Status.Role.Name).Role.AssumeRolePolicyDocument); !strings.Contains(trust, "openshift") {
		t.Errorf("the trust policy is %s, want the audience in it", trust)
	}
}

// TestAProviderOfSomebodyElsesIsChangedInAWS, and the OIDCIssuer is not: the controller "issuer"
// leaves such a provider alone.
func TestAProviderOfSomebodyElsesIsChangedInAWS(t *testing.T) {
	f := newFixture(t)
	arn := f.lackOpenShift(false)
	request := f.forSecret("asks", "creds", "AWSProviderSpec", `"stsIAMRoleARN":"`+givenRole+`"`)
	f.Make(request)
	told := f.until(request, has(core.TypeAudiencesServed, metav1.ConditionFalse, string(core.ReasonAudienceMissing)))
	if want := ": add it: aws iam add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn " + arn + " --client-id openshift"; !strings.HasSuffix(messageOf(told, core.TypeAudiencesServed), want) {
		t.Errorf("the condition says %q, want %q at its end", messageOf(told, core.TypeAudiencesServed), want)
	}
}
