package hub

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// attack is a thing that the administrator of a cluster can try on the hub.
type attack struct {
	name string
	do   try
	// refusal is a part of what the hub answers; empty where it does what it is asked.
	refusal string
	// then is waited for afterwards; nil for nothing.
	then func(b *besieged) error
}

// forbidden is what the hub's rights answer.
const forbidden = "is forbidden: User "

// TestOCMNoClusterGetsTheAccessOrTheNameOfAnother has a cluster whose administrator tries all that
// its token of the hub lets them ask, and what the bootstrap token does. Whatever the hub does of it,
// the roles and access entries of all clusters stay as they are, another cluster keeps its access and
// its ManagedCluster, each token is who it was, no certificate is issued, and no controller ends.
func TestOCMNoClusterGetsTheAccessOrTheNameOfAnother(t *testing.T) {
	groups := [][]attack{onOwnAnnotations(), onOwnSpec(), onOwnStatus(), onOthers(), onOwnNamespace(), onRights(), withCertificates()}
	foreign := withTheBootstrapToken()
	count := len(foreign) + len(atTheEnd())
	for _, group := range groups {
		count += len(group)
	}
	if count < 160 { // what docs/hub.md says
		t.Errorf("there are %d attacks, want the 160 of docs/hub.md at least", count)
	}
	b := startBesieged(t)
	for _, group := range groups {
		b.run(t, b.own, group)
		b.mend(t)
		b.wantHarmless(t)
	}
	b.run(t, b.stranger, foreign)
	b.wantHarmless(t)
	b.acceptTheStranger(t)
	b.wantHarmless(t)
	b.run(t, b.own, atTheEnd())
	b.end(t)
}

// run tries what there is in a group.
func (b *besieged) run(t *testing.T, h *hand, group []attack) {
	t.Helper()
	for _, each := range group {
		err := each.do(t.Context(), h)
		switch {
		case each.refusal == "" && err != nil:
			t.Errorf("%s: %.500s, want that the hub does it", each.name, err.Error())
		case each.refusal != "" && (err == nil || !strings.Contains(err.Error(), each.refusal)):
			t.Errorf("%s: the hub answers %.500s, want %q", each.name, fmt.Sprint(err), each.refusal)
		}
		if each.then != nil {
			b.Await(func() error {
				if err := each.then(b); err != nil {
					return fmt.Errorf("%s: %w", each.name, err)
				}
				return nil
			})
		}
	}
}

// mend makes the ManagedCluster of cluster1 what it was, as its administrator can.
func (b *besieged) mend(t *testing.T) {
	t.Helper()
	must.Do(t, update(ocm.ManagedCluster, "", "cluster1", claim(arnA, suffixA), set(int64(60), "spec", "leaseDurationSeconds"),
		func(cluster *object) { cluster.SetOwnerReferences(nil) })(t.Context(), b.own))
	b.Await(func() error { return hasAccess(b.Cluster, "cluster1", "True", core.ReasonAccessGiven) })
}

// acceptTheStranger accepts by mistake what the bootstrap token has made with the identity of
// cluster2, and then deletes it.
func (b *besieged) acceptTheStranger(t *testing.T) {
	t.Helper()
	b.Accept("claims-cluster2")
	b.Await(func() error { return hasAccess(b.Cluster, "claims-cluster2", "False", core.ReasonSuffixInUse) })
	b.Remove(ocm.New(ocm.ManagedCluster, "", "claims-cluster2"))
	b.awaitNone(ocm.New(ocm.ManagedCluster, "", "claims-cluster2"))
}

// end has cluster1 deleted, which has denied itself, and wants to stay.
func (b *besieged) end(t *testing.T) {
	t.Helper()
	last := b.mint(t)
	work := ocm.New(ocm.ManifestWork, "cluster1", "work")
	b.Remove(ocm.New(addonKind, "cluster1", "addon"))
	b.Remove(work)
	b.Merge(work, `{"metadata":{"finalizers":null}}`) // with which the cluster has kept it
	b.awaitNone(work)
	b.Remove(ocm.New(ocm.ManagedCluster, "", "cluster1"))
	b.Await(func() error {
		if entries := b.entries(); len(entries) != 1 || entries[0].Username != "cluster2" {
			return fmt.Errorf("the access entries are %+v, want that of cluster2", entries)
		}
		return nil
	})
	b.awaitNone(&v1alpha1.HubAccess{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}})
	awaitUnauthorized(t, b.Cluster, func() string { return last })
	now := b.see(t)
	for name := range b.before.Roles {
		if was := b.before.Roles[name]; name != "ocm-hub-"+suffixA && now.Roles[name] != was {
			t.Errorf("the role %s was %s, and is %s", name, was, now.Roles[name])
		}
	}
	if role := now.Roles["ocm-hub-"+suffixA]; role != "" {
		t.Errorf("the role of cluster1 is there: %s", role)
	}
	b.wantCluster2(t)
}
