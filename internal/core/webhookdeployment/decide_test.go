package webhookdeployment_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	core "github.com/tabard-dev/tabard/internal/core/webhookdeployment"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var (
	deployment = core.ID{Kind: core.Deployment, Namespace: "tabard-system", Name: "tabard-webhook"}
	service    = core.ID{Kind: core.Service, Namespace: "tabard-system", Name: "tabard-webhook"}
	budget     = core.ID{Kind: core.Budget, Namespace: "tabard-system", Name: "tabard-webhook"}
	hooks      = core.ID{Kind: core.Configuration, Name: "tabard-webhook"}
)

func settings(t testing.TB) core.Settings {
	t.Helper()
	return core.Settings{Manifest: must.Get(os.ReadFile("../../../config/manifests/webhook.yaml"))(t), Namespace: "tabard-system"}
}

// stored is a world in which all is as wanted, with what API servers add.
func stored(t testing.TB) core.World {
	t.Helper()
	w := core.World{Wanted: must.Get(core.Want(settings(t)))(t), Stored: map[core.ID]core.Object{}}
	for _, id := range w.Wanted.IDs {
		object := w.Wanted.For(id, core.Platform{})
		set(object, "1", "metadata", "resourceVersion")
		set(object, "u-"+id.Kind, "metadata", "uid")
		w.Stored[id] = object
	}
	set(w.Stored[deployment], int64(10), "spec", "revisionHistoryLimit")
	set(w.Stored[deployment], "Always", "spec", "template", "spec", "restartPolicy")
	container(w)["imagePullPolicy"] = "IfNotPresent"
	container(w)["ports"].([]any)[0].(core.Object)["protocol"] = "TCP"
	set(w.Stored[service], "10.0.0.1", "spec", "clusterIP")
	return w
}

func set(object core.Object, value any, path ...string) {
	for _, key := range path[:len(path)-1] {
		if object[key] == nil {
			object[key] = core.Object{}
		}
		object = object[key].(core.Object)
	}
	object[path[len(path)-1]] = value
}

func list(object core.Object, path ...string) []any {
	for _, key := range path[:len(path)-1] {
		object = object[key].(core.Object)
	}
	return object[path[len(path)-1]].([]any)
}

func container(w core.World) core.Object {
	return list(w.Stored[deployment], "spec", "template", "spec", "containers")[0].(core.Object)
}

func hook(w core.World, index int) core.Object {
	return list(w.Stored[hooks], "webhooks")[index].(core.Object)
}

func port(w core.World) core.Object {
	return list(w.Stored[service], "spec", "ports")[0].(core.Object)
}

// told are steps in short: the step's kind, and of what.
func told(steps []core.Step) (out []string) {
	for _, step := range steps {
		switch step := step.(type) {
		case core.Create:
			out = append(out, "create "+step.ID.String())
		case core.Change:
			out = append(out, "change "+step.ID.String())
		case core.Delete:
			out = append(out, "delete "+step.ID.String()+" "+step.UID)
		}
	}
	return out
}

func TestWhatIsMissingIsMade(t *testing.T) {
	t.Parallel()
	services := []string{"create Service tabard-system/tabard-webhook", "create Service tabard-system/tabard-webhook-probe"}
	tests := map[string]struct {
		platform core.Platform
		want     []string
		replicas int64
	}{
		"everywhere, with two replicas and a budget":        {core.Platform{}, append(services[:2:2], "create Deployment tabard-system/tabard-webhook", "create PodDisruptionBudget tabard-system/tabard-webhook", "create MutatingWebhookConfiguration tabard-webhook"), 2},
		"on one node, with one replica and no budget":       {core.Platform{InfrastructureTopology: core.SingleReplica}, append(services[:2:2], "create Deployment tabard-system/tabard-webhook", "create MutatingWebhookConfiguration tabard-webhook"), 1},
		"of a hosted control plane without a hook":          {core.Platform{ControlPlaneTopology: core.External}, append(services[:2:2], "create Deployment tabard-system/tabard-webhook", "create PodDisruptionBudget tabard-system/tabard-webhook", "create MutatingWebhookConfiguration tabard-webhook"), 2},
		"where only the control plane has a single replica": {core.Platform{ControlPlaneTopology: core.SingleReplica}, append(services[:2:2], "create Deployment tabard-system/tabard-webhook", "create PodDisruptionBudget tabard-system/tabard-webhook", "create MutatingWebhookConfiguration tabard-webhook"), 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := core.Decide(core.World{Wanted: must.Get(core.Want(settings(t)))(t), Platform: test.platform})
			if diff := cmp.Diff(test.want, told(plan.Steps)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			made := core.Object{}
			must.Do(t, json.Unmarshal([]byte(plan.Steps[2].(core.Create).Object), &made))
			if got := made["spec"].(core.Object)["replicas"]; got != test.replicas {
				t.Errorf("%v replicas, want %d", got, test.replicas)
			}
		})
	}
}

// TestWhatIsThereIsKept has one change of an object at a time, and the patch that it
// leads to; none for what is not ours.
func TestWhatIsThereIsKept(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(core.World)
		want   string
	}{
		"nothing has changed":       {func(core.World) {}, ""},
		"a CA bundle":               {func(w core.World) { set(hook(w, 0), "eA==", "clientConfig", "caBundle") }, ""},
		"a label of somebody":       {func(w core.World) { set(w.Stored[hooks], "x", "metadata", "labels", "env") }, ""},
		"an annotation of somebody": {func(w core.World) { set(w.Stored[service], "x", "metadata", "annotations", "url") }, ""},
		"a label that is ours":      {func(w core.World) { set(w.Stored[service], "x", "metadata", "labels", "app.kubernetes.io/name") }, `"app.kubernetes.io/name":"tabard"`},
		"a node port":               {func(w core.World) { port(w)["nodePort"] = int64(30000) }, ""},
		"a port of somebody": {func(w core.World) {
			appendTo(w.Stored[service], core.Object{"name": "x", "port": int64(1)}, "spec", "ports")
		}, ""},
		"the target of our port":    {func(w core.World) { port(w)["targetPort"] = "metrics" }, `"targetPort":"webhook"`},
		"the number of our port":    {func(w core.World) { port(w)["port"] = int64(444) }, `"port":443`},
		"where the Service leads":   {func(w core.World) { set(w.Stored[service], "x", "spec", "selector", "app.kubernetes.io/component") }, `"selector":{"app.kubernetes.io/component":"webhook"}`},
		"a narrower Service":        {func(w core.World) { set(w.Stored[service], "x", "spec", "selector", "more") }, `"selector":{"more":null}`},
		"a Service of another name": {func(w core.World) { set(w.Stored[service], "x.example.com", "spec", "externalName") }, `"externalName":null`},
		"a Service of another type": {func(w core.World) { set(w.Stored[service], "ExternalName", "spec", "type") }, `"type":"ClusterIP"`},
		"other replicas":            {func(w core.World) { set(w.Stored[deployment], int64(0), "spec", "replicas") }, `"replicas":2`},
		"another image":             {func(w core.World) { container(w)["image"] = "x" }, `"image":"ghcr.io/tabard-dev/tabard-webhook:devel"`},
		"other arguments":           {func(w core.World) { container(w)["args"] = []any{"x"} }, `"args":["webhook"`},
		"an environment":            {func(w core.World) { container(w)["env"] = []any{} }, `"containers":`},
		"rights in the container":   {func(w core.World) { set(container(w), true, "securityContext", "privileged") }, `"containers":`},
		"one more container": {func(w core.World) {
			appendTo(w.Stored[deployment], core.Object{"name": "x"}, "spec", "template", "spec", "containers")
		}, `"containers":`},
		"a container before": {func(w core.World) {
			set(w.Stored[deployment], []any{core.Object{"name": "x"}}, "spec", "template", "spec", "initContainers")
		}, `"initContainers":null`},
		"the host's network":    {func(w core.World) { set(w.Stored[deployment], true, "spec", "template", "spec", "hostNetwork") }, `"hostNetwork":null`},
		"another account":       {func(w core.World) { set(w.Stored[deployment], "x", "spec", "template", "spec", "serviceAccountName") }, `"serviceAccountName":"tabard-webhook"`},
		"where pods are placed": {func(w core.World) { set(w.Stored[deployment], "x", "spec", "template", "spec", "nodeSelector", "a") }, ""},
		"a restart": {func(w core.World) {
			set(w.Stored[deployment], "now", "spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt")
		}, ""},
		"the budget":                {func(w core.World) { set(w.Stored[budget], int64(2), "spec", "minAvailable") }, `"minAvailable":1`},
		"the budget's other side":   {func(w core.World) { set(w.Stored[budget], int64(0), "spec", "maxUnavailable") }, `"maxUnavailable":null`},
		"a failure policy":          {func(w core.World) { hook(w, 1)["failurePolicy"] = "Ignore" }, `"failurePolicy":"Fail"`},
		"more that leaves pods out": {func(w core.World) { set(hook(w, 1), "x", "objectSelector", "matchLabels", "x") }, `"objectSelector":{}`},
		"conditions of a hook": {func(w core.World) {
			hook(w, 0)["matchConditions"] = []any{core.Object{"name": "x", "expression": "false"}}
		}, `"webhooks":`},
		"other objects of a hook":    {func(w core.World) { hook(w, 0)["rules"] = []any{} }, `"resources":["pods"]`},
		"another server":             {func(w core.World) { hook(w, 0)["clientConfig"] = core.Object{"url": "https://x.example.com"} }, `"path":"/mutate"`},
		"one hook more":              {func(w core.World) { appendTo(w.Stored[hooks], core.Object{"name": "x"}, "webhooks") }, `"webhooks":`},
		"one hook less":              {func(w core.World) { w.Stored[hooks]["webhooks"] = list(w.Stored[hooks], "webhooks")[:2] }, `"probe.tabard.dev"`},
		"hooks in another order":     {func(w core.World) { l := list(w.Stored[hooks], "webhooks"); l[0], l[1] = l[1], l[0] }, `"webhooks":`},
		"hooks that are all removed": {func(w core.World) { delete(w.Stored[hooks], "webhooks") }, `"webhooks":`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stored(t)
			set(hook(w, 3), "cHJvYmU=", "clientConfig", "caBundle")
			test.change(w)
			before := snapshot(w)
			steps := core.Decide(w).Steps
			if diff := cmp.Diff(before, snapshot(w)); diff != "" {
				t.Errorf("the decision changed what was seen:\n%s", diff)
			}
			if test.want == "" {
				if len(steps) > 0 {
					t.Errorf("the steps are %q, want none", told(steps))
				}
				return
			}
			if len(steps) != 1 {
				t.Fatalf("the steps are %q, want one", told(steps))
			}
			change := steps[0].(core.Change)
			if !strings.Contains(change.Patch, test.want) || !strings.Contains(change.Patch, `"resourceVersion":"1"`) {
				t.Errorf("the patch is %s, want %s", change.Patch, test.want)
			}
			must.Do(t, apply(w, steps[0]))
			if steps := core.Decide(w).Steps; len(steps) > 0 {
				t.Errorf("it does not come to rest: %q", told(steps))
			}
			if name != "one hook less" && name != "hooks that are all removed" && hook(w, 3)["clientConfig"].(core.Object)["caBundle"] != "cHJvYmU=" {
				t.Error("the CA bundle is gone")
			}
		})
	}
}

func appendTo(object core.Object, item any, path ...string) {
	set(object, append(list(object, path...), item), path...)
}

func snapshot(w core.World) map[core.ID]core.Object {
	out := map[core.ID]core.Object{}
	for id, object := range w.Stored {
		out[id] = runtime.DeepCopyJSON(object)
	}
	return out
}

// apply does what an API server does with a step.
func apply(w core.World, step core.Step) (err error) {
	decoded := core.Object{}
	switch step := step.(type) {
	case core.Create:
		err = json.Unmarshal([]byte(step.Object), &decoded)
		set(decoded, "1", "metadata", "resourceVersion")
		w.Stored[step.ID] = decoded
	case core.Change:
		err = json.Unmarshal([]byte(step.Patch), &decoded)
		merge(w.Stored[step.ID], decoded)
	case core.Delete:
		delete(w.Stored, step.ID)
	}
	return err
}

// merge is RFC 7396.
func merge(target, patch core.Object) {
	for key, value := range patch {
		inner, isObject := value.(core.Object)
		was, wasObject := target[key].(core.Object)
		switch {
		case value == nil:
			delete(target, key)
		case isObject && wasObject:
			merge(was, inner)
		case isObject:
			target[key] = core.Object{}
			merge(target[key].(core.Object), inner)
		default:
			target[key] = value
		}
	}
}

// TestNothingIsDeployed where another has a webhook, or keeps these objects.
func TestNothingIsDeployed(t *testing.T) {
	t.Parallel()
	theirs := func(hook core.Object) core.Object { return core.Object{"webhooks": []any{hook}} }
	wanting := func(replicas any) core.Object {
		return core.Object{"spec": core.Object{"replicas": replicas}}
	}
	called := func(namespace string) core.Object {
		return core.Object{"name": "pod-identity-webhook.amazonaws.com", "clientConfig": core.Object{"service": core.Object{"namespace": namespace, "name": "pod-identity-webhook"}}}
	}
	local := core.Object{"name": "pod-identity-webhook.amazonaws.com", "clientConfig": core.Object{"url": "https://127.0.0.1:4443/mutate"}}
	owned := func(id core.ID, manager, operation, fields string) func(*core.World) {
		return func(w *core.World) {
			parsed := core.Object{}
			if err := json.Unmarshal([]byte(fields), &parsed); err != nil {
				panic(err)
			}
			set(w.Stored[id], []any{core.Object{"manager": manager, "operation": operation, "fieldsV1": parsed}}, "metadata", "managedFields")
		}
	}
	policyOf := `{"f:webhooks":{"k:{\"name\":\"pod-identity.tabard.dev\"}":{".":{},"f:name":{},"f:failurePolicy":{}}}}`
	tests := map[string]struct {
		change func(*core.World)
		want   core.Reason
	}{
		"nobody else is there":                               {func(*core.World) {}, core.Kept},
		"CCO's Deployment wants replicas":                    {func(w *core.World) { w.TheirDeployment = wanting(int64(2)) }, core.TheirWebhook},
		"CCO's Deployment says nothing of replicas":          {func(w *core.World) { w.TheirDeployment = core.Object{} }, core.TheirWebhook},
		"CCO's Deployment wants none and its hooks are gone": {func(w *core.World) { w.TheirDeployment = wanting(int64(0)) }, core.Kept},
		"CCO's hooks are there without its Deployment":       {func(w *core.World) { w.TheirConfiguration = theirs(called(core.TheirNamespace)) }, core.TheirWebhook},
		"CCO's hooks are known by their name": {func(w *core.World) {
			w.TheirConfiguration = theirs(core.Object{"name": "pod-identity-webhook.aws.mutate.io"})
		}, core.TheirWebhook},
		"the configuration of that name is EKS's": {func(w *core.World) { w.TheirConfiguration = theirs(called("kube-system")) }, core.Kept},
		"a hosted control plane has a hook": {func(w *core.World) {
			w.TheirConfiguration, w.Platform.ControlPlaneTopology = theirs(local), core.External
		}, core.HostedHook},
		"a hosted control plane has an empty configuration": {func(w *core.World) {
			w.TheirConfiguration, w.Platform.ControlPlaneTopology = core.Object{}, core.External
		}, core.Kept},
		"the hooks have Helm's label": {func(w *core.World) {
			set(w.Stored[hooks], "Helm", "metadata", "labels", "app.kubernetes.io/managed-by")
		}, core.OtherManager},
		"the Deployment has Helm's annotation": {func(w *core.World) {
			set(w.Stored[deployment], "x", "metadata", "annotations", "meta.helm.sh/release-name")
		}, core.OtherManager},
		"another applies the hooks":           {owned(hooks, "argocd-controller", "Apply", policyOf), core.OtherManager},
		"another has updated the hooks":       {owned(hooks, "helm", "Update", policyOf), core.OtherManager},
		"a person has edited the hooks":       {owned(hooks, "kubectl-edit", "Update", policyOf), core.Kept},
		"a person has applied the hooks":      {owned(hooks, "kubectl", "Apply", policyOf), core.Kept},
		"this controller has":                 {owned(hooks, core.Owner, "Apply", policyOf), core.Kept},
		"another owns the CA bundles":         {owned(hooks, "tabard", "Update", `{"f:webhooks":{"k:{\"name\":\"pod-identity.tabard.dev\"}":{"f:clientConfig":{"f:caBundle":{}}}}}`), core.Kept},
		"another owns the address of a hook":  {owned(hooks, "x", "Update", `{"f:webhooks":{"k:{\"name\":\"pod-identity.tabard.dev\"}":{"f:clientConfig":{"f:service":{"f:path":{}}}}}}`), core.OtherManager},
		"another owns a label":                {owned(hooks, "x", "Update", `{"f:metadata":{"f:labels":{"f:x":{}}}}`), core.Kept},
		"an autoscaler owns the replicas":     {owned(deployment, "kube-controller-manager", "Update", `{"f:spec":{"f:replicas":{}}}`), core.OtherManager},
		"another owns where pods are placed":  {owned(deployment, "x", "Update", `{"f:spec":{"f:template":{"f:spec":{"f:nodeSelector":{}}}}}`), core.Kept},
		"another owns a port of its own":      {owned(service, "x", "Apply", `{"f:spec":{"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:targetPort":{}}}}}`), core.Kept},
		"another owns the Service's port":     {owned(service, "x", "Apply", `{"f:spec":{"f:ports":{"k:{\"port\":443,\"protocol\":\"TCP\"}":{".":{},"f:targetPort":{}}}}}`), core.OtherManager},
		"the Deployment has another selector": {func(w *core.World) { set(w.Stored[deployment], "x", "spec", "selector", "matchLabels", "x") }, core.Stuck},
		"Helm keeps the hooks and replicas are none": {func(w *core.World) {
			set(w.Stored[hooks], "Helm", "metadata", "labels", "app.kubernetes.io/managed-by")
			set(w.Stored[deployment], int64(0), "spec", "replicas")
		}, core.OtherManager},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stored(t)
			test.change(&w)
			plan := core.Decide(w)
			if plan.Notice.Reason != test.want || plan.Notice.Note == "" || test.want != core.Kept && !strings.HasPrefix(plan.Notice.Note, "nothing is deployed: ") {
				t.Errorf("the notice is %+v, want %s", plan.Notice, test.want)
			}
			if len(plan.Steps) > 0 {
				t.Errorf("the steps are %q, want none", told(plan.Steps))
			}
		})
	}
}

func TestOneNodeHasNoBudget(t *testing.T) {
	t.Parallel()
	w := stored(t)
	w.Platform.InfrastructureTopology = core.SingleReplica
	want := []string{"change Deployment tabard-system/tabard-webhook", "delete PodDisruptionBudget tabard-system/tabard-webhook u-PodDisruptionBudget"}
	if diff := cmp.Diff(want, told(core.Decide(w).Steps)); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*core.Settings)
		want   string
	}{
		"an image by its digest":  {func(s *core.Settings) { s.Image = "registry.example.com:5000/w@sha256:" + strings.Repeat("0", 64) }, ""},
		"an image by its tag":     {func(s *core.Settings) { s.Image = "registry.example.com/w:v1" }, ""},
		"an image without a tag":  {func(s *core.Settings) { s.Image = "registry.example.com/w" }, `--webhookdeployment-image is "registry.example.com/w", expected REPOSITORY:TAG`},
		"a region":                {func(s *core.Settings) { s.Region = "us-gov-west-1" }, ""},
		"a region that is a flag": {func(s *core.Settings) { s.Region = "x --any" }, `--webhookdeployment-region is "x --any", expected`},
		"another namespace":       {func(s *core.Settings) { s.Namespace = "other" }, "is not in Tabard's namespace other"},
		"a manifest without hooks": {func(s *core.Settings) {
			s.Manifest = s.Manifest[:strings.LastIndex(string(s.Manifest), "\n---\n")]
		}, "has no MutatingWebhookConfiguration"},
		"a manifest that is broken": {func(s *core.Settings) { s.Manifest = []byte("a: [") }, "read the webhook's manifest"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings(t)
			test.change(&s)
			w, err := core.Want(s)
			if test.want == "" {
				made := w.For(deployment, core.Platform{})
				text := string(must.Get(json.Marshal(made))(t))
				if err != nil || !strings.Contains(text, s.Image) || s.Region != "" && !strings.Contains(text, `"--aws-default-region=`+s.Region+`"`) {
					t.Errorf("%v\n%s", err, text)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}
