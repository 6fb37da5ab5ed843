package issuer_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// TestAnEarlierLookAtRolesOnlySparesLooks has a pass some time after one that looked at
// the roles. An earlier look decides if there is nothing to do, and never on a removal.
func TestAnEarlierLookAtRolesOnlySparesLooks(t *testing.T) {
	blocked := map[string][]string{"444455556666": {"app"}}
	tests := map[string]struct {
		roles   map[string][]string
		after   time.Duration
		refused bool
		change  func(*model, *issuer.World)
		spared  bool
		says    string
	}{
		"a role is in the way":                   {blocked, 30 * time.Second, false, nil, true, "app"},
		"just before the time of the next look":  {blocked, 10*time.Minute - time.Second, false, nil, true, "app"},
		"the time of the next look":              {blocked, 10 * time.Minute, false, nil, false, ""},
		"the clock was set back":                 {blocked, -time.Second, false, nil, false, ""},
		"no role is in the way: there are steps": {nil, 30 * time.Second, false, nil, false, ""},
		"no role was, and something else is": {nil, 30 * time.Second, false, func(_ *model, w *issuer.World) {
			w.Bucket.Fault = &fault.Fault{Class: fault.Denied, Service: "S3", Operation: "HeadBucket"}
		}, true, "may not look at bucket"},
		"the role's provider is gone, the other's roles were seen long ago": {blocked, 30 * time.Second, false, func(_ *model, w *issuer.World) {
			w.Providers[1].Exists = false
		}, false, ""},
		"AWS refused to remove":                       {nil, 30 * time.Second, true, nil, true, ""},
		"AWS refused to remove, and it is time again": {nil, 10 * time.Minute, true, nil, false, ""},
		"the spec was changed":                        {blocked, 30 * time.Second, false, func(_ *model, w *issuer.World) { w.Issuer.Generation++ }, false, ""},
		"an annotation was changed": {blocked, 30 * time.Second, false, func(_ *model, w *issuer.World) {
			w.Issuer.Annotations = map[string]string{"a": "b"}
		}, false, ""},
		"it is another object of that name": {blocked, 30 * time.Second, false, func(_ *model, w *issuer.World) { w.Issuer.UID = "another" }, false, ""},
		"another account is to be looked at": {blocked, 30 * time.Second, false, func(_ *model, w *issuer.World) {
			w.Providers[0].ARN += "x"
		}, false, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			m.stored.UID = "demo"
			m.stored.DeletionTimestamp = &metav1.Time{Time: m.now}
			m.roles = test.roles
			var trust issuer.Trust
			first := m.Observe()
			if _, ok := trust.Decide(first); ok {
				t.Fatal("it was decided without any look")
			}
			trust.Remember(first)
			if test.refused {
				trust.Refuse(first)
			}
			m.now, m.roles = m.now.Add(test.after), map[string][]string{testAccount: {"came later"}}
			w := m.Observe()
			for i := range w.Providers {
				w.Providers[i].TrustedBy = nil
			}
			if test.change != nil {
				test.change(m, &w)
			}
			plan, ok := trust.Decide(w)
			if ok != test.spared || ok && len(plan.Steps) > 0 {
				t.Errorf("decided %t with the steps %v, want %t", ok, plan.Steps, test.spared)
			}
			if ok && !strings.Contains(messages(plan.Status), test.says) {
				t.Errorf("messages are\n%s\nwant %q among them", messages(plan.Status), test.says)
			}
		})
	}
}

// TestALookThatFailedIsNotRemembered: what was granted since is seen by the next pass.
func TestALookThatFailedIsNotRemembered(t *testing.T) {
	m := newModel()
	m.settle(t)
	m.stored.DeletionTimestamp = &metav1.Time{Time: m.now}
	m.roles = map[string][]string{"444455556666": {"app"}}
	var trust issuer.Trust
	w := m.Observe()
	trust.Remember(w)
	if _, ok := trust.Decide(w); !ok {
		t.Fatal("a look that succeeded is not remembered")
	}
	w.Providers[0].Fault = &fault.Fault{Class: fault.Denied, Service: "IAM", Operation: "ListRoles"}
	trust.Remember(w)
	w.Providers[0].Fault = nil
	if _, ok := trust.Decide(w); ok {
		t.Error("it was decided by a look that failed")
	}
}
