package app

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestSetLeases: the names of earlier versions.
func TestSetLeases(t *testing.T) {
	all := []string{"certificate", "issuer"}
	for name, test := range map[string]struct{ chosen, want []string }{
		"all that are on":       {all, []string{"tabard-operator"}},
		"one":                   {[]string{"issuer"}, nil},
		"some, one of them off": {[]string{"capacity", "certificate", "issuer"}, []string{"tabard-operator-capacity-certificate-issuer"}},
	} {
		if diff := cmp.Diff(test.want, setLeases(test.chosen, all)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestEachControllerHasALeaseOfItsOwn: no set's lease is a controller's, nor another
// set's, and no controller's is another's.
func TestEachControllerHasALeaseOfItsOwn(t *testing.T) {
	known, off := controllerNames()
	taken := map[string]string{}
	claim := func(lease, by string) {
		if taken[lease] != "" {
			t.Errorf("lease %s is that of %s and of %s", lease, taken[lease], by)
		}
		taken[lease] = by
	}
	for _, c := range declared() {
		name, own := c.name, c.leases()
		if want := "tabard-operator-" + name; own[len(own)-1] != want {
			t.Errorf("controller %s has the leases %v, want %s as the last", name, own, want)
		}
		for _, lease := range own {
			claim(lease, name)
		}
	}
	for bits := range 1 << len(known) {
		var chosen []string
		for i, name := range known {
			if bits&(1<<i) != 0 {
				chosen = append(chosen, name)
			}
		}
		for _, lease := range setLeases(chosen, without(known, off)) {
			claim(lease, "the set "+strings.Join(chosen, "+"))
		}
	}
}

// manifests are what of config/manifests is about leases.
type manifests struct {
	deployments []appsv1.Deployment
	roles       []rbacv1.Role
}

func readLeaseManifests(t *testing.T) (m manifests) {
	t.Helper()
	must.Do(t, filepath.WalkDir("../../config/manifests", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			var kind metav1.TypeMeta
			if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			switch kind.Kind {
			case "Deployment":
				m.deployments = append(m.deployments, appsv1.Deployment{})
				err = yaml.UnmarshalStrict([]byte(document), &m.deployments[len(m.deployments)-1])
			case "Role":
				var role rbacv1.Role
				err = yaml.UnmarshalStrict([]byte(document), &role)
				// ocm/certificate.yaml takes the place of certificate.yaml, and has the same Role.
				if !slices.ContainsFunc(m.roles, func(known rbacv1.Role) bool { return cmp.Equal(known, role) }) {
					m.roles = append(m.roles, role)
				}
			}
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return nil
	}))
	return m
}

// TestManifestsLetTakeWhatIsNeeded: each Deployment's Role has the leases of its
// controllers, and no other Role of the namespace has one of them.
func TestManifestsLetTakeWhatIsNeeded(t *testing.T) {
	m := readLeaseManifests(t)
	let := map[string]string{}
	for _, role := range m.roles {
		for _, rule := range role.Rules {
			if !slices.Contains(rule.Resources, "leases") || slices.Equal(rule.Verbs, []string{"create"}) {
				continue
			}
			if !slices.Equal(rule.Verbs, []string{"get", "update"}) || len(rule.ResourceNames) == 0 {
				t.Errorf("role %s: %v on the leases %v, want get and update on some", role.Name, rule.Verbs, rule.ResourceNames)
			}
			for _, lease := range rule.ResourceNames {
				lease = role.Namespace + "/" + lease
				if let[lease] != "" {
					t.Errorf("lease %s can be taken by %s and by %s", lease, let[lease], role.Name)
				}
				let[lease] = role.Name
			}
		}
	}
	want := map[string]string{}
	for _, d := range m.deployments {
		for _, lease := range leasesOf(t, d.Spec.Template.Spec.Containers[0].Args) {
			want[d.Namespace+"/"+lease] = d.Name + "-lease"
		}
	}
	if diff := cmp.Diff(want, let); diff != "" || len(want) < 6 {
		t.Errorf("leases and the Roles that let them be taken (-want +got):\n%s", diff)
	}
}

// leasesOf are those that a process with these arguments takes.
func leasesOf(t *testing.T, args []string) (out []string) {
	t.Helper()
	// The kubelet fills in variables; no flag with one is about controllers.
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.Contains(arg, "$(") })
	switch args[0] {
	case "capacity":
		return declareCapacity().leases()
	case "operator":
		var flags operatorFlags
		parsed := pflag.NewFlagSet("operator", pflag.ContinueOnError)
		flags.add(parsed)
		must.Do(t, parsed.Parse(args[1:]))
		chosen := must.Get(flags.complete())(t)
		known, off := controllerNames()
		out = setLeases(chosen, without(known, off))
		for _, c := range flags.all {
			if slices.Contains(chosen, c.name) {
				out = append(out, c.leases()...)
			}
		}
	}
	return out
}

// TestWhoRunsCapacityHoldsBothLeases: the drop-in and the operator; while somebody
// else holds either, nothing is done.
func TestWhoRunsCapacityHoldsBothLeases(t *testing.T) {
	l := newCapacityLab(t)
	programs := map[string]func(*testing.T, string){
		"drop-in": func(t *testing.T, address string) {
			l.start(t, "--health-addr="+address, "--leader-elect-lease-duration=6s")
		},
		"operator": func(t *testing.T, address string) {
			l.startOperator(t, "--controllers=capacity", "--leader-elect", "--health-probe-bind-address="+address)
		},
	}
	for name, start := range programs {
		for _, held := range declareCapacity().leases() {
			t.Run(name+"-"+held, func(t *testing.T) {
				now, holder, duration := metav1.NowMicro(), "somebody", int32(3600)
				lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: held}}
				_ = l.cluster.Delete(t.Context(), lease)
				lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &duration, AcquireTime: &now, RenewTime: &now}
				testkit.Create(t, l.cluster, lease)
				set := l.set(t, name+"-"+held, "m5.large", "us-west-2")
				address := fmt.Sprintf("127.0.0.1:%d", testkit.FreePort(t))
				start(t, address)
				l.awaitAnswer(t, address, "/readyz", http.StatusOK, "ok")
				<-time.After(4 * time.Second) // time in which it would take the other lease, and act
				if told := l.told(t, set); len(told) > 0 {
					t.Errorf("it acts while somebody holds the lease: %s", told[0])
				}
				must.Do(t, l.cluster.Delete(t.Context(), lease))
				l.awaitProblem(t, set, `aws credentials secret openshift-machine-api/aws-cloud-credentials: secrets "aws-cloud-credentials" not found`)
			})
		}
	}
}
