package e2e

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

// refused is a program that ended with an exit code other than 0.
type refused struct {
	command string
	stderr  string
}

// Error is the command and what it said.
func (r *refused) Error() string { return r.command + ": " + strings.TrimSpace(r.stderr) }

// exec runs a program with the lab's environment and returns its output.
func (s *Story) exec(ctx context.Context, env []string, program string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TABARD_LOCALKUBE=" + s.Localkube}, env...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) } // it has things to put away
	command.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		line := filepath.Base(program) + " " + strings.Join(args, " ")
		return stdout.String(), &refused{command: line, stderr: stderr.String()}
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", program, err)
	}
	return stdout.String(), nil
}

// tabard runs the tabard program as the lab's administrator.
func (s *Story) tabard(ctx context.Context, args ...string) (string, error) {
	return s.exec(ctx, s.environ(), s.Tabard, args...)
}

// kubectl runs kubectl against the lab.
func (s *Story) kubectl(ctx context.Context, args ...string) (string, error) {
	return s.exec(ctx, s.environ(), s.Localkube, append([]string{"kubectl"}, args...)...)
}

func (s *Story) environ() []string {
	out := make([]string, 0, len(s.env))
	for name, value := range s.env {
		if name != "PATH" {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// inPod runs a command as the kubelet of a pod would run it.
func (s *Story) inPod(ctx context.Context, namespace, pod string, args ...string) (string, error) {
	return s.tabard(ctx, append([]string{"lab", "run", "--dir", s.Dir, "-n", namespace, "pod/" + pod, "--"}, args...)...)
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

// labClient trusts the lab's own CA.
func (s *Story) labClient() (*awshttp.BuildableClient, error) {
	bundle, err := os.ReadFile(s.env["AWS_CA_BUNDLE"])
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		return nil, fmt.Errorf("no certificate in %s", s.env["AWS_CA_BUNDLE"])
	}
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}), nil
}

// awsConfig is an SDK configuration for the local AWS with given credentials.
func (s *Story) awsConfig(provider aws.CredentialsProvider) (aws.Config, error) {
	client, err := s.labClient()
	if err != nil {
		return aws.Config{}, err
	}
	return aws.Config{
		Region: s.env["AWS_REGION"], Credentials: provider, HTTPClient: client,
		BaseEndpoint: aws.String(s.env["AWS_ENDPOINT_URL"]), RetryMaxAttempts: 1,
	}, nil
}

func (s *Story) administrator() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(s.env["AWS_ACCESS_KEY_ID"], s.env["AWS_SECRET_ACCESS_KEY"], "")
}

// control calls the local AWS's admin API.
func (s *Story) control(ctx context.Context, method, path string, body, answer any) error {
	client, err := s.labClient()
	if err != nil {
		return err
	}
	payload, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, s.env["AWS_ENDPOINT_URL"]+"/_awslocal/"+path, bytes.NewReader(payload))
	if err != nil {
		return err
	}
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

// eventually asks until the answer is nil or the time is up.
func eventually(ctx context.Context, patience time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("still so after %s: %w", patience, err)
		case <-ticker.C:
		}
	}
}
