package api

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// people are those of the tests. The controller has what ACK's charts give each of
// theirs; the labeller works on namespaces; the tenant has a namespace to itself.
const people = `
kubectl apply -f config/manifests/00-namespace.yaml -f config/manifests/role-selectors/rights.yaml -f config/manifests/role-selectors/policies.yaml -f - <<'END'
{apiVersion: v1, kind: Namespace, metadata: {name: team}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ack}
rules: [{apiGroups: [services.k8s.aws], resources: [iamroleselectors], verbs: [get, list, watch, create, update, patch, delete]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: labeller}
rules: [{apiGroups: [""], resources: [namespaces, namespaces/status, namespaces/finalize], verbs: [get, create, update, patch]}]
END`

// bindings are who of the people has which ClusterRole.
var bindings = []struct{ namespace, user, role string }{
	{"", "controller", "ack"}, {"", "labeller", "labeller"}, {"", "platform", "labeller"}, {"", "tenant", "labeller"},
	{"", "platform", "tabard-role-selectors-admin"}, {"", "viewer", "tabard-role-selectors-view"},
	{"team", "tenant", "tabard-role-selectors-admin"}, {"team", "tenant", "tabard-role-choices-edit"},
}

// bind gives the people their rights.
func (u *user) bind() {
	u.t.Helper()
	for _, one := range bindings {
		resource, kind := "clusterrolebindings", "ClusterRoleBinding"
		if one.namespace != "" {
			resource, kind = "rolebindings", "RoleBinding"
		}
		made := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": one.user + "-" + one.role},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": one.role},
			"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": one.user}},
		}}
		which := schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: resource}
		must.Get(u.client.Resource(which).Namespace(one.namespace).Create(u.t.Context(), made, metav1.CreateOptions{}))(u.t)
	}
}

const administer = "needs the verb administer"

// testPolicies drives the manifests as an administrator applies them.
func (u *user) testPolicies() {
	testkit.Shell(u.t, u.server.Config, people)
	u.bind()
	for _, part := range []struct {
		name string
		test func(*user)
	}{
		{"aggregation", (*user).testAggregation},
		{"writers", (*user).testWriters},
		{"choices", (*user).testChoices},
		{"beside ACK's controllers", (*user).testBesideACK},
		{"templates", (*user).testTemplates},
		{"advice", (*user).testAdvice},
		{"labels of namespaces", (*user).testNamespaceLabels},
		{"without the ConfigMap", (*user).testWithoutParameters},
	} {
		u.t.Run(part.name, func(t *testing.T) { part.test(u.in(t)) })
	}
}

// awaitRefusal waits until a policy holds that has just come to be or changed.
func (u *user) awaitRefusal(try func() error, text string) {
	u.t.Helper()
	var last error
	u.until(func() string { return fmt.Sprintf("a refusal that says %q, last was %v", text, last) }, func() bool {
		last = try()
		return last != nil && strings.Contains(last.Error(), text)
	})
}

func (u *user) tries(text string) func() error {
	return func() error {
		_, err := u.try(selectors, text, metav1.FieldValidationStrict)
		return err
	}
}

// testAggregation: what is added to Kubernetes' own roles. That of edit and view
// writes no selectors.
func (u *user) testAggregation() {
	clusterRoles := u.client.Resource(schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"})
	for role, want := range map[string]string{
		"admin": "tabard-role-selectors-admin", "edit": "tabard-role-choices-edit", "view": "tabard-role-selectors-view",
	} {
		got := must.Get(clusterRoles.List(u.t.Context(), metav1.ListOptions{
			LabelSelector: "app.kubernetes.io/name=tabard,rbac.authorization.k8s.io/aggregate-to-" + role + "=true",
		}))(u.t).Items
		if len(got) != 1 || got[0].GetName() != want {
			u.t.Errorf("%s gets %v, want %q", role, got, want)
		}
	}
	roles := testkit.Shell(u.t, u.server.Config, "kubectl get clusterroles tabard-role-choices-edit tabard-role-selectors-view -o yaml")
	if strings.Count(roles, "iamroleselectors\n") != 1 || strings.Contains(roles, "administer") {
		u.t.Errorf("more of selectors than reading them is in the roles of edit and view:\n%s", roles)
	}
}

// testWriters: rights on selectors are not enough, and rights in a namespace are none.
func (u *user) testWriters() {
	t := u.t
	controller, platform, tenant, viewer := u.as("controller"), u.as("platform"), u.as("tenant"), u.as("viewer")
	good := with("namespaceSelector: {names: [prod]}")
	u.awaitRefusal(controller.tries(good), administer)
	u.create(selectors, "kept", good)
	label := set("b", "metadata", "labels", "a")
	judge(t, controller.tryChange(selectors, "kept", label), administer)
	judge(t, controller.client.Resource(selectors).Delete(t.Context(), "kept", metav1.DeleteOptions{}), administer)
	judge(t, controller.client.Resource(selectors).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}), "cannot deletecollection")
	judge(t, tenant.tries(good)(), "cannot create resource")
	judge(t, viewer.tries(good)(), "cannot create resource")
	for _, each := range []*user{platform, viewer, controller} {
		each.get(selectors, "kept")
	}
	judge(t, platform.tries(good)(), "")
	judge(t, platform.tryChange(selectors, "kept", label), "")
	judge(t, platform.client.Resource(selectors).Delete(t.Context(), "kept", metav1.DeleteOptions{}), "")
}

// testChoices: whoever may edit a namespace may choose there, and nowhere else.
func (u *user) testChoices() {
	t := u.t
	choice := object(t, choices, "default", "spec: {selectorRef: {name: team-a}}")
	tenant := u.as("tenant").client.Resource(choices)
	_, err := tenant.Namespace("team").Create(t.Context(), choice, metav1.CreateOptions{})
	judge(t, err, "")
	_, err = tenant.Namespace("default").Create(t.Context(), choice, metav1.CreateOptions{})
	judge(t, err, "cannot create resource")
	_, err = u.as("viewer").client.Resource(choices).Namespace("team").Get(t.Context(), "default", metav1.GetOptions{})
	judge(t, err, "")
	judge(t, u.as("viewer").client.Resource(choices).Namespace("team").Delete(t.Context(), "default", metav1.DeleteOptions{}), "cannot delete resource")
}

// wider are selectors and why they are refused beside ACK's controllers; empty for
// those that are not. Without such controllers all are accepted.
var wider = map[string]extension{
	"what ACK stores": {with(`namespaceSelector: {names: [], labelSelector: {matchLabels: {identity.tabard.dev/team: a}}},
  resourceTypeSelector: [{group: s3.services.k8s.aws, version: "", kind: ""}], resourceLabelSelector: {matchLabels: {}}`), ""},
	"everything at its limit":         {everything(), "do not know matchExpressions"},
	"only an ARN":                     {with("effect: Use"), ""},
	"Deny":                            {"spec: {effect: Deny}", "do not know effect"},
	"an exclusive selection":          {with("selection: {mode: Exclusive}"), ""},
	"a selectable one":                {with("selection: {mode: Selectable}"), "do not know selection"},
	"expressions on namespaces":       {with("namespaceSelector: {names: [], labelSelector: {matchLabels: {}, matchExpressions: [{key: a, operator: Exists}]}}"), "do not know matchExpressions"},
	"expressions on resources":        {with("resourceLabelSelector: {matchLabels: {}, matchExpressions: [{key: a, operator: Exists}]}"), "do not know matchExpressions"},
	"no expressions":                  {with("resourceLabelSelector: {matchLabels: {a: b}, matchExpressions: []}"), ""},
	"an apiVersion":                   {with("resourceTypeSelector: [{apiVersion: s3.services.k8s.aws/v1alpha1}]"), "do not know the apiVersion"},
	"an apiVersion and a kind":        {with("resourceTypeSelector: [{apiVersion: s3.services.k8s.aws/v1alpha1, kind: Bucket}]"), "do not know the apiVersion"},
	"a group alone":                   {with("resourceTypeSelector: [{group: s3.services.k8s.aws}]"), "asks for group, version and kind"},
	"one type of two without a kind":  {with(`resourceTypeSelector: [{group: a.io, version: "", kind: ""}, {group: b.io, version: v1}]`), "asks for group, version and kind"},
	"labels without names":            {with("namespaceSelector: {labelSelector: {matchLabels: {a: b}}}"), "asks for names"},
	"a label selector without labels": {with("namespaceSelector: {names: [prod], labelSelector: {}}"), "asks for matchLabels"},
	"no resource labels":              {with("namespaceSelector: {names: [prod]}, resourceLabelSelector: {}"), "asks for matchLabels"},
	"policies":                        {assuming("policyARNs: ['arn:aws:iam::aws:policy/ReadOnlyAccess']"), "do not know policyARNs"},
	"what makes assuming harder":      {assuming("externalID: {value: ab}, sessionName: {template: 'a-%KIND%'}, durationSeconds: 900, sessionTags: [{key: a, value: b}], transitiveTagKeys: [a], sourceIdentity: {value: ab}, cacheScope: Namespace"), ""},
	"Recreate":                        {with("onAccountChange: Recreate"), ""},
}

// testBesideACK drives both settings, and a word that is neither.
func (u *user) testBesideACK() {
	t := u.t
	deny := u.tries("spec: {effect: Deny}")
	u.awaitRefusal(deny, "do not know effect")
	for _, name := range sorted(wider) {
		t.Run("present/"+name, func(t *testing.T) { judge(t, u.tries(wider[name].text)(), wider[name].want) })
	}
	u.parameter("ackControllers", "Absent")
	u.until(func() string { return "Deny is accepted" }, func() bool { return deny() == nil })
	for _, name := range sorted(wider) {
		t.Run("absent/"+name, func(t *testing.T) { judge(t, u.tries(wider[name].text)(), "") })
	}
	u.create(selectors, "denies", "spec: {effect: Deny, namespaceSelector: {names: [prod]}}")
	u.parameter("ackControllers", "absent")
	u.awaitRefusal(deny, "do not know effect")
	judge(t, u.change(selectors, "denies", set("b", "metadata", "labels", "a")), "")
	judge(t, u.tryChange(selectors, "denies", set([]any{"dev"}, "spec", "namespaceSelector", "names")), "do not know effect")
	u.parameter("ackControllers", "Present")
}

// parameter sets an entry of the policies' ConfigMap.
func (u *user) parameter(key, value string) {
	u.t.Helper()
	patch := []byte(`{"data": {"` + key + `": "` + value + `"}}`)
	_, err := u.client.Resource(configMaps).Namespace("tabard-system").Patch(u.t.Context(), "tabard-role-selectors", types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		u.t.Fatal(err)
	}
}

// testTemplates: a template reads no label that others than administrators write.
func (u *user) testTemplates() {
	t := u.t
	const unprotected = "takes only keys that begin with a prefix"
	u.awaitRefusal(u.tries(assuming("sessionName: {template: 'a-%NAMESPACE_LABEL(team)%'}")), unprotected)
	for name, each := range map[string]extension{
		"a protected label":                     {assuming("sessionName: {template: 'a-%NAMESPACE_LABEL(identity.tabard.dev/team)%'}"), ""},
		"a protected label and another":         {assuming("sourceIdentity: {template: '%NAMESPACE_LABEL(identity.tabard.dev/team)%-%NAMESPACE_LABEL(team)%'}"), unprotected},
		"a tag of an unprotected label":         {tagged("{key: ack-team, template: '%NAMESPACE_LABEL(team)%'}"), unprotected},
		"a tag of a protected label":            {tagged("{key: cost, value: '1'}, {key: ack-team, template: '%NAMESPACE_LABEL(identity.tabard.dev/team)%'}"), ""},
		"a label of the resource, for its name": {assuming("sessionName: {template: '%RESOURCE_LABEL(team)%'}"), ""},
	} {
		t.Run(name, func(t *testing.T) { judge(t, u.tries(each.text)(), each.want) })
	}
}

const (
	crosses  = "names no group"
	nothing  = "selects nothing"
	anybody  = "who may label a namespace can give it this role"
	joins    = "who may label a resource can make it join"
	bucketOf = `{group: s3.services.k8s.aws, version: "", kind: Bucket}`
)

// testAdvice: what is seldom meant is accepted with a warning, and only that.
func (u *user) testAdvice() {
	t := u.t
	writer := u.as("platform")
	u.until(func() string { return "a warning of a kind without a group" }, func() bool {
		judge(t, writer.tries(with(`resourceTypeSelector: [{group: "", version: "", kind: Bucket}]`))(), "")
		return strings.Contains(writer.heard(), crosses)
	})
	for name, each := range map[string]extension{
		"names and a type":                  {with("namespaceSelector: {names: [prod]}, resourceTypeSelector: [" + bucketOf + "]"), ""},
		"a version of any group":            {with(`resourceTypeSelector: [{group: "", version: v1alpha1, kind: ""}]`), crosses},
		"a group in upper case":             {with(`resourceTypeSelector: [{group: S3.services.k8s.aws, version: "", kind: ""}]`), nothing},
		"a kind in lower case":              {with(`resourceTypeSelector: [{group: s3.services.k8s.aws, version: "", kind: buckets}]`), nothing},
		"an unprotected namespace label":    {with("namespaceSelector: {names: [], labelSelector: {matchLabels: {team: a}}}"), anybody},
		"a protected namespace label":       {with("namespaceSelector: {names: [], labelSelector: {matchLabels: {identity.tabard.dev/team: a}}}"), ""},
		"a namespace's name as a label":     {with("namespaceSelector: {names: [], labelSelector: {matchLabels: {kubernetes.io/metadata.name: prod}}}"), ""},
		"resource labels alone":             {with("resourceLabelSelector: {matchLabels: {app: x}}"), joins},
		"resource labels and names":         {with("namespaceSelector: {names: [prod]}, resourceLabelSelector: {matchLabels: {app: x}}"), ""},
		"resource labels, protected labels": {with("namespaceSelector: {names: [], labelSelector: {matchLabels: {identity.tabard.dev/team: a}}}, resourceLabelSelector: {matchLabels: {app: x}}"), ""},
		"resource labels, empty names":      {with("namespaceSelector: {names: []}, resourceLabelSelector: {matchLabels: {app: x}}"), joins},
	} {
		t.Run(name, func(t *testing.T) {
			judge(t, writer.tries(each.text)(), "")
			heard := writer.heard()
			if each.want == "" && heard != "" || !strings.Contains(heard, each.want) {
				t.Errorf("warned %q, want %q", heard, each.want)
			}
		})
	}
}
