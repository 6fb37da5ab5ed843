package inject_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestPatchIsSmall bounds the patch of the pod that is measured: with 200 bytes
// of other members of the answer it stays under 2,600, half of what EKS's webhook
// answers.
func TestPatchIsSmall(t *testing.T) {
	t.Parallel()
	injector, pod, subject := reference(t)
	result := must.Get(decide(injector, subject, pod))(t)
	if got := base64.StdEncoding.EncodedLen(len(result.Patch)); got > 2400 {
		t.Errorf("the patch of the pod takes %d bytes: %s", got, result.Patch)
	}
}

// crowd is a pod with so many containers, each with these members.
func crowd(count int, members string) []byte {
	containers := strings.TrimSuffix(strings.Repeat("{"+members+"},", count), ",")
	return []byte(`{"spec":{"serviceAccountName":"app","containers":[` + containers + `]}}`)
}

// TestPatchOfManyContainersIsBounded has as many containers as a pod may have, and the
// longest path that a role may have.
func TestPatchOfManyContainersIsBounded(t *testing.T) {
	t.Parallel()
	given := optedIn()
	given.Settings.Region, given.Settings.RegionalSTS, given.Settings.SessionName = "us-west-2", true, true
	role := "arn:aws:iam::111122223333:role/" + strings.Repeat("p", 509) + "/app"
	given.Annotations["eks.amazonaws.com/role-arn"] = role
	for name, members := range map[string]string{"without lists": ``, "with lists": `"env":[{"name":"OWN"}],"volumeMounts":[{"name":"x","mountPath":"/x"}]`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := crowd(podpatch.MaxContainers, members)
			result := injected(t, given, pod)
			if len(result.Patch) > 3<<20 {
				t.Errorf("the patch has %d bytes, want at most 3 MiB", len(result.Patch))
			}
			patch := must.Get(jsonpatch.DecodePatch(result.Patch))(t)
			after, err := patch.Apply(pod)
			if err != nil {
				t.Fatalf("the patch does not apply: %v", err)
			}
			if got := strings.Count(string(after), role); got != podpatch.MaxContainers {
				t.Errorf("%d containers have the role, want %d", got, podpatch.MaxContainers)
			}
		})
	}
}

// TestPodWithTooManyContainersIsRefused spreads them over both lists. Where nothing is
// given, their number does not matter.
func TestPodWithTooManyContainersIsRefused(t *testing.T) {
	t.Parallel()
	given := optedIn()
	half := strings.TrimSuffix(strings.Repeat("{},", podpatch.MaxContainers/2+1), ",")
	pod := fmt.Appendf(nil, `{"spec":{"serviceAccountName":"app","containers":[%s],"initContainers":[%s]}}`, half, half)
	result, err := decide(given.aws(t), given.subject(t), pod)
	if want := "the pod has 1002 containers, expected at most 1000"; err == nil || !strings.Contains(err.Error(), want) || result.Patch != nil {
		t.Errorf("error %v and a patch of %d bytes, want an error with %q", err, len(result.Patch), want)
	}
	given.Annotations = nil
	if result, err := decide(given.aws(t), given.subject(t), pod); err != nil || result.Patch != nil {
		t.Errorf("without a role: error %v and a patch of %d bytes, want neither", err, len(result.Patch))
	}
}

// BenchmarkInjectMany has as many containers as a pod may have: the time for one must
// not grow with their number.
func BenchmarkInjectMany(b *testing.B) {
	injector, _, subject := reference(b)
	for _, count := range []int{10, podpatch.MaxContainers} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			pod := crowd(count, `"env":[{"name":"OWN"}]`)
			b.ReportAllocs()
			for b.Loop() {
				if result, err := decide(injector, subject, pod); err != nil || result.Patch == nil {
					b.Fatalf("error %v, reason %s", err, result.Reason)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/container")
		})
	}
}
