package inject_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// reference is a pod of two containers as an API server sends it, within a review
// of about 4.5 kB, and the setup that injects all that web identity has.
func reference(tb testing.TB) (*inject.Injector, []byte, inject.Subject) {
	tb.Helper()
	review := must.Get(raw.Parse(readFile(tb, "../../webhook/testdata/review.json")))(tb)
	given := optedIn()
	given.Settings.Region, given.Settings.RegionalSTS = "us-west-2", true
	injector := must.Get(inject.New(given.Settings))(tb)
	subject, _ := given.parse()
	return injector, review.Get("request").Get("object").Bytes(), subject
}

func BenchmarkInject(b *testing.B) {
	injector, pod, subject := reference(b)
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		result, err := decide(injector, subject, pod)
		if err != nil || result.Patch == nil {
			b.Fatalf("error %v, reason %s", err, result.Reason)
		}
		size = len(result.Patch)
	}
	b.ReportMetric(float64(size), "patch-bytes")
}

// BenchmarkMapping finds one of many entries, and one of many bindings: the time
// must not grow with their number.
func BenchmarkMapping(b *testing.B) {
	for _, count := range []int{10, 1000, 8000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			var text strings.Builder
			text.WriteString(`{"tabard.dev/bindings":{"items":[`)
			for i := range count {
				fmt.Fprintf(&text, `{"namespaceSelector":{"matchLabels":{"team":"t%d"}},"serviceAccountSelector":{"matchLabels":{"tier":"web"}},"RoleARN":%q},`, i, roleARN)
			}
			fmt.Fprintf(&text, `{"namespaceSelector":{"matchLabels":{"x":"y"}},"RoleARN":%q}]}`, roleARN)
			for i := range count {
				fmt.Fprintf(&text, `,"shop/app-%d":{"RoleARN":%q}`, i, roleARN)
			}
			text.WriteString(`}`)
			injector, _, subject := reference(b)
			var problems []string
			if subject.Mapping, problems = inject.ParseMapping([]byte(text.String())); problems != nil {
				b.Fatal(problems)
			}
			subject.Account = &inject.ServiceAccount{Labels: map[string]string{"tier": "web"}}
			subject.NamespaceLabels = map[string]string{"team": "t5"}
			pod := []byte(`{"spec":{"serviceAccountName":"app","containers":[]}}`)
			b.ReportAllocs()
			for b.Loop() {
				if result, err := decide(injector, subject, pod); err != nil || result.Patch == nil {
					b.Fatalf("error %v, reason %s", err, result.Reason)
				}
			}
		})
	}
}

// BenchmarkInjectClouds takes one pod through the injector of each cloud.
func BenchmarkInjectClouds(b *testing.B) {
	given := newSetup()
	must.Do(b, yaml.UnmarshalStrict(readFile(b, "testdata/clouds/01-all-three.binding.yaml"), &given))
	pod := must.Get(yaml.YAMLToJSON(readFile(b, "testdata/clouds/01-all-three.pod.yaml")))(b)
	subject, _ := given.parse()
	for _, each := range given.clouds(b) {
		b.Run(each.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if result, err := decide(each, subject, pod); err != nil || result.Patch == nil {
					b.Fatalf("error %v, reason %s", err, result.Reason)
				}
			}
		})
	}
}
