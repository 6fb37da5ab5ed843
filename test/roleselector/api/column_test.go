package api

import (
	"regexp"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// testColumns: what kubectl get shows without a question.
func (u *user) testColumns() {
	u.create(selectors, "bare", with("effect: Use"))
	u.create(selectors, "full", with("namespaceSelector: {names: [dev, prod]}, resourceTypeSelector: [{group: s3.services.k8s.aws}, {kind: Vpc}]"))
	u.create(selectors, "none", "spec: {effect: Deny, namespaceSelector: {names: [old]}}")
	got := testkit.Shell(u.t, u.server.Config, "kubectl get iamroleselectors bare full none -o wide")
	got = regexp.MustCompile(`(?m) +\S+$`).ReplaceAllString(got, "") // ages
	got = regexp.MustCompile(` {2,}`).ReplaceAllString(got, "  ")
	want := `NAME  ROLE  NAMESPACES  TYPES  EFFECT
bare  ` + arn + `  Use
full  ` + arn + `  ["dev","prod"]  [{"group":"s3.services.k8s.aws"},{"kind":"Vpc"}]
none  ["old"]  Deny
`
	if diff := cmp.Diff(want, got); diff != "" {
		u.t.Errorf("kubectl get (-want +got):\n%s", diff)
	}
}

// testReport: one writer has the status of a report, and reports hold what is said
// of them.
func (u *user) testReport() {
	u.create(reports, "full", "{}")
	status := object(u.t, reports, "full", `status:
  selectorUID: 3f0c6c0e-8a57-4d5d-9a3e-0d4d5b3f2c11
  selectorGeneration: 2
  used: 3
  conflicts: 1
  denied: 0
  resources: [{group: s3.services.k8s.aws, kind: Bucket, namespace: prod, used: 3, conflicts: 1, denied: 0}]
  truncated: true
`).Object["status"]
	judge(u.t, u.change(reports, "full", set(status, "status")), "")
	if _, has, _ := unstructured.NestedMap(u.get(reports, "full"), "status"); has {
		u.t.Error("the status was written with the object, want it to be written by itself only")
	}
	judge(u.t, u.change(reports, "full", set(status, "status"), "status"), "")
	if diff := cmp.Diff(status, u.get(reports, "full")["status"]); diff != "" {
		u.t.Errorf("the stored status (-want +got):\n%s", diff)
	}
	many := make([]any, 257)
	for i := range many {
		many[i] = map[string]any{"group": "g", "kind": "K", "namespace": "n", "used": int64(1), "conflicts": int64(0), "denied": int64(0)}
	}
	judge(u.t, u.change(reports, "full", set(many, "status", "resources"), "status"), "must have at most 256 items")
}
