// Package stage is where the capacity controller is measured: a lab with a real
// API server and a local AWS, each a process of its own, with the controller's
// rights and an IAM role that its ServiceAccount may become. The controller runs
// in this process, by a clock that can be moved, or as the program that it is.
package stage

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/lab"
)

const (
	// Namespace is where MachineSets are.
	Namespace = "openshift-machine-api"
	// system and account are the namespace and the name of the controller's
	// ServiceAccount, user is who that is.
	system  = "tabard-system"
	account = "tabard-capacity"
	user    = "system:serviceaccount:" + system + ":" + account
)

// Options say what a stage is made of.
type Options struct {
	// Dir is the lab's folder, Root the repository's.
	Dir, Root string
	// Tabard and Localkube are the paths of the programs.
	Tabard, Localkube string
	// Out takes a line for each step; nil is nobody.
	Out io.Writer
}

// Stage is a lab that is ready for the controller.
type Stage struct {
	// Config and Cluster reach the API server as an administrator.
	Config  *rest.Config
	Cluster client.Client
	// RoleARN is the role of the controller, TokenFile holds the token that may
	// become it.
	RoleARN, TokenFile string

	options Options
	lab     lab.Lab
	// env is what a person's shell has in the lab.
	env map[string]string
	// toAWS trusts the local AWS.
	toAWS *http.Client

	mu sync.Mutex
	// passed is how far the clock was moved.
	passed time.Duration
}

// Open starts a lab and prepares it. Where it fails nothing is left.
func Open(ctx context.Context, options Options) (*Stage, error) {
	ctrl.SetLogger(logr.Discard())
	if options.Out == nil {
		options.Out = io.Discard
	}
	for _, path := range []*string{&options.Tabard, &options.Localkube} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return nil, err
		}
		*path = absolute
	}
	s := &Stage{options: options}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Stage) open(ctx context.Context) error {
	var err error
	s.lab, err = lab.Up(ctx, lab.UpOptions{Dir: s.options.Dir, Localkube: s.options.Localkube, Tabard: s.options.Tabard, Out: s.options.Out})
	if err != nil {
		return err
	}
	environment, err := s.lab.Env(lab.AccountID)
	if err != nil {
		return err
	}
	s.env = map[string]string{}
	for _, each := range environment.Set {
		s.env[each.Name] = each.Value
	}
	authority, err := os.ReadFile(s.lab.AWSCA())
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	s.toAWS = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}}
	if s.Config, err = s.lab.ClientConfig(); err != nil {
		return err
	}
	s.Config.QPS = -1
	if s.Cluster, err = client.New(s.Config, client.Options{}); err != nil {
		return err
	}
	return s.prepare(ctx)
}

// prepare gives the controller its rights and its role.
func (s *Stage) prepare(ctx context.Context) error {
	for _, name := range []string{system, Namespace, "openshift-config-managed"} {
		if err := s.Apply(ctx, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}"); err != nil {
			return err
		}
	}
	for _, file := range []string{"rbac/capacity.yaml", "manifests/capacity/controller.yaml", "manifests/openshift/capacity.yaml"} {
		text, err := os.ReadFile(filepath.Join(s.options.Root, "config", file))
		if err != nil {
			return err
		}
		if err := s.Apply(ctx, string(text)); err != nil {
			return err
		}
	}
	if err := s.command(ctx, "", s.options.Tabard, "issuer", "bootstrap", "-f", s.lab.Path("manifests", "issuer.yaml")); err != nil {
		return err
	}
	s.TokenFile = filepath.Join(s.options.Dir, "token")
	if err := s.WriteToken(ctx); err != nil {
		return err
	}
	var err error
	s.RoleARN, err = s.CreateRole(ctx, "capacity")
	return err
}

// Apply applies manifests, as an administrator with kubectl.
func (s *Stage) Apply(ctx context.Context, manifests string) error {
	return s.command(ctx, manifests, s.lab.Path("bin", "kubectl"), "apply", "--server-side", "-f", "-")
}

// command runs a program as a person in the lab does.
func (s *Stage) command(ctx context.Context, stdin, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	command.Env = os.Environ()
	for key, value := range s.env {
		command.Env = append(command.Env, key+"="+value)
	}
	command.Stdin = bytes.NewBufferString(stdin)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %q: %w\n%s", filepath.Base(name), args, err, out)
	}
	return nil
}

// Close ends the lab and removes its files.
func (s *Stage) Close(ctx context.Context) error {
	return lab.Down(ctx, lab.DownOptions{Dir: s.options.Dir, Out: s.options.Out})
}

// Kubeconfig writes a file by which a process reaches the API server with the
// controller's rights.
func (s *Stage) Kubeconfig() (string, error) {
	config, err := clientcmd.LoadFromFile(s.lab.Kubeconfig())
	if err != nil {
		return "", err
	}
	for _, each := range config.AuthInfos {
		each.Impersonate = user
	}
	path := filepath.Join(s.options.Dir, "capacity.kubeconfig")
	return path, clientcmd.WriteToFile(*config, path)
}

// Environment is what the process of the controller has of AWS, with its web
// identity or without.
func (s *Stage) Environment(webIdentity bool) map[string]string {
	out := map[string]string{"AWS_REGION": lab.Region, "AWS_ENDPOINT_URL": s.lab.AWSURL(), "AWS_CA_BUNDLE": s.lab.AWSCA()}
	if webIdentity {
		out["AWS_ROLE_ARN"], out["AWS_WEB_IDENTITY_TOKEN_FILE"] = s.RoleARN, s.TokenFile
	}
	return out
}
