package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubaccess"
)

const acceptLong = `Accept clusters that ask to join the hub. It is called as "clusteradm accept" is, with a kubeconfig
of the hub. Look before at what a cluster says of itself: whoever has a bootstrap token chooses a
cluster's name and its annotations.

  kubectl get managedcluster NAME -o yaml

The command sets spec.hubAcceptsClient. A cluster that joins with AWS identity asks for no
certificate, which is seen by its annotations, so there is nothing else to do. Of any other cluster
the command first approves the certificate signing request: only one that its agent's bootstrap
identity has made, for this cluster and its group alone. If agents of several names ask for one
cluster, nothing is approved until --requesters names the right one.

With --wait the command waits until each cluster is accepted, has joined and reports, and its
HubAccess, if there is one, is ready.

Exit codes: 0 all are accepted; 1 one is not there, cannot be accepted, has no request for a
certificate yet, or has not joined after --timeout; 2 the input cannot be used.`

// acceptance is the command's world and flags.
type acceptance struct {
	streams    command.Streams
	cluster    Cluster
	clusters   []string
	requesters []string
	unchecked  bool
	dryRun     bool
	patience   patience
}

func newAccept(world World) *cobra.Command {
	var kubeconfig command.Kubeconfig
	a := acceptance{streams: world.Streams}
	out := &cobra.Command{
		Use:   "accept",
		Short: "Accept clusters that ask to join the hub",
		Long:  acceptLong,
		Example: `  tabard hub accept --clusters cluster1

  # wait until it has joined
  tabard hub accept --clusters cluster1 --wait --timeout 300`,
		Args: command.NoArgs(world.Streams),
		RunE: command.Spoken(world.Streams, func(cmd *cobra.Command, _ []string) error {
			if len(a.clusters) == 0 || slices.Contains(a.clusters, "") {
				return errors.New("--clusters is missing: name the ManagedClusters to accept, such as --clusters cluster1,onprem-1")
			}
			return world.on(&kubeconfig, func(cluster Cluster) error {
				a.cluster = cluster
				return a.run(cmd.Context())
			})
		}),
	}
	f := out.Flags()
	kubeconfig.AddFlags(f)
	f.StringSliceVar(&a.clusters, "clusters", nil, "the `names` of the ManagedClusters, with commas in between")
	f.StringSliceVar(&a.requesters, "requesters", nil, "the `users` whose certificates are approved, as the requests name them")
	f.BoolVar(&a.unchecked, "skip-approve-check", false, "approve certificate signing requests that another than the bootstrap identity has made, too")
	f.BoolVar(&a.dryRun, "dry-run", false, "say what would be done, and write nothing")
	a.patience.add(f, "the clusters have joined")
	return out
}

// run accepts all that it can.
func (a *acceptance) run(ctx context.Context) error {
	var errs []error
	for _, name := range a.clusters {
		if err := a.accept(ctx, name); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (a *acceptance) accept(ctx context.Context, name string) error {
	cluster, err := a.find(ctx, name)
	if err != nil {
		return err
	}
	claim := core.Classify(cluster.GetAnnotations())
	if claim.Class == core.Malformed {
		return fmt.Errorf("the ManagedCluster %s is not accepted: %s. Nothing says which cluster it is; delete it, and have it join anew", name, claim.Problem)
	}
	missing := ""
	if claim.Class == core.Foreign {
		if missing, err = a.approve(ctx, name); err != nil {
			return err
		}
	}
	if err := a.set(ctx, cluster, claim); err != nil || a.dryRun {
		return err
	}
	if a.patience.wait {
		return a.wait(ctx, name, claim)
	}
	if joined := core.ClusterWaits(cluster.Object); missing != "" && len(joined) > 0 {
		return errors.New(missing)
	}
	return nil
}

// find reads a ManagedCluster.
func (a *acceptance) find(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(managedClusters)
	err := a.cluster.Get(ctx, client.ObjectKey{Name: name}, cluster)
	switch {
	case meta.IsNoMatchError(err):
		return nil, errors.New("the cluster is no hub: it does not know ManagedClusters; choose the hub with --context")
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("the hub has no ManagedCluster %s: its agent makes it when it first reaches the hub. See who has come: kubectl get managedclusters; on the joining cluster: kubectl -n %s logs deployment/klusterlet-registration-agent", name, core.AgentNamespace)
	case err != nil:
		return nil, fmt.Errorf("read the ManagedCluster %s: %w", name, err)
	}
	return cluster, nil
}

// set sets spec.hubAcceptsClient.
func (a *acceptance) set(ctx context.Context, cluster *unstructured.Unstructured, claim core.Claim) error {
	who := cluster.GetName()
	switch claim.Class {
	case core.Managed:
		who += ", which says that it is " + claim.Spoke.String() + ","
	case core.External:
		who += ", which joins with AWS identity and says that it is not in EKS,"
	}
	if accepted, _, _ := unstructured.NestedBool(cluster.Object, "spec", "hubAcceptsClient"); accepted {
		say(a.streams.Out, "%s is accepted already", who)
		return nil
	}
	if a.dryRun {
		say(a.streams.Out, "%s would be accepted", who)
		return nil
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"hubAcceptsClient":true}}`))
	if err := a.cluster.Patch(ctx, cluster, patch, client.FieldOwner(fieldOwner)); err != nil {
		return fmt.Errorf("accept the ManagedCluster %s: %w", cluster.GetName(), err)
	}
	say(a.streams.Out, "%s is accepted", who)
	return nil
}

// approve approves the cluster's certificate signing requests. It says what is missing if there is
// none to approve and none approved. Where a controller of the hub has written to one since it was
// read, it looks again and decides again.
func (a *acceptance) approve(ctx context.Context, name string) (missing string, err error) {
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() (err error) {
		missing, err = a.approveSeen(ctx, name)
		return err
	})
	return missing, err
}

// approveSeen approves the requests as they are at the moment.
func (a *acceptance) approveSeen(ctx context.Context, name string) (missing string, err error) {
	var list certificatesv1.CertificateSigningRequestList
	if err := a.cluster.List(ctx, &list, client.MatchingLabels{core.RequestLabel: name}); err != nil {
		return "", fmt.Errorf("list the certificate signing requests of %s: %w", name, err)
	}
	requests := make([]core.SigningRequest, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, requestOf(&list.Items[i]))
	}
	approval := core.Approvals(name, requests, a.requesters, a.unchecked)
	for _, note := range approval.Notes {
		say(a.streams.Err, "%s", note)
	}
	for i := range list.Items {
		request := &list.Items[i]
		if !slices.Contains(approval.Approve, request.Name) {
			continue
		}
		if a.dryRun {
			say(a.streams.Out, "the certificate signing request %s would be approved", request.Name)
			continue
		}
		request.Status.Conditions = append(request.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "AcceptedByTabard",
			Message: "tabard hub accept approved it.", LastUpdateTime: metav1.Now(),
		})
		if err := a.cluster.SubResource("approval").Update(ctx, request); err != nil {
			return "", fmt.Errorf("approve the certificate signing request %s: %w", request.Name, err)
		}
		say(a.streams.Out, "the certificate signing request %s is approved", request.Name)
	}
	if len(approval.Approve) == 0 && !approval.Done {
		return fmt.Sprintf("no certificate of the cluster %s is approved: its agent has asked for none that may be. Run the command again when it has, or with --wait; kubectl get csr -l %s=%s shows what there is", name, core.RequestLabel, name), nil
	}
	return "", nil
}

func requestOf(of *certificatesv1.CertificateSigningRequest) core.SigningRequest {
	out := core.SigningRequest{Name: of.Name, Username: of.Spec.Username, Signer: of.Spec.SignerName, PEM: of.Spec.Request}
	for _, condition := range of.Status.Conditions {
		switch condition.Type {
		case certificatesv1.CertificateApproved:
			out.Approved = true
		case certificatesv1.CertificateDenied:
			out.Denied = true
		}
	}
	return out
}

// wait waits until the cluster has joined. An agent without a certificate may ask for it meanwhile.
func (a *acceptance) wait(ctx context.Context, name string, claim core.Claim) error {
	err := a.patience.until(ctx, a.streams, func(ctx context.Context) ([]string, error) {
		cluster, err := a.find(ctx, name)
		if err != nil {
			return nil, err
		}
		missing := core.ClusterWaits(cluster.Object)
		if claim.Class == core.Foreign && len(missing) > 0 {
			lacks, err := a.quietly().approve(ctx, name)
			if err != nil {
				return nil, err
			}
			if lacks != "" {
				missing = append(missing, "there is no certificate signing request to approve yet")
			}
		}
		if claim.Class == core.Foreign {
			return missing, nil
		}
		access, err := a.access(ctx, name)
		return append(missing, access...), err
	})
	if err != nil {
		return fmt.Errorf("the cluster %s is accepted, and it is %w", name, err)
	}
	say(a.streams.Out, "%s has joined", name)
	return nil
}

// quietly is the same without the notes, which were said before.
func (a *acceptance) quietly() *acceptance {
	out := *a
	out.streams.Err = io.Discard
	return &out
}

// access says what the HubAccess of a cluster lacks. Where people make the roles, there is none, or
// it says so.
func (a *acceptance) access(ctx context.Context, name string) ([]string, error) {
	access := &unstructured.Unstructured{}
	access.SetGroupVersionKind(hubAccesses)
	err := a.cluster.Get(ctx, client.ObjectKey{Name: name}, access)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the HubAccess %s: %w", name, err)
	}
	conditions, _, _ := unstructured.NestedSlice(access.Object, "status", "conditions")
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		switch {
		case condition["type"] != "Ready":
		case condition["status"] == string(metav1.ConditionTrue), condition["reason"] == string(hubaccess.ReasonManagedIAMDisabled):
			return nil, nil
		default:
			return []string{strings.TrimSpace(fmt.Sprintf("its HubAccess is not ready: %v: %v", condition["reason"], condition["message"]))}, nil
		}
	}
	return []string{"its HubAccess is not ready yet"}, nil
}
