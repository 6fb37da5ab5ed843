package issuer

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/ownrole"
	"github.com/tabard-dev/tabard/internal/handoff"
)

func TestWhatIsHandedOverIsWhatABootstrapMakes(t *testing.T) {
	operator := core.Subject{Namespace: "ns", ServiceAccount: "sa", Audience: "sts.amazonaws.com"}
	for name, test := range map[string]struct {
		change         func(*v1alpha1.OIDCIssuerSpec)
		buckets, roles int
		public         bool
		says           string
	}{
		"all of it":                {func(*v1alpha1.OIDCIssuerSpec) {}, 1, 1, true, "Then publish the first documents"},
		"a bucket behind a CDN":    {func(s *v1alpha1.OIDCIssuerSpec) { s.Publication.S3.PublicRead = v1alpha1.PublicReadNone }, 1, 1, false, ""},
		"a bucket that is there":   {func(s *v1alpha1.OIDCIssuerSpec) { s.Publication.S3.Create = false }, 0, 1, false, "TabardPublicRead"},
		"no provider":              {func(s *v1alpha1.OIDCIssuerSpec) { s.Providers = nil }, 1, 0, true, ""},
		"a provider in an account": {func(s *v1alpha1.OIDCIssuerSpec) { s.Providers[0].AssumeRoleARN = "arn:aws-cn:iam::210987654321:role/a" }, 1, 0, true, "role/a"},
	} {
		object := &v1alpha1.OIDCIssuer{Spec: v1alpha1.OIDCIssuerSpec{
			URL:       "https://b.s3.cn-north-1.amazonaws.com.cn",
			Providers: []v1alpha1.Provider{{Audiences: []string{"sts.amazonaws.com"}}},
		}}
		object.Name, object.Spec.Publication.S3 = "cluster", v1alpha1.S3Publication{Bucket: "b", Region: "cn-north-1", Create: true}
		test.change(&object.Spec)
		got := Handoff(object, account, operator, ownrole.Wish{})
		if len(got.Buckets) != test.buckets || len(got.Roles) != test.roles || len(got.Providers) != test.roles || !strings.Contains(strings.Join(got.About, "\n"), test.says) {
			t.Errorf("%s: %+v", name, got)
		}
		for _, bucket := range got.Buckets {
			if bucket.AllowPublicPolicy != test.public || (bucket.Policy != "") != test.public {
				t.Errorf("%s: the bucket is %+v", name, bucket)
			}
		}
		for _, role := range got.Roles {
			arn := core.ProviderARN("aws-cn", account, object.Spec.URL)
			want := handoff.Role{
				Name: core.RoleName("cluster", object.Spec.URL), Description: RoleDescription, PolicyName: PolicyName,
				Trust: handoff.Policy(core.TrustPolicy(arn, operator)), Policy: handoff.Policy(core.PermissionPolicy(object.Spec, account)),
			}
			if role.Name != want.Name || role.Trust != want.Trust || role.Policy != want.Policy || got.Providers[0].ARN != arn {
				t.Errorf("%s: the role is %+v, want %+v", name, role, want)
			}
		}
		for _, form := range handoff.Forms() {
			if _, err := got.Text(handoff.Form(form)); err != nil {
				t.Errorf("%s as %s: %v", name, form, err)
			}
		}
	}
}
