package ekstoken_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/ekstoken"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const pageHub = "arn:aws:sts::111111111111:assumed-role/hub/EKSGetTokenAuth"

// startHub is a cluster that lets the page's role in, and tells its version.
func (w *world) startHub() (*rest.Config, *atomic.Int64) {
	w.t.Helper()
	served := &atomic.Int64{}
	hub := httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if _, err := ekstoken.Check(token, ekstoken.Cluster{Name: cluster, Region: "us-west-2", Origin: w.URL()}, time.Now()); err != nil {
			http.Error(out, err.Error(), http.StatusUnauthorized)
			return
		}
		if status, arn := w.ask(token, cluster); status != http.StatusOK || arn != pageHub {
			http.Error(out, arn, http.StatusUnauthorized)
			return
		}
		served.Add(1)
		fmt.Fprint(out, `{"major":"1","minor":"35","gitVersion":"v1.35.4-of-the-hub"}`)
	}))
	w.t.Cleanup(hub.Close)
	ca := w.Write("hub.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hub.Certificate().Raw})))
	return &rest.Config{Host: hub.URL, TLSClientConfig: rest.TLSClientConfig{CAFile: ca}}, served
}

// run runs a program of the page and returns who signed the token that it prints.
func (w *world) run(program string, args ...string) string {
	w.t.Helper()
	out := must.Get(exec.CommandContext(w.t.Context(), program, args...).Output())(w.t)
	return w.signer(out)
}

func (w *world) signer(answer []byte) string {
	w.t.Helper()
	var got struct{ Status struct{ Token string } }
	must.Do(w.t, json.Unmarshal(answer, &got))
	_, arn := w.ask(got.Status.Token, cluster)
	return arn
}

// TestThePagesCommands types docs/eks-token.md, and runs what its manifests run.
func TestThePagesCommands(t *testing.T) {
	// Before the world, whose home has neither modules nor a build cache.
	programs := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", programs, "./cmd/tabard-eks-token")
	build.Dir = testkit.Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w := newWorld(t)
	w.Role(hubAccount, "hub", trustSpokes, "")
	w.as(w.user)
	if size := must.Get(os.Stat(filepath.Join(programs, "tabard-eks-token")))(t).Size(); size > 12e6 {
		t.Errorf("the program has %d bytes; it is copied into pods, and must have at most 12 MB", size)
	}
	tabard := must.Get(filepath.Abs(os.Getenv("TABARD_BIN")))(t)
	t.Setenv("PATH", programs+":"+filepath.Dir(tabard)+":"+os.Getenv("PATH"))
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs/eks-token.md")))(t))
	shell, manifests := testkit.Blocks(page, "sh"), testkit.Blocks(page, "yaml")
	if len(shell) != 3 || len(manifests) != 4 {
		t.Fatalf("the page has %d blocks of sh and %d of yaml", len(shell), len(manifests))
	}

	hub, served := w.startHub()
	stanza := testkit.Shell(t, hub, shell[0]+"\n"+shell[0]+"\nkubectl config view -o yaml")
	if !strings.Contains(stanza, "v1.35.4-of-the-hub") || served.Load() == 0 {
		t.Errorf("kubectl was let in %d times and says:\n%s", served.Load(), stanza)
	}
	for range 2 {
		if arn := w.signer([]byte(testkit.Shell(t, hub, shell[1]))); arn != pageHub {
			t.Errorf("tabard's token is of %s", arn)
		}
	}

	var kubeconfig struct {
		Users []struct {
			User struct{ Exec execStanza }
		}
	}
	must.Do(t, yaml.Unmarshal([]byte(manifests[0]), &kubeconfig))
	stanzaOf := kubeconfig.Users[0].User.Exec
	if arn := w.run(stanzaOf.Command, stanzaOf.Args...); arn != pageHub {
		t.Errorf("the kubeconfig's token is of %s", arn)
	}
	for _, line := range append([]string{stanzaOf.APIVersion, stanzaOf.Command}, stanzaOf.Args...) {
		if !strings.Contains(stanza, line) {
			t.Errorf("kubectl wrote no %q:\n%s", line, stanza)
		}
	}

	var pod struct{ InitContainers []struct{ Args []string } }
	must.Do(t, yaml.Unmarshal([]byte(manifests[1]), &pod))
	var secret struct{ StringData struct{ Config string } }
	must.Do(t, yaml.Unmarshal([]byte(manifests[2]), &secret))
	var argo struct{ ExecProviderConfig execStanza }
	must.Do(t, json.Unmarshal([]byte(secret.StringData.Config), &argo))
	installed := w.install(pod.InitContainers[0].Args)
	if installed.named != argo.ExecProviderConfig.Command {
		t.Errorf("the init container writes %s, and Argo CD runs %s", installed.named, argo.ExecProviderConfig.Command)
	}
	if arn := w.run(installed.path, argo.ExecProviderConfig.Args...); arn != pageHub {
		t.Errorf("Argo CD's token is of %s", arn)
	}
	var agent struct{ Args []string }
	must.Do(t, yaml.Unmarshal([]byte(manifests[3]), &agent))
	if arn := w.run(w.install(agent.Args).path, strings.Fields("--region us-west-2 eks get-token --cluster-name eks-hub --output json --role arn:aws:iam::111111111111:role/hub")...); arn != pageHub {
		t.Errorf("the agents' token is of %s", arn)
	}
}

// execStanza is what runs the program, of kubectl or of Argo CD.
type execStanza struct {
	APIVersion, Command string
	Args                []string
}

type installation struct{ named, path string }

// install runs the arguments of an init container, in a folder instead of at the root.
func (w *world) install(args []string) installation {
	w.t.Helper()
	named := args[len(args)-1]
	to := filepath.Join(w.t.TempDir(), named)
	must.Do(w.t, exec.CommandContext(w.t.Context(), "tabard-eks-token", append(args[:len(args)-1:len(args)-1], to)...).Run())
	return installation{named, to}
}
