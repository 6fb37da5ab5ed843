package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
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

// Shell runs a script at the repository's root, as a user does who has kubectl
// for a cluster, and returns what it prints.
func Shell(t testing.TB, config *rest.Config, script string) string {
	t.Helper()
	localkube, err := filepath.Abs(os.Getenv("TABARD_LOCALKUBE"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(localkube, filepath.Join(dir, "kubectl")); err != nil {
		t.Fatal(err)
	}
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
	if err := clientcmd.WriteToFile(*written, path); err != nil {
		t.Fatal(err)
	}
}
