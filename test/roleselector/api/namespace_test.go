package api

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	protected = "identity.tabard.dev/team"
	grants    = "gives roles away, and needs the verb label-identity"
)

// testNamespaceLabels: a protected label comes, goes and changes by an administrator
// only, on whatever way; others are as free as ever.
func (u *user) testNamespaceLabels() {
	t := u.t
	labeller, platform, tenant := u.as("labeller"), u.as("platform"), u.as("tenant")
	put := set("a", "metadata", "labels", protected)
	creates := func(who *user, text string) error {
		_, err := who.try(namespaces, text, metav1.FieldValidationStrict)
		return err
	}
	u.awaitRefusal(func() error { return labeller.tryChange(namespaces, "team", put) }, "the label "+protected+" of a namespace "+grants)
	judge(t, creates(labeller, "metadata: {labels: {team: a}}"), "")
	judge(t, creates(labeller, "metadata: {labels: {identity.tabard.dev/team: a}}"), grants)
	judge(t, creates(platform, "metadata: {labels: {identity.tabard.dev/team: a}}"), "")
	judge(t, labeller.tryChange(namespaces, "team", set("a", "metadata", "labels", "team")), "")
	// It has the verb in the namespace alone, where no administrator is made.
	judge(t, tenant.tryChange(namespaces, "team", put), grants)

	judge(t, platform.change(namespaces, "team", put), "")
	judge(t, labeller.change(namespaces, "team", set("x", "metadata", "labels", "team")), "")
	judge(t, labeller.tryChange(namespaces, "team", set("b", "metadata", "labels", protected)), grants)
	judge(t, labeller.tryChange(namespaces, "team", set(nil, "metadata", "labels", protected)), grants)
	judge(t, labeller.tryChange(namespaces, "team", set(nil, "metadata", "labels")), grants)
	for _, subresource := range []string{"status", "finalize"} {
		const elsewhere = "the labels of a namespace are changed at the namespace itself"
		u.awaitRefusal(func() error {
			return labeller.tryChange(namespaces, "team", set("b", "metadata", "labels", protected), subresource)
		}, elsewhere)
		judge(t, labeller.tryChange(namespaces, "team", set("b", "metadata", "annotations", "note"), subresource), "")
	}

	u.parameter("protectedLabelPrefixes", `  roles.example.com/  \n\nidentity.tabard.dev/`)
	u.awaitRefusal(func() error {
		return labeller.tryChange(namespaces, "team", set("a", "metadata", "labels", "roles.example.com/team"))
	}, grants)
	judge(t, labeller.tryChange(namespaces, "team", set("b", "metadata", "labels", protected)), grants)
}

// testWithoutParameters: what the policies do not know they refuse of selectors. Of
// namespaces they refuse what changes labels of Tabard's own prefix and nothing else:
// they outlive the namespace that holds the ConfigMap.
func (u *user) testWithoutParameters() {
	t := u.t
	const missing = "no params found"
	maps := u.client.Resource(configMaps).Namespace("tabard-system")
	must.Do(t, maps.Delete(t.Context(), "tabard-role-selectors", metav1.DeleteOptions{}))
	u.awaitRefusal(u.tries(with("namespaceSelector: {names: [prod]}")), missing)
	labeller := u.as("labeller")
	last := errors.New("not tried")
	u.until(func() string { return fmt.Sprintf("a namespace can be changed, last was %v", last) }, func() bool {
		last = labeller.tryChange(namespaces, "team", set("a", "metadata", "labels", "free"))
		return last == nil
	})
	judge(t, labeller.tryChange(namespaces, "team", set("a", "metadata", "labels", "roles.example.com/team")), "")
	judge(t, labeller.tryChange(namespaces, "team", set("c", "metadata", "labels", protected)), "the label "+protected+" of a namespace "+grants)
	judge(t, u.as("platform").tryChange(namespaces, "team", set("c", "metadata", "labels", protected)), "")
	judge(t, u.tryChange(namespaces, "team", set("x", "metadata", "annotations", "note"), "finalize"), "")
	judge(t, u.tryChange(namespaces, "team", set("x", "metadata", "annotations", "note"), "status"), "")

	if _, err := maps.Create(t.Context(), object(t, configMaps, "tabard-role-selectors", "data: {ackControllers: Present}"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	u.awaitRefusal(func() error { return labeller.tryChange(namespaces, "team", set("a", "metadata", "labels", "free")) }, "no such key: protectedLabelPrefixes")
	judge(t, u.tryChange(namespaces, "team", set("a", "metadata", "labels", "free")), "")
	judge(t, labeller.tryChange(namespaces, "team", set("x", "metadata", "annotations", "note")), "")
	judge(t, u.tries("spec: {effect: Deny}")(), "do not know effect")
}
