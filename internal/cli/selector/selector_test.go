package selector

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/manifest"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
)

var update = flag.Bool("update", false, "rewrite what is expected in testdata")

func TestMain(m *testing.M) {
	os.Exit(testkit.RunAsProgram(m, func([]string) error {
		return newRoot(command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}).Execute()
	}))
}

// newRoot is a program with the commands.
func newRoot(streams command.Streams) *cobra.Command {
	root := &cobra.Command{Use: "tabard", SilenceUsage: true, SilenceErrors: true}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return streams.Unusable(err) })
	root.AddCommand(New(streams, connect), NewExplain(streams, connect))
	return root
}

func connect(kubeconfig *command.Kubeconfig) (Cluster, error) {
	config, err := kubeconfig.Config()
	if err != nil {
		return Cluster{}, err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return Cluster{}, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	return Cluster{Objects: objects, Kinds: kinds, Namespace: "default"}, err
}

// outcome is what a command did.
type outcome struct {
	code        int
	out, errOut string
}

// run runs "tabard" with arguments.
func run(t *testing.T, in string, args ...string) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	root := newRoot(command.Streams{In: strings.NewReader(in), Out: &out, Err: &errOut})
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&errOut)
	err := root.ExecuteContext(t.Context())
	got := outcome{out: out.String(), errOut: errOut.String()}
	if said, ok := errors.AsType[*command.Exit](err); ok {
		got.code = said.ExitCode()
	} else if err != nil {
		t.Fatalf("tabard %v: %v, which has no exit code of its own", args, err)
	}
	return got
}

// golden compares a text with a file; -update rewrites the file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		must.Do(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want := must.Get(os.ReadFile(path))(t)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); -update rewrites:\n%s", path, diff)
	}
}

// read is what a file holds.
func read(t *testing.T, path string, policy roleselector.NoSelectorPolicy) *bundle {
	t.Helper()
	objects := must.Get(manifest.Read([]string{path}, nil))(t)
	b := &bundle{world: newWorld(administrator{options: roleselector.Options{NoSelector: policy}}), seen: map[string]bool{}, ignored: map[string]int{}}
	must.Do(t, b.add(objects))
	return b
}

// TestExplanationsAreAsWritten explains the resource of each file in
// testdata/explain, and compares with the text beside it.
func TestExplanationsAreAsWritten(t *testing.T) {
	files, err := filepath.Glob("testdata/explain/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatalf("%v: %d files", err, len(files))
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			policy := roleselector.PolicyDefaultRole
			if name == "no-selector-policy" {
				policy = roleselector.PolicyDeny
			}
			b := read(t, path, policy)
			if len(b.resources) != 1 {
				t.Fatalf("%d resources", len(b.resources))
			}
			r := b.resources[0]
			e := must.Get(b.world.explain(r, kind{GroupVersionKind: r.gvk, plural: strings.ToLower(r.gvk.Kind) + "s", namespaced: true}, ""))(t)
			golden(t, strings.TrimSuffix(path, ".yaml")+".txt", e.text())
		})
	}
}
