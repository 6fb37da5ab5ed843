package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Blocks are the fenced blocks of a page that are marked so.
func Blocks(page, mark string) []string {
	var found []string
	for _, block := range strings.Split(page, "\n```"+mark+"\n")[1:] {
		inside, _, _ := strings.Cut(block, "\n```")
		found = append(found, inside)
	}
	return found
}

// Examples are the commands among the examples of a help text, without comments; one
// whose lines end with a backslash has several lines.
func Examples(help string) (commands []string) {
	_, examples, _ := strings.Cut(help, "\nExamples:\n")
	for line := range strings.SplitSeq(examples, "\n") {
		if line != "" && !strings.HasPrefix(line, " ") {
			break
		}
		commands = AddCommand(commands, line)
	}
	return commands
}

// AddCommand adds a line of a shell's script to the command that it goes on, or begins one
// with it. Comments and empty lines are none.
func AddCommand(commands []string, line string) []string {
	line = strings.TrimSpace(line)
	switch last := len(commands) - 1; {
	case last >= 0 && strings.HasSuffix(commands[last], `\`):
		commands[last] += "\n" + line
	case line != "" && !strings.HasPrefix(line, "#"):
		commands = append(commands, line)
	}
	return commands
}

// Objects are those of a file of manifests, whose path begins at the repository's root.
func Objects(t testing.TB, file string) (objects []client.Object) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(Root(), file)))(t)
	for document := range strings.SplitSeq("\n"+string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(object.Object) > 0 { // not before the first, nor for a comment alone
			objects = append(objects, object)
		}
	}
	return objects
}

// Shell runs a script at the repository's root, as a user does who has kubectl
// for a cluster, and returns what it prints.
func Shell(t testing.TB, config *rest.Config, script string) string {
	t.Helper()
	localkube := must.Get(filepath.Abs(os.Getenv("TABARD_LOCALKUBE")))(t)
	dir := t.TempDir()
	must.Do(t, os.Symlink(localkube, filepath.Join(dir, "kubectl")))
	kubeconfig := filepath.Join(dir, "kubeconfig")
	WriteKubeconfig(t, kubeconfig, config)
	shell := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	shell.Dir = Root()
	shell.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "KUBECONFIG="+kubeconfig)
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("the commands failed: %v\n%s\n%s", err, script, out)
	}
	return string(out)
}

// WriteKubeconfig writes a file by which a process reaches an API server.
func WriteKubeconfig(t testing.TB, path string, config *rest.Config) {
	t.Helper()
	written := clientcmdapi.NewConfig()
	written.Clusters["it"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthority: config.CAFile}
	written.AuthInfos["it"] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	written.Contexts["it"] = &clientcmdapi.Context{Cluster: "it", AuthInfo: "it"}
	written.CurrentContext = "it"
	must.Do(t, clientcmd.WriteToFile(*written, path))
}
