package hub

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller/hubaccess"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// suffixOfB is that of arnB, which is cluster2.
const suffixOfB = "ad0247e9aba1f0d732220324d3ec0ee0"

// besieged is a hub where cluster1 has joined and means ill, cluster2 has its access, and cluster3
// waits for being accepted.
type besieged struct {
	*story
	// second is the environment of the agents of cluster2.
	second []string
	// own is the hand of cluster1's token, stranger that of the bootstrap token.
	own, stranger *hand
	before        seen
	panics        float64
	probes        int
}

// seen is what nothing of may change.
type seen struct {
	Roles    map[string]string // by name: the ID and the trust policy
	Entries  []string
	Clusters map[string]any // by name: what is not the hub's own report
	Access   v1alpha1.HubAccessSpec
	Rights   []string // of the groups of cluster1 and cluster2
	Starts   int      // of the hub controller
}

func startBesieged(t *testing.T) *besieged {
	t.Helper()
	b := &besieged{story: startStory(t)}
	ocm.StartWebhook(t, b.Cluster)
	b.Merge(ocm.New(ocm.ManagedCluster, "", "cluster1"), `{"metadata":{"labels":{"`+ocm.ClusterSetLabel+`":"default"}}}`) // as if it had been there first
	b.join(t)
	b.second = sessionOf(t, b.aws, "cluster2", arnB, "second-agent")
	for name, annotations := range map[string]map[string]string{
		"cluster2": {arnAnnotation: arnB, suffixAnnotation: suffixOfB}, "cluster3": {},
	} {
		made := ocm.New(ocm.ManagedCluster, "", name)
		made.SetAnnotations(annotations)
		b.Make(made)
	}
	b.Accept("cluster2")
	b.Await(func() error { return hasAccess(b.Cluster, "cluster2", "True", core.ReasonAccessGiven) })
	awaitCondition(b.Hub, "cluster2", "HubAcceptedManagedCluster", "True")
	for _, name := range []string{"cluster1", "cluster2"} {
		work, addon := ocm.New(ocm.ManifestWork, name, "work"), ocm.New(addonKind, name, "addon")
		work.Object["spec"] = map[string]any{"workload": map[string]any{"manifests": []any{}}}
		addon.Object["spec"] = map[string]any{}
		b.Make(work, addon, ocm.New(leaseKind, name, "lease"))
	}
	b.own, b.stranger = newHand(b.Cluster, b.mint(t)), handOf(b.Cluster, b.Account(ocm.OperatorNamespace, "agent-registration-bootstrap"))
	b.Await(func() error { return readCluster(b.Cluster, b.mintSecond(t), "cluster2") })
	b.settle(t)
	b.panics = panics(t)
	b.before = b.see(t)
	b.aws.Admin().ClearJournal()
	return b
}

// mintSecond is a fresh token of cluster2.
func (b *besieged) mintSecond(t *testing.T) string {
	t.Helper()
	return mint(t, b.second, "eks-hub", "arn:aws:iam::111111111111:role/ocm-hub-"+suffixOfB)
}

// see is what there is now.
func (b *besieged) see(t *testing.T) seen {
	t.Helper()
	now := seen{Roles: map[string]string{}, Clusters: map[string]any{}, Starts: b.node.Starts("cluster-manager-registration-controller")}
	for _, role := range must.Get(b.aws.IAM(hubAccount).ListRoles(t.Context(), &iam.ListRolesInput{}))(t).Roles {
		now.Roles[*role.RoleName] = *role.RoleId + " " + *role.AssumeRolePolicyDocument
	}
	for _, entry := range b.entries() {
		now.Entries = append(now.Entries, fmt.Sprintf("%+v", entry))
	}
	for _, name := range []string{"cluster2", "cluster3"} {
		cluster := ocm.New(ocm.ManagedCluster, "", name)
		must.Do(t, b.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster))
		spec, _, _ := unstructured.NestedMap(cluster.Object, "spec")
		delete(spec, "taints") // the hub's own, of a cluster that nobody hears of
		now.Clusters[name] = []any{cluster.GetUID(), cluster.GetAnnotations(), cluster.GetFinalizers(), cluster.GetOwnerReferences(), cluster.GetDeletionTimestamp(), spec}
	}
	var access v1alpha1.HubAccess
	must.Do(t, b.Get(t.Context(), client.ObjectKey{Name: "cluster2"}, &access))
	now.Access = access.Spec
	now.Rights = b.rights(t)
	return now
}

// rights are the bindings of the groups of cluster1 and cluster2.
func (b *besieged) rights(t *testing.T) (out []string) {
	t.Helper()
	note := func(where string, role rbacv1.RoleRef, subjects []rbacv1.Subject) {
		for _, subject := range subjects {
			if strings.HasSuffix(subject.Name, "open-cluster-management:cluster1") || strings.HasSuffix(subject.Name, "open-cluster-management:cluster2") {
				out = append(out, subject.Name+" is "+role.Name+" in "+where)
			}
		}
	}
	var everywhere rbacv1.ClusterRoleBindingList
	must.Do(t, b.List(t.Context(), &everywhere))
	for _, each := range everywhere.Items {
		note("all of the hub", each.RoleRef, each.Subjects)
	}
	var inOne rbacv1.RoleBindingList
	must.Do(t, b.List(t.Context(), &inOne))
	for _, each := range inOne.Items {
		note(each.Namespace, each.RoleRef, each.Subjects)
	}
	slices.Sort(out)
	return out
}

// settle waits until both controllers have looked at what was written before: a cluster that is
// accepted after it has what they give each.
func (b *besieged) settle(t *testing.T) {
	t.Helper()
	b.probes++
	name := fmt.Sprintf("probe-%d", b.probes)
	b.Make(ocm.New(ocm.ManagedCluster, "", name))
	b.Accept(name)
	b.Await(func() error { return hasAccess(b.Cluster, name, "True", core.ReasonNoAnnotations) })
	awaitCondition(b.Hub, name, "HubAcceptedManagedCluster", "True")
}

// wantHarmless says that what was tried has changed nothing of another, in AWS nothing at all, and
// that each token is who it was.
func (b *besieged) wantHarmless(t *testing.T) {
	t.Helper()
	b.settle(t)
	if diff := cmp.Diff(b.before, b.see(t)); diff != "" {
		t.Errorf("what nobody may change has changed (-before +now):\n%s", diff)
	}
	if changes := b.changesInAWS(); len(changes) > 0 {
		t.Errorf("in AWS was changed: %v", changes)
	}
	b.wantCluster2(t)
	b.wantOwn(t)
}

// wantCluster2 says that cluster2 has its access, and that nothing has ended or was issued.
func (b *besieged) wantCluster2(t *testing.T) {
	t.Helper()
	if err := hasAccess(b.Cluster, "cluster2", "True", core.ReasonAccessGiven); err != nil {
		t.Error(err)
	}
	second := newHand(b.Cluster, b.mintSecond(t))
	if got := whoIs(t, second); got != "cluster2 [open-cluster-management:cluster2 system:authenticated]" {
		t.Errorf("with the token of cluster2, the hub knows %s", got)
	}
	for what, do := range map[string]try{"its ManagedCluster": read(ocm.ManagedCluster, "", "cluster2"), "its works": list(ocm.ManifestWork, "cluster2")} {
		if err := do(t.Context(), second); err != nil {
			t.Errorf("cluster2 does not read %s: %v", what, err)
		}
	}
	var accesses v1alpha1.HubAccessList
	must.Do(t, b.List(t.Context(), &accesses))
	for _, access := range accesses.Items {
		if access.Spec.Access != nil && access.Name != "cluster1" && access.Name != "cluster2" {
			t.Errorf("the HubAccess %s has %+v", access.Name, access.Spec.Access)
		}
	}
	if now := panics(t); now != b.panics {
		t.Errorf("Tabard's controller has panicked %g times", now-b.panics)
	}
	if log := b.node.Log("cluster-manager-registration-controller"); strings.Contains(log, "panic") {
		t.Errorf("the hub controller has panicked:\n%s", log[max(0, strings.Index(log, "panic")-500):])
	}
	var requests certificatesv1.CertificateSigningRequestList
	must.Do(t, b.List(t.Context(), &requests))
	for _, request := range requests.Items {
		if len(request.Status.Conditions) > 0 || len(request.Status.Certificate) > 0 {
			t.Errorf("the certificate %s of %s was approved or issued: %+v", request.Name, request.Spec.Username, request.Status.Conditions)
		}
	}
}

// wantOwn says that cluster1 is itself, and reads nothing of another.
func (b *besieged) wantOwn(t *testing.T) {
	t.Helper()
	own := newHand(b.Cluster, b.mint(t))
	if got := whoIs(t, own); got != "cluster1 [open-cluster-management:cluster1 system:authenticated]" {
		t.Errorf("with the token of cluster1, the hub knows %s", got)
	}
	if err := read(ocm.ManagedCluster, "", "cluster1")(t.Context(), own); err != nil {
		t.Errorf("cluster1 does not read itself: %v", err)
	}
	b.wantForbidden(t, own)
}

func (b *besieged) wantForbidden(t *testing.T, h *hand) {
	t.Helper()
	for what, do := range map[string]try{"its ManagedCluster": read(ocm.ManagedCluster, "", "cluster2"), "its works": list(ocm.ManifestWork, "cluster2")} {
		if err := do(t.Context(), h); !apierrors.IsForbidden(err) {
			t.Errorf("of cluster2, another reads %s: %v", what, err)
		}
	}
}

// changesInAWS are the calls since the journal was cleared that do more than look.
func (b *besieged) changesInAWS() (changes []string) {
	for _, call := range b.aws.Admin().Journal() {
		looks := slices.ContainsFunc([]string{"Get", "List", "Describe", "AssumeRole"}, func(verb string) bool { return strings.HasPrefix(call.Operation, verb) })
		if !looks {
			changes = append(changes, call.Operation+" of "+call.Resource)
		}
	}
	return changes
}

// whoIs is the name and the groups of a hand.
func whoIs(t *testing.T, h *hand) string {
	t.Helper()
	review := &authenticationv1.SelfSubjectReview{}
	must.Do(t, h.Create(t.Context(), review))
	return fmt.Sprint(review.Status.UserInfo.Username, " ", review.Status.UserInfo.Groups)
}

// panics is how often Tabard's controller has panicked: what it does is taken up again then.
func panics(t *testing.T) (count float64) {
	t.Helper()
	for _, family := range must.Get(metrics.Registry.Gather())(t) {
		if family.GetName() != "controller_runtime_reconcile_panics_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "controller" && label.GetValue() == hubaccess.Name {
					return metric.GetCounter().GetValue()
				}
			}
		}
	}
	t.Fatal("there is no count of panics")
	return 0
}
