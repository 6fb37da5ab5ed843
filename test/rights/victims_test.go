package rights

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// hidden is what stands in the Secret that nobody shall read, in base64.
const hidden = "aHVudGVyMg=="

// target is what a right is on.
type target struct {
	group, version, resource string
	// namespace and name are those of an object that is there; without a namespace the resource has none.
	namespace, name string
	// more are verbs beside those of all resources.
	more []string
	// gives are the verbs that give something by themselves, where the API server lets them through.
	gives []string
	// body is what is created; a copy of the object that is there if it is empty.
	body string
}

var (
	changing = []string{"create", "update", "patch", "delete", "deletecollection"}
	running  = []string{"create", "update", "patch"}
	entering = []string{"create", "get"}
)

const (
	rbacGroup      = "rbac.authorization.k8s.io"
	admissionGroup = "admissionregistration.k8s.io"
)

// targets are what the search is about, and what it takes for harmless.
var targets = []target{
	{"", "v1", "secrets", "default", "cloud", nil, nil, `{"apiVersion":"v1","kind":"Secret","metadata":{"generateName":"a-"}}`},
	{"", "v1", "serviceaccounts/token", "kube-system", "escalator", nil, []string{"create"}, `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`},
	{"", "v1", "serviceaccounts", "kube-system", "escalator", []string{"impersonate"}, nil, ""},
	{"", "v1", "users", "", "system:kube-controller-manager", []string{"impersonate"}, nil, ""},
	{"", "v1", "groups", "", "system:masters", []string{"impersonate"}, nil, ""},
	{"", "v1", "pods", "default", "victim", nil, running, ""},
	{"", "v1", "pods/exec", "default", "victim", nil, entering, ""},
	{"", "v1", "pods/attach", "default", "victim", nil, entering, ""},
	{"", "v1", "pods/portforward", "default", "victim", nil, entering, ""},
	{"", "v1", "pods/ephemeralcontainers", "default", "victim", nil, []string{"update", "patch"}, ""},
	{"apps", "v1", "deployments", "default", "victim", nil, running, ""},
	{"apps", "v1", "daemonsets", "default", "victim", nil, running, ""},
	{"batch", "v1", "cronjobs", "default", "victim", nil, running, ""},
	{"", "v1", "nodes/proxy", "", "victim", nil, append(slices.Clone(changing[:4]), "get"), ""},
	{rbacGroup, "v1", "roles", "default", "victim", []string{"escalate", "bind"}, changing, ""},
	{rbacGroup, "v1", "clusterroles", "", "victim", []string{"escalate", "bind"}, changing, ""},
	{rbacGroup, "v1", "rolebindings", "default", "victim", nil, changing, ""},
	{rbacGroup, "v1", "clusterrolebindings", "", "victim", nil, changing, ""},
	{admissionGroup, "v1", "mutatingwebhookconfigurations", "", "victim", nil, changing, ""},
	{admissionGroup, "v1", "validatingwebhookconfigurations", "", "victim", nil, changing, ""},
	{admissionGroup, "v1", "validatingadmissionpolicies", "", "victim", nil, changing, ""},
	{admissionGroup, "v1", "validatingadmissionpolicybindings", "", "victim", nil, changing, ""},
	{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "", "credentialsgrants.identity.tabard.dev", nil, changing, ""},
	{"certificates.k8s.io", "v1", "signers", "", "kubernetes.io/kube-apiserver-client", []string{"approve", "sign"}, nil, ""},
	{"", "v1", "namespaces", "", "attackers", nil, nil, ""},
	{"", "v1", "events", "default", "victim", nil, nil, ""},
	{"coordination.k8s.io", "v1", "leases", "default", "victim", nil, nil, ""},
	{"", "v1", "configmaps", "default", "victim", nil, nil, ""},
	{"identity.tabard.dev", "v1alpha1", "credentialsgrants", "", "victim", nil, nil, ""},
}

// cautious are the rights that the search calls a way, and that give nothing by one request, with the
// reason. What the search has in no table is none of them: it fails until somebody judges it.
var cautious = func() map[string]string {
	out := map[string]string{}
	for _, of := range []struct {
		verbs       []string
		key, reason string
	}{
		{[]string{"escalate", "bind"}, rbacGroup + "/roles", "with the right to write roles, or to bind them, it gives every right"},
		{[]string{"escalate", "bind"}, rbacGroup + "/clusterroles", "with the right to write roles, or to bind them, it gives every right"},
		{[]string{"approve", "sign"}, "certificates.k8s.io/signers", "with the right to approve requests for certificates it gives every name"},
		{[]string{"impersonate"}, "/groups", "with the right to any user's name it gives every group's rights"},
		{[]string{"get"}, "/pods/exec", "before Kubernetes 1.35 it opened the connection"},
		{[]string{"get"}, "/pods/attach", "before Kubernetes 1.35 it opened the connection"},
		{[]string{"get"}, "/pods/portforward", "before Kubernetes 1.35 it opened the connection"},
		{[]string{"create"}, "/secrets", "the Secret that Kubernetes fills with a token has to be read by another right"},
		{changing, "/configmaps", "some are what a process of Tabard's is told by"},
		{changing, "/serviceaccounts", "their annotations say who has which role in a cloud"},
		{changing, "/namespaces", "by their labels hooks are asked, and pods are admitted"},
		{changing, "identity.tabard.dev/credentialsgrants", "a grant says who is bound to which role"},
	} {
		for _, verb := range of.verbs {
			out[verb+" "+of.key] = of.reason
		}
	}
	return out
}()

// key is the resource with its group, as the search's tables name it.
func (o target) key() string { return o.group + "/" + o.resource }

// isReal says that there are objects of it.
func (o target) isReal() bool {
	return !slices.Contains([]string{"users", "groups", "signers"}, o.resource)
}

// verbs are those that a right on it may have.
func (o target) verbs() []string {
	if !o.isReal() {
		return o.more
	}
	_, sub, _ := strings.Cut(o.resource, "/")
	switch {
	case sub == "token":
		return []string{"create"}
	case slices.Contains([]string{"exec", "attach", "portforward"}, sub):
		return entering
	case sub == "ephemeralcontainers":
		return []string{"update", "patch"}
	case sub == "proxy":
		return o.gives
	}
	if o.resource == "secrets" {
		return slices.Concat([]string{"get", "list", "watch"}, changing)
	}
	return slices.Concat(changing, o.more)
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

func namedIn(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// prepareVictims makes an object of each target.
func (w world) prepareVictims() {
	w.Helper()
	const pod = `{containers: [{name: a, image: example.com/a}]}`
	template := `{metadata: {labels: {a: b}}, spec: ` + pod + `}`
	w.Shell(`until kubectl get serviceaccount default > /dev/null 2>&1; do sleep 1; done
kubectl apply -f - > /dev/null <<'END'
{apiVersion: v1, kind: Secret, metadata: {name: cloud, namespace: default}, data: {key: ` + hidden + `}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: escalator, namespace: kube-system}}
---
{apiVersion: v1, kind: Pod, metadata: {name: victim, namespace: default}, spec: ` + pod + `}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: victim, namespace: default}, spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: ` + template + `}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: victim, namespace: default}, spec: {selector: {matchLabels: {a: b}}, template: ` + template + `}}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: victim, namespace: default}, spec: {suspend: true, schedule: "0 0 1 1 *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: example.com/a}]}}}}}}
---
{apiVersion: v1, kind: Node, metadata: {name: victim}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: victim, namespace: default}, rules: []}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: victim}, rules: []}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: victim, namespace: default}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: victim}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: victim}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: victim}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: victim}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: victim}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: victim}, spec: {matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [a]}]}, validations: [{expression: "true"}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: victim}, spec: {policyName: victim, validationActions: [Deny]}}
---
{apiVersion: v1, kind: Event, metadata: {name: victim, namespace: default}, involvedObject: {kind: Pod, name: victim, namespace: default}}
---
{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: victim, namespace: default}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: victim, namespace: default}}
---
{apiVersion: identity.tabard.dev/v1alpha1, kind: CredentialsGrant, metadata: {name: victim}, spec: {request: {namespace: default, name: victim, uid: a}}}
END
`)
}

// send makes the request of a right, dry where something would be written.
func (p planted) send(ctx context.Context, as *http.Client, w world) (status int, body []byte) {
	w.Helper()
	base, _, err := rest.DefaultServerUrlFor(w.Config)
	must.Do(w, err)
	resource, sub, _ := strings.Cut(p.of.resource, "/")
	collection := "/api/" + p.of.version
	if p.of.group != "" {
		collection = "/apis/" + p.of.group + "/" + p.of.version
	}
	if p.of.namespace != "" {
		collection += "/namespaces/" + p.of.namespace
	}
	collection += "/" + resource
	object := collection + "/" + p.of.name
	if sub != "" {
		object += "/" + sub
	}
	query := url.Values{}
	if p.named {
		query.Set("fieldSelector", "metadata.name="+p.of.name)
	}
	if slices.Contains(changing, p.verb) && sub == "" || sub == "ephemeralcontainers" {
		query.Set("dryRun", "All")
	}
	ask := func(method, path, kind string, text []byte) (int, []byte) {
		at := base.JoinPath(path)
		at.RawQuery = query.Encode()
		request := must.Get(http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(text)))(w)
		request.Header.Set("Content-Type", kind)
		return done(w, as, request)
	}
	switch p.verb {
	case "impersonate":
		return p.impersonate(ctx, as, w, base)
	case "approve", "sign", "escalate", "bind":
		return http.StatusForbidden, nil // no request is by this verb alone
	case "get":
		return ask(http.MethodGet, object, "", nil)
	case "watch":
		query.Set("watch", "1")
		query.Set("timeoutSeconds", "1")
		return ask(http.MethodGet, collection, "", nil)
	case "list":
		return ask(http.MethodGet, collection, "", nil)
	case "create":
		if sub != "" {
			return ask(http.MethodPost, object, "application/json", []byte(p.of.body))
		}
		return ask(http.MethodPost, collection, "application/json", p.copied(ctx, w, object))
	case "update":
		return ask(http.MethodPut, object, "application/json", p.there(ctx, w, object))
	case "patch":
		return ask(http.MethodPatch, object, "application/merge-patch+json", []byte(`{"metadata":{"labels":{"planted":"x"}}}`))
	case "delete":
		return ask(http.MethodDelete, object, "", nil)
	case "deletecollection":
		return ask(http.MethodDelete, collection, "", nil)
	}
	w.Fatalf("the verb %s is not known", p.verb)
	return 0, nil
}

func done(w world, as *http.Client, request *http.Request) (int, []byte) {
	w.Helper()
	response, err := as.Do(request)
	must.Do(w, err)
	defer response.Body.Close() //nolint:errcheck // read only
	return response.StatusCode, must.Get(io.ReadAll(response.Body))(w)
}

// impersonate asks who one is, in the name of the target.
func (p planted) impersonate(ctx context.Context, as *http.Client, w world, base *url.URL) (int, []byte) {
	w.Helper()
	review := must.Get(json.Marshal(authenticationv1.SelfSubjectReview{TypeMeta: metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "SelfSubjectReview"}}))(w)
	request := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, base.JoinPath("/apis/authentication.k8s.io/v1/selfsubjectreviews").String(), bytes.NewReader(review)))(w)
	request.Header.Set("Content-Type", "application/json")
	switch p.of.resource {
	case "groups":
		request.Header.Set("Impersonate-User", "somebody")
		request.Header.Set("Impersonate-Group", p.of.name)
	case "serviceaccounts":
		request.Header.Set("Impersonate-User", "system:serviceaccount:"+p.of.namespace+":"+p.of.name)
	default:
		request.Header.Set("Impersonate-User", p.of.name)
	}
	return done(w, as, request)
}

// there is the object of the target, as the administrator reads it.
func (p planted) there(ctx context.Context, w world, path string) []byte {
	w.Helper()
	base, _, err := rest.DefaultServerUrlFor(w.Config)
	must.Do(w, err)
	request := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath(strings.TrimSuffix(path, "/ephemeralcontainers")).String(), nil))(w)
	_, body := done(w, must.Get(rest.HTTPClientFor(w.Config))(w), request)
	if strings.Contains(string(body), hidden) {
		body = bytes.ReplaceAll(body, []byte(hidden), []byte("YQ==")) // who updates it does not know it
	}
	return body
}

// copied is an object to create: that of the target under another name, or its body.
func (p planted) copied(ctx context.Context, w world, path string) []byte {
	w.Helper()
	if p.of.body != "" {
		return []byte(p.of.body)
	}
	var object map[string]any
	must.Do(w, json.Unmarshal(p.there(ctx, w, path), &object))
	meta, _ := object["metadata"].(map[string]any)
	object["metadata"] = map[string]any{"name": "planted", "namespace": meta["namespace"]}
	delete(object, "status")
	return must.Get(json.Marshal(object))(w)
}
