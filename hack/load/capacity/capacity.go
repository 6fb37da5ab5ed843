// Package capacity measures the capacity controller on a real API server and the
// local AWS, each a process of its own: how long a new MachineSet waits for its
// annotations, how often AWS is called for many objects in an hour, and what the
// program takes with thousands of them, at work and idle.
package capacity

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/hack/load/capacity/stage"
)

// settings are the flags.
type settings struct {
	tabard, localkube   string
	warm, hourly, crowd int
	idle                time.Duration
}

// Run measures what the arguments say.
func Run(ctx context.Context, args []string) error {
	var s settings
	flags := flag.NewFlagSet("capacity", flag.ContinueOnError)
	flags.StringVar(&s.tabard, "tabard", "bin/tabard", "the program to measure")
	flags.StringVar(&s.localkube, "localkube", "bin/localkube", "the Kubernetes control plane")
	flags.IntVar(&s.warm, "warm", 200, "MachineSets to create one after the other; 0: none")
	flags.IntVar(&s.hourly, "hourly", 500, "MachineSets whose calls of AWS are counted for an hour; 0: none")
	flags.IntVar(&s.crowd, "crowd", 5000, "MachineSets with which the program's memory is measured; 0: none")
	flags.DurationVar(&s.idle, "idle", time.Minute, "how long the program is watched when it has nothing to do")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return run(ctx, s)
}

func run(ctx context.Context, s settings) (err error) {
	folder, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	opened, err := stage.Open(ctx, stage.Options{Dir: filepath.Join(folder, "lab"), Root: ".", Tabard: s.tabard, Localkube: s.localkube})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close(context.WithoutCancel(ctx)), os.RemoveAll(folder)) }()
	if err := opened.Apply(ctx, definition); err != nil {
		return err
	}
	err = await(ctx, time.Minute, "MachineSets are not served", func() (bool, error) {
		_, err := annotated(ctx, opened)
		return err == nil, nil
	})
	if err != nil {
		return err
	}
	for _, part := range []struct {
		size   int
		report func(context.Context, settings, *stage.Stage) error
	}{{s.warm, latency}, {s.hourly, hour}, {s.crowd, crowd}} {
		if part.size <= 0 {
			continue
		}
		if err := clear(ctx, opened); err != nil {
			return err
		}
		if err := part.report(ctx, s, opened); err != nil {
			return err
		}
	}
	return nil
}

// definition makes the API server serve MachineSets. It asks less of them than
// OpenShift's.
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: machinesets.machine.openshift.io, annotations: {api-approved.kubernetes.io: unapproved}}
spec:
  group: machine.openshift.io
  names: {kind: MachineSet, listKind: MachineSetList, plural: machinesets, singular: machineset}
  scope: Namespaced
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// clear deletes all MachineSets, and what AWS remembers of calls.
func clear(ctx context.Context, s *stage.Stage) error {
	one, err := stage.MachineSet("any", "")
	if err != nil {
		return err
	}
	if err := s.Cluster.DeleteAllOf(ctx, one, client.InNamespace(stage.Namespace)); err != nil {
		return err
	}
	return s.ClearJournal(ctx)
}

// annotated is how many MachineSets are.
func annotated(ctx context.Context, s *stage.Stage) (int, error) {
	one, err := stage.MachineSet("any", "")
	if err != nil {
		return 0, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(one.GroupVersionKind())
	if err := s.Cluster.List(ctx, list, client.InNamespace(stage.Namespace)); err != nil {
		return 0, err
	}
	done := 0
	for i := range list.Items {
		if list.Items[i].GetAnnotations()[stage.VCPU] != "" {
			done++
		}
	}
	return done, nil
}

// await asks until the answer is yes.
func await(ctx context.Context, limit time.Duration, what string, question func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		done, err := question()
		if done || err != nil {
			return err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s: not after %v", what, limit)
		}
	}
}
