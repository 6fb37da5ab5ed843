// Package install proves what the commands of "tabard operators" that write do, on a real API server
// and a fake of the Operator Lifecycle Manager. test/operators/olm does the same with the real one,
// which cannot be made to show each fault.
package install

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/catalogue"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/operators"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/fakeolm"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

const (
	issuer = "https://issuer.example.com"
	arn    = "arn:aws:iam::123456789012:role/p"
	first  = "p.v1.0.0"
	second = "p.v1.1.0"
)

var shared = testkit.SharedCluster(testkit.ClusterOptions{
	CRDs:    []string{testkit.CRDs},
	Foreign: []testkit.ForeignKinds{testkit.OLM, testkit.OpenShiftConfig, testkit.OpenShiftCredentials},
}, inTokenMode)

// inTokenMode makes the three objects by which OpenShift says that operators take roles by tokens.
func inTokenMode(c *testkit.Cluster) {
	for _, text := range []string{
		`{"apiVersion":"config.openshift.io/v1","kind":"Infrastructure","metadata":{"name":"cluster"},"spec":{"platformSpec":{"type":"AWS"}}}`,
		`{"apiVersion":"operator.openshift.io/v1","kind":"CloudCredential","metadata":{"name":"cluster"},"spec":{"credentialsMode":"Manual","managementState":"Managed"}}`,
		`{"apiVersion":"config.openshift.io/v1","kind":"Authentication","metadata":{"name":"cluster"},"spec":{"serviceAccountIssuer":"` + issuer + `"}}`,
	} {
		var object unstructured.Unstructured
		must.Do(c, json.Unmarshal([]byte(text), &object.Object))
		must.Do(c, c.Create(c.Context(), &object))
		if object.GetKind() == "Infrastructure" {
			must.Do(c, unstructured.SetNestedMap(object.Object, map[string]any{
				"type": "AWS", "aws": map[string]any{"region": "us-east-1"},
			}, "status", "platformStatus"))
			must.Do(c, unstructured.SetNestedField(object.Object, "lab", "status", "infrastructureName"))
			must.Do(c, c.Status().Update(c.Context(), &object))
		}
	}
}

// world is a namespace with a catalogue, in which a fake of OLM acts.
type world struct {
	*testkit.Cluster
	olm       *fakeolm.OLM
	namespace string
	file      string
	// person is who types the commands.
	person *rest.Config

	mu sync.Mutex
	// allows are the actions that the role allows on all resources.
	allows []string
	// reading is called when the role is read.
	reading func()
}

// begin starts a fake of OLM with p in two versions, and q in one.
func begin(t *testing.T, faults map[string]fakeolm.Fault) *world {
	t.Helper()
	w := &world{Cluster: shared(t), allows: []string{"s3:GetObject"}}
	w.namespace, w.person = w.NewNamespace(), w.Config
	packages := []fakeolm.Package{
		{Name: "p", Channel: "stable", CSVs: []fakeolm.CSV{w.version("p", "1.0.0", "s3:GetObject"), w.version("p", "1.1.0", "s3:GetObject", "s3:PutObject", "sqs:SendMessage")}},
		{Name: "q", Channel: "stable", CSVs: []fakeolm.CSV{w.version("q", "1.0.0"), w.version("q", "1.1.0")}},
	}
	w.olm = fakeolm.Start(t, w.Dynamic, w.Kube, fakeolm.Script{Packages: packages, Namespaces: []string{w.namespace}, Faults: faults})
	w.file = filepath.Join(t.TempDir(), "catalog.json")
	must.Do(t, os.WriteFile(w.file, file(t, packages), 0o600))
	w.object("v1alpha1", "CatalogSource", "vendor", map[string]any{"sourceType": "grpc", "address": "vendor:50051"})
	return w
}

func (w *world) object(version, kind, name string, spec map[string]any) {
	w.Helper()
	w.Make(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operators.coreos.com/" + version, "kind": kind, "metadata": map[string]any{"namespace": w.namespace, "name": name}, "spec": spec,
	}})
}

// version is one that asks for actions. Without any it takes no role.
func (w *world) version(name, number string, actions ...string) fakeolm.CSV {
	labels := map[string]string{"app": name}
	out := fakeolm.CSV{
		Name: name + ".v" + number, Annotations: map[string]string{},
		Spec: map[string]any{"version": number, "installModes": []any{map[string]any{"type": "OwnNamespace", "supported": true}}},
		Deployments: map[string]appsv1.DeploymentSpec{name: {
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				ServiceAccountName: name, Containers: []corev1.Container{{Name: "operator", Image: "image:" + number}},
			}},
		}},
	}
	if len(actions) > 0 {
		out.Annotations["features.operators.openshift.io/token-auth-aws"] = "true"
		out.Annotations["operators.tabard.dev/credentials-requests"] = string(must.Get(json.Marshal([]any{request("$(NAMESPACE)", name, "", actions)}))(w))
	}
	return out
}

// request is a CredentialsRequest of an operator.
func request(namespace, name, role string, actions []string) map[string]any {
	var statements []any
	for _, action := range actions {
		statements = append(statements, map[string]any{"effect": "Allow", "action": []any{action}, "resource": "*"})
	}
	provider := map[string]any{"apiVersion": "cloudcredential.openshift.io/v1", "kind": "AWSProviderSpec", "statementEntries": statements}
	if role != "" {
		provider["stsIAMRoleARN"] = role
	}
	return map[string]any{
		"apiVersion": "cloudcredential.openshift.io/v1", "kind": "CredentialsRequest", "metadata": map[string]any{"name": name, "namespace": namespace},
		"spec": map[string]any{
			"secretRef": map[string]any{"name": name + "-aws", "namespace": namespace}, "serviceAccountNames": []any{name}, "providerSpec": provider,
		},
	}
}

// file is a file-based catalogue of packages.
func file(t *testing.T, packages []fakeolm.Package) (text []byte) {
	t.Helper()
	add := func(document map[string]any) {
		text = append(append(text, must.Get(json.Marshal(document))(t)...), '\n')
	}
	for _, p := range packages {
		add(map[string]any{"schema": "olm.package", "name": p.Name, "defaultChannel": p.Channel})
		var entries []any
		for i, csv := range p.CSVs {
			entry := map[string]any{"name": csv.Name}
			if i > 0 {
				entry["replaces"] = p.CSVs[i-1].Name
			}
			entries = append(entries, entry)
			var deployments []any
			for name, spec := range csv.Deployments {
				deployments = append(deployments, map[string]any{"name": name, "spec": spec})
			}
			spec := map[string]any{"install": map[string]any{"strategy": "deployment", "spec": map[string]any{"deployments": deployments}}}
			for field, value := range csv.Spec {
				spec[field] = value
			}
			manifest := must.Get(json.Marshal(map[string]any{
				"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": map[string]any{"name": csv.Name, "annotations": csv.Annotations}, "spec": spec,
			}))(t)
			add(map[string]any{"schema": "olm.bundle", "package": p.Name, "name": csv.Name, "image": "", "properties": []any{
				map[string]any{"type": "olm.package", "value": map[string]any{"packageName": p.Name, "version": csv.Spec["version"]}},
				map[string]any{"type": "olm.bundle.object", "value": map[string]any{"data": base64.StdEncoding.EncodeToString(manifest)}},
			}})
		}
		add(map[string]any{"schema": "olm.channel", "package": p.Name, "name": p.Channel, "entries": entries})
	}
	return text
}

// allow is what the role allows from now on.
func (w *world) allow(actions ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.allows = actions
}

// role is the role's documents.
func (w *world) role(_ context.Context, arn string) (sufficiency.Documents, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reading != nil {
		w.reading()
	}
	policy := must.Get(json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{"Effect": "Allow", "Action": w.allows, "Resource": "*"}}}))(w)
	host := strings.TrimPrefix(issuer, "https://")
	trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/%[1]s"},"Action":"sts:AssumeRoleWithWebIdentity",`+
		`"Condition":{"StringEquals":{"%[1]s:sub":"system:serviceaccount:%[2]s:p","%[1]s:aud":"openshift"}}}]}`, host, w.namespace)
	return sufficiency.Documents{
		ARN: arn, Trust: sufficiency.Document{Name: "the trust policy", Text: trust},
		Policies: []sufficiency.Document{{Name: "the inline policy p", Text: string(policy)}},
	}, nil
}

// said is what a command said, and its exit code.
type said struct {
	out, err string
	code     int
}

// tabard runs "tabard operators" with arguments.
func (w *world) tabard(args ...string) (got said) {
	w.Helper()
	var out, errOut bytes.Buffer
	run := operators.New(command.Streams{In: strings.NewReader(""), Out: &out, Err: &errOut}, operators.World{
		Read: func(ctx context.Context, from operators.Origin, in io.Reader, slow func(string)) (model.Catalogue, error) {
			return catalogue.Reader{Stdin: in, Slow: slow}.Read(ctx, from.Path)
		},
		Connect: func(*command.Kubeconfig) (dynamic.Interface, error) { return dynamic.NewForConfig(w.person) },
		OLM: func(*command.Kubeconfig) (olm.Client, error) {
			return olm.Client{Objects: dynamic.NewForConfigOrDie(w.person), Metadata: metadata.NewForConfigOrDie(w.person)}, nil
		},
		JSON: catalogue.JSON, RoleDocuments: w.role,
	})
	run.SetArgs(args)
	run.SetOut(&out)
	run.SetErr(&errOut)
	err := run.ExecuteContext(w.Context())
	got.out, got.err = out.String(), errOut.String()
	if exit, ok := errors.AsType[*command.Exit](err); ok {
		got.code = exit.ExitCode()
	} else if err != nil {
		w.Fatalf("%v: %v", args, err)
	}
	return got
}

// install is the command line that installs a version of p.
func (w *world) install(version string, more ...string) []string {
	return append([]string{"install", "p", "-n", w.namespace, "--version", version, "--catalogue", w.file, "--source", w.namespace + "/vendor", "--role-arn", arn, "--timeout", "60s"}, more...)
}

// wants demands an exit code and texts on both streams.
func (w *world) wants(got said, code int, texts ...string) {
	w.Helper()
	if got.code != code {
		w.Errorf("exit code %d, want %d", got.code, code)
	}
	all := got.out + got.err
	for _, text := range texts {
		if !strings.Contains(all, text) {
			w.Errorf("it does not say %q", text)
		}
	}
	if w.Failed() {
		w.Fatalf("it said:\n%s", all)
	}
}

func (w *world) of(resource string) dynamic.ResourceInterface {
	gvr := schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: resource}
	switch resource {
	case "operatorgroups":
		gvr.Version = "v1"
	case "credentialsrequests":
		gvr = schema.GroupVersionResource{Group: "cloudcredential.openshift.io", Version: "v1", Resource: resource}
	case "events":
		gvr = schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: resource}
	}
	return w.Dynamic.Resource(gvr).Namespace(w.namespace)
}

// all are the objects of a kind in the namespace.
func (w *world) all(resource string) []unstructured.Unstructured {
	w.Helper()
	return must.Get(w.of(resource).List(w.Context(), metav1.ListOptions{}))(w).Items
}
