package awsauth

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// spoke makes a role that the web identity may assume, or not yet.
func (l *lab) spoke(trusts bool) string {
	l.t.Helper()
	return l.role("spoke", l.trust(trusts))
}

// retrust changes whether the web identity may assume it.
func (l *lab) retrust(trusts bool) {
	l.t.Helper()
	must.Get(l.administrator().UpdateAssumeRolePolicy(l.t.Context(), &iam.UpdateAssumeRolePolicyInput{
		RoleName: aws.String("spoke"), PolicyDocument: aws.String(l.trust(trusts)),
	}))(l.t)
}

func (l *lab) trust(trusts bool) string {
	effect := map[bool]string{true: "Allow", false: "Deny"}[trusts]
	return `{"Version":"2012-10-17","Statement":[{"Effect":"` + effect + `","Action":"sts:AssumeRole","Principal":{"AWS":"` + l.env["AWS_ROLE_ARN"] + `"}}]}`
}

// assumptions counts the calls of AssumeRole.
func (l *lab) assumptions() int {
	n := 0
	for _, e := range l.aws.Admin().Journal() {
		if e.Operation == "AssumeRole" {
			n++
		}
	}
	return n
}

func TestRefusedRoleIsNotAskedForByEveryObject(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	role := l.spoke(false)
	var passed time.Duration
	l.start(func(o *awsauth.Options) { o.Now = func() time.Time { return time.Now().Add(passed) } })
	refused := func(id string, want int) {
		t.Helper()
		_, err := l.who(web.Assuming(role).In(id))
		if got := fault.Of("", "", err); got == nil || got.Class != fault.CredentialsRejected || got.Subject != role {
			t.Errorf("got %+v, want a refusal of %s", got, role)
		}
		if got := l.assumptions(); got != want {
			t.Errorf("after %s STS was asked %d times, want %d", passed, got, want)
		}
	}
	refused("", 1)
	for range 20 {
		refused("us-east-1", 1)
	}
	// Each refusal is good for half a minute, however many there were.
	for i := range 6 {
		passed += 28 * time.Second
		refused("", i+1)
		passed += 3 * time.Second
		refused("", i+2)
	}
	l.retrust(true)
	refused("", 7)
	l.auth.Forget(web.Assuming(role))
	for _, region := range []string{"", "us-east-1"} {
		l.wantWho(web.Assuming(role).In(region), assumed("spoke", "tabard-pod"))
	}
	if got := l.assumptions(); got != 8 {
		t.Errorf("STS was asked %d times after the role was forgotten, want 8", got)
	}
}

func TestForgottenSessionIsExchangedAnew(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	role := l.spoke(true)
	l.start()
	for range 3 {
		l.wantWho(web.Assuming(role), assumed("spoke", "tabard-pod"))
	}
	if got := l.exchanges(); got != 2 {
		t.Errorf("%d exchanges, want the token's and the role's", got)
	}
	l.auth.Forget(web.Assuming(role))
	l.wantWho(web.Assuming(role), assumed("spoke", "tabard-pod"))
	if got := l.exchanges(); got != 3 {
		t.Errorf("%d exchanges, want the role's again and not the token's", got)
	}
}

func TestTroubleOfARenewalIsToldWhileCallsGoOn(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	role := l.spoke(true)
	var passed time.Duration
	l.start(func(o *awsauth.Options) { o.Now = func() time.Time { return time.Now().Add(passed) } })
	id := web.Assuming(role)
	if err := l.auth.Trouble(id); err != nil {
		t.Errorf("before any call: %v", err)
	}
	l.wantWho(id, assumed("spoke", "tabard-pod"))
	if err := l.auth.Trouble(id); err != nil {
		t.Errorf("after a call: %v", err)
	}
	l.retrust(false)
	passed = 56 * time.Minute
	l.wantWho(id, assumed("spoke", "tabard-pod"))
	if got := fault.Of("", "", l.auth.Trouble(id)); got == nil || got.Operation != "AssumeRole" || got.Code != "AccessDenied" {
		t.Errorf("the renewal was refused and Trouble is %+v", got)
	}
}
