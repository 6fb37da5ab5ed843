package selector

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestArgumentsNameAResource(t *testing.T) {
	for argument, test := range map[string]struct {
		short            bool
		kind, name, want string
	}{
		"resource/bucket/logs":                      {false, "bucket", "logs", ""},
		"resource/buckets.s3.services.k8s.aws/logs": {false, "buckets.s3.services.k8s.aws", "logs", ""},
		"bucket/logs":                               {true, "bucket", "logs", ""},
		"pod/web":                                   {false, "", "", `"pod/web" is not yet known: use resource/KIND/NAME`},
		"bucket":                                    {true, "", "", "expected KIND/NAME"},
		"resource/bucket":                           {false, "", "", "use resource/KIND/NAME"},
		"resource/bucket/":                          {false, "", "", "expected KIND/NAME"},
		"resource//logs":                            {false, "", "", "expected KIND/NAME"},
		"resource/a/b/c":                            {true, "", "", "expected KIND/NAME"},
		"serviceaccount/a/b":                        {false, "", "", "use resource/KIND/NAME"},
		"resource/bucket/l/x":                       {false, "", "", "use resource/KIND/NAME"},
	} {
		t.Run(argument, func(t *testing.T) {
			kind, name, err := parseArgument(argument, test.short)
			if kind != test.kind || name != test.name || (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q, %q, %v; want %+v", kind, name, err, test)
			}
		})
	}
	kind, name, err := parseArgument("resource/bucket/logs", true)
	if kind != "bucket" || name != "logs" || err != nil {
		t.Errorf("the long form of the alias: %q, %q, %v", kind, name, err)
	}
}

// served is an API server's answer.
type served struct {
	lists []*metav1.APIResourceList
	err   error
}

func (s served) ServerGroupsAndResourcesWithContext(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return []*metav1.APIGroup{{Name: "s3.services.k8s.aws", PreferredVersion: metav1.GroupVersionForDiscovery{GroupVersion: "s3.services.k8s.aws/v1"}}}, s.lists, s.err
}

func TestKindsAreFoundByEveryName(t *testing.T) {
	bucket := []metav1.APIResource{
		{Name: "buckets", SingularName: "bucket", Kind: "Bucket", ShortNames: []string{"bk"}, Namespaced: true},
		{Name: "buckets/status", Kind: "Bucket", Namespaced: true},
	}
	lists := []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods", SingularName: "pod", Kind: "Pod", Namespaced: true}}},
		{GroupVersion: "s3.services.k8s.aws/v1alpha1", APIResources: bucket},
		{GroupVersion: "s3.services.k8s.aws/v1", APIResources: bucket},
		{GroupVersion: "storage.example.com/v1", APIResources: []metav1.APIResource{{Name: "buckets", Kind: "Bucket"}, {Name: "discs", Kind: "Disc"}}},
	}
	s3 := kind{
		GroupVersionKind: schema.GroupVersionKind{Group: "s3.services.k8s.aws", Version: "v1", Kind: "Bucket"},
		plural:           "buckets", namespaced: true, versions: []string{"v1", "v1alpha1"},
	}
	older := s3
	older.Version, older.versions = "v1alpha1", []string{"v1alpha1"}
	disc := kind{GroupVersionKind: schema.GroupVersionKind{Group: "storage.example.com", Version: "v1", Kind: "Disc"}, plural: "discs", versions: []string{"v1"}}
	failed := errors.New("metrics.k8s.io/v1beta1: the server is unavailable")
	for written, test := range map[string]struct {
		failed  error
		want    kind
		refused string
	}{
		"bk":                                   {nil, s3, ""},
		"bucket.s3.services.k8s.aws":           {nil, s3, ""},
		"Bucket.s3.services.k8s.aws":           {failed, s3, ""},
		"buckets.v1alpha1.s3.services.k8s.aws": {nil, older, ""},
		"DISCS":                                {nil, disc, ""},
		"bucket":                               {nil, kind{}, `"bucket" may be each of Bucket.s3.services.k8s.aws, Bucket.storage.example.com: write which`},
		"disc":                                 {failed, kind{}, "the server is unavailable; KIND.GROUP/NAME needs only the group that it names"},
		"node.metrics.k8s.io":                  {failed, kind{}, "find out what the API server serves: metrics.k8s.io/v1beta1"},
		"queue":                                {nil, kind{}, `serves no kind "queue"`},
		"bucket.other.example.com":             {nil, kind{}, `serves no kind "bucket.other.example.com"`},
		"pod":                                  {nil, kind{}, "Pod has no API group, so that no IAMRoleSelector is for it"},
	} {
		t.Run(written, func(t *testing.T) {
			got, err := (Cluster{Kinds: served{lists, test.failed}}).findKind(t.Context(), written)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(kind{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (err == nil) != (test.refused == "") || err != nil && !strings.Contains(err.Error(), test.refused) {
				t.Errorf("%v, want %q", err, test.refused)
			}
		})
	}
}
