package cloud_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const providerARN = "arn:aws:iam::" + ownAccount + ":oidc-provider/issuer.example/own"

func (l *lab) createProvider(t *testing.T, id identity.Identity) error {
	t.Helper()
	return l.providers.Create(t.Context(), id, providerARN, ownURL, []string{"sts.amazonaws.com", "a.example"}, owner)
}

func (l *lab) provider(t *testing.T) cloud.Provider {
	t.Helper()
	seen, err := l.providers.Get(t.Context(), person, providerARN)
	must.Do(t, err)
	return seen
}

func (l *lab) iam(t *testing.T) *iam.Client {
	t.Helper()
	return iam.NewFromConfig(l.config(t))
}

func TestCallerIsWhoeverSigned(t *testing.T) {
	l := newLab(t)
	account, arn, err := l.accounts.Caller(t.Context(), person)
	if err != nil || account != ownAccount || arn != "arn:aws:iam::"+ownAccount+":user/administrator" {
		t.Errorf("got %s, %s, %v", account, arn, err)
	}
}

func TestCallerWithAnUnknownKeyIsNobody(t *testing.T) {
	l := newLab(t).with(t, "AKIAIOSFODNN7EXAMPLE", "unknown")
	account, _, err := l.accounts.Caller(t.Context(), person)
	if wantFault(t, err, fault.Unauthenticated, "GetCallerIdentity"); account != "" {
		t.Errorf("got %s", account)
	}
}

func TestCallerThatMayNotAssumeItsRoleIsDeniedThat(t *testing.T) {
	l := newLab(t)
	_, _, err := l.accounts.Caller(t.Context(), person.Assuming("arn:aws:iam::"+otherAccount+":role/absent"))
	wantFault(t, err, fault.Denied, "AssumeRole")
}

func TestProviderComesAndGoes(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	if diff := cmp.Diff(cloud.Provider{}, l.provider(t)); diff != "" {
		t.Errorf("absent provider (-want +got):\n%s", diff)
	}
	want := cloud.Provider{
		Exists: true, Tags: map[string]string{owner.Key: ownURL}, Audiences: []string{"a.example", "sts.amazonaws.com"},
	}
	for range 2 {
		must.Do(t, l.createProvider(t, person))
		if diff := cmp.Diff(want, l.provider(t)); diff != "" {
			t.Errorf("provider (-want +got):\n%s", diff)
		}
	}
	for range 2 {
		must.Do(t, l.providers.AddAudience(ctx, person, providerARN, "b.example"))
		must.Do(t, l.providers.RemoveAudience(ctx, person, providerARN, "a.example"))
	}
	if diff := cmp.Diff([]string{"b.example", "sts.amazonaws.com"}, l.provider(t).Audiences); diff != "" {
		t.Errorf("audiences (-want +got):\n%s", diff)
	}
	for range 2 {
		must.Do(t, l.providers.Delete(ctx, person, providerARN, owner))
	}
	if l.provider(t).Exists {
		t.Error("the provider is still there")
	}
	must.Do(t, l.providers.RemoveAudience(ctx, person, providerARN, "b.example"))
	err := l.providers.AddAudience(ctx, person, providerARN, "b.example")
	wantFault(t, err, fault.Gone, "AddClientIDToOpenIDConnectProvider")
}

func TestProviderOfSomebodyElseIsNotTouched(t *testing.T) {
	for name, tags := range map[string][]types.Tag{
		"without a tag":     nil,
		"of another issuer": {{Key: &other.Key, Value: &other.Value}},
		"of a longer URL":   {{Key: &owner.Key, Value: aws.String(ownURL + "/b")}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			_, err := l.iam(t).CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
				Url: aws.String(ownURL), ClientIDList: []string{"theirs"}, Tags: tags,
			})
			must.Do(t, err)
			before := l.provider(t)
			wantFault(t, l.createProvider(t, person), fault.Exists, "CreateOpenIDConnectProvider")
			wantFault(t, l.providers.Delete(t.Context(), person, providerARN, owner), fault.Exists, "DeleteOpenIDConnectProvider")
			if diff := cmp.Diff(before, l.provider(t)); diff != "" {
				t.Errorf("provider (-before +after):\n%s", diff)
			}
		})
	}
}

func TestProviderIsDeniedToWhoeverMayNot(t *testing.T) {
	l := newLab(t)
	nobody := l.powerless(t)
	_, err := l.providers.Get(t.Context(), nobody, providerARN)
	wantFault(t, err, fault.Denied, "GetOpenIDConnectProvider")
	wantFault(t, l.createProvider(t, nobody), fault.Denied, "CreateOpenIDConnectProvider")
	_, err = l.roles.TrustedBy(t.Context(), nobody, providerARN)
	wantFault(t, err, fault.Denied, "ListRoles")
}

func operatorRole() iamrole.Want {
	return iamrole.Want{
		RoleWant: cloud.RoleWant{Name: "tabard-issuer-lab", Trust: trustOfAccount(ownAccount), Description: "The operator's own role"},
		Owner:    owner, PolicyName: "documents",
		Policy: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*"}]}`,
	}
}

func TestRoleIsMadeOnceAndKeptAsWanted(t *testing.T) {
	l := newLab(t)
	otherTrust, otherPolicy := operatorRole(), operatorRole()
	otherTrust.Trust = trustOfAccount(otherAccount)
	otherPolicy.Trust = otherTrust.Trust
	otherPolicy.Policy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:PutObject","Resource":"*"}]}`
	steps := []struct {
		name string
		want iamrole.Want
		is   []string
	}{
		{"a new role", operatorRole(), []string{iamrole.ChangedRole, iamrole.ChangedPolicy}},
		{"the same again", operatorRole(), nil},
		{"another trust", otherTrust, []string{iamrole.ChangedTrust}},
		{"another policy", otherPolicy, []string{iamrole.ChangedPolicy}},
		{"that again", otherPolicy, nil},
		{"both back", operatorRole(), []string{iamrole.ChangedTrust, iamrole.ChangedPolicy}},
	}
	for _, s := range steps {
		arn, changed, err := l.roles.Ensure(t.Context(), person, s.want)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if arn != "arn:aws:iam::"+ownAccount+":role/tabard-issuer-lab" {
			t.Errorf("%s: ARN %s", s.name, arn)
		}
		if diff := cmp.Diff(s.is, changed); diff != "" {
			t.Errorf("%s: changed (-want +got):\n%s", s.name, diff)
		}
	}
	for range 2 {
		must.Do(t, l.roles.DeleteRole(t.Context(), person, "tabard-issuer-lab", owner))
	}
}

// TestRoleHasPathBoundaryAndTagsAsWanted: an empty wish leaves what the role has, since a person
// may have added it, and no role is made a second time at another path.
func TestRoleHasPathBoundaryAndTagsAsWanted(t *testing.T) {
	l := newLab(t)
	boundaryARN := func(name string) string {
		document := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`
		arn, _, err := l.roles.EnsurePolicy(t.Context(), person, name, "/", document, owner)
		must.Do(t, err)
		return arn
	}
	full := operatorRole()
	full.Path, full.Boundary, full.Tags = "/platform/", boundaryARN("first"), map[string]string{"team": "platform"}
	bounded, tagged, moved := full, full, full
	bounded.Boundary = boundaryARN("second")
	tagged.Boundary, tagged.Tags = "", map[string]string{"team": "platform", "cost-center": "42"}
	moved.Path = "/elsewhere/"
	for _, s := range []struct {
		name string
		want iamrole.Want
		is   []string
	}{
		{"a new role", full, []string{iamrole.ChangedRole, iamrole.ChangedPolicy}},
		{"the same again", full, nil},
		{"no wish but the policies", operatorRole(), nil},
		{"another boundary", bounded, []string{iamrole.ChangedBoundary}},
		{"a further tag", tagged, []string{iamrole.ChangedTags}},
		{"that again", tagged, nil},
	} {
		arn, changed, err := l.roles.Ensure(t.Context(), person, s.want)
		if err != nil || arn != "arn:aws:iam::"+ownAccount+":role/platform/tabard-issuer-lab" {
			t.Fatalf("%s: %s, %v", s.name, arn, err)
		}
		if diff := cmp.Diff(s.is, changed); diff != "" {
			t.Errorf("%s: changed (-want +got):\n%s", s.name, diff)
		}
	}
	_, changed, err := l.roles.Ensure(t.Context(), person, moved)
	if wantFault(t, err, fault.Exists, "GetRole"); len(changed) > 0 {
		t.Errorf("changed %v", changed)
	}
	got := must.Get(l.roles.Get(t.Context(), person, full.Name))(t)
	wantTags := map[string]string{"team": "platform", "cost-center": "42", owner.Key: owner.Value}
	if got.Boundary != bounded.Boundary || !cmp.Equal(got.Tags, wantTags) {
		t.Errorf("the role has the boundary %s and the tags %v", got.Boundary, got.Tags)
	}
}

func TestRoleOfSomebodyElseIsNotTouched(t *testing.T) {
	l := newLab(t)
	theirs := operatorRole()
	theirs.Owner = other
	_, _, err := l.roles.Ensure(t.Context(), person, theirs)
	must.Do(t, err)
	_, changed, err := l.roles.Ensure(t.Context(), person, operatorRole())
	wantFault(t, err, fault.Exists, "GetRole")
	if changed != nil {
		t.Errorf("changed %v", changed)
	}
	wantFault(t, l.roles.DeleteRole(t.Context(), person, theirs.Name, owner), fault.Exists, "DeleteRole")
	must.Do(t, l.roles.DeleteRole(t.Context(), person, theirs.Name, theirs.Owner))
}

func TestRefusedPolicyIsToldAfterTheRoleWasMade(t *testing.T) {
	l := newLab(t)
	broken := operatorRole()
	broken.Policy = `{"Version":`
	arn, changed, err := l.roles.Ensure(t.Context(), person, broken)
	wantFault(t, err, fault.Invalid, "PutRolePolicy")
	if diff := cmp.Diff([]string{iamrole.ChangedRole}, changed); diff != "" || arn == "" {
		t.Errorf("ARN %q, changed (-want +got):\n%s", arn, diff)
	}
}

func TestEveryRoleThatTrustsTheProviderIsFound(t *testing.T) {
	l := newLab(t)
	must.Do(t, l.createProvider(t, person))
	trusting := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",` +
		`"Principal":{"Federated":"` + providerARN + `"},"Condition":{"StringEquals":{"issuer.example/own:sub":"x"}}}]}`
	var want []string
	for i := range 205 {
		name, trust := fmt.Sprintf("role-%03d", i), trustOfAccount(ownAccount)
		if i%60 == 7 {
			trust = trusting
			want = append(want, name)
		}
		_, err := l.iam(t).CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust})
		must.Do(t, err)
	}
	before := l.calls.Load()
	got, err := l.roles.TrustedBy(t.Context(), person, providerARN)
	must.Do(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
	if n := l.calls.Load() - before; n < 3 {
		t.Errorf("%d pages, want at least three", n)
	}
	none, err := l.roles.TrustedBy(t.Context(), person, providerARN+"x")
	must.Do(t, err)
	if len(none) != 0 {
		t.Errorf("roles %v", none)
	}
}

const throttling = `<ErrorResponse><Error><Type>Sender</Type><Code>Throttling</Code><Message>Rate exceeded</Message></Error><RequestId>1</RequestId></ErrorResponse>`

const slowDown = `<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message><RequestId>1</RequestId></Error>`

// TestThrottledCallsSaySo runs all at once: each waits between its attempts.
func TestThrottledCallsSaySo(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	for _, c := range []struct {
		answer refusal
		calls  map[string]func() error
	}{
		{refusal{400, throttling}, map[string]func() error{
			"GetCallerIdentity": func() error {
				_, _, err := l.accounts.Caller(ctx, person)
				return err
			},
			"CreateOpenIDConnectProvider": func() error { return l.createProvider(t, person) },
			"ListRoles": func() error {
				_, err := l.roles.TrustedBy(ctx, person, providerARN)
				return err
			},
			"GetRole": func() error {
				_, _, err := l.roles.Ensure(ctx, person, operatorRole())
				return err
			},
		}},
		{refusal{503, slowDown}, map[string]func() error{
			"CreateBucket": func() error { return l.createOwn(t) },
			"PutObject":    func() error { return l.write(t, "{}", "") },
		}},
	} {
		l.refusal.Store(&c.answer)
		before := l.calls.Load()
		var wait sync.WaitGroup
		for operation, call := range c.calls {
			wait.Go(func() { wantFault(t, call(), fault.Throttled, operation) })
		}
		wait.Wait()
		if n, most := l.calls.Load()-before, int64(3*len(c.calls)); n != most {
			t.Errorf("%d requests, want %d: three attempts each", n, most)
		}
	}
}

func TestRefusedTokenIsNobodyWhateverWasAsked(t *testing.T) {
	l := newLab(t)
	token := filepath.Join(t.TempDir(), "token")
	must.Do(t, os.WriteFile(token, []byte("this.is.no-token"), 0o600))
	t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::"+ownAccount+":role/tabard-issuer-lab")
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", token)
	web := identity.Identity{Base: identity.WebIdentity, Region: region}
	_, err := l.roles.TrustedBy(t.Context(), web, providerARN)
	wantFault(t, err, fault.Unauthenticated, "AssumeRoleWithWebIdentity")
	_, bucket := l.buckets.Get(t.Context(), web, own)
	_, _, account := l.accounts.Caller(t.Context(), web)
	for service, err := range map[string]error{"S3": bucket, "STS": account} {
		wantFault(t, err, fault.Unauthenticated, "AssumeRoleWithWebIdentity")
		if !cloud.HasCode(err, "InvalidIdentityToken") || strings.Contains(err.Error(), "no-token") {
			t.Errorf("%s: %v", service, err)
		}
	}
}
