package credentials_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// hidden is a cluster that does not show a team what it is.
var hidden = platform.Facts{Operator: platform.Operator{Live: true, Unseen: true, Why: "a Cloud Credential Operator is live: Deployment x/y cannot be read"}}

// right is what the commands say is missing.
const right = "list credentialsgrants.identity.tabard.dev in the cluster"

// teams makes a bed that of a team, which may read the requests of its namespace alone.
func (b *bed) teams() *bed {
	b.client = interceptor.NewClient(b.client.(client.WithWatch), interceptor.Funcs{ //nolint:forcetypeassert // the fake client is one
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			asked := (&client.ListOptions{}).ApplyOptions(options)
			if _, is := list.(*cloudv1.CredentialsRequestList); is && asked.Namespace != "" {
				return c.List(ctx, list, options...)
			}
			resource := schema.GroupResource{Group: "identity.tabard.dev", Resource: "credentialsgrants"}
			if _, is := list.(*v1alpha1.CredentialsGrantList); !is {
				resource = cloudv1.GroupVersion.WithResource("credentialsrequests").GroupResource()
			}
			return apierrors.NewForbidden(resource, "", nil)
		},
	})
	return b
}

// synced gives a request the status that Tabard writes: what is True, if anything is.
func synced(provisioned bool, kind cloudv1.ConditionType, message string) func(*cloudv1.CredentialsRequest) {
	return func(r *cloudv1.CredentialsRequest) {
		r.Status.Provisioned, r.Status.LastSyncGeneration = provisioned, 1
		if kind != "" {
			r.Status.Conditions = []cloudv1.CredentialsRequestCondition{
				{Type: cloudv1.MissingTargetNamespace, Status: metav1.ConditionFalse, Reason: "NamespaceExists"},
				{Type: kind, Status: metav1.ConditionTrue, Reason: string(kind), Message: message},
			}
		}
	}
}

// made gives a request the finalizer of Tabard, and a role that was made.
func made(r *cloudv1.CredentialsRequest) {
	r.Finalizers = append(r.Finalizers, core.Finalizer)
	r.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderStatus","user":"prod-` + r.Name + `","policy":"p"}`)}
}

// ofTeam are requests in all states that a request's own status tells apart.
func ofTeam() []client.Object {
	const failed = "failed to grant creds: Accepted: s3:* is beyond the ceiling"
	deleting := func(r *cloudv1.CredentialsRequest) { r.DeletionTimestamp = &metav1.Time{Time: now} }
	return []client.Object{
		request("ready", synced(true, "", ""), made),
		request("refused", synced(false, cloudv1.CredentialsProvisionFailure, failed)),
		request("failing", synced(false, cloudv1.InsufficientCloudCredentials, "AWS refuses it"), made),
		request("making", synced(false, "", ""), made),
		request("changed", synced(true, "", ""), made, func(r *cloudv1.CredentialsRequest) { r.Generation = 2 }),
		request("new"),
		request("former", synced(true, "", ""), ofCCO, toSecret),
		request("adopted", synced(true, "", ""), ofCCO, toSecret, made),
		request("cloudless", synced(false, cloudv1.Ignored, "another cloud's")),
		request("stuck", synced(false, cloudv1.CredentialsDeprovisionFailure, "the role is not Tabard's"), made, deleting),
		request("named", provider(cloudv1.AWSProviderSpec{STSIAMRoleARN: reportsRole}), synced(true, "", ""), made),
	}
}

func TestATeamSeesItsRequestsByTheirOwnStatus(t *testing.T) {
	for file, facts := range map[string]platform.Facts{"list-team.txt": plainKubernetes, "list-team-hidden.txt": hidden, "list-team-beside.txt": beside} {
		code, out, said := newBed(t, facts, ofTeam()...).teams().run("list", "-o", "wide")
		if code != command.Found || strings.Count(said, "\n") != 1 || !strings.Contains(said, right) {
			t.Errorf("%s: exit code %d, said %q, want one line that names the right to %s", file, code, said, right)
		}
		golden(t, file, out)
	}
}

func TestAProgramOfATeamGetsWhatIsKnown(t *testing.T) {
	code, out, said := newBed(t, hidden, ofTeam()...).teams().run("list", "-o", "json")
	var list command.List[map[string]any]
	must.Do(t, json.Unmarshal([]byte(out), &list))
	if code != command.Found || len(list.Items) != len(ofTeam()) || !strings.Contains(said, right) {
		t.Errorf("exit code %d, said %q: %s", code, said, out)
	}
	code, out, said = newBed(t, hidden, ofTeam()...).teams().run("describe", "failing", "-o", "json")
	var got struct {
		State, Reason, Message, Role, Actor string
		Conditions                          []metav1.Condition
	}
	must.Do(t, json.Unmarshal([]byte(out), &got))
	if code != command.Found || got.State != "Waiting" || got.Reason != "InsufficientCloudCreds" || got.Message != "AWS refuses it" || got.Role != "prod-failing" || got.Actor != "Tabard" {
		t.Errorf("exit code %d: %s", code, out)
	}
	if len(got.Conditions) != 2 || got.Conditions[1].Type != got.Reason || got.Conditions[1].Message != got.Message || !strings.Contains(said, right) {
		t.Errorf("the conditions are %+v, said %q", got.Conditions, said)
	}
}

func TestATeamIsToldWhatItsRequestWaitsFor(t *testing.T) {
	for file, name := range map[string]string{"describe-team-ready.txt": "ready", "describe-team-refused.txt": "refused"} {
		code, out, said := newBed(t, hidden, ofTeam()...).teams().run("describe", name)
		if (code == 0) != (name == "ready") || strings.Count(said, "\n") != 1 || !strings.Contains(said, right) {
			t.Errorf("%s: exit code %d, said %q", name, code, said)
		}
		golden(t, file, out)
	}
}

func TestATeamIsToldToNameItsNamespace(t *testing.T) {
	b := newBed(t, hidden, ofTeam()...).teams()
	if code, out, said := b.run("list", "-A"); code != command.Found || out != "" || !strings.Contains(said, "type -n NAMESPACE") {
		t.Errorf("exit code %d, %q and %q", code, out, said)
	}
	if code, _, said := b.run("describe", "nosuch"); code != command.Unusable || !strings.Contains(said, "tabard credentials list -n team-a names") {
		t.Errorf("exit code %d, %q", code, said)
	}
}

// TestWhoDecidesNeedsTheGrants: what an administrator decides is not decided without them.
func TestWhoDecidesNeedsTheGrants(t *testing.T) {
	for _, args := range []string{"adopt ready", "bind ready --role-arn " + reportsRole, "unbind ready", "resync ready"} {
		code, out, said := newBed(t, plainKubernetes, ofTeam()...).teams().run(strings.Fields(args)...)
		if code != command.Found || out != "" || !strings.Contains(said, "read the CredentialsGrants") {
			t.Errorf("%s: exit code %d, %q and %q", args, code, out, said)
		}
	}
}
