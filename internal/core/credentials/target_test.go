package credentials_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
)

// TestTargets is the table of targets of docs/credentials.md.
func TestTargets(t *testing.T) {
	ref := func(namespace, name string) *cloudv1.StorageRef {
		return &cloudv1.StorageRef{Namespace: namespace, Name: name}
	}
	secretRef := func(namespace, name string) *cloudv1.ObjectReference {
		return &cloudv1.ObjectReference{Namespace: namespace, Name: name}
	}
	storage := func(kind cloudv1.StorageType, secret, account *cloudv1.StorageRef) *cloudv1.Storage {
		return &cloudv1.Storage{Type: kind, Secret: secret, ServiceAccount: account}
	}
	type spec = cloudv1.CredentialsRequestSpec
	tests := map[string]struct {
		spec       spec
		annotation string
		want, not  string
	}{
		"1: secretRef alone":                                {spec{SecretRef: secretRef("a", "b")}, "", "Secret a/b", ""},
		"1: secretRef with an empty storage":                {spec{SecretRef: secretRef("a", "b"), Storage: storage("", nil, nil)}, "", "Secret a/b", ""},
		"2: type Secret with its member wins":               {spec{SecretRef: secretRef("a", "b"), Storage: storage("Secret", ref("c", "d"), nil)}, "", "Secret c/d", ""},
		"2: the member secret without type":                 {spec{SecretRef: secretRef("a", "b"), Storage: storage("", ref("c", "d"), nil)}, "", "Secret c/d", ""},
		"2: type Secret with both members":                  {spec{Storage: storage("Secret", ref("c", "d"), ref("e", "f"))}, "", "Secret c/d", ""},
		"3: type Secret without member":                     {spec{SecretRef: secretRef("a", "b"), Storage: storage("Secret", nil, nil)}, "", "Secret a/b", ""},
		"4: serviceAccount alone":                           {spec{Storage: storage("", nil, ref("e", "f"))}, "", "ServiceAccount e/f", ""},
		"5: type ServiceAccount":                            {spec{SecretRef: secretRef("a", "b"), Storage: storage("ServiceAccount", nil, ref("e", "f"))}, "", "ServiceAccount e/f", ""},
		"5: serviceAccount without type, with secretRef":    {spec{SecretRef: secretRef("a", "b"), Storage: storage("", nil, ref("e", "f"))}, "", "ServiceAccount e/f", ""},
		"6: type ServiceAccount without member":             {spec{SecretRef: secretRef("a", "b"), Storage: storage("ServiceAccount", nil, nil)}, "", "", "spec.storage.serviceAccount is missing"},
		"6: both members without type":                      {spec{Storage: storage("", ref("c", "d"), ref("e", "f"))}, "", "", "expected one of them, or a type"},
		"6: a member without namespace":                     {spec{Storage: storage("", nil, ref("", "f"))}, "", "", "spec.storage.serviceAccount.namespace is empty"},
		"6: a member without name":                          {spec{Storage: storage("", ref("c", ""), nil)}, "", "", "spec.storage.secret.name is empty"},
		"6: a type that there is not":                       {spec{Storage: storage("ConfigMap", ref("c", "d"), nil)}, "", "", `"ConfigMap"`},
		"6: secretRef without name":                         {spec{SecretRef: secretRef("a", "")}, "", "", "spec.secretRef.name is empty"},
		"6: secretRef of nothing":                           {spec{SecretRef: secretRef("", "")}, "", "", "spec.secretRef.namespace is empty"},
		"7: nothing":                                        {spec{}, "", "", "expected one of them"},
		"the annotation with a Secret of its own namespace": {spec{SecretRef: secretRef("team", "b")}, "e/f", "ServiceAccount e/f, Secret team/b", ""},
		"the annotation with a Secret of another namespace": {spec{SecretRef: secretRef("a", "b")}, "e/f", "", "expected the request's own, team"},
		"the annotation without a Secret":                   {spec{}, "e/f", "", "spec.secretRef.name is empty"},
		"the annotation without a namespace":                {spec{SecretRef: secretRef("team", "b")}, "f", "", "expected NAMESPACE/NAME"},
		"the annotation with too much":                      {spec{SecretRef: secretRef("team", "b")}, "e/f/g", "", "expected NAMESPACE/NAME"},
		"the annotation with nothing":                       {spec{SecretRef: secretRef("team", "b")}, "/", "", "expected NAMESPACE/NAME"},
		"annotation and field are the same":                 {spec{Storage: storage("", nil, ref("e", "f"))}, "e/f", "ServiceAccount e/f", ""},
		"annotation and field differ":                       {spec{Storage: storage("", nil, ref("e", "f"))}, "e/g", "", "expected one of the two"},
		"annotation, and a Secret by the field":             {spec{Storage: storage("", ref("c", "d"), nil)}, "e/f", "", "expected one of the two"},
		"annotation, and an invalid field":                  {spec{Storage: storage("", nil, ref("", "f"))}, "e/f", "", "namespace is empty"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := &cloudv1.CredentialsRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "app"}, Spec: test.spec}
			if test.annotation != "" {
				request.Annotations = map[string]string{credentials.ServiceAccountAnnotation: test.annotation}
			}
			targets, invalid := credentials.Targets(request)
			var got []string
			for _, target := range targets {
				got = append(got, target.String())
			}
			if diff := cmp.Diff(test.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
			if (invalid == "") != (test.not == "") || !strings.Contains(invalid, test.not) {
				t.Errorf("it says %q, want %q", invalid, test.not)
			}
		})
	}
}
