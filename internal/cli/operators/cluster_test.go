package operators

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tabard-dev/tabard/awsauth/kube/tokenmode"
	"github.com/tabard-dev/tabard/internal/core/listing"
)

func TestScenario1TokenModeAWSWithEachFact(t *testing.T) {
	got := onAWS().run(t, "", "cluster").exits(t, 0)
	says(t, got.out, "token mode on AWS", `status.platformStatus.type is "AWS"`, `spec.credentialsMode is "Manual"`, `spec.serviceAccountIssuer is "`+issuerURL+`"`)
	m := decoded[clusterDocument](t, onAWS().run(t, "", "cluster", "-o", "json").exits(t, 0))
	if m.TokenMode != listing.Yes || m.Cloud != "AWS" || m.Issuer != issuerURL || len(m.Facts) != 3 || m.Kind != "OperatorsCluster" {
		t.Errorf("%+v", m)
	}
	for _, f := range m.Facts {
		if f.Holds != listing.Yes || f.Value == "" {
			t.Errorf("%+v", f)
		}
	}
}

func TestScenario2WithoutIssuerNoTokenMode(t *testing.T) {
	absent := object("config.openshift.io", "Authentication", "", "cluster", "x", "spec", "type")
	for name, object := range map[string]runtime.Object{"absent": absent, "empty": authentication("")} {
		t.Run(name, func(t *testing.T) {
			cluster := onAWS()
			cluster.objects[2] = object
			got := cluster.run(t, "", "cluster").exits(t, 0)
			says(t, got.out, "The cluster is not in token mode: the issuer in Authentication", "spec.serviceAccountIssuer is not set")
			got = cluster.run(t, "", "list", "--catalogue", "testdata/all.json", "--cloud", "this").exits(t, 0)
			says(t, got.errOut, "--cloud this highlights nothing: the cluster is not in token mode: the issuer in")
			says(t, got.out, "gcp-only", "asks-nothing")
			got = cluster.run(t, "", "list", "--catalogue", "testdata/all.json", "--cloud", "this", "--token-auth", "yes").exits(t, 1)
			says(t, got.errOut, "the issuer in")
			if got.out != "" {
				t.Errorf("it lists\n%s", got.out)
			}
		})
	}
}

func TestClusters(t *testing.T) {
	infra := infrastructure("AWS", "status", "platformStatus", "type")
	legacy := object("", "ConfigMap", tokenmode.Legacy.Namespace, tokenmode.Legacy.Name, "true", "data", "disabled")
	for name, c := range map[string]struct {
		cluster openshift4
		mode    listing.Answer
		code    int
		rights  int
		says    []string
	}{
		"plain Kubernetes":       {openshift4{}, listing.No, 0, 0, []string{`no Infrastructure "cluster" names a platform`}},
		"the old field":          {openshift4{objects: []runtime.Object{infrastructure("GCP", "status", "platform"), cloudCredential("Manual"), authentication(issuerURL)}}, listing.Yes, 0, 0, []string{`status.platform is "GCP"`, "tokens of GCP"}},
		"another platform":       {openshift4{objects: []runtime.Object{infrastructure("VSphere", "status", "platform"), cloudCredential("Manual"), authentication(issuerURL)}}, listing.No, 0, 0, []string{"the platform is VSphere"}},
		"the legacy ConfigMap":   {openshift4{objects: []runtime.Object{infra, cloudCredential(""), authentication(issuerURL), legacy}}, listing.Yes, 0, 0, []string{`data.disabled is "true"`}},
		"a conflict":             {openshift4{objects: []runtime.Object{infra, cloudCredential("Mint"), authentication(issuerURL), legacy}}, listing.Unknown, 1, 0, []string{"remove the ConfigMap"}},
		"Mint":                   {openshift4{objects: []runtime.Object{infra, cloudCredential("Mint"), authentication(issuerURL)}}, listing.No, 0, 0, []string{"the credentials mode is Mint"}},
		"an issuer without TLS":  {openshift4{objects: []runtime.Object{infra, cloudCredential("Manual"), authentication("http://x")}}, listing.No, 0, 0, []string{`spec.serviceAccountIssuer is "http://x"`}},
		"no Authentication":      {openshift4{objects: []runtime.Object{infra, cloudCredential("Manual")}}, listing.Unknown, 1, 0, []string{"does not exist"}},
		"may not read the mode":  {openshift4{objects: onAWS().objects, forbidden: []string{"cloudcredentials"}}, listing.Unknown, 1, 1, []string{`get cloudcredentials.operator.openshift.io "cluster"`, `"` + issuerURL + `"`}},
		"may read nothing":       {openshift4{forbidden: []string{"infrastructures", "cloudcredentials", "authentications", "configmaps"}}, listing.Unknown, 1, 3, []string{`get infrastructures.config.openshift.io "cluster"`, `get authentications.config.openshift.io "cluster"`}},
		"no decides":             {openshift4{objects: []runtime.Object{infra, cloudCredential("Mint")}, forbidden: []string{"authentications", "configmaps"}}, listing.No, 0, 1, []string{"the credentials mode is Mint"}},
		"the ConfigMap decides":  {openshift4{objects: []runtime.Object{infra, cloudCredential(""), authentication(issuerURL)}, forbidden: []string{"configmaps"}}, listing.Unknown, 1, 1, []string{"get configmaps", tokenmode.Legacy.Namespace}},
		"the ConfigMap does not": {openshift4{objects: onAWS().objects, forbidden: []string{"configmaps"}}, listing.Yes, 0, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			says(t, c.cluster.run(t, "", "cluster").exits(t, c.code).out, c.says...)
			m := decoded[clusterDocument](t, c.cluster.run(t, "", "cluster", "-o", "json").exits(t, c.code))
			if m.TokenMode != c.mode || len(m.MissingRights) != c.rights || (m.Reason == "") != (c.mode == listing.Yes) || (m.Issuer != "") != (c.mode == listing.Yes) {
				t.Errorf("%+v", m)
			}
		})
	}
}

func TestAClusterThatFailsIsNoAnswer(t *testing.T) {
	for _, err := range []error{apierrors.NewInternalError(errors.New("down")), apierrors.NewUnauthorized("who are you")} {
		got := openshift4{broken: err}.run(t, "", "cluster").exits(t, 1)
		says(t, got.errOut, `the Infrastructure "cluster" cannot be read: `)
		if got.out != "" {
			t.Errorf("it prints\n%s", got.out)
		}
	}
}
