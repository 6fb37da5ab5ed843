package main

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
)

// sts takes any web identity and refuses every role. It counts how often.
type sts struct{ refusals int }

// Do implements aws.HTTPClient.
func (s *sts) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	status, text := http.StatusOK, `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>`+
		`<AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>x</SecretAccessKey><SessionToken>y</SessionToken>`+
		`<Expiration>2026-03-01T13:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`
	if !strings.Contains(string(body), "Action=AssumeRoleWithWebIdentity") {
		s.refusals++
		status, text = http.StatusForbidden, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>`
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(text)), Header: http.Header{}, Request: request}, nil
}

// TestAChangedSelectorIsTriedAtOnce, although its role was refused a moment ago; one
// with other labels is not.
func TestAChangedSelectorIsTriedAtOnce(t *testing.T) {
	service := &sts{}
	env := map[string]string{"AWS_ROLE_ARN": "arn:aws:iam::111111111111:role/hub", "AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_REGION": "eu-west-1"}
	auth := must.Get(awsauth.New(awsauth.Options{
		HTTPClient: service, Getenv: func(name string) string { return env[name] },
		ReadFile: func(string) ([]byte, error) { return []byte("token"), nil },
		Now:      func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
	}))(t)
	roles := &bySelectors{auth: auth}
	id := identity.Identity{Base: identity.WebIdentity, Region: "eu-west-1"}.Via(identity.Role{ARN: "arn:aws:iam::222222222222:role/team", SessionName: "team"})
	for i, c := range []struct {
		used roleselector.Reference
		want int
	}{
		{roleselector.Reference{Name: "team", UID: "1", Generation: 1, ResourceVersion: "1"}, 1},
		{roleselector.Reference{Name: "team", UID: "1", Generation: 1, ResourceVersion: "1"}, 1},
		{roleselector.Reference{Name: "team", UID: "1", Generation: 1, ResourceVersion: "2"}, 1},
		{roleselector.Reference{Name: "team", UID: "1", Generation: 2, ResourceVersion: "3"}, 2},
		{roleselector.Reference{Name: "team", UID: "1", Generation: 2, ResourceVersion: "3"}, 2},
		{roleselector.Reference{Name: "team", UID: "2", Generation: 1, ResourceVersion: "4"}, 3},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			roles.bypass(bucket.Standing{Course: roleselector.Course{Step: roleselector.GoOn, Selector: c.used}, Identity: id})
			config := must.Get(auth.Config(t.Context(), id))(t)
			if _, err := config.Credentials.Retrieve(t.Context()); err == nil {
				t.Fatal("there are credentials of a role that is refused")
			}
			if service.refusals != c.want {
				t.Errorf("STS was asked %d times, want %d", service.refusals, c.want)
			}
		})
	}
}

// TestBucketsBeyondTheLimitOfSessionsHaveNobodyToBe until there is room again.
func TestBucketsBeyondTheLimitOfSessionsHaveNobodyToBe(t *testing.T) {
	roles := &bySelectors{sessions: roleselector.NewSessions(1)}
	team := roleselector.Reference{Name: "team", UID: "1", Generation: 1, ARN: "arn:aws:iam::222222222222:role/team", Account: "222222222222"}
	standing := func(session string) bucket.Standing {
		id := identity.Identity{Base: identity.WebIdentity, Region: "eu-west-1"}.Via(identity.Role{ARN: team.ARN, SessionName: session})
		return bucket.Standing{Course: roleselector.Course{Step: roleselector.GoOn, Selector: team}, Identity: id, Account: team.Account, Partition: "aws"}
	}
	named := func(name string) *bucket.Bucket {
		return &bucket.Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name}}
	}
	for _, name := range []string{"first", "second"} {
		if got := roles.admit(named(name), standing("shared")); !reflect.DeepEqual(got, standing("shared")) {
			t.Errorf("%s has the standing %+v, want its role", name, got)
		}
	}
	for _, name := range []string{"first", "second"} {
		got := roles.admit(named("third"), standing("own"))
		if got.Trouble == nil || got.Trouble.Reason != "TooManySessions" || got.Identity != (identity.Identity{}) || got.Account != "" {
			t.Errorf("the third has the standing %+v, want nobody to be, and TooManySessions", got)
		}
		roles.admit(named(name), bucket.Standing{}) // no selector any more
	}
	if got := roles.admit(named("third"), standing("own")); !reflect.DeepEqual(got, standing("own")) {
		t.Errorf("with room again the third has the standing %+v, want its role", got)
	}
}
