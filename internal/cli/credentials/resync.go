package credentials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

const resyncLong = `Have the controller look at a request now. It reads the request's role in AWS, and restores a
role that it made. A role that was bound is read again, and never changed. A request that
waits is tried again. Without this command the controller reads all roles once an hour,
because AWS does not notify it of changes.

The command writes an annotation to Tabard's record of the request, the CredentialsGrant.
For that you need the right to patch credentialsgrants. The controller reports what it
finds in an event of the request and in a condition of the grant.

Exit codes: 0 the controller has been told; 1 the cluster refuses it; 2 the input cannot be used, or
there is no record of the request.`

func newResync(streams command.Streams, world World) *cobra.Command {
	w := &where{place: world.Place()}
	var everything bool
	out := &cobra.Command{
		Use:   "resync [NAME]",
		Short: "Have the controller look at a request and its role in AWS now, or at all",
		Long:  resyncLong,
		Example: `  tabard credentials resync reports -n team-a

  # all requests of all namespaces
  tabard credentials resync --all`,
		Args: command.Spoken(streams, func(_ *cobra.Command, args []string) error {
			if everything == (len(args) == 1) || len(args) > 1 {
				return errors.New("resync takes the name of one CredentialsRequest, or --all; see tabard credentials resync --help")
			}
			return nil
		}),
		RunE: failed(streams, func(c *cobra.Command, args []string) error {
			w.all = everything
			return resync(c.Context(), streams, w, args)
		}),
	}
	w.add(out.Flags(), false)
	out.Flags().BoolVar(&everything, "all", false, "all requests of all namespaces")
	return out
}

// resync asks for a look at one request, or at all.
func resync(ctx context.Context, streams command.Streams, w *where, names []string) error {
	s, err := w.read(ctx)
	if err != nil {
		return err
	}
	var found []*v1alpha1.CredentialsGrant
	for i := range s.Requests {
		if len(names) > 0 && s.Requests[i].Name != names[0] {
			continue
		}
		if grant := core.GrantOf(s.World(&s.Requests[i])); grant != nil {
			found = append(found, grant)
		}
	}
	if len(names) > 0 && len(found) == 0 {
		return s.withoutRecord(names[0])
	}
	for done, grant := range found {
		if err := askForLook(ctx, s, s.Now(), grant); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("%d of %d are asked for; annotate CredentialsGrant %s: %w", done, len(found), grant.Name, err)
		}
	}
	return streams.Print(fmt.Sprintf("The controller is asked to look at %d requests, and at their roles in AWS.\n", len(found)))
}

// withoutRecord says why nobody can be asked to look at a request.
func (s *seen) withoutRecord(name string) error {
	at := slices.IndexFunc(s.Requests, func(r cloudv1.CredentialsRequest) bool { return r.Name == name })
	if at < 0 {
		return s.noRequest(name)
	}
	return fmt.Errorf("the controller has no record of the CredentialsRequest %s/%s yet: tabard credentials describe %[2]s -n %[1]s says what it waits for", s.Namespace, name)
}

// askForLook has the controller look at a request and its role. The time makes each asking
// another.
func askForLook(ctx context.Context, cluster client.Writer, now time.Time, grant *v1alpha1.CredentialsGrant) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"annotations": map[string]string{core.ResyncAnnotation: now.UTC().Format(time.RFC3339Nano)},
	}})
	if err != nil {
		return err
	}
	return cluster.Patch(ctx, grant, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(fieldOwner))
}

// fieldOwner is who writes what a person decides.
const fieldOwner = "tabard.credentials.cli"
