package capacity_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
)

// testSettings: they are in the questions, and the limit of sessions keeps these from
// being asked.
func testSettings(t *testing.T, f *fixture) {
	f.api.InstallCRDs(t)
	for _, name := range []string{"first.large", "second.large"} {
		f.types.know(name, 2, 8192, instancetype.AMD64)
	}
	f.create(t, iamRoleSelector(t, "some", ofMachines))
	selectors := f.runSelected(t, identity.Environment{RoleARN: ownRole, TokenFile: "/token"}, roleselector.Settings{
		ExternalID: "ack/%CLUSTER_ID%", SessionName: "set-%RESOURCE_NAME%", SessionLimit: 1,
	})
	testkit.Await(t, func() error {
		if selectors.Index().Get("some") == nil {
			return errors.New("the selector some has not been seen")
		}
		return selectors.Ready(nil)
	})
	first, second := machines(t, "first", "first.large", ""), machines(t, "second", "second.large", "")
	f.create(t, first)
	f.awaitRole(t, "first.large", identity.Role{ARN: teamA, ExternalID: "ack/c1", SessionName: "set-first", Duration: 15 * time.Minute})
	f.create(t, second)
	f.awaitEvent(t, second, event("Warning", fromMachineAPI, "ReconcileError",
		"the role of the IAMRoleSelector some cannot be assumed: spec.assumeRole: the selector some has as many sessions as it may have, 1; "+
			"take variables out of its templates, or raise --assume-role-session-limit"))
	f.checkNotAsked(t, "second.large")

	must.Do(t, f.cluster.Delete(t.Context(), first))
	// Nobody touches the second: the room wakes it.
	f.awaitRole(t, "second.large", identity.Role{ARN: teamA, ExternalID: "ack/c1", SessionName: "set-second", Duration: 15 * time.Minute})
}

// awaitRole waits until AWS was asked for a type as a web identity with a role.
func (f *fixture) awaitRole(t *testing.T, instanceType string, role identity.Role) {
	t.Helper()
	want := identity.Identity{Base: identity.WebIdentity}.Via(role)
	testkit.Await(t, func() error {
		f.types.mu.Lock()
		defer f.types.mu.Unlock()
		if who := f.types.askers[instanceType]; who != want {
			return fmt.Errorf("AWS was asked for %s by %+v, want %+v", instanceType, who, want)
		}
		return nil
	})
}
