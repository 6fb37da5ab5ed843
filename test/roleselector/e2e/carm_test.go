package e2e

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestBucketsStayWhereTheyAreWhenCARMGoes: with the gate off roles are found by
// CARM; then the selectors that tabard writes take its place while everything is
// there, and no bucket moves.
func TestBucketsStayWhereTheyAreWhenCARMGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	roles := map[string]string{red: w.aws.role(red, "team"), green: w.aws.role(green, "team")}
	w.Make(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ack-system", Name: "ack-role-account-map"}, Data: roles})
	owners := map[string]string{"red": red, "red-too": red, "green": green, "own": "", "blocked": blue}
	for name, owner := range owners {
		w.namespace(name, nil, map[string]string{"services.k8s.aws/owner-account-id": owner})
	}
	p := w.start()
	made := map[string]*bucket.Bucket{}
	for name, owner := range owners {
		made[name] = w.bucket(name, "data")
		switch owner {
		case "":
			w.awaitReady(made[name], hub, "")
			w.wantCallers(made[name], hub+"/controller")
		case blue:
			w.awaitCondition(made[name], "ACK.ResourceSynced=False RoleUnavailable: IAM Role is not available: "+
				`retrieving role ARN for account/team ID "`+blue+`" from "ack-role-account-map" configmap: key not found in CARM configmap`)
			w.wantCallers(made[name])
		default:
			found := w.awaitReady(made[name], owner, "")
			w.wantCallers(made[name], owner+"/team")
			if strings.Contains(conditions(found), "IAMRoleSelected") {
				t.Errorf("CARM speaks of selectors:\n%s", conditions(found))
			}
		}
	}
	w.migrate(p, made)

	// All of them are kept, and go, as they were made.
	for name, b := range made {
		if owners[name] == blue {
			w.awaitCondition(b, "ACK.Recoverable=True Denied")
			w.wantCallers(b)
			continue
		}
		w.Remove(b)
		w.awaitGone(b)
		if account := w.aws.accountOf(b.Spec.Name); account != "" {
			t.Errorf("the bucket %s is still in the account %s", b.Spec.Name, account)
		}
	}
}

// migrate does what docs/role-selectors-migration.md says: plan, apply, compare,
// the other flags, compare again.
func (w *world) migrate(p *process, made map[string]*bucket.Bucket) {
	w.Helper()
	before := map[string]string{}
	for name, b := range made {
		before[name] = w.aws.accountOf(b.Spec.Name)
	}
	described := w.aws.Write("controllers.yaml", "controllers:\n- {alias: s3, group: s3.services.k8s.aws, account: \""+hub+"\", systemNamespace: ack-system, region: "+region+"}\n")
	folder := w.aws.Path("migration")
	command := testkit.Tabard(w) + " migrate carm "
	w.Shell(command + "plan --controllers tabard --controllers-file " + described + " --out " + folder +
		"\nkubectl apply -f " + folder + "/selectors\n" +
		command + "verify --controllers tabard --live=false --controllers-file " + folder + "/controllers.yaml\n")
	p.End()
	w.aws.Admin().ClearJournal()
	w.start(gate)
	for name, b := range made {
		if before[name] != "" && before[name] != hub {
			w.Await(func() error {
				if w.reread(b).Recorded().Selector == "" {
					return errors.New(name + " does not record a selector")
				}
				return nil
			})
			w.awaitReady(b, before[name], w.selectorOf(before[name]))
			w.wantCallers(b, before[name]+"/team")
		}
	}
	w.awaitCondition(made["blocked"], "ACK.Recoverable=True Denied")
	out := w.Shell(command + "verify --controllers tabard --controllers-file " + folder + "/controllers.yaml\n")
	w.Logf("tabard migrate carm verify: %s", strings.TrimSpace(out))
	for name, b := range made {
		if after := w.aws.accountOf(b.Spec.Name); after != before[name] {
			w.Errorf("the bucket of %s was in %q, and is in %q", name, before[name], after)
		}
		for _, call := range w.aws.calls(":::" + b.Spec.Name) {
			if strings.HasPrefix(call, "Create") || strings.HasPrefix(call, "Put") || strings.HasPrefix(call, "Delete") {
				w.Errorf("the bucket of %s is changed: %s", name, call)
			}
		}
	}
}

// selectorOf is the selector of the role of an account.
func (w *world) selectorOf(account string) string {
	w.Helper()
	var list v1alpha1.IAMRoleSelectorList
	must.Do(w, w.List(w.Context(), &list))
	for _, s := range list.Items {
		if strings.Contains(s.Spec.ARN, "::"+account+":") {
			return s.Name
		}
	}
	w.Fatalf("no selector has a role of the account %s", account)
	return ""
}
