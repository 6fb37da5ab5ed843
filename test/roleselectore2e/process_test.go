package roleselectore2e

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// process is a running controller.
type process struct {
	*testkit.Process
	w *world
	// health is where it says whether it is ready, metrics where it counts.
	health, metrics string
}

// token is one of the controller's ServiceAccount.
func (w *world) token(audience string) string {
	w.t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ack-system", Name: "bucket-controller"}}
	if err := w.SubResource("token").Create(w.t.Context(), account, request); err != nil {
		w.t.Fatal(err)
	}
	return request.Status.Token
}

func (w *world) write(file string, content []byte) string {
	w.t.Helper()
	path := filepath.Join(w.dir, file)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// run runs a controller: its environment is its pod's, and holds nothing else.
func (w *world) run(env map[string]string, flags ...string) *process {
	w.t.Helper()
	config := rest.CopyConfig(w.api.Config)
	config.BearerToken = w.token("api")
	kubeconfig := filepath.Join(w.dir, "kubeconfig")
	testkit.WriteKubeconfig(w.t, kubeconfig, config)
	p := &process{
		w: w, health: fmt.Sprintf("127.0.0.1:%d", testkit.FreePort(w.t)), metrics: fmt.Sprintf("127.0.0.1:%d", testkit.FreePort(w.t)),
	}
	flags = append([]string{"--health-probe-bind-address=" + p.health, "--metrics-bind-address=" + p.metrics, "--aws-region=" + region}, flags...)
	command := exec.CommandContext(context.WithoutCancel(w.t.Context()), program, flags...)
	command.Dir = w.dir
	own := map[string]string{
		"KUBECONFIG": kubeconfig, "ACK_SYSTEM_NAMESPACE": "ack-system", "AWS_ENDPOINT_URL": w.aws.URL(),
		"AWS_CA_BUNDLE": w.write("ca.pem", w.aws.CACertificate()), "AWS_ROLE_ARN": defaultRole, "AWS_ROLE_SESSION_NAME": "pod",
		"AWS_WEB_IDENTITY_TOKEN_FILE": w.write("token", []byte(w.token("sts.amazonaws.com"))),
	}
	maps.Copy(own, env)
	for name, value := range own {
		if value != "" {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	p.Process = testkit.StartProcess(w.t, command)
	return p
}

// start runs a controller, and ends it at the end of the test.
func (w *world) start(flags ...string) *process {
	w.t.Helper()
	p := w.run(nil, flags...)
	w.t.Cleanup(p.End)
	return p
}

// refusal is why a controller does not start.
func (w *world) refusal(env map[string]string, flags ...string) string {
	w.t.Helper()
	p := w.run(env, flags...)
	if code := p.ExitCode(); code != 1 {
		w.t.Errorf("the controller ended with the exit code %d, want 1", code)
	}
	return p.Log()
}

// get reads what a controller serves.
func (p *process) get(address, path string) (status int, text string, err error) {
	request, err := http.NewRequestWithContext(p.w.t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// awaitReadiness waits until a controller is ready, or says that it is not.
func (p *process) awaitReadiness(want int) {
	p.w.t.Helper()
	p.w.await(func() error {
		status, text, err := p.get(p.health, "/readyz?verbose")
		if err == nil && status == want {
			return nil
		}
		return fmt.Errorf("/readyz says %d %s (%w), want %d", status, text, err, want)
	})
}

// awaitMetric waits until a controller serves a line.
func (p *process) awaitMetric(line string) {
	p.w.t.Helper()
	p.w.await(func() error {
		_, text, err := p.get(p.metrics, "/metrics")
		if strings.Contains("\n"+text, "\n"+line+"\n") {
			return nil
		}
		return fmt.Errorf("the metrics have no line %q (%w)", line, err)
	})
}
