package app

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/internal/app/local"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestOnlyProcessesHaveALog asks of each command of the program, and with flags among its words.
func TestOnlyProcessesHaveALog(t *testing.T) {
	root := rootCommand("tabard", local.Commands())
	processes := map[string]bool{}
	var ask func(command *cobra.Command, words []string)
	ask = func(command *cobra.Command, words []string) {
		want := len(words) > 0 && processes[words[0]]
		for _, args := range [][]string{words, append(words, "--kubeconfig=x"), append(words, "-n", "x")} {
			if got := isProcess(root, args); got != want {
				t.Errorf("tabard %s is a process: %t, want %t", strings.Join(args, " "), got, want)
			}
		}
		for _, below := range command.Commands() {
			ask(below, append(words[:len(words):len(words)], below.Name()))
		}
	}
	for _, name := range []string{"operator", "webhook", "ocm-webhook", "capacity", "awslocal"} {
		processes[name] = true
	}
	ask(root, nil)
	if isProcess(root, []string{"no-such-command"}) {
		t.Error("what is no command is a process")
	}
}

// inSilence says that the test's program is to run the command tabard with this kubeconfig.
const inSilence = "TABARD_TEST_SILENCE"

// TestNoLineOfALibraryReachesWhoTypesACommand runs a command in a program of its own: of
// controller-runtime, who is first to say where to log stays so.
func TestNoLineOfALibraryReachesWhoTypesACommand(t *testing.T) {
	if kubeconfig := os.Getenv(inSilence); kubeconfig != "" {
		fmt.Fprintln(os.Stderr, "exit code", Main([]string{"ready", "--kubeconfig", kubeconfig, "--timeout=0s"}, local.Commands()))
		ctrl.SetLogger(funcr.New(func(_, args string) { fmt.Fprintln(os.Stderr, "controller-runtime:", args) }, funcr.Options{}))
		ctrl.Log.Info("a line")
		klog.Info("a line")
		klog.Flush()
		objects := must.Get(objectsOf(&command.Kubeconfig{Path: kubeconfig}))(t)
		must.Get(objects.Resource(corev1.SchemeGroupVersion.WithResource("pods")).List(t.Context(), metav1.ListOptions{}))(t)
		return
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/pods" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Warning", `299 - "pods are old"`)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"PodList","metadata":{},"items":[]}`))
	}))
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "config")
	must.Do(t, os.WriteFile(kubeconfig, fmt.Appendf(nil, `{"current-context":"a","contexts":[{"name":"a","context":{"cluster":"a"}}],"clusters":[{"name":"a","cluster":{"server":%q}}]}`, server.URL), 0o600))
	again := exec.CommandContext(t.Context(), must.Get(os.Executable())(t), "-test.run=^"+t.Name()+"$")
	again.Env = append(os.Environ(), inSilence+"="+kubeconfig)
	var said bytes.Buffer
	again.Stderr = &said
	must.Do(t, again.Run())
	if text := said.String(); !strings.HasPrefix(text, "tabard: ") || !strings.HasSuffix(text, "\nexit code 2\nWarning: pods are old\n") || strings.Count(text, "\n") != 3 {
		t.Errorf("it said:\n%s", text)
	}
}
