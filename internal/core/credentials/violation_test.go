package credentials_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
)

func TestViolationsAreNoticed(t *testing.T) {
	creds := credentials.Target{Kind: credentials.KindSecret, Namespace: "team", Name: "creds"}
	tests := map[string]struct {
		plant func(*model)
		want  string
	}{
		"nothing is wrong after a quiet start": {func(*model) {}, ""},
		"a role that the grant forgot":         {func(m *model) { m.grant.Status.Role = nil }, "no grant knows the role"},
		"a role without a grant":               {func(m *model) { m.grant = nil }, "no grant knows"},
		"a role of a request before":           {func(m *model) { m.ours["team/app/uid0"] = true; m.grant.Spec.Request.UID = "uid0" }, "another request's"},
		"a target that the grant forgot":       {func(m *model) { m.grant.Status.Targets = nil }, "no grant knows ServiceAccount"},
		"a static key": {func(m *model) {
			m.do(credentials.WriteSecret{Target: creds, Create: true, Data: `{"aws_access_key_id":"x"}`})
		}, "a static key is written"},
		"a static key in a file": {func(m *model) {
			m.do(credentials.WriteSecret{Target: creds, Create: true, Data: `{"credentials":"aws_secret_access_key = x"}`})
		}, "a static key is written"},
		"an annotation without a role": {func(m *model) {
			m.do(credentials.WriteServiceAccount{Target: account2, RoleARN: "arn:none", Create: true})
		}, "a role that is not complete"},
		"a role that goes before its annotation":    {func(m *model) { m.do(credentials.DeleteRole{Role: roleName(), Owner: "team/app/uid1"}) }, "a role is deleted while"},
		"a step for another owner's role":           {func(m *model) { m.do(credentials.SetTrust{Role: roleName(), Owner: "team/app/uid2"}) }, "not the request's"},
		"a finalizer beside an operator that mints": {func(m *model) { m.platform = openshift("Mint"); m.do(credentials.Hold{}) }, "not Tabard's"},
		"a grant beside an operator that mints":     {func(m *model) { m.platform = openshift("Mint"); m.do(credentials.MakeGrant{}) }, "not Tabard's"},
		"a live operator's finalizer": {func(m *model) {
			m.platform = openshift("Manual")
			m.do(credentials.Release{UID: "uid1", CCO: true})
		}, "a live operator's finalizer"},
		"a foreign role is changed": {func(m *model) { m.roles["theirs"].Trust = "{}" }, "touched what is not ours"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := settled(t, 0)
			m.roles["theirs"] = &credentials.Role{Trust: `{"a":1}`}
			_, err := crash.Pass(&crash.Planted[credentials.World, credentials.Step]{Model: m, Plant: func() { test.plant(m) }}, crash.None)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the driver found %v, want %q", err, test.want)
			}
		})
	}
}

var account2 = credentials.Target{Kind: credentials.KindServiceAccount, Namespace: "apps", Name: "second"}

// do performs a step that no decision asked for.
func (m *model) do(step credentials.Step) { _ = m.Perform(step, false) }
