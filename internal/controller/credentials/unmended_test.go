package credentials_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// pass makes one pass over a request, and returns when it wants to look next.
func (f *fixture) pass(request client.Object) time.Duration {
	f.Helper()
	return must.Get(f.controller.Reconcile(f.Context(), keyOf(request)))(f).RequeueAfter
}

// grant reads the grant of a request.
func (f *fixture) grant(request client.Object) *v1alpha1.CredentialsGrant {
	f.Helper()
	grant := &v1alpha1.CredentialsGrant{}
	must.Do(f, f.Get(f.Context(), client.ObjectKey{Name: core.GrantName(request.GetNamespace(), request.GetName())}, grant))
	return grant
}

// TestABoundaryThatDoesNotExistIsNamed, at the making of a role and where it is put back.
func TestABoundaryThatDoesNotExistIsNamed(t *testing.T) {
	f := newFixture(t)
	f.aws.Must(f.iam.DeletePolicy(t.Context(), &iam.DeletePolicyInput{PolicyArn: aws.String(testPolicyARN)}))
	missing := has(core.TypeRolePresent, metav1.ConditionFalse, string(core.ReasonPermissionsBoundaryMissing))
	request := f.request("bounded", "app")
	f.Make(request)
	f.until(request, missing)
	if f.account("app") != nil {
		t.Error("the ServiceAccount was made before its role")
	}
	create := func() {
		f.aws.Must(f.iam.CreatePolicy(t.Context(), &iam.CreatePolicyInput{
			PolicyName: aws.String("boundary"), Path: aws.String("/tabard/"), PolicyDocument: aws.String(document("s3:*", "*")),
		}))
	}
	create()
	name := f.until(request, isReady).Status.Role.Name

	f.aws.Must(f.iam.DeleteRolePermissionsBoundary(t.Context(), &iam.DeleteRolePermissionsBoundaryInput{RoleName: &name}))
	f.aws.Must(f.iam.DeletePolicy(t.Context(), &iam.DeletePolicyInput{PolicyArn: aws.String(testPolicyARN)}))
	must.Get(f.controller.ReadRoles(t.Context()))(t)
	f.until(request, missing)
	create()
	f.until(request, isReady)
	if f.role(name).Role.PermissionsBoundary == nil {
		t.Error("the role is ready without its boundary")
	}
}

// TestWhatIAMDoesNotFindYetIsTriedAgainSoon: right after its creation a role may be unknown
// to the next call, which is nobody's to mend.
func TestWhatIAMDoesNotFindYetIsTriedAgainSoon(t *testing.T) {
	f := newFixture(t)
	f.aws.Admin().Inject(awslocal.Fault{Service: "iam", Operation: "PutRolePolicy", Code: "NoSuchEntity", Message: "The role with name r cannot be found.", Status: 404, Count: 1})
	request := f.request("young", "app")
	f.Make(request)
	var again time.Duration
	f.Await(func() error {
		again = f.pass(request)
		return has(core.TypeRolePresent, metav1.ConditionUnknown, string(core.ReasonAWSUnavailable))(f.grant(request))
	})
	if again <= 0 || again > 30*time.Second {
		t.Errorf("the next look is after %s, want it within 30 seconds", again)
	}
	f.until(request, isReady)
}

// TestWhatOnlyAPersonMendsIsNotAskedForOften, and is told with what to do.
func TestWhatOnlyAPersonMendsIsNotAskedForOften(t *testing.T) {
	for name, tt := range map[string]struct {
		operation, code string
		status          int
	}{
		"the account has no room for a role":  {"CreateRole", "LimitExceeded", 409},
		"the role has no room for its policy": {"PutRolePolicy", "LimitExceeded", 409},
		"AWS does not take the trust":         {"CreateRole", "MalformedPolicyDocument", 400},
		"AWS does not take the policy":        {"PutRolePolicy", "MalformedPolicyDocument", 400},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.aws.Admin().Inject(awslocal.Fault{Service: "iam", Operation: tt.operation, Code: tt.code, Status: tt.status, Message: "AWS says why"})
			request := f.request("refused", "app")
			f.Make(request)
			f.Await(func() error {
				if again := f.pass(request); again < 15*time.Second {
					return fmt.Errorf("the next look is after %s, want 15 seconds at first", again)
				}
				return has(core.TypeRolePresent, metav1.ConditionFalse, string(core.ReasonAWSRefused))(f.grant(request))
			})
			f.aws.Admin().ClearFaults()
			f.until(request, isReady)
		})
	}
}
