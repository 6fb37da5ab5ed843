package capacity_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestViolationsAreNoticed(t *testing.T) {
	tests := map[string]struct {
		plant func(*model)
		want  string
	}{
		"nothing is wrong":                  {func(*model) {}, ""},
		"a malformed value of ours":         {func(m *model) { m.apply("capa-annotator", map[string]string{vcpu: "2.5"}, true) }, "malformed and ours"},
		"an annotation of somebody is gone": {func(m *model) { m.update("capa-annotator", "example.com/own", "") }, "touched what is not ours: example.com/own"},
		"an applied value is overruled": {func(m *model) {
			m.apply("capa-annotator", map[string]string{gpuType: "amd.com/gpu"}, true)
		}, "touched what is not ours: " + gpuType},
		"a label of somebody is gone": {func(m *model) { m.update("capa-annotator", labels, "kubernetes.io/arch=amd64,bare") }, "touched what is not ours: the label a=1"},
		"a bare label is gone":        {func(m *model) { m.update("capa-annotator", labels, "a=1,kubernetes.io/arch=amd64") }, "touched what is not ours: labels without a value"},
		"a choice is changed": {func(m *model) {
			_ = m.Perform(capacity.Apply{Annotations: map[string]string{gpu: "0"}, Force: true}, false)
		}, "somebody chose"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(0)
			m.update("kubectl-edit", labels, "a=1,bare")
			m.update("kubectl-edit", gpu, "7")
			m.apply("argocd", map[string]string{gpuType: "nvidia.com/gpu"}, false)
			must.Do(t, crash.Settle(m))
			planted := &crash.Planted[capacity.World, capacity.Step]{Model: m, Plant: func() { test.plant(m) }}
			_, err := crash.Pass(planted, crash.None)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the driver found %v, want %q", err, test.want)
			}
		})
	}
}
