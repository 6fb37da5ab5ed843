package credentials_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tabard-dev/tabard/internal/controller/credentials"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// TestARoleThatARequestNamesIsReadOnceAnHour, only where that is opted into, and told of; and at once
// where a person asks for a look.
func TestARoleThatARequestNamesIsReadOnceAnHour(t *testing.T) {
	f := newFixture(t)
	name := givenRole[strings.LastIndex(givenRole, "/")+1:]
	request := f.request("named", "app")
	request.Spec.ProviderSpec = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec","stsIAMRoleARN":"` + givenRole + `",
		"statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"arn:aws:s3:::team/*"}]}`)}
	f.Make(request)
	grant := f.until(request, isReady)
	for _, c := range grant.Status.Conditions {
		if c.Type == core.TypeRoleOutOfSync {
			t.Errorf("without being told to, the controller says %+v", c)
		}
	}

	var ahead time.Duration
	f.options = func(o *credentials.Options) {
		o.ReadForeign, o.Now = true, func() time.Time { return time.Now().Add(ahead) }
	}
	f.start(t)
	f.until(request, has(core.TypeRoleOutOfSync, metav1.ConditionTrue, string(core.ReasonRoleOutOfSync)))
	subject := "system:serviceaccount:" + f.namespace + ":app"
	trust := awstest.Trust("arn:aws:iam::"+testAccount+":oidc-provider/"+strings.TrimPrefix(testIssuer, "https://"), subject, "sts.amazonaws.com")
	f.aws.Must(f.iam.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: &name, Path: aws.String("/team/"), AssumeRolePolicyDocument: &trust}))
	f.aws.RolePolicy(testAccount, name, document("s3:*", "arn:aws:s3:::team/*"))
	f.aws.Admin().ClearJournal()
	for range 5 {
		f.until(request, has(core.TypeRoleOutOfSync, metav1.ConditionTrue, string(core.ReasonRoleOutOfSync)))
	}
	for _, entry := range f.aws.Admin().Journal() {
		if entry.Operation == "GetRole" {
			t.Error("the role was read twice within the hour")
		}
	}
	ahead = 61 * time.Minute
	f.until(request, has(core.TypeRoleOutOfSync, metav1.ConditionFalse, string(core.ReasonRoleInSync)))
	if told := f.heard(); strings.Count(told, "Warning RoleOutOfSync") != 1 {
		t.Errorf("told %q, want one warning", told)
	}
	f.aws.RolePolicy(testAccount, name, document("s3:ListBucket", "arn:aws:s3:::team"))
	f.until(request, has(core.TypeRoleOutOfSync, metav1.ConditionFalse, string(core.ReasonRoleInSync)))
	f.Merge(grant, `{"metadata":{"annotations":{"`+core.ResyncAnnotation+`":"`+time.Now().Add(ahead).UTC().Format(time.RFC3339Nano)+`"}}}`)
	f.until(request, has(core.TypeRoleOutOfSync, metav1.ConditionTrue, string(core.ReasonRoleOutOfSync)))
}
