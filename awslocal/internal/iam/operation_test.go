package iam

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	someTrust  = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"` + own + `"}}}`
	somePolicy = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}}`
)

// everything has a good value for each parameter of each operation. It names
// what does not exist; operations leave aside what is not theirs.
var everything = url.Values{
	"RoleName": {"none"}, "UserName": {"none"}, "PolicyName": {"none"}, "NewUserName": {"other"},
	"PolicyArn": {"arn:aws:iam::" + own + ":policy/none"}, "PolicySourceArn": {"arn:aws:iam::" + own + ":role/none"},
	"PolicyDocument": {somePolicy}, "AssumeRolePolicyDocument": {someTrust}, "PermissionsBoundary": {"arn:aws:iam::aws:policy/AdministratorAccess"},
	"OpenIDConnectProviderArn": {"arn:aws:iam::" + own + ":oidc-provider/none.example"}, "Url": {"https://none.example"},
	"ClientID": {"x"}, "VersionId": {"v1"}, "AccessKeyId": {"AKIAAAAAAAAAAAAAAAAA"}, "Status": {"Inactive"},
	"Tags.member.1.Key": {"k"}, "Tags.member.1.Value": {"v"}, "TagKeys.member.1": {"k"},
	"ActionNames.member.1": {"s3:GetObject"}, "PolicyInputList.member.1": {somePolicy},
}

// needNothing are the operations that do not need a thing to exist.
var needNothing = []string{
	"CreateRole", "CreateUser", "CreatePolicy", "CreateOpenIDConnectProvider",
	"ListRoles", "ListUsers", "ListPolicies", "ListOpenIDConnectProviders", "ListAccountAliases", "GetAccountSummary", "GetAccountAuthorizationDetails",
	"SimulateCustomPolicy", "GetContextKeysForCustomPolicy",
}

var answeredCode = regexp.MustCompile(`<Code>(\w+)</Code>`)

// serve has one call answered, whose caller may what the effect says, and
// returns the error's code, empty for success.
func serve(t *testing.T, s *Service, operation string, effect iampolicy.Effect, trouble *call.Fault) string {
	t.Helper()
	values := url.Values{"Action": {operation}}
	for name, value := range everything {
		values[name] = value
	}
	asked := 0
	c := &call.Call{
		HTTP: httptest.NewRequest(http.MethodPost, "/", nil), Payload: []byte(values.Encode()), Now: time.Now(), Entry: &call.Entry{},
		Caller: call.Caller{Principal: iampolicy.Principal{Kind: iampolicy.User, ARN: "arn:aws:iam::" + own + ":user/administrator", AccountID: own}},
		Authorize: func(action, _ string, side call.Side, _ iampolicy.Context) iampolicy.Decision {
			asked++
			if !strings.HasPrefix(action, "iam:") || side.AccountID != own {
				t.Errorf("%s asks for %s in account %q", operation, action, side.AccountID)
			}
			return iampolicy.Decision{Effect: effect, Kind: iampolicy.IdentityPolicy}
		},
		Trouble: func(string) *call.Fault { return trouble },
	}
	w := httptest.NewRecorder()
	s.Serve(w, c)
	if asked == 0 && trouble == nil {
		t.Errorf("%s asks no policy: %s", operation, w.Body)
	}
	if match := answeredCode.FindStringSubmatch(w.Body.String()); match != nil {
		return match[1]
	}
	return ""
}

func TestEveryOperationIsDeniedThrottledAndMissesWhatIsAbsent(t *testing.T) {
	for operation := range operations {
		t.Run(operation, func(t *testing.T) {
			s := newService()
			if got := serve(t, s, operation, iampolicy.Allow, &call.Fault{Code: "Throttling", Status: http.StatusBadRequest}); got != "Throttling" {
				t.Errorf("throttled it answers %q", got)
			}
			for _, effect := range []iampolicy.Effect{iampolicy.ImplicitDeny, iampolicy.ExplicitDeny} {
				if got := serve(t, s, operation, effect, nil); got != "AccessDenied" {
					t.Errorf("with %s it answers %q, want AccessDenied", effect, got)
				}
			}
			want := "NoSuchEntity"
			if slices.Contains(needNothing, operation) {
				want = ""
			}
			if got := serve(t, s, operation, iampolicy.Allow, nil); got != want {
				t.Errorf("in an empty account it answers %q, want %q", got, want)
			}
			if strings.HasPrefix(operation, "Create") && want == "" {
				if got := serve(t, s, operation, iampolicy.Allow, nil); got != "EntityAlreadyExists" {
					t.Errorf("a second time it answers %q, want EntityAlreadyExists", got)
				}
			}
		})
	}
}
