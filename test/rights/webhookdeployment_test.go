package rights

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	workloads = "tabard-webhookdeployment-workloads"
	services  = "tabard-webhookdeployment-services"
	ownHooks  = "tabard-webhookdeployment-hooks"
)

var (
	theDeployment = reference("apps/v1", "Deployment", "tabard-system", "tabard-webhook")
	theService    = reference("v1", "Service", "tabard-system", "tabard-webhook")
	theBudget     = reference("policy/v1", "PodDisruptionBudget", "tabard-system", "tabard-webhook")
	issuerPods    = reference("apps/v1", "Deployment", "tabard-system", "tabard-issuer")
)

// inPod changes one field of the Deployment's pods.
func inPod(path, value string) func(context.Context, client.Client) error {
	return change(theDeployment, `[{"op":"add","path":"/spec/template/spec/`+path+`","value":`+value+`}]`)
}

// inContainer changes one field of the webhook's container.
func inContainer(path, value string) func(context.Context, client.Client) error {
	return inPod("containers/0/"+path, value)
}

// byWebhookDeployment are the attacks of somebody who has taken the controller
// webhookdeployment, on the webhook as shipped.
var byWebhookDeployment = map[string]attack{
	"the replicas, which are its work":            {change(theDeployment, `[{"op":"replace","path":"/spec/replicas","value":3}]`), ""},
	"another version, which is its work":          {inContainer("image", `"ghcr.io/tabard-dev/tabard-webhook:v9.9.9"`), ""},
	"a digest, which is its work":                 {inContainer("image", `"ghcr.io/tabard-dev/tabard-webhook@sha256:0000000000000000000000000000000000000000000000000000000000000000"`), ""},
	"a region, which is its work":                 {inContainer("args/-", `"--aws-default-region=eu-west-1"`), ""},
	"the labels of Tabard, which are its work":    {merge(theDeployment, `{"metadata":{"labels":{"app.kubernetes.io/component":"webhook"}}}`), ""},
	"a pod of the issuer's account":               {inPod("serviceAccountName", `"tabard-issuer"`), workloads},
	"a pod of the issuer's account, as once":      {change(theDeployment, `[{"op":"remove","path":"/spec/template/spec/serviceAccountName"},{"op":"add","path":"/spec/template/spec/serviceAccount","value":"tabard-issuer"}]`), workloads},
	"another image":                               {inContainer("image", `"attacker.example.com/webhook:1"`), workloads},
	"an image whose name begins as ours":          {inContainer("image", `"ghcr.io/tabard-dev/tabard-webhook-attack:1"`), workloads},
	"an image beside ours":                        {inContainer("image", `"ghcr.io/tabard-dev/tabard:devel"`), workloads},
	"an image below ours":                         {inContainer("image", `"ghcr.io/tabard-dev/tabard-webhook/attack:1"`), workloads},
	"an image of a name that holds ours":          {inContainer("image", `"attacker.example.com/ghcr.io/tabard-dev/tabard-webhook:1"`), workloads},
	"a port that is none":                         {inContainer("image", `"ghcr.io/tabard-dev/tabard-webhook:5000/attack"`), workloads},
	"files of the node":                           {inPod("volumes", `[{"name":"x","hostPath":{"path":"/"}}]`), workloads},
	"a token of another audience":                 {inPod("volumes", `[{"name":"x","projected":{"sources":[{"serviceAccountToken":{"path":"x","audience":"sts.amazonaws.com"}}]}}]`), workloads},
	"a Secret of the namespace":                   {inPod("volumes", `[{"name":"x","secret":{"secretName":"x"}}]`), workloads},
	"a variable of a Secret":                      {inContainer("env", `[{"name":"X","valueFrom":{"secretKeyRef":{"name":"x","key":"x"}}}]`), workloads},
	"variables of a ConfigMap":                    {inContainer("envFrom", `[{"configMapRef":{"name":"tabard-issuer"}}]`), workloads},
	"another program":                             {inContainer("command", `["/bin/sh"]`), workloads},
	"other arguments":                             {inContainer("args", `["operator"]`), workloads},
	"the certificate from another namespace":      {inContainer("args", `["webhook","--tls-secret-namespace=attack"]`), workloads},
	"a region with another argument in it":        {inContainer("args/-", `"--aws-default-region=x --namespace=attack"`), workloads},
	"a hook of its life":                          {inContainer("lifecycle", `{"preStop":{"exec":{"command":["x"]}}}`), workloads},
	"a probe that runs a program":                 {inContainer("livenessProbe", `{"exec":{"command":["x"]}}`), workloads},
	"a probe of another host":                     {inContainer("livenessProbe/httpGet/host", `"169.254.169.254"`), workloads},
	"a probe with headers":                        {inContainer("readinessProbe/httpGet/httpHeaders", `[{"name":"a","value":"b"}]`), workloads},
	"a probe by TCP of another host":              {inContainer("livenessProbe", `{"tcpSocket":{"host":"169.254.169.254","port":80}}`), workloads},
	"a port of the node":                          {inContainer("ports/0/hostPort", `443`), workloads},
	"capabilities":                                {inContainer("securityContext/capabilities", `{"add":["SYS_ADMIN"],"drop":["ALL"]}`), workloads},
	"a file system that it writes":                {inContainer("securityContext/readOnlyRootFilesystem", `false`), workloads},
	"another user":                                {inContainer("securityContext/runAsUser", `0`), workloads},
	"root":                                        {inPod("securityContext/runAsNonRoot", `false`), workloads},
	"sysctls":                                     {inPod("securityContext/sysctls", `[{"name":"net.core.somaxconn","value":"1"}]`), workloads},
	"one more container":                          {inPod("containers/-", `{"name":"more","image":"ghcr.io/tabard-dev/tabard-webhook:devel"}`), workloads},
	"a container before":                          {inPod("initContainers", `[{"name":"x","image":"x"}]`), workloads},
	"the network of the node":                     {inPod("hostNetwork", `true`), workloads},
	"the processes of the node":                   {inPod("hostPID", `true`), workloads},
	"the users of the node":                       {inPod("hostUsers", `true`), workloads},
	"a node of its choice":                        {inPod("nodeName", `"control-plane"`), workloads},
	"nodes of its choice":                         {inPod("nodeSelector", `{"node-role.kubernetes.io/control-plane":""}`), workloads},
	"taints that it bears":                        {inPod("tolerations", `[{"operator":"Exists"}]`), workloads},
	"another runtime":                             {inPod("runtimeClassName", `"attack"`), workloads},
	"another scheduler":                           {inPod("schedulerName", `"attack"`), workloads},
	"another resolver":                            {inPod("dnsPolicy", `"Default"`), workloads},
	"servers of names":                            {inPod("dnsConfig", `{"nameservers":["192.0.2.1"]}`), workloads},
	"names of hosts":                              {inPod("hostAliases", `[{"ip":"192.0.2.1","hostnames":["kubernetes.default.svc"]}]`), workloads},
	"a priority":                                  {inPod("priorityClassName", `"system-cluster-critical"`), workloads},
	"a registry's password":                       {inPod("imagePullSecrets", `[{"name":"x"}]`), workloads},
	"no token in its pods":                        {inPod("automountServiceAccountToken", `false`), workloads},
	"an annotation of its pods":                   {merge(theDeployment, `{"spec":{"template":{"metadata":{"annotations":{"sidecar.istio.io/inject":"true"}}}}}`), workloads},
	"a finalizer of its pods":                     {merge(theDeployment, `{"spec":{"template":{"metadata":{"finalizers":["example.com/stay"]}}}}`), workloads},
	"a label of its pods":                         {merge(theDeployment, `{"spec":{"template":{"metadata":{"labels":{"app":"attack"}}}}}`), workloads},
	"an annotation of the Deployment":             {merge(theDeployment, `{"metadata":{"annotations":{"x":"y"}}}`), workloads},
	"a label of the Deployment":                   {merge(theDeployment, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"Helm"}}}`), workloads},
	"an owner of the Deployment":                  {merge(theDeployment, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"1"}]}}`), workloads},
	"a finalizer of the Deployment":               {merge(theDeployment, `{"metadata":{"finalizers":["example.com/stay"]}}`), workloads},
	"the Deployment of the issuer":                {change(issuerPods, `[{"op":"replace","path":"/spec/replicas","value":0}]`), "rbac"},
	"the Deployment deleted":                      {remove(theDeployment), "rbac"},
	"a Deployment of its own":                     {create(func() client.Object { o := theDeployment(); o.SetName("attack"); return o }), "rbac"},
	"a pod":                                       {create(func() client.Object { p := pod("tabard-issuer"); p.Namespace = "tabard-system"; return p }), "rbac"},
	"a token of the webhook":                      {create(func() client.Object { return tokenSecret("tabard-system", "x", "tabard-webhook") }), "rbac"},
	"pods of the issuer behind the Service":       {merge(theService, `{"spec":{"selector":{"app.kubernetes.io/component":"issuer"}}}`), services},
	"pods of fewer labels behind the Service":     {merge(theService, `{"spec":{"selector":{"app.kubernetes.io/component":null}}}`), services},
	"a Service without pods":                      {merge(theService, `{"spec":{"selector":null}}`), services},
	"a Service that is a name elsewhere":          {merge(theService, `{"spec":{"type":"ExternalName","externalName":"attacker.example.com","clusterIP":"","clusterIPs":null}}`), services},
	"a Service on the nodes":                      {merge(theService, `{"spec":{"type":"NodePort"}}`), services},
	"a Service for the world":                     {merge(theService, `{"spec":{"type":"LoadBalancer"}}`), services},
	"addresses of others":                         {merge(theService, `{"spec":{"externalIPs":["192.0.2.1"]}}`), services},
	"pods that are not ready":                     {merge(theService, `{"spec":{"publishNotReadyAddresses":true}}`), services},
	"another port of the pods":                    {merge(theService, `{"spec":{"ports":[{"name":"webhook","port":443,"targetPort":9999}]}}`), services},
	"one more port":                               {change(theService, `[{"op":"add","path":"/spec/ports/-","value":{"name":"more","port":80}}]`), services},
	"an annotation of the Service":                {merge(theService, `{"metadata":{"annotations":{"service.beta.kubernetes.io/x":"y"}}}`), services},
	"a label of the Service":                      {merge(theService, `{"metadata":{"labels":{"kubernetes.io/service-name":"x"}}}`), services},
	"the labels of the Service, its work":         {merge(theService, `{"metadata":{"labels":{"app.kubernetes.io/component":"webhook"}}}`), ""},
	"the Service deleted":                         {remove(theService), "rbac"},
	"the Service of Kubernetes":                   {merge(reference("v1", "Service", "default", "kubernetes"), `{"spec":{"selector":{"a":"b"}}}`), "rbac"},
	"the budget, which is its work":               {merge(theBudget, `{"spec":{"minAvailable":2}}`), ""},
	"the budget deleted, which is its work":       {remove(theBudget), ""},
	"hooks at a URL":                              {change(mutating, `[{"op":"replace","path":"/webhooks/0/clientConfig","value":{"url":"https://attacker.example.com"}}]`), ownHooks},
	"hooks at another Service":                    {change(mutating, `[{"op":"replace","path":"/webhooks/0/clientConfig/service/name","value":"attack"}]`), ownHooks},
	"hooks at a Service of another namespace":     {change(mutating, `[{"op":"replace","path":"/webhooks/0/clientConfig/service/namespace","value":"attack"}]`), ownHooks},
	"hooks at another path":                       {change(mutating, `[{"op":"replace","path":"/webhooks/1/clientConfig/service/path","value":"/x"}]`), ownHooks},
	"hooks at another port":                       {change(mutating, `[{"op":"replace","path":"/webhooks/1/clientConfig/service/port","value":9999}]`), ownHooks},
	"a CA of its own":                             {change(mutating, `[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K"}]`), ownHooks},
	"hooks that see Tabard's own pods":            {change(mutating, `[{"op":"remove","path":"/webhooks/0/namespaceSelector"}]`), ownHooks},
	"hooks that see the controller certificate's": {change(mutating, `[{"op":"replace","path":"/webhooks/0/namespaceSelector/matchExpressions/1/values","value":["tabard-system"]}]`), ownHooks},
	"hooks that see pods that are skipped":        {change(mutating, `[{"op":"remove","path":"/webhooks/0/objectSelector"}]`), ownHooks},
	"hooks that see no pods":                      {change(mutating, `[{"op":"add","path":"/webhooks/1/objectSelector","value":{"matchLabels":{"a":"b"}}}]`), ownHooks},
	"hooks over Secrets":                          {change(mutating, `[{"op":"replace","path":"/webhooks/0/rules/0/resources","value":["secrets"]}]`), ownHooks},
	"hooks over tokens":                           {change(mutating, `[{"op":"add","path":"/webhooks/0/rules/-","value":{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["serviceaccounts/token"]}}]`), ownHooks},
	"hooks over changes of pods":                  {change(mutating, `[{"op":"add","path":"/webhooks/0/rules/0/operations/-","value":"UPDATE"}]`), ownHooks},
	"hooks that fail open":                        {change(mutating, `[{"op":"replace","path":"/webhooks/1/failurePolicy","value":"Ignore"}]`), ownHooks},
	"hooks that fail closed":                      {change(mutating, `[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Fail"}]`), ownHooks},
	"hooks under conditions":                      {change(mutating, `[{"op":"add","path":"/webhooks/1/matchConditions","value":[{"name":"x","expression":"false"}]}]`), ownHooks},
	"a hook of another name":                      {change(mutating, `[{"op":"replace","path":"/webhooks/0/name","value":"attack.tabard.dev"}]`), ownHooks},
	"one more hook":                               {change(mutating, `[{"op":"copy","from":"/webhooks/0","path":"/webhooks/-"},{"op":"replace","path":"/webhooks/4/name","value":"more.tabard.dev"}]`), ownHooks},
	"one hook less":                               {change(mutating, `[{"op":"remove","path":"/webhooks/1"}]`), ownHooks},
	"no hooks":                                    {change(mutating, `[{"op":"remove","path":"/webhooks"}]`), ownHooks},
	"a keeper of the hooks":                       {merge(mutating, `{"metadata":{"annotations":{"cert-manager.io/inject-ca-from":"x/y"}}}`), ownHooks},
	"a label of the hooks":                        {merge(mutating, `{"metadata":{"labels":{"x":"y"}}}`), ownHooks},
	"the labels of the hooks, its work":           {merge(mutating, `{"metadata":{"labels":{"app.kubernetes.io/component":"webhook"}}}`), ""},
	"the hooks deleted":                           {remove(mutating), "rbac"},
	"hooks of its own":                            {create(func() client.Object { o := hooks(); o.Name = "attack"; return o }), "rbac"},
	"the hooks of another webhook":                {merge(reference("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "", "pod-identity-webhook"), `{"webhooks":[]}`), "rbac"},
	"hooks that only look":                        {merge(validating, `{"metadata":{"labels":{"x":"y"}}}`), "rbac"},
	"its policies deleted":                        {remove(func() client.Object { return policy(workloads) }), "rbac"},
	"the rights of its role":                      {merge(reference("rbac.authorization.k8s.io/v1", "ClusterRole", "", "tabard-webhookdeployment"), `{"rules":[]}`), "rbac"},
}

// TestTheControllerOfTheWebhookIsHeld tries every attack on the webhook as shipped. The
// requests are dry runs, for which rights and policies are asked as for others.
func TestTheControllerOfTheWebhookIsHeld(t *testing.T) {
	w := install(t)
	w.try(client.NewDryRunClient(w.as("tabard-system", "tabard-webhookdeployment")), byWebhookDeployment)
}

// made applies an object of webhook.yaml with one change, where there is none.
func made(kind, name string, modify func(map[string]any)) func(*testing.T) *unstructured.Unstructured {
	return func(t *testing.T) *unstructured.Unstructured {
		object := shipped(t, kind, name)
		modify(object.Object)
		return object
	}
}

// put sets a field by its path.
func put(value any, path ...string) func(map[string]any) {
	return func(object map[string]any) {
		if err := unstructured.SetNestedField(object, value, path...); err != nil {
			panic(err) // a path that webhook.yaml does not have
		}
	}
}

// TestWhatTheControllerOfTheWebhookMakesIsHeld makes the objects anew, each with something
// of the attacker's in it. There is no former object then that a policy could compare.
func TestWhatTheControllerOfTheWebhookMakesIsHeld(t *testing.T) {
	w := install(t)
	for _, each := range []client.Object{theDeployment(), theService(), reference("v1", "Service", "tabard-system", "tabard-webhook-probe")(), hooks()} {
		must.Do(t, client.IgnoreNotFound(w.Delete(t.Context(), each, client.PropagationPolicy(metav1.DeletePropagationBackground))))
	}
	nothing := func(map[string]any) {}
	tests := map[string]struct {
		object func(*testing.T) *unstructured.Unstructured
		by     string
	}{
		"the Deployment, which is its work":         {made("Deployment", "tabard-webhook", nothing), ""},
		"the Service, which is its work":            {made("Service", "tabard-webhook", nothing), ""},
		"the other Service, which is its work":      {made("Service", "tabard-webhook-probe", nothing), ""},
		"the hooks, which are its work":             {made("MutatingWebhookConfiguration", "tabard-webhook", nothing), ""},
		"a Deployment of the issuer's account":      {made("Deployment", "tabard-webhook", put("tabard-issuer", "spec", "template", "spec", "serviceAccountName")), workloads},
		"a Deployment on a node of its choice":      {made("Deployment", "tabard-webhook", put("x", "spec", "template", "spec", "nodeName")), workloads},
		"a Deployment of all pods of Tabard":        {made("Deployment", "tabard-webhook", put(map[string]any{"app.kubernetes.io/name": "tabard"}, "spec", "selector", "matchLabels")), workloads},
		"a Deployment with an owner":                {made("Deployment", "tabard-webhook", put([]any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1"}}, "metadata", "ownerReferences")), workloads},
		"a Deployment with annotations of its pods": {made("Deployment", "tabard-webhook", put(map[string]any{"a": "b"}, "spec", "template", "metadata", "annotations")), workloads},
		"a Service before pods are ready":           {made("Service", "tabard-webhook", put(true, "spec", "publishNotReadyAddresses")), services},
		"a Service of another's pods":               {made("Service", "tabard-webhook", put(map[string]any{"app.kubernetes.io/component": "issuer"}, "spec", "selector")), services},
		"a Service that is a name elsewhere": {made("Service", "tabard-webhook", func(o map[string]any) {
			o["spec"] = map[string]any{"type": "ExternalName", "externalName": "attacker.example.com"}
		}), services},
		"a Service with an address of others": {made("Service", "tabard-webhook", put([]any{"192.0.2.1"}, "spec", "externalIPs")), services},
		"a Service with a finalizer":          {made("Service", "tabard-webhook", put([]any{"example.com/stay"}, "metadata", "finalizers")), services},
		"hooks with an annotation":            {made("MutatingWebhookConfiguration", "tabard-webhook", put(map[string]any{"cert-manager.io/inject-ca-from": "x/y"}, "metadata", "annotations")), ownHooks},
		"no hooks":                            {made("MutatingWebhookConfiguration", "tabard-webhook", put([]any{}, "webhooks")), ownHooks},
		"a Deployment of another name":        {made("Deployment", "tabard-webhook", put("attack", "metadata", "name")), "rbac"},
		"a Deployment of another namespace":   {made("Deployment", "tabard-webhook", put("tabard-certificate", "metadata", "namespace")), "rbac"},
		"a Service of another name":           {made("Service", "tabard-webhook", put("attack", "metadata", "name")), "rbac"},
		"hooks of another name":               {made("MutatingWebhookConfiguration", "tabard-webhook", put("attack", "metadata", "name")), "rbac"},
	}
	attacks := map[string]attack{}
	for what, test := range tests {
		object := test.object(t)
		attacks[what] = attack{func(ctx context.Context, c client.Client) error { return apply(ctx, c, object) }, test.by}
	}
	w.try(client.NewDryRunClient(w.as("tabard-system", "tabard-webhookdeployment")), attacks)
}
