// Package lab_test starts real labs, with the built programs, as a person does.
package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// bench is one lab and what it takes to run commands on it.
type bench struct {
	*onlab.Lab
	t *testing.T
}

// newBench names the programs to test. They are built before: without them
// there is nothing to test, and that is a failure.
func newBench(t *testing.T) *bench {
	t.Helper()
	// The folder of t.TempDir is longer than a lab's may be.
	dir := must.Get(os.MkdirTemp("", "lab"))(t)
	lab := must.Get(onlab.At(testkit.Root(), dir))(t)
	t.Cleanup(func() {
		if err := errors.Join(lab.Down(context.WithoutCancel(t.Context()), false), os.RemoveAll(dir)); err != nil {
			t.Errorf("take the lab down: %v", err)
		}
	})
	return &bench{lab, t}
}

// result is what a command did.
type result struct {
	out, err string
	code     int
}

func (bench *bench) try(arguments ...string) result {
	bench.t.Helper()
	return bench.exec(nil, bench.Tabard, append([]string{"lab", arguments[0], "--dir", bench.Dir}, arguments[1:]...)...)
}

// exec runs a program in the test's own environment, beside which the lab's kubeconfig
// counts, and with a profile of AWS that is nothing of the lab's.
func (bench *bench) exec(input []byte, program string, arguments ...string) result {
	bench.t.Helper()
	var out, err bytes.Buffer
	command := exec.CommandContext(bench.t.Context(), program, arguments...)
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(input), &out, &err
	command.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(bench.Dir, "kubeconfig"), "TABARD_LOCALKUBE="+bench.Localkube, "AWS_PROFILE=somebody-elses")
	failed := command.Run()
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) {
		bench.t.Fatalf("%s %v: %v", program, arguments, failed)
	}
	return result{out: out.String(), err: err.String(), code: command.ProcessState.ExitCode()}
}

// must runs a command that has to succeed.
func (bench *bench) must(arguments ...string) string {
	bench.t.Helper()
	done := bench.try(arguments...)
	if done.code != 0 {
		bench.t.Fatalf("lab %v: exit code %d\n%s%s", arguments, done.code, done.out, done.err)
	}
	return done.out
}

func (bench *bench) kubectl(input string, arguments ...string) string {
	bench.t.Helper()
	done := bench.exec([]byte(input), filepath.Join(bench.Dir, "bin", "kubectl"), arguments...)
	if done.code != 0 {
		bench.t.Fatalf("kubectl %v: exit code %d\n%s%s", arguments, done.code, done.out, done.err)
	}
	return done.out
}

func (bench *bench) status() onlab.Status {
	bench.t.Helper()
	out := must.Get(bench.Status(bench.t.Context()))(bench.t)
	return out
}

func (bench *bench) kill(name string) {
	bench.t.Helper()
	must.Do(bench.t, bench.Kill(bench.t.Context(), name))
}

// clusters asks the local AWS for its clusters, after one more is told.
func (bench *bench) clusters(more ...map[string]string) string {
	bench.t.Helper()
	var found json.RawMessage
	err := bench.ReadEnv(bench.t.Context())
	for _, each := range more {
		err = errors.Join(err, bench.Control(bench.t.Context(), http.MethodPost, "clusters", each, nil))
	}
	if err = errors.Join(err, bench.Control(bench.t.Context(), http.MethodGet, "clusters", nil, &found)); err != nil {
		bench.t.Fatal(err)
	}
	return string(found)
}

// checkGone fails if a process or a port of a lab is left.
func checkGone(t *testing.T, was onlab.Status) {
	t.Helper()
	for _, process := range was.Processes {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process.PID))
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			t.Errorf("%s still runs as process %d", process.Name, process.PID)
		}
	}
	for name, port := range was.Ports {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Errorf("the port of %s is still taken: %v", name, err)
			continue
		}
		_ = listener.Close()
	}
}

func TestLongTwoLabsSideBySide(t *testing.T) {
	t.Parallel()
	first, second := newBench(t), newBench(t)
	var both sync.WaitGroup
	for _, bench := range []*bench{first, second} {
		both.Go(func() {
			if err := bench.Up(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	if both.Wait(); t.Failed() {
		return
	}
	one, two := first.status(), second.status()
	if one.IssuerURL == two.IssuerURL {
		t.Errorf("both labs are the issuer %s", one.IssuerURL)
	}
	first.kubectl("", "create", "namespace", "only-here")
	if names := second.kubectl("", "get", "namespaces", "-o", "name"); strings.Contains(names, "only-here") {
		t.Errorf("the second lab has the first one's namespace:\n%s", names)
	}
	first.must("down")
	checkGone(t, one)
	if entries, err := os.ReadDir(first.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("files are left: %v, %v", entries, err)
	}
	second.must("status")
	second.must("down")
	checkGone(t, two)
}

func TestALabIsRepaired(t *testing.T) {
	t.Parallel()
	bench := newBench(t)
	bench.must("up")
	before := bench.status()
	if out := bench.must("up"); !strings.Contains(out, "nothing to do") {
		t.Errorf("a second up said %q", out)
	}
	bench.kubectl("", "create", "namespace", "kept")
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "awslocal"} {
		bench.kill(name)
		if done := bench.try("status"); done.code != 1 || !strings.Contains(done.out, "Missing") {
			t.Errorf("without %s: exit code %d\n%s", name, done.code, done.out)
		}
		bench.must("up")
		bench.must("status")
		bench.kubectl("", "get", "namespace", "kept")
	}
	after := bench.status()
	if diff := cmp.Diff(before.Ports, after.Ports); diff != "" || before.IssuerURL != after.IssuerURL {
		t.Errorf("a repair changed the lab (-before +after):\n%s", diff)
	}
	bench.checkAdminAPI()
	bench.clusters(map[string]string{"name": "kept", "issuer": "https://kept.example"})
	bench.must("down", "--keep")
	checkGone(t, after)
	bench.must("up")
	bench.kubectl("", "get", "namespace", "kept")
	if clusters := bench.clusters(); !strings.Contains(clusters, "https://kept.example") {
		t.Errorf("the local AWS has lost its state; its clusters are %s", clusters)
	}
	bench.kill("kube-apiserver") // half of it is dead
	was := bench.status()
	bench.must("down")
	checkGone(t, was)
}

// workload is a pod as the API server stores it after a webhook like Tabard's.
const workload = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: green}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: main
    image: none
    env:
    - {name: PLAIN, value: "1"}
    - {name: COLOR, valueFrom: {configMapKeyRef: {name: settings, key: color}}}
    - {name: AWS_ROLE_ARN, value: "arn:aws:iam::123456789012:role/web"}
    - {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/eks.amazonaws.com/serviceaccount/token}
    volumeMounts:
    - {name: token, mountPath: /var/run/secrets/eks.amazonaws.com/serviceaccount, readOnly: true}
    - {name: settings, mountPath: /settings}
  volumes:
  - name: token
    projected: {sources: [{serviceAccountToken: {audience: sts.amazonaws.com, expirationSeconds: 3600, path: token}}]}
  - {name: settings, configMap: {name: settings}}
`

// environmentOf reads what env printed.
func environmentOf(out string) map[string]string {
	variables := map[string]string{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		variables[name] = value
	}
	return variables
}

// stored reads the variables of the pod as stored, the plain ones, and fills in
// the one from the ConfigMap.
func (bench *bench) stored() map[string]string {
	bench.t.Helper()
	var pod struct {
		Spec struct {
			Containers []struct {
				Env []struct{ Name, Value string } `json:"env"`
			} `json:"containers"`
		} `json:"spec"`
	}
	must.Do(bench.t, json.Unmarshal([]byte(bench.kubectl("", "get", "pod", "web", "-o", "json")), &pod))
	variables := map[string]string{}
	for _, variable := range pod.Spec.Containers[0].Env {
		variables[variable.Name] = variable.Value
	}
	variables["COLOR"] = "green"
	return variables
}

// told reads what "lab run" says that it added or rewrote.
func told(said string) map[string]string {
	variables := map[string]string{}
	for line := range strings.Lines(said) {
		for _, verb := range []string{"lab run: added ", "lab run: rewritten "} {
			if rest, isTold := strings.CutPrefix(strings.TrimSuffix(line, "\n"), verb); isTold {
				name, value, _ := strings.Cut(rest, "=")
				value, _, _ = strings.Cut(value, " (was ")
				variables[name] = value
			}
		}
	}
	return variables
}

// One lab serves what follows: starting one is most of the time.
func TestAPodsCommandRunsAsItsPodWould(t *testing.T) {
	t.Parallel()
	bench := newBench(t)
	bench.must("up")
	bench.kubectl(workload, "apply", "-f", "-")
	bench.checkPrivileged()
	bench.checkEnvironment()
	bench.checkExitCodes()
	bench.checkBackground()
}

// checkEnvironment compares what a command sees with the pod as stored.
func (bench *bench) checkEnvironment() {
	t := bench.t
	// Both forms keep every variable of the pod, but for what they tell.
	for form, flags := range map[string][]string{"as it is": nil, "rewritten": {"--no-namespaces"}} {
		// A program without a shell before it, which would add variables.
		done := bench.try(append(append([]string{"run", "-v"}, flags...), "pod/web", "--", "env")...)
		if done.code != 0 {
			t.Fatalf("%s: exit code %d\n%s", form, done.code, done.err)
		}
		want := bench.stored()
		for name, value := range told(done.err) {
			want[name] = value
		}
		got := environmentOf(done.out)
		for name := range got {
			if strings.HasPrefix(name, "KUBERNETES_SERVICE_") {
				delete(got, name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the environment (-pod and told, +seen):\n%s", form, diff)
		}
		for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_CA_BUNDLE", "AWS_EC2_METADATA_DISABLED", "AWS_EC2_METADATA_SERVICE_ENDPOINT"} {
			if got[name] == "" {
				t.Errorf("%s: %s is not there", form, name)
			}
		}
		// Without -v there is nothing but what the command prints, where volumes can be mounted or nobody wants them to be.
		for _, how := range []string{"--verbose=false", "--quiet"} {
			if quiet := bench.try(append(append([]string{"run", how}, flags...), "pod/web", "--", "env")...); quiet.err != "" || quiet.out != done.out {
				t.Errorf("%s: with %s it said %q and changed the output from %q to %q", form, how, quiet.err, done.out, quiet.out)
			}
		}
		// The token is where the variable says, and the API server knows it.
		done = bench.try(append(append([]string{"run"}, flags...), "pod/web", "--", "sh", "-c", `cat "$AWS_WEB_IDENTITY_TOKEN_FILE"`)...)
		review := fmt.Sprintf(`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":%q,"audiences":["sts.amazonaws.com"]}}`, done.out)
		if answer := bench.kubectl(review, "create", "-f", "-", "-o", "json"); !strings.Contains(answer, `"system:serviceaccount:default:default"`) ||
			!strings.Contains(answer, `"web"`) {
			t.Errorf("%s: the token is not one of the pod", form)
		}
	}
}

// checkExitCodes runs commands that end in every way.
func (bench *bench) checkExitCodes() {
	t := bench.t
	for _, flags := range [][]string{nil, {"--no-namespaces"}} {
		for script, want := range map[string]int{"exit 7": 7, "kill -9 $$": 137, "exit 0": 0, "no-such-program": 127} {
			done := bench.try(append(append([]string{"run"}, flags...), "pod/web", "--", "sh", "-c", script)...)
			if done.code != want {
				t.Errorf("%v %q: exit code %d, want %d\n%s", flags, script, done.code, want, done.err)
			}
		}
		if done := bench.try(append(append([]string{"run"}, flags...), "pod/web", "--", "no-such-program")...); done.code != 127 {
			t.Errorf("%v: a program that is not there: exit code %d\n%s", flags, done.code, done.err)
		}
	}
	if done := bench.try("run", "pod/none", "--", "true"); done.code != 1 || !strings.Contains(done.err, "not found") {
		t.Errorf("a pod that is not there: exit code %d, said %q", done.code, done.err)
	}
}

// checkBackground starts commands in the background and takes the lab down.
func (bench *bench) checkBackground() {
	t := bench.t
	bench.must("run", "--detach", "one", "pod/web", "--", "sh", "-c", "sleep 600 & sleep 600")
	bench.must("run", "--detach", "two", "--no-namespaces", "pod/web", "--", "sleep", "600")
	if done := bench.try("run", "--detach", "one", "pod/web", "--", "true"); done.code != 2 {
		t.Errorf("a second run of one name: exit code %d\n%s", done.code, done.err)
	}
	was := bench.status()
	if len(was.Processes) != 8 { // four components, two runs, two commands
		t.Errorf("processes: %+v", was.Processes)
	}
	bench.must("stop", "two")
	bench.must("down")
	checkGone(t, was)
}
