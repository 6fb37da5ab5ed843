package hubaccess

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var (
	rounds = flag.Int("rounds", 50, "how many things TestChaos does to the hub")
	chance = flag.Uint64("seed", 1, "the seed of TestChaos")
)

// crowd is how many spokes TestChaos has; each second one has a twin in another region,
// of the same suffix.
const crowd = 6

// TestChaos kills the program, has AWS throttle and deny, and accepts, denies, deletes and
// re-creates clusters of which some have one suffix, in no order. At each moment an entry
// in AWS is that of the cluster for which it was made; whenever the hub is left alone all
// comes to be as it should.
func TestChaos(t *testing.T) { chaos(t, *rounds) }

// TestLongChaos does so for longer than everybody waits for.
func TestLongChaos(t *testing.T) { chaos(t, max(*rounds, 200)) }

func chaos(t *testing.T, rounds int) {
	t.Helper()
	w := newWorld(t)
	t.Logf("seed %d", *chance)
	random := rand.New(rand.NewPCG(*chance, 0))
	w.spokeRoles()
	process := w.start("--hubaccess-managed-iam=On", "--hubaccess-writes-per-second=1000", "--leader-elect=false")
	for round := 1; round <= rounds; round++ {
		switch random.IntN(10) {
		case 0:
			process.Kill()
			process.Restart()
		case 1:
			w.aws.Admin().Inject(awslocal.Fault{Service: []string{"iam", "eks"}[random.IntN(2)], Code: "ThrottlingException", Count: 5})
		case 2:
			w.aws.Admin().Inject(awslocal.Fault{Service: []string{"iam", "eks"}[random.IntN(2)], Code: "AccessDenied", Count: 3})
		default:
			w.disturb(random)
		}
		w.wantNoForeignAccess()
		if round%25 == 0 || round == rounds {
			w.aws.Admin().ClearFaults()
			process.Kill()
			process.Restart() // what waits for a person looks again
			w.Await(w.settled)
		}
	}
}

// spokeRoles makes the own roles of all spokes.
func (w *world) spokeRoles() {
	for i := range crowd {
		w.aws.Role(spokes, hub.SpokeRoleName(suffix(w, i)), strings.ReplaceAll(anybody, account, spokes), "")
	}
}

// disturb changes one cluster.
func (w *world) disturb(random *rand.Rand) {
	w.Helper()
	i, twin := random.IntN(crowd), random.IntN(2) == 1
	arn, called := spokeARN(i), name(i)
	if twin {
		arn, called = strings.Replace(arn, "us-east-1", "eu-west-1", 1), called+"-twin"
	}
	cluster := named(called).(*unstructured.Unstructured) //nolint:forcetypeassert // named makes it
	err := w.Get(w.Context(), client.ObjectKeyFromObject(cluster), cluster)
	what := random.IntN(4)
	switch {
	case err != nil:
		cluster.Object["spec"] = map[string]any{"hubAcceptsClient": what != 0}
		cluster.SetAnnotations(map[string]string{hub.ARNAnnotation: arn, hub.SuffixAnnotation: suffix(w, i)})
		err = w.Create(w.Context(), cluster)
	case what == 0:
		err = w.Delete(w.Context(), cluster)
	case what == 1: // its finalizers taken off by hand
		err = errors.Join(w.Patch(w.Context(), cluster, merge(`{"metadata":{"finalizers":null}}`)), client.IgnoreNotFound(w.Delete(w.Context(), cluster)))
	default:
		err = w.Patch(w.Context(), cluster, merge(fmt.Sprintf(`{"spec":{"hubAcceptsClient":%t}}`, what == 2)))
	}
	must.Do(w, client.IgnoreNotFound(err))
}

func merge(patch string) client.Patch {
	return client.RawPatch("application/merge-patch+json", []byte(patch))
}

// seen is a role of the hub with its entry.
type seen struct {
	owner, username string
	stale           bool
}

// look is at all roles of the hub and their entries, as the account's administrator.
func (w *world) look(ctx context.Context) (map[string]seen, error) {
	as := w.aws.As(w.aws.Administrator(account))
	roles, entries := iam.NewFromConfig(as), eks.NewFromConfig(as)
	out := map[string]seen{}
	for _, e := range w.aws.Admin().Clusters()[0].AccessEntries {
		_, role, _ := strings.Cut(e.PrincipalARN, ":role/")
		got, err := entries.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String("eks-hub"), PrincipalArn: &e.PrincipalARN})
		if err != nil {
			continue // it went since
		}
		out[role] = seen{owner: got.AccessEntry.Tags[hub.ClusterTag], username: *got.AccessEntry.Username, stale: e.Stale}
	}
	list, err := roles.ListRoles(ctx, &iam.ListRolesInput{MaxItems: aws.Int32(1000)})
	if err != nil {
		return nil, err
	}
	for _, role := range list.Roles {
		if _, there := out[*role.RoleName]; !there && strings.HasPrefix(*role.RoleName, hub.RoleName("")) {
			out[*role.RoleName] = seen{}
		}
	}
	return out, nil
}

// wantNoForeignAccess wants each entry to be that of the cluster for which it was made.
func (w *world) wantNoForeignAccess() {
	w.Helper()
	faults := w.aws.Admin().Faults()
	w.aws.Admin().ClearFaults()
	all := must.Get(w.look(w.Context()))(w)
	for _, fault := range faults {
		w.aws.Admin().Inject(fault)
	}
	for role, s := range all {
		if owner, _, _ := strings.Cut(s.owner, "/"); s.username != owner {
			w.Errorf("the entry of %s is user %q and was made for %q", role, s.username, s.owner)
		}
	}
}

func clusterList() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("cluster.open-cluster-management.io/v1")
	list.SetKind("ManagedClusterList")
	return list
}

// settled says what is not yet as it should be.
func (w *world) settled() error {
	clusters := clusterList()
	records := &v1alpha1.HubAccessList{}
	if err := errors.Join(w.List(w.Context(), clusters), w.List(w.Context(), records)); err != nil {
		return err
	}
	accepted, recorded := map[string]bool{}, map[string]bool{}
	for i := range clusters.Items {
		yes, _, _ := unstructured.NestedBool(clusters.Items[i].Object, "spec", "hubAcceptsClient")
		accepted[clusters.Items[i].GetName()] = yes
		if clusters.Items[i].GetDeletionTimestamp() != nil {
			return fmt.Errorf("%s is being deleted still", clusters.Items[i].GetName())
		}
	}
	all, err := w.look(w.Context())
	if err != nil {
		return err
	}
	served := 0
	for i := range records.Items {
		record := &records.Items[i]
		v, _ := condition.Read(record.Status.Conditions, core.TypeReady)
		twin := strings.TrimSuffix(record.Name, "-twin")
		if twin == record.Name {
			twin += "-twin"
		}
		switch {
		case !accepted[record.Name]:
			return fmt.Errorf("%s has a record, and is not accepted: %s", record.Name, v.Message)
		case v.Reason == core.ReasonSuffixInUse && accepted[twin]:
		case v.Reason != core.ReasonAccessGiven:
			return fmt.Errorf("%s is %s: %s", record.Name, v.Reason, v.Message)
		default:
			has := all[hub.RoleName(record.Spec.Access.Suffix)]
			if served++; has.owner != hub.OwnerOf(record.Name, string(record.Spec.ClusterUID)) || has.stale {
				return fmt.Errorf("%s has the entry %+v", record.Name, has)
			}
		}
		recorded[record.Name] = true
	}
	for name, yes := range accepted {
		if yes && !recorded[name] {
			return fmt.Errorf("%s is accepted, and has no record", name)
		}
	}
	if len(all) != served {
		return fmt.Errorf("%d clusters are served, and AWS has %v", served, all)
	}
	return nil
}
