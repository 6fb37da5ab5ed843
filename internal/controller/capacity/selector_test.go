package capacity_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/controller/capacity"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

const (
	ownRole = "arn:aws:iam::111111111111:role/capacity"
	teamA   = "arn:aws:iam::222222222222:role/team-a"
)

// runSelected runs the controller with selectors, for the process's identity.
func (f *fixture) runSelected(t *testing.T, env identity.Environment, settings roleselector.Settings) (selectors *kube.Selectors) {
	t.Helper()
	f.run(t, wokenByWatchesAlone, func(o *capacity.Options) {
		selectors = must.Get(kube.New(f.manager, kube.Options{Kinds: capacity.Kinds()}))(t)
		o.Selectors, o.Credentials = selectors, capacity.Identities{Environment: env}
		o.Process.ClusterID, o.AssumeRole = "c1", settings
	})
	return selectors
}

func iamRoleSelector(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	out := parse(t, `{apiVersion: services.k8s.aws/v1alpha1, kind: IAMRoleSelector, metadata: {name: %s}, spec: {arn: "%s", %s}}`, name, teamA, spec)
	out.SetNamespace("")
	return out
}

// awaitAsker waits until AWS was last asked for a type by a role; empty is the
// process's own.
func (f *fixture) awaitAsker(t *testing.T, instanceType, role string) {
	t.Helper()
	testkit.Await(t, func() error {
		f.types.mu.Lock()
		defer f.types.mu.Unlock()
		who, asked := f.types.askers[instanceType]
		if !asked || who.Base != identity.WebIdentity || who.RoleARN() != role {
			return fmt.Errorf("AWS was asked for %s: %v, by %+v; want a web identity with the role %q on top", instanceType, asked, who, role)
		}
		return nil
	})
}

func (f *fixture) checkNotAsked(t *testing.T, instanceType string) {
	t.Helper()
	if got := f.types.count(instanceType); got != 0 {
		t.Errorf("AWS was asked for %s %d times, want never", instanceType, got)
	}
}

const ofMachines = `resourceTypeSelector: [{group: machine.openshift.io}], namespaceSelector: {names: [default]}`

// testSelectors begins without the kind.
func testSelectors(t *testing.T, f *fixture) {
	for _, name := range []string{"early.large", "late.large", "torn.large", "secret.large"} {
		f.types.know(name, 2, 8192, instancetype.AMD64)
	}
	if !t.Run("with a web identity", f.testSelected) {
		return
	}
	t.Run("not beside a Secret", f.testAmbiguous)
}

func (f *fixture) testSelected(t *testing.T) {
	selectors := f.runSelected(t, identity.Environment{RoleARN: ownRole, TokenFile: "/token"}, roleselector.Settings{})
	early, late := machines(t, "early", "early.large", ""), machines(t, "late", "late.large", "")
	f.create(t, early)
	f.awaitEvent(t, early, event("Warning", fromMachineAPI, "ReconcileError",
		"The IAMRoleSelectors, IAMRoleChoices and namespaces have not all been read yet."))
	f.checkNotAsked(t, "early.large")
	if err := selectors.Ready(nil); err == nil || !strings.Contains(err.Error(), "iamroleselectors") {
		t.Errorf("it is ready without the kind: %v", err)
	}

	crds := filepath.Join(testkit.Root(), testkit.CRDs)
	f.api.InstallCRDsFrom(t, filepath.Join(crds, "services.k8s.aws_iamroleselectors.yaml"), filepath.Join(crds, "identity.tabard.dev_iamrolechoices.yaml"))
	f.awaitAsker(t, "early.large", "")
	f.awaitAnnotations(t, early, large())
	testkit.Await(t, func() error { return selectors.Ready(nil) })

	all, some := iamRoleSelector(t, "all", ""), iamRoleSelector(t, "some", ofMachines)
	f.create(t, all, some)
	f.awaitAsker(t, "early.large", teamA)
	f.create(t, late)
	f.awaitAsker(t, "late.large", teamA)

	other := iamRoleSelector(t, "other", ofMachines+`, resourceLabelSelector: {matchLabels: {torn: "yes"}}`)
	torn := machines(t, "torn", "torn.large", "")
	torn.SetLabels(map[string]string{"torn": "yes"})
	f.create(t, other)
	testkit.Await(t, func() error {
		if selectors.Index().Get("other") == nil {
			return errors.New("the selector other has not been seen")
		}
		return nil
	})
	f.create(t, torn)
	f.awaitEvent(t, torn, event("Warning", fromMachineAPI, "ReconcileError",
		"Cannot determine which IAMRoleSelector to use. Conflicting IAMRoleSelectors: [other, some]"))
	f.checkNotAsked(t, "torn.large")
	f.patch(t, torn, "someone", `{"metadata": {"labels": {"torn": "no"}}}`)
	f.awaitAsker(t, "torn.large", teamA)
}

func (f *fixture) testAmbiguous(t *testing.T) {
	f.runSelected(t, identity.Environment{}, roleselector.Settings{})
	set := machines(t, "secret", "secret.large", "")
	f.create(t, set)
	f.awaitEvent(t, set, event("Warning", fromMachineAPI, "ReconcileError",
		"IdentityAmbiguous: machineSet secret names the Secret default/aws-cloud-credentials and the IAMRoleSelector some selects it, "+
			"and a Secret assumes no role: take one of the two away, or give the controller a web identity"))
	f.checkNotAsked(t, "secret.large")
	must.Do(t, f.cluster.Delete(t.Context(), iamRoleSelector(t, "some", ""), client.GracePeriodSeconds(0)))
	testkit.Await(t, func() error {
		f.types.mu.Lock()
		defer f.types.mu.Unlock()
		want := identity.Identity{Base: identity.Secret, Secret: identity.SecretRef{Namespace: namespace, Name: "aws-cloud-credentials"}}
		if who := f.types.askers["secret.large"]; who != want {
			return fmt.Errorf("AWS was asked by %+v, want %+v", who, want)
		}
		return nil
	})
}
