// Package onlab runs the real programs against a lab, as a person at a shell would,
// for tests and for the demo.
package onlab

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Lab is a lab and the programs that use it.
type Lab struct {
	// Tabard and Localkube are the programs' absolute paths.
	Tabard, Localkube string
	// Root is the repository's folder, for the manifests.
	Root string
	// Dir is the lab's folder.
	Dir string
	// Env is what "tabard lab env" prints. It is empty before Up.
	Env map[string]string
}

// At is a lab in a folder, with the programs that make builds in bin below the
// repository's folder.
func At(root, dir string) (*Lab, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	lab := &Lab{Tabard: filepath.Join(root, "bin", "tabard"), Localkube: filepath.Join(root, "bin", "localkube"), Root: root, Dir: dir}
	for _, program := range []string{lab.Tabard, lab.Localkube} {
		if info, err := os.Stat(program); err != nil || info.IsDir() {
			return nil, fmt.Errorf("program %q is not there: run make build localkube", program)
		}
	}
	return lab, nil
}

// Manage runs a command of "tabard lab" on this lab.
func (lab *Lab) Manage(ctx context.Context, verb string, args ...string) (string, error) {
	return lab.RunTabard(ctx, append([]string{"lab", verb, "--dir", lab.Dir}, args...)...)
}

// Up starts the lab, or what of it does not run, and reads its environment.
func (lab *Lab) Up(ctx context.Context, flags ...string) error {
	if _, err := lab.Manage(ctx, "up", append([]string{"--localkube", lab.Localkube}, flags...)...); err != nil {
		return err
	}
	return lab.ReadEnv(ctx)
}

// ReadEnv reads the lab's environment.
func (lab *Lab) ReadEnv(ctx context.Context, flags ...string) error {
	env, err := lab.Manage(ctx, "env", flags...)
	lab.Env = parseEnv(env)
	return err
}

// Down takes the lab down. Its files, the logs among them, stay if asked.
func (lab *Lab) Down(ctx context.Context, keepFiles bool) error {
	var flags []string
	if keepFiles {
		flags = []string{"--keep"}
	}
	_, err := lab.Manage(ctx, "down", flags...)
	return err
}

// RefusedError is a program that ended with an exit code other than 0.
type RefusedError struct {
	Command string
	Stderr  string
	// Code is the exit code.
	Code int
}

// Error is the command and what it said.
func (r *RefusedError) Error() string { return r.Command + ": " + strings.TrimSpace(r.Stderr) }

// Exec runs a program with the lab's environment and returns its output.
func (lab *Lab) Exec(ctx context.Context, env []string, program string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TABARD_LOCALKUBE=" + lab.Localkube}, env...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) } // it has things to put away
	command.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		line := filepath.Base(program) + " " + strings.Join(args, " ")
		return stdout.String(), &RefusedError{Command: line, Stderr: stderr.String(), Code: exit.ExitCode()}
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", program, err)
	}
	return stdout.String(), nil
}

// RunTabard runs the tabard program as the lab's administrator.
func (lab *Lab) RunTabard(ctx context.Context, args ...string) (string, error) {
	return lab.Exec(ctx, lab.Environ(), lab.Tabard, args...)
}

// Kubectl runs kubectl against the lab.
func (lab *Lab) Kubectl(ctx context.Context, args ...string) (string, error) {
	return lab.Exec(ctx, lab.Environ(), lab.Localkube, append([]string{"kubectl"}, args...)...)
}

// Environ are the variables of a person's shell in the lab, without PATH.
func (lab *Lab) Environ() []string {
	out := make([]string, 0, len(lab.Env))
	for name, value := range lab.Env {
		if name != "PATH" {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// InPod runs a command as the kubelet of a pod would run it.
func (lab *Lab) InPod(ctx context.Context, namespace, pod string, args ...string) (string, error) {
	return lab.Manage(ctx, "run", append([]string{"-n", namespace, "pod/" + pod, "--"}, args...)...)
}

// parseEnv reads lines of the form export NAME='VALUE'.
func parseEnv(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		assignment, ok := strings.CutPrefix(strings.TrimSpace(line), "export ")
		name, value, found := strings.Cut(assignment, "=")
		if ok && found {
			out[name] = strings.Trim(value, `'"`)
		}
	}
	return out
}

// Client trusts the lab's own CA.
func (lab *Lab) Client() (*awshttp.BuildableClient, error) {
	bundle, err := os.ReadFile(lab.Env["AWS_CA_BUNDLE"])
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		return nil, fmt.Errorf("no certificate in %s", lab.Env["AWS_CA_BUNDLE"])
	}
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}), nil
}

// Config is an SDK configuration for the local AWS with given credentials.
func (lab *Lab) Config(provider aws.CredentialsProvider) (aws.Config, error) {
	client, err := lab.Client()
	if err != nil {
		return aws.Config{}, err
	}
	return aws.Config{
		Region: lab.Env["AWS_REGION"], Credentials: provider, HTTPClient: client,
		BaseEndpoint: aws.String(lab.Env["AWS_ENDPOINT_URL"]),
	}, nil
}

// Administrator is who may do everything in the lab's account.
func (lab *Lab) Administrator() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(lab.Env["AWS_ACCESS_KEY_ID"], lab.Env["AWS_SECRET_ACCESS_KEY"], "")
}

// Control calls the local AWS's admin API.
func (lab *Lab) Control(ctx context.Context, method, path string, body, answer any) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	payload, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, lab.Env["AWS_ENDPOINT_URL"]+"/_awslocal/"+path, bytes.NewReader(payload))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+lab.Env["AWSLOCAL_ADMIN_TOKEN"])
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// Patience is how long a test waits for what must happen, on a machine with much else
// to do.
const Patience = 3 * time.Minute

// Eventually asks until the answer is nil or the time is up.
func Eventually(ctx context.Context, patience time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	var before error // what the last answer but one was: the last may only say that time is up
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("still so after %s: %w", patience, errors.Join(before, err))
		case <-ticker.C:
			before = err
		}
	}
}
