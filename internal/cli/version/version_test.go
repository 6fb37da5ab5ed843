package version

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

var program = Program{Version: "v0.2.0", Commit: "abc", CommitDate: "2026-01-02T03:04:05Z", Go: "go1.26.8", Platform: "linux/amd64"}

// run runs the command on a cluster.
func run(t *testing.T, cluster *Cluster, err error, args ...string) (code int, out, said string) {
	t.Helper()
	var stdout, stderr strings.Builder
	c := New(command.Streams{Out: &stdout, Err: &stderr}, program, func(context.Context, *command.Kubeconfig) (*Cluster, error) { return cluster, err })
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	if exit, ok := errors.AsType[*command.Exit](c.Execute()); ok {
		code = exit.Code
	}
	return code, stdout.String(), stderr.String()
}

func TestWhatFits(t *testing.T) {
	operator := func(version string) *Cluster {
		return &Cluster{Workloads: []Workload{{"tabard-system", "tabard-operator", version}}}
	}
	kind := func(served ...string) *Cluster {
		return &Cluster{Kinds: []Kind{{Name: "oidcissuers.identity.tabard.dev", Version: "v1alpha1", Served: served}}}
	}
	for name, c := range map[string]struct {
		cluster *Cluster
		says    string
	}{
		"the same":               {cluster: operator("v0.2.7")},
		"one minor older":        {cluster: operator("v0.1.0")},
		"one minor newer":        {cluster: operator("v0.3.0")},
		"two minors newer":       {operator("v0.4.0"), "v0.4.0 and this program v0.2.0"},
		"another major":          {operator("v1.2.0"), "differ by one at most"},
		"without a release":      {cluster: operator("devel")},
		"a digest":               {cluster: operator("sha256:0123")},
		"nothing installed":      {cluster: &Cluster{}},
		"the kind is served":     {cluster: kind("v1beta1", "v1alpha1")},
		"the kind is not there":  {cluster: kind()},
		"served as another only": {kind("v1"), "served as v1 and this program speaks v1alpha1"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, _ := run(t, c.cluster, nil)
			if (code == 1) != (c.says != "") || !strings.Contains(out, c.says) {
				t.Errorf("exit code %d and\n%swant one that says %q", code, out, c.says)
			}
		})
	}
}

func TestTheAnswerIsForPeopleAndPrograms(t *testing.T) {
	cluster := &Cluster{
		Kubernetes: "v1.35.4", Workloads: []Workload{{"tabard-system", "tabard-issuer", "v0.2.0"}},
		Kinds: []Kind{{Name: "oidcissuers.identity.tabard.dev", Version: "v1alpha1", Served: []string{"v1alpha1"}}, {Name: "iamrolechoices.identity.tabard.dev", Version: "v1alpha1"}},
	}
	for args, want := range map[string]string{
		"": `tabard                              v0.2.0
commit                              abc 2026-01-02T03:04:05Z
built with                          go1.26.8 for linux/amd64
Kubernetes                          v1.35.4
tabard-system/tabard-issuer         v0.2.0
oidcissuers.identity.tabard.dev     v1alpha1
iamrolechoices.identity.tabard.dev  not installed
`,
		"--client": "tabard      v0.2.0\ncommit      abc 2026-01-02T03:04:05Z\nbuilt with  go1.26.8 for linux/amd64\n",
		"--client -o yaml": `apiVersion: tabard.dev/v1alpha1
client:
  commit: abc
  commitDate: "2026-01-02T03:04:05Z"
  go: go1.26.8
  platform: linux/amd64
  version: v0.2.0
kind: Versions
`,
	} {
		if code, out, said := run(t, cluster, nil, strings.Fields(args)...); code != 0 || said != "" || out != want {
			t.Errorf("%q: exit code %d, %q (-want +got):\n%s", args, code, said, cmp.Diff(want, out))
		}
	}
}

func TestAClusterThatCannotBeAskedIsSaid(t *testing.T) {
	code, out, said := run(t, nil, errors.New("no route to host"))
	if code != 1 || !strings.Contains(out, "v0.2.0") || !strings.Contains(said, "no route to host") {
		t.Errorf("exit code %d, %q, %q", code, out, said)
	}
	if code, _, said := run(t, nil, nil, "-o", "xml"); code != 2 || !strings.Contains(said, "table, json, yaml") {
		t.Errorf("exit code %d, %q for a format that there is not", code, said)
	}
}
