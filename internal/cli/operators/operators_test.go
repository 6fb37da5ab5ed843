package operators

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubetesting "k8s.io/client-go/testing"

	reader "github.com/tabard-dev/tabard/internal/catalogue"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// outcome is what a command did.
type outcome struct {
	code        int
	out, errOut string
}

// says fails unless a text has all parts.
func says(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("it does not say %q:\n%s", part, text)
		}
	}
}

// silent fails if a text has one of the parts.
func silent(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("it says %q:\n%s", part, text)
		}
	}
}

func (o outcome) exits(t *testing.T, code int) outcome {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d\n%s%s", o.code, code, o.out, o.errOut)
	}
	return o
}

// openshift4 is a cluster, by the objects that it has and the resources that may not be read.
type openshift4 struct {
	objects   []runtime.Object
	forbidden []string
	broken    error
	// catalogue answers for the catalogues that the cluster serves.
	catalogue func(context.Context, Origin) (catalogue.Catalogue, error)
	// role is what AWS has of each role.
	role sufficiency.Documents
	// made gets each object that is made, except questions about rights; nil for nobody.
	made func(*unstructured.Unstructured)
}

func object(group, kind, namespace, name string, value string, path ...string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if len(path) > 0 {
		// A field of a new object can be set.
		_ = unstructured.SetNestedField(o.Object, value, path...)
	}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind})
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

const issuerURL = "https://issuer.example.com/cluster"

func infrastructure(value string, path ...string) runtime.Object {
	return object("config.openshift.io", "Infrastructure", "", "cluster", value, path...)
}

func cloudCredential(mode string) runtime.Object {
	return object("operator.openshift.io", "CloudCredential", "", "cluster", mode, "spec", "credentialsMode")
}

func authentication(issuer string) runtime.Object {
	return object("config.openshift.io", "Authentication", "", "cluster", issuer, "spec", "serviceAccountIssuer")
}

// onAWS is a cluster in token mode on AWS.
func onAWS() openshift4 {
	return openshift4{objects: []runtime.Object{
		infrastructure("AWS", "status", "platformStatus", "type"), cloudCredential("Manual"), authentication(issuerURL),
	}}
}

func (c openshift4) connect(*command.Kubeconfig) (dynamic.Interface, error) {
	alpha := subscriptions.GroupVersion()
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		subscriptions: "SubscriptionList", alpha.WithResource("installplans"): "InstallPlanList",
		{Group: alpha.Group, Version: "v1", Resource: "operatorgroups"}:                         "OperatorGroupList",
		{Group: "cloudcredential.openshift.io", Version: "v1", Resource: "credentialsrequests"}: "CredentialsRequestList",
	}, c.objects...)
	for _, resource := range c.forbidden {
		client.PrependReactor("*", resource, func(kubetesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "cluster", errors.New("no"))
		})
	}
	if c.broken != nil {
		client.PrependReactor("get", "*", func(kubetesting.Action) (bool, runtime.Object, error) { return true, nil, c.broken })
	}
	return client, nil
}

// world is the product's own readers, with this cluster.
func (c openshift4) world() World {
	return World{
		Read: func(ctx context.Context, from Origin, in io.Reader, slow func(string)) (catalogue.Catalogue, error) {
			if from.Kind == Cluster {
				return c.catalogue(ctx, from)
			}
			return reader.Reader{Stdin: in, Slow: slow}.Read(ctx, from.Path)
		},
		Connect: c.connect,
		OLM:     c.connectOLM,
		JSON:    reader.JSON,
		RoleDocuments: func(_ context.Context, arn string) (sufficiency.Documents, error) {
			documents := c.role
			documents.ARN = arn
			return documents, nil
		},
	}
}

// run runs "operators" with arguments, on this cluster.
func (c openshift4) run(t *testing.T, in string, args ...string) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	operators := New(command.Streams{In: strings.NewReader(in), Out: &out, Err: &errOut}, c.world())
	operators.SetArgs(args)
	operators.SetOut(&out)
	operators.SetErr(&errOut)
	err := operators.ExecuteContext(t.Context())
	got := outcome{out: out.String(), errOut: errOut.String()}
	if said, ok := errors.AsType[*command.Exit](err); ok {
		got.code = said.ExitCode()
	} else if err != nil {
		t.Fatalf("operators %v: %v, which has no exit code of its own", args, err)
	}
	return got
}

// on runs "operators" with arguments on a hand-written catalogue of testdata.
func on(t *testing.T, file string, args ...string) outcome {
	t.Helper()
	return onAWS().run(t, "", append(args[:1:1], append([]string{"--catalogue", "testdata/" + file}, args[1:]...)...)...)
}

// decoded is a document that a command printed.
func decoded[T any](t *testing.T, o outcome) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(o.out), &out); err != nil {
		t.Fatalf("%v\n%s%s", err, o.out, o.errOut)
	}
	return out
}

// file is a file of testdata.
func file(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile("testdata/" + name))(t))
}
