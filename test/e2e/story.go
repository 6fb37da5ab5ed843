// Package e2e runs whole scenarios on the real programs. The first of them is
// Tabard's story: from nothing to AWS credentials in a pod with no stored key,
// and then everything that is refused; and in a second chapter from a
// CredentialsRequest to a role, and back. The demo prints it, the tests run it and
// go on from it.
package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// Story is one run of the story in one lab.
type Story struct {
	*onlab.Lab
	// KeylessPod is the workload's absolute path.
	KeylessPod string
	// Out receives what was observed, line by line.
	Out io.Writer

	// What the steps learn and later ones use.
	rest *rest.Config
	kube kubernetes.Interface
	// Admin is the administrator of the account AccountID.
	Admin      aws.Config
	AccountID  string
	operator   string // ARN of the operator's role
	role       string // ARN of the workload's role
	dataBucket string
}

// Step is one step of the story.
type Step struct {
	// Title is a sentence about what is true after the step.
	Title string
	// Run makes it so, and fails if it is not.
	Run func(*Story, context.Context) error
}

// Steps are the steps in order; each builds on those before it.
func Steps() []Step {
	return []Step{
		{"A Kubernetes control plane is up", (*Story).controlPlane},
		{"A local AWS is up, with an empty account", (*Story).emptyAccount},
		{"A person bootstraps the issuer, once, with their own AWS session", (*Story).bootstrap},
		{"The operator starts with nothing but its projected token", (*Story).startOperator},
		{"A role exists that trusts one ServiceAccount, for one bucket prefix", (*Story).createRole},
		{"A pod of that ServiceAccount is stored with its identity", (*Story).createPod},
		{"The pod's command becomes the role, writes an object and reads it back", (*Story).runPod},
		{"Everything else is refused", (*Story).refusals},
	}
}

// Chapters are the parts of the story, in order.
func Chapters() [][]Step { return [][]Step{Steps(), Credentials()} }

// Tell runs all steps and prints each with its seconds.
func (s *Story) Tell(ctx context.Context) error {
	start, steps := time.Now(), slices.Concat(Chapters()...)
	for i, step := range steps {
		if err := s.take(ctx, i+1, step); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, step.Title, err)
		}
	}
	s.end(len(steps), time.Since(start))
	return nil
}

// take takes one step, and prints it with its seconds.
func (s *Story) take(ctx context.Context, number int, step Step) error {
	fmt.Fprintf(s.Out, "\n%d. %s\n", number, step.Title)
	start := time.Now()
	if err := step.Run(s, ctx); err != nil {
		return err
	}
	s.say("(%.1f s)", time.Since(start).Seconds())
	return nil
}

func (s *Story) end(steps int, took time.Duration) {
	fmt.Fprintf(s.Out, "\nAll %d steps are as told, in %.1f s. No key was stored anywhere.\n", steps, took.Seconds())
}

func (s *Story) say(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintln(s.Out, "   "+line)
	}
}

// Programs finds the programs that make builds, in bin below the repository's
// folder.
func Programs(root, dir string, out io.Writer) (*Story, error) {
	lab, err := onlab.At(root, dir)
	if err != nil {
		return nil, err
	}
	s := &Story{Lab: lab, KeylessPod: filepath.Join(lab.Root, "bin", "keyless-pod"), Out: out}
	if _, err := os.Stat(s.KeylessPod); err != nil {
		return nil, fmt.Errorf("%w: run make build", err)
	}
	return s, nil
}
