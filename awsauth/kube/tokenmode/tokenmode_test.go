package tokenmode_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/tabard-dev/tabard/awsauth/kube/tokenmode"
)

const issuer = "https://oidc.example/cluster"

func object(kind string, fields map[string]any) *unstructured.Unstructured {
	group := "config.openshift.io/v1"
	name, namespace := "cluster", ""
	switch kind {
	case "CloudCredential":
		group = "operator.openshift.io/v1"
	case "ConfigMap":
		group, name, namespace = "v1", "cloud-credential-operator-config", "openshift-cloud-credential-operator"
	}
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group, "kind": kind}}
	out.SetName(name)
	out.SetNamespace(namespace)
	for key, value := range fields {
		out.Object[key] = value
	}
	return out
}

func infrastructure(platform, deprecated any) *unstructured.Unstructured {
	status := map[string]any{}
	if platform != nil {
		status["platformStatus"] = map[string]any{"type": platform}
	}
	if deprecated != nil {
		status["platform"] = deprecated
	}
	return object("Infrastructure", map[string]any{"status": status})
}

func credential(mode string) *unstructured.Unstructured {
	return object("CloudCredential", map[string]any{"spec": map[string]any{"credentialsMode": mode}})
}

func authentication(issuer string) *unstructured.Unstructured {
	return object("Authentication", map[string]any{"spec": map[string]any{"serviceAccountIssuer": issuer}})
}

func legacy(disabled string) *unstructured.Unstructured {
	return object("ConfigMap", map[string]any{"data": map[string]any{"disabled": disabled}})
}

func TestAllThreePartsMustHold(t *testing.T) {
	good := func(change func(*tokenmode.Objects)) tokenmode.Objects {
		out := tokenmode.Objects{Infrastructure: infrastructure("AWS", nil), CloudCredential: credential("Manual"), Authentication: authentication(issuer)}
		change(&out)
		return out
	}
	type objects = tokenmode.Objects
	on := func(cloud tokenmode.Cloud) tokenmode.Answer {
		return tokenmode.Answer{Cloud: cloud, Enabled: true, Issuer: issuer}
	}
	off := func(reason string) tokenmode.Answer { return tokenmode.Answer{Cloud: tokenmode.AWS, Reason: reason} }
	cases := map[string]struct {
		objects tokenmode.Objects
		want    tokenmode.Answer
		fail    string
	}{
		"all hold on AWS":   {good(func(*objects) {}), on(tokenmode.AWS), ""},
		"all hold on Azure": {good(func(o *objects) { o.Infrastructure = infrastructure("Azure", nil) }), on(tokenmode.Azure), ""},
		"all hold on GCP":   {good(func(o *objects) { o.Infrastructure = infrastructure("GCP", nil) }), on(tokenmode.GCP), ""},
		"the deprecated platform counts if the other is not set": {
			good(func(o *objects) { o.Infrastructure = infrastructure(nil, "AWS") }), on(tokenmode.AWS), "",
		},
		"the deprecated platform counts less": {
			good(func(o *objects) { o.Infrastructure = infrastructure("BareMetal", "AWS") }),
			tokenmode.Answer{Reason: "the platform is BareMetal, not AWS, Azure or GCP"}, "",
		},
		"another platform": {
			good(func(o *objects) { o.Infrastructure = infrastructure("VSphere", nil) }),
			tokenmode.Answer{Reason: "the platform is VSphere, not AWS, Azure or GCP"}, "",
		},
		"no Infrastructure": {
			good(func(o *objects) { o.Infrastructure = nil }), tokenmode.Answer{Reason: `no Infrastructure "cluster" names a platform`}, "",
		},
		"no platform": {
			good(func(o *objects) { o.Infrastructure = infrastructure(nil, nil) }), tokenmode.Answer{Reason: `no Infrastructure "cluster" names a platform`}, "",
		},
		"nothing at all":       {tokenmode.Objects{}, tokenmode.Answer{Reason: `no Infrastructure "cluster" names a platform`}, ""},
		"no CloudCredential":   {good(func(o *objects) { o.CloudCredential = nil }), off(`the CloudCredential "cluster" does not exist`), ""},
		"the default mode":     {good(func(o *objects) { o.CloudCredential = credential("") }), off("the credentials mode is Default, not Manual"), ""},
		"the mode Mint":        {good(func(o *objects) { o.CloudCredential = credential("Mint") }), off("the credentials mode is Mint, not Manual"), ""},
		"the mode Passthrough": {good(func(o *objects) { o.CloudCredential = credential("Passthrough") }), off("the credentials mode is Passthrough, not Manual"), ""},
		"the legacy ConfigMap is Manual": {
			good(func(o *objects) { o.CloudCredential, o.Legacy = credential(""), legacy("true") }), on(tokenmode.AWS), "",
		},
		"the legacy ConfigMap agrees": {good(func(o *objects) { o.Legacy = legacy("true") }), on(tokenmode.AWS), ""},
		"the legacy ConfigMap says false": {
			good(func(o *objects) { o.CloudCredential, o.Legacy = credential(""), legacy("false") }), off("the credentials mode is Default, not Manual"), "",
		},
		"the legacy ConfigMap contradicts": {
			good(func(o *objects) { o.CloudCredential, o.Legacy = credential("Mint"), legacy("true") }), tokenmode.Answer{}, "says Mint and the legacy ConfigMap",
		},
		"no issuer": {
			good(func(o *objects) { o.Authentication = object("Authentication", nil) }), off(`the issuer in Authentication "cluster" is "", not a URL with https`), "",
		},
		"an issuer without https": {
			good(func(o *objects) { o.Authentication = authentication("http://oidc.example") }),
			off(`the issuer in Authentication "cluster" is "http://oidc.example", not a URL with https`), "",
		},
		"an issuer that is no URL": {
			good(func(o *objects) { o.Authentication = authentication("https://") }), off(`the issuer in Authentication "cluster" is "https://", not a URL with https`), "",
		},
		"no Authentication":         {good(func(o *objects) { o.Authentication = nil }), tokenmode.Answer{}, "does not exist"},
		"a platform that is a list": {good(func(o *objects) { o.Infrastructure = infrastructure([]any{"AWS"}, nil) }), tokenmode.Answer{}, "Infrastructure"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tokenmode.Detect(c.objects)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if (c.fail == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.fail) {
				t.Errorf("error %v, want %q", err, c.fail)
			}
			for _, cloud := range []tokenmode.Cloud{tokenmode.AWS, tokenmode.Azure, tokenmode.GCP} {
				if want := c.want.Enabled && c.want.Cloud == cloud; got.On(cloud) != want {
					t.Errorf("on %s: %t, want %t", cloud, got.On(cloud), want)
				}
			}
		})
	}
}

func TestReadTakesWhatThereIs(t *testing.T) {
	all := tokenmode.Objects{
		Infrastructure: infrastructure("AWS", nil), CloudCredential: credential("Manual"),
		Authentication: authentication(issuer), Legacy: legacy("false"),
	}
	got, err := tokenmode.Read(t.Context(), client(all.Infrastructure, all.CloudCredential, all.Authentication, all.Legacy))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if got, err := tokenmode.Read(t.Context(), client()); err != nil || got != (tokenmode.Objects{}) {
		t.Errorf("of an empty cluster it reads %+v: %v", got, err)
	}
	broken := client(all.Infrastructure)
	no := errors.New("no answer")
	broken.PrependReactor("get", "authentications", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, no })
	if _, err := tokenmode.Read(t.Context(), broken); !errors.Is(err, no) || !strings.Contains(err.Error(), "Authentication") {
		t.Errorf("what cannot be read is passed over: %v", err)
	}
}

func TestWhatMayNotBeReadHidesNothingElse(t *testing.T) {
	all := tokenmode.Objects{
		Infrastructure: infrastructure("AWS", nil), CloudCredential: credential("Manual"),
		Authentication: authentication(issuer), Legacy: legacy("false"),
	}
	cluster := client(all.Infrastructure, all.CloudCredential, all.Authentication, all.Legacy)
	for _, resource := range []string{"cloudcredentials", "configmaps"} {
		cluster.PrependReactor("get", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "cluster", errors.New("no"))
		})
	}
	got, err := tokenmode.Read(t.Context(), cluster)
	want := tokenmode.Objects{Infrastructure: all.Infrastructure, Authentication: all.Authentication}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	var forbidden *tokenmode.ForbiddenError
	if !errors.As(err, &forbidden) || !apierrors.IsForbidden(err) {
		t.Fatalf("the error is %v, expected a *ForbiddenError that is the API server's too", err)
	}
	if diff := cmp.Diff([]tokenmode.Object{tokenmode.CloudCredential, tokenmode.Legacy}, forbidden.Objects); diff != "" {
		t.Errorf("forbidden (-want +got):\n%s", diff)
	}
	for _, part := range []string{`CloudCredential "cluster"`, "ConfigMap openshift-cloud-credential-operator/cloud-credential-operator-config"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not name %s: %v", part, err)
		}
	}
}

func client(objects ...runtime.Object) *fake.FakeDynamicClient {
	return fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}:    "InfrastructureList",
		{Group: "config.openshift.io", Version: "v1", Resource: "authentications"}:    "AuthenticationList",
		{Group: "operator.openshift.io", Version: "v1", Resource: "cloudcredentials"}: "CloudCredentialList",
		{Version: "v1", Resource: "configmaps"}:                                       "ConfigMapList",
	}, objects...)
}
