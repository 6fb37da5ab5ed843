package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
)

const fieldsLong = `Give Open Cluster Management's own definitions of ClusterManager and Klusterlet the fields that
they lack for clusters whose access administrators manage, and for clusters outside AWS:

  awsirsa.disableManagedIam    of a ClusterManager: no program makes or removes roles
  awsIrsa.iamConfigSecret      of a Klusterlet: the Secret with the agents' files of AWS
  awsIrsa.managedClusterArn    is optional, and an empty text counts as none
  both ARNs                    may be of every partition of AWS

Without a flag it prints what would change. A cluster may have one of both definitions or both;
run it on the hub and on each spoke that needs a field. Nothing else of the definitions is
changed, and a definition that is not as Open Cluster Management releases it is left alone.

An upgrade of Open Cluster Management writes its own definitions and takes the fields away, with
all that objects say in them. Tabard's controller then makes and removes nothing, and says so in
the condition of each HubAccess. Run "tabard hub fields --apply" again, and apply your
ClusterManager and Klusterlets anew. Until a ClusterManager that lists the driver awsirsa says
disableManagedIam, true or false, the controller goes on to make and remove nothing.

Exit codes: 0 done, or the plan is printed; 1 the cluster refused it, or objects still use
the fields; 2 the input cannot be used.`

// undoFields takes back what core.FieldsCommand has changed.
const undoFields = "tabard hub fields --undo --apply"

// fields is the command's world and flags.
type fields struct {
	streams             command.Streams
	cluster             Cluster
	apply, undo, dryRun bool
}

func newFields(world World) *cobra.Command {
	var kubeconfig command.Kubeconfig
	f := fields{streams: world.Streams}
	out := &cobra.Command{
		Use:   "fields",
		Short: "Add disableManagedIam and its like to Open Cluster Management's definitions, or take them back",
		Long:  fieldsLong,
		Example: `  # what would change
  tabard hub fields

  # change it
  tabard hub fields --apply

  # ask the API server whether it would take the change
  tabard hub fields --apply --dry-run

  # take it back, once no object uses the fields
  tabard hub fields --undo --apply`,
		Args: command.NoArgs(world.Streams),
		RunE: command.Spoken(world.Streams, func(cmd *cobra.Command, _ []string) error {
			if f.dryRun && !f.apply {
				return errors.New("--dry-run is for --apply: without it nothing is written anyway")
			}
			return world.on(&kubeconfig, func(cluster Cluster) error {
				f.cluster = cluster
				return f.run(cmd.Context())
			})
		}),
	}
	kubeconfig.AddFlags(out.Flags())
	out.Flags().BoolVar(&f.apply, "apply", false, "change the definitions")
	out.Flags().BoolVar(&f.undo, "undo", false, "take back what --apply has changed")
	out.Flags().BoolVar(&f.dryRun, "dry-run", false, "with --apply: have the API server check the change, and store nothing")
	return out
}

// run changes the definitions that are there, or says what it would.
func (f *fields) run(ctx context.Context) error {
	found, open := 0, 0
	for _, name := range []string{core.ManagerDefinition, core.KlusterletDefinition} {
		definition, err := f.definition(ctx, name)
		if err != nil {
			return err
		}
		if definition == nil {
			continue
		}
		found++
		changes, err := f.plan(ctx, definition)
		if err != nil {
			return err
		}
		if err := f.say(name, changes); err != nil {
			return err
		}
		open += len(changes)
		if err := f.write(ctx, definition, changes); err != nil {
			return err
		}
	}
	if found == 0 {
		return fmt.Errorf("the cluster has neither %s nor %s: install Open Cluster Management first, or choose another cluster with --context", core.ManagerDefinition, core.KlusterletDefinition)
	}
	return f.conclude(open)
}

// definition reads one; nil if the cluster does not have it.
func (f *fields) definition(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	err := f.cluster.Get(ctx, client.ObjectKey{Name: name}, out)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // none is an answer here
	}
	return out, err
}

// plan is what is to be changed. Fields that are in use are not taken back.
func (f *fields) plan(ctx context.Context, definition *unstructured.Unstructured) ([]core.FieldChange, error) {
	if !f.undo {
		return core.Fields(definition.Object)
	}
	changes, err := core.Unmerge(definition.Object)
	if err != nil || len(changes) == 0 {
		return changes, err
	}
	return changes, f.unused(ctx, definition)
}

// unused refuses where an object says what the definition would have no place for.
func (f *fields) unused(ctx context.Context, definition *unstructured.Unstructured) error {
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(clusterManagers.GroupVersion().WithKind(kind + "List"))
	if err := f.cluster.List(ctx, list); err != nil && !meta.IsNoMatchError(err) {
		return fmt.Errorf("list the objects of the kind %s: %w", kind, err)
	}
	var errs []error
	for i := range list.Items {
		if uses := core.FieldsInUse(list.Items[i].Object); len(uses) > 0 {
			errs = append(errs, fmt.Errorf("the %s %s uses the fields: %s; change that first, it would be lost", kind, list.Items[i].GetName(), strings.Join(uses, ", ")))
		}
	}
	return errors.Join(errs...)
}

func (f *fields) say(name string, changes []core.FieldChange) error {
	text := name + ":\n"
	if len(changes) == 0 {
		text = name + ": as wanted\n"
		if f.undo {
			text = name + ": there is nothing to take back\n"
		}
	}
	for _, change := range changes {
		text += "  " + change.Field + " " + change.What + "\n"
	}
	return f.streams.Print(text)
}

// write changes the definition, if that was asked for. It is refused where somebody has changed the
// definition's spec in between.
func (f *fields) write(ctx context.Context, definition *unstructured.Unstructured, changes []core.FieldChange) error {
	if !f.apply || len(changes) == 0 && !f.undo {
		return nil
	}
	merge := core.Merge
	if f.undo {
		merge = core.Restore
	}
	var options []client.UpdateOption
	if f.dryRun {
		options = append(options, client.DryRunAll)
	}
	return whileUnmoved(ctx, f.cluster, definition, func(current *unstructured.Unstructured) error {
		changed := current.DeepCopy()
		if err := merge(changed.Object, changes); err != nil {
			return err
		}
		if err := f.cluster.Update(ctx, changed, options...); err != nil {
			return fmt.Errorf("change %s: %w", definition.GetName(), err)
		}
		return nil
	})
}

// conclude says what was done, and what to do next.
func (f *fields) conclude(open int) error {
	again := core.FieldsCommand
	if f.undo {
		again = undoFields
	}
	switch {
	case open == 0:
		return nil
	case f.dryRun:
		return f.streams.Print("the API server takes the change; nothing was stored\n")
	case !f.apply:
		return f.streams.Print("nothing was changed; to change it: " + again + "\n")
	case f.undo:
		return f.streams.Print("changed\n")
	}
	return f.streams.Print("changed; to take it back later: " + undoFields + "\n")
}
