package tokenfacts

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubetesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/awsauth/kube/tokenmode"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const issuerURL = "https://issuer.example.com/cluster"

// named gives an object the identity by which it is read.
func named(o *unstructured.Unstructured, group, kind string, at tokenmode.Object) *unstructured.Unstructured {
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind})
	o.SetNamespace(at.Namespace)
	o.SetName(at.Name)
	return o
}

func infrastructure(value string, path ...string) *unstructured.Unstructured {
	return named(with(value, path...), "config.openshift.io", "Infrastructure", tokenmode.Infrastructure)
}

func credentials(mode string) *unstructured.Unstructured {
	return named(with(mode, "spec", "credentialsMode"), "operator.openshift.io", "CloudCredential", tokenmode.CloudCredential)
}

func authentication(issuer string) *unstructured.Unstructured {
	return named(with(issuer, "spec", "serviceAccountIssuer"), "config.openshift.io", "Authentication", tokenmode.Authentication)
}

func legacy(disabled string) *unstructured.Unstructured {
	return named(with(disabled, "data", "disabled"), "", "ConfigMap", tokenmode.Legacy)
}

// observed is what Observe sees of a cluster with objects, of which some resources may not be read.
func observed(t *testing.T, objects []runtime.Object, forbidden ...string) (Seen, error) {
	t.Helper()
	client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), objects...)
	for _, resource := range forbidden {
		client.PrependReactor("get", resource, func(kubetesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "cluster", errors.New("no"))
		})
	}
	return Observe(t.Context(), client)
}

func TestDecide(t *testing.T) {
	const yes, no, unknown = listing.Yes, listing.No, listing.Unknown
	aws := infrastructure("AWS", "status", "platformStatus", "type")
	onAWS := []runtime.Object{aws, credentials("Manual"), authentication(issuerURL)}
	for name, c := range map[string]struct {
		objects   []runtime.Object
		forbidden []string
		want      listing.Answer
		facts     []listing.Answer
		cloud     string
		missing   int
		sentence  string
	}{
		"token mode":             {onAWS, nil, yes, []listing.Answer{yes, yes, yes}, "AWS", 0, "the cluster is in token mode on AWS"},
		"plain Kubernetes":       {nil, nil, no, []listing.Answer{no, no, unknown}, "", 0, "the cluster is not in token mode: no Infrastructure"},
		"the old field":          {[]runtime.Object{infrastructure("GCP", "status", "platform"), credentials("Manual"), authentication(issuerURL)}, nil, yes, []listing.Answer{yes, yes, yes}, "GCP", 0, "on GCP"},
		"another platform":       {[]runtime.Object{infrastructure("VSphere", "status", "platform"), credentials("Manual"), authentication(issuerURL)}, nil, no, []listing.Answer{no, yes, yes}, "", 0, "the platform is VSphere"},
		"Mint":                   {[]runtime.Object{aws, credentials("Mint"), authentication(issuerURL)}, nil, no, []listing.Answer{yes, no, yes}, "AWS", 0, "the credentials mode is Mint"},
		"two do not hold":        {[]runtime.Object{aws, credentials("Mint"), authentication("")}, nil, no, []listing.Answer{yes, no, no}, "AWS", 0, "; the issuer"},
		"the legacy ConfigMap":   {[]runtime.Object{aws, credentials(""), authentication(issuerURL), legacy("true")}, nil, yes, []listing.Answer{yes, yes, yes}, "AWS", 0, ""},
		"a conflict":             {[]runtime.Object{aws, credentials("Mint"), authentication(issuerURL), legacy("true")}, nil, unknown, []listing.Answer{yes, unknown, yes}, "AWS", 0, "it is unknown whether the cluster is in token mode: "},
		"may not read the mode":  {onAWS, []string{"cloudcredentials"}, unknown, []listing.Answer{yes, unknown, yes}, "AWS", 1, `get cloudcredentials.operator.openshift.io "cluster"`},
		"the ConfigMap decides":  {[]runtime.Object{aws, credentials(""), authentication(issuerURL)}, []string{"configmaps"}, unknown, []listing.Answer{yes, unknown, yes}, "AWS", 1, "in namespace " + tokenmode.Legacy.Namespace},
		"the ConfigMap does not": {onAWS, []string{"configmaps"}, yes, []listing.Answer{yes, yes, yes}, "AWS", 0, ""},
		"a no decides":           {[]runtime.Object{aws, credentials("Mint")}, []string{"authentications"}, no, []listing.Answer{yes, no, unknown}, "AWS", 1, "the credentials mode is Mint"},
	} {
		t.Run(name, func(t *testing.T) {
			seen := must.Get(observed(t, c.objects, c.forbidden...))(t)
			got := seen.Decide()
			var facts []listing.Answer
			for _, f := range got.Facts {
				facts = append(facts, f.Holds)
			}
			if diff := cmp.Diff(c.facts, facts); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			if got.TokenMode != c.want || got.Cloud != c.cloud || len(got.MissingRights) != c.missing || (got.Reason == "") != (c.want == yes) || (got.Issuer != "") != (c.want == yes) {
				t.Errorf("%+v", got)
			}
			if !strings.Contains(got.Sentence(), c.sentence) {
				t.Errorf("%q does not say %q", got.Sentence(), c.sentence)
			}
			if len(seen.Forbidden()) != len(c.forbidden) {
				t.Errorf("the missing rights are %q", seen.Forbidden())
			}
		})
	}
}

func TestWhatElseIsSeen(t *testing.T) {
	infra := infrastructure("name-x7k2p", "status", "infrastructureName")
	must.Do(t, unstructured.SetNestedField(infra.Object, "cn-north-1", "status", "platformStatus", "aws", "region"))
	seen := must.Get(observed(t, []runtime.Object{infra, authentication("http://x")}))(t)
	if seen.InfrastructureName() != "name-x7k2p" || seen.Partition() != "aws-cn" || seen.Issuer() != "http://x" {
		t.Errorf("%q %q %q", seen.InfrastructureName(), seen.Partition(), seen.Issuer())
	}
	seen = must.Get(observed(t, nil))(t)
	if seen.InfrastructureName()+seen.Partition()+seen.Issuer() != "" {
		t.Errorf("of nothing: %q %q %q", seen.InfrastructureName(), seen.Partition(), seen.Issuer())
	}
}

// TestTheRoleIsEnough: it has the right to get each object that is read, and no other verb.
func TestTheRoleIsEnough(t *testing.T) {
	var role rbacv1.ClusterRole
	must.Do(t, yaml.UnmarshalStrict([]byte(strings.ReplaceAll(strings.TrimPrefix(Rights, "  "), "\n  ", "\n")), &role))
	for _, object := range []tokenmode.Object{tokenmode.Infrastructure, tokenmode.Authentication, tokenmode.CloudCredential, tokenmode.Legacy} {
		resource := object.Resource
		if !slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.APIGroups, resource.Group) && slices.Contains(r.Resources, resource.Resource) && slices.Equal(r.Verbs, []string{"get"})
		}) {
			t.Errorf("no rule is for %s", resource)
		}
	}
}
