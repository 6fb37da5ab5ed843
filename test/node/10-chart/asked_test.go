package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

var (
	secret = right{account: "tabard-system/a", namespace: "tabard-system", verb: "get", resource: "secrets", name: "own"}
	pods   = right{account: "tabard-system/a", verb: "list", resource: "pods"}
)

func TestRightsAreThoseOfTheBindings(t *testing.T) {
	roles := map[string][]rbacv1.PolicyRule{
		"tabard-system/own": {{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"own"}, Verbs: []string{"get"}}},
		"/all":              {{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}, {NonResourceURLs: []string{"/openid/v1/jwks"}, Verbs: []string{"get"}}},
		"/own":              {{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}},
	}
	bind := func(namespace, kind, name, to string) (out rbacv1.RoleBinding) {
		out.Namespace, out.RoleRef = namespace, rbacv1.RoleRef{Kind: kind, Name: name}
		out.Subjects = []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: to, Name: "a"}}
		return out
	}
	got := rights(roles, []rbacv1.RoleBinding{
		bind("tabard-system", "Role", "own", "tabard-system"), bind("", "ClusterRole", "all", "tabard-system"), bind("", "ClusterRole", "own", "kube-system"),
	})
	want := []right{secret, pods, {account: "tabard-system/a", verb: "get", resource: "/openid/v1/jwks"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(right{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheAuditLogSaysWhatWasAsked(t *testing.T) {
	const log = `{"user":{"username":"system:serviceaccount:tabard-system:a"},"verb":"get","requestURI":"/api/v1/namespaces/tabard-system/secrets/own","objectRef":{"resource":"secrets","namespace":"tabard-system","name":"own","apiVersion":"v1"},"annotations":{"authorization.k8s.io/decision":"allow"}}
{"user":{"username":"system:serviceaccount:tabard-system:a"},"verb":"create","objectRef":{"resource":"serviceaccounts","subresource":"token","namespace":"x","name":"y"},"annotations":{"authorization.k8s.io/decision":"forbid"}}
{"user":{"username":"admin"},"verb":"get","objectRef":{"resource":"pods"}}
`
	allowed, forbidden, err := asked(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]right{secret}, allowed, cmp.AllowUnexported(right{})); diff != "" {
		t.Errorf("allowed (-want +got):\n%s", diff)
	}
	token := right{account: "tabard-system/a", namespace: "x", verb: "create", resource: "serviceaccounts/token", name: "y"}
	if diff := cmp.Diff([]right{token}, forbidden, cmp.AllowUnexported(right{})); diff != "" {
		t.Errorf("forbidden (-want +got):\n%s", diff)
	}
	if _, _, err := asked(strings.NewReader("no event\n")); err == nil {
		t.Error("a line that is no event is taken")
	}
}

func TestARightThatNothingAsksForIsFound(t *testing.T) {
	other := func(change func(*right)) right { out := secret; change(&out); return out }
	cases := map[string]struct {
		allowed []right
		excused map[string]string
		idle    []right
		stale   []string
	}{
		"asked for":                             {allowed: []right{secret, other(func(r *right) { r.verb, r.resource, r.name = "list", "pods", "" })}},
		"one not":                               {allowed: []right{secret}, idle: []right{pods}},
		"of another name":                       {allowed: []right{other(func(r *right) { r.name = "x" }), pods}, idle: []right{secret}},
		"in another namespace":                  {allowed: []right{other(func(r *right) { r.namespace = "x" }), pods}, idle: []right{secret}},
		"by another account":                    {allowed: []right{other(func(r *right) { r.account = "tabard-system/b" }), pods}, idle: []right{secret}},
		"excused":                               {allowed: []right{pods}, excused: map[string]string{"a get,list secrets": "why"}},
		"excused and asked for":                 {allowed: []right{pods, secret}, excused: map[string]string{"a get secrets": "why"}},
		"a line about no right":                 {allowed: []right{pods, secret}, excused: map[string]string{"a delete secrets": "why"}, stale: []string{"a delete secrets"}},
		"excused for another account than asks": {allowed: []right{pods}, excused: map[string]string{"b get secrets": "why"}, idle: []right{secret}, stale: []string{"b get secrets"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			idle, stale := unused([]right{secret, pods}, c.allowed, c.excused)
			if diff := cmp.Diff(c.idle, idle, cmp.AllowUnexported(right{})); diff != "" {
				t.Errorf("unused (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.stale, stale); diff != "" {
				t.Errorf("stale (-want +got):\n%s", diff)
			}
		})
	}
}
