package iam

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
)

const own = "123456789012"

func newService() *Service {
	return New(Options{
		Administrators: map[string]Key{own: {ID: "AKIA1", Secret: "s"}},
		Identifiers:    identifier.New(rand.Reader), Now: time.Now,
	})
}

func TestPrincipalsThatMayStandInAPolicy(t *testing.T) {
	s := newService()
	cases := map[string]struct {
		kind, name string
		want       bool
	}{
		"everybody":                          {"AWS", "*", true},
		"a user":                             {"AWS", "arn:aws:iam::" + own + ":user/administrator", true},
		"a user in another case":             {"AWS", "arn:aws:iam::" + own + ":user/Administrator", false},
		"a user that does not exist":         {"AWS", "arn:aws:iam::" + own + ":user/nobody", false},
		"a user of an account far away":      {"AWS", "arn:aws:iam::999999999999:user/administrator", false},
		"a user's name as a role":            {"AWS", "arn:aws:iam::" + own + ":role/administrator", false},
		"an account's root":                  {"AWS", "arn:aws:iam::999999999999:root", true},
		"an account's ID":                    {"AWS", "999999999999", true},
		"half a root":                        {"AWS", "999999999999:root", false},
		"a session":                          {"AWS", "arn:aws:sts::" + own + ":assumed-role/r/s", true},
		"any other text":                     {"AWS", "administrator", false},
		"an OIDC provider":                   {"Federated", "arn:aws:iam::" + own + ":oidc-provider/x", true},
		"a public provider of identities":    {"Federated", "accounts.google.com", true},
		"a federated name that is no domain": {"Federated", "google", false},
		"a service":                          {"Service", "pods.eks.amazonaws.com", true},
		"a service of somebody else":         {"Service", "pods.example", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := s.PrincipalExists(c.kind, c.name); got != c.want {
				t.Errorf("%s %s exists: %v, want %v", c.kind, c.name, got, c.want)
			}
		})
	}
}

func TestResetKeepsTheAdministrator(t *testing.T) {
	s := newService()
	s.accounts[own].roles["app"] = &role{holder: newHolder(home{partition.Commercial, own}, roleKind, "app", "/", "AROA1", time.Now())}
	s.Reset()
	if _, known := s.Role(own, "app"); known {
		t.Error("a role outlives a reset")
	}
	if got, known := s.Lookup("AKIA1"); !known || got.Secret != "s" {
		t.Error("the administrator's key does not outlive a reset")
	}
}

func FuzzTrust(f *testing.F) {
	f.Add(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":["arn:aws:iam::` + own + `:user/administrator","*"]}}]}`)
	f.Add(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":"*"}}`)
	f.Add(`{"Statement":[7,{"Principal":[{"AWS":1}]}]}`)
	s := newService()
	nobody := func(string) string { return "" }
	f.Fuzz(func(t *testing.T, text string) {
		eachPrincipal(text, func(_, name string) string { return name + "x" })
		written, fault := s.parseTrust(text)
		if fault != nil {
			return
		}
		if got := written.effective(s.uniqueID, s.newARN); got.text != text {
			t.Errorf("a trust reads %s just after it was written as %s", got.text, text)
		}
		gone := written.effective(nobody, nobody)
		if gone.policy == nil {
			t.Errorf("a trust whose principals have gone does not parse: %s", gone.text)
		}
		for arn := range written.bound {
			if strings.Contains(gone.text, `"`+arn+`"`) && !strings.Contains(text, "Condition") {
				t.Errorf("%s is still trusted in %s", arn, gone.text)
			}
		}
	})
}
