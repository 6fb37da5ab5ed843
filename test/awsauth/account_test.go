package awsauth

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// apiServer gives tokens of the lab's issuer to the ServiceAccounts that it knows.
type apiServer struct {
	l *lab

	mu    sync.Mutex
	known map[string]bool
	asked []string
	err   error
}

func (s *apiServer) Token(_ context.Context, namespace, name, audience string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, namespace+"/"+name+" for "+audience)
	switch {
	case s.err != nil:
		return "", s.err
	case !s.known[namespace+"/"+name]:
		return "", awsauth.ErrNotFound
	}
	now := time.Now()
	return s.l.issuer.Sign(s.l.t, 0, map[string]any{
		"iss": s.l.issuer.Issuer(), "sub": "system:serviceaccount:" + namespace + ":" + name, "aud": []string{audience},
		"iat": now.Add(-time.Minute).Unix(), "nbf": now.Add(-time.Minute).Unix(), "exp": now.Add(10 * time.Minute).Unix(),
	}), nil
}

func (s *apiServer) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

func newAccounts(t *testing.T, known ...string) (*lab, *apiServer) {
	t.Helper()
	l := newLab(t)
	server := &apiServer{l: l, known: map[string]bool{}}
	for _, name := range known {
		server.known[name] = true
	}
	l.start(func(o *awsauth.Options) { o.Tokens = server })
	return l, server
}

func accountOf(namespace, name, role string) identity.Identity {
	return identity.Identity{Base: identity.ServiceAccount, ServiceAccount: identity.ServiceAccountRef{Namespace: namespace, Name: name, RoleARN: role}}
}

// tenantRole is a role for one ServiceAccount.
func (l *lab) tenantRole(name, namespace, account string) string {
	l.t.Helper()
	return l.role(name, l.trustOf("system:serviceaccount:"+namespace+":"+account))
}

// TestAControllerBecomesTheServiceAccountsOfItsTenants, each with a session of its own, though
// both name one role; nothing of one is used for the other.
func TestAControllerBecomesTheServiceAccountsOfItsTenants(t *testing.T) {
	l, server := newAccounts(t, "team-a/secrets", "team-b/secrets")
	role := l.tenantRole("of-a", "team-a", "secrets")
	l.aws.Admin().ClearJournal()
	for range 3 {
		l.wantWho(accountOf("team-a", "secrets", role), assumed("of-a", "tabard-pod"))
	}
	if got := l.exchanges(); got != 1 || server.requests() != 1 {
		t.Errorf("%d exchanges and %d tokens, want one each: %v", got, server.requests(), l.calls())
	}
	if got := server.asked[0]; got != "team-a/secrets for sts.amazonaws.com" {
		t.Errorf("the token was requested of %s", got)
	}
	_, err := l.who(accountOf("team-b", "secrets", role))
	if known := fault.Of("", "", err); known == nil || known.Class != fault.CredentialsRejected || known.Method != "service-account" ||
		known.Subject != "team-b/secrets as "+role || !strings.Contains(known.Hint, "trust policy") {
		t.Errorf("the other team's ServiceAccount got %+v", known)
	}
	// A role on top, as for a member account.
	l.trustRole("on-top", role)
	l.wantWho(accountOf("team-a", "secrets", role).Assuming("arn:aws:iam::"+labAccount+":role/on-top"), assumed("on-top", "tabard-pod"))
	// The session ends: it is renewed with a new token.
	l.pass(2 * time.Hour)
	l.advance(2 * time.Hour)
	before := server.requests()
	l.wantWho(accountOf("team-a", "secrets", role), assumed("of-a", "tabard-pod"))
	if got := server.requests() - before; got != 1 {
		t.Errorf("%d tokens were requested for the renewal, want one", got)
	}
}

func (l *lab) trustRole(name, trusted string) {
	l.t.Helper()
	l.role(name, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"`+trusted+`"}}]}`)
	l.aws.RolePolicy(labAccount, trusted[strings.LastIndex(trusted, "/")+1:],
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"*"}]}`)
}

// TestACrowdOfTenantsDoesNotFlood: what is refused to one object is not asked for by the
// next, neither at the API server nor at STS; what merely failed is.
func TestACrowdOfTenantsDoesNotFlood(t *testing.T) {
	l, server := newAccounts(t, "team-a/secrets")
	role := l.tenantRole("of-b", "team-b", "secrets")
	l.aws.Admin().ClearJournal()
	ask := func(id identity.Identity, code string) {
		t.Helper()
		for range 100 {
			_, err := l.who(id)
			if known := fault.Of("", "", err); known == nil || known.Code != code {
				t.Fatalf("want %s, got %v", code, err)
			}
		}
	}
	ask(accountOf("team-a", "secrets", role), "AccessDenied")
	if l.exchanges() != 1 || server.requests() != 1 {
		t.Errorf("a refused role: %d exchanges, %d tokens; want one each", l.exchanges(), server.requests())
	}
	ask(accountOf("team-a", "gone", role), fault.CodeTokenUnavailable)
	if server.requests() != 2 {
		t.Errorf("an absent ServiceAccount: %d more tokens were requested, want one", server.requests()-1)
	}
	server.err = errors.New("the API server is busy")
	_, err := l.who(accountOf("team-a", "other", role))
	if known := fault.Of("", "", err); known.Code != fault.CodeTokenUnavailable || known.Class != fault.CredentialsUnavailable || !strings.Contains(known.FirstLine(), "team-a/other: the API server is busy") {
		t.Errorf("got %v", err)
	}
	server.err, server.known["team-a/other"] = nil, true
	if _, err := l.who(accountOf("team-a", "other", role)); fault.Of("", "", err).Code != "AccessDenied" {
		t.Errorf("what merely failed was not asked for again: %v", err)
	}
}

// TestASessionOfATenantEndsAnHourLater: when the ServiceAccount is deleted or the right to
// its tokens is revoked, what is there already goes on for an hour at most. A role that is
// assumed on top of it may have a session that is an hour younger.
func TestASessionOfATenantEndsAnHourLater(t *testing.T) {
	for name, takeAway := range map[string]func(*apiServer){
		"the ServiceAccount is deleted": func(s *apiServer) { clear(s.known) },
		"the right is revoked":          func(s *apiServer) { s.err = errors.New("it may not be requested") },
	} {
		t.Run(name, func(t *testing.T) {
			l, server := newAccounts(t, "team-a/secrets")
			role := l.tenantRole("of-a", "team-a", "secrets")
			l.trustRole("on-top", role)
			alone := accountOf("team-a", "secrets", role)
			onTop := alone.Assuming("arn:aws:iam::" + labAccount + ":role/on-top")
			l.wantWho(alone, assumed("of-a", "tabard-pod"))
			takeAway(server)
			later := func(d time.Duration) {
				l.pass(d)
				l.advance(d)
			}
			later(50 * time.Minute)
			l.wantWho(alone, assumed("of-a", "tabard-pod"))
			l.wantWho(onTop, assumed("on-top", "tabard-pod"))
			later(11 * time.Minute)
			if who, err := l.who(alone); fault.Of("", "", err) == nil || fault.Of("", "", err).Code != fault.CodeTokenUnavailable {
				t.Errorf("after an hour it is %s, %v", who, err)
			}
			l.wantWho(onTop, assumed("on-top", "tabard-pod"))
			later(50 * time.Minute)
			if who, err := l.who(onTop); fault.Of("", "", err) == nil || fault.Of("", "", err).Code != fault.CodeTokenUnavailable {
				t.Errorf("an hour after that the role on top is %s, %v", who, err)
			}
		})
	}
}
