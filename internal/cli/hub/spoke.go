package hub

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
)

var (
	clusterManagers = schema.GroupVersionKind{Group: "operator.open-cluster-management.io", Version: "v1", Kind: "ClusterManager"}
	managedClusters = schema.GroupVersionKind{Group: "cluster.open-cluster-management.io", Version: "v1", Kind: "ManagedCluster"}
)

// clusterManager is the name that Open Cluster Management gives its one ClusterManager.
const clusterManager = "cluster-manager"

// asked are the flags that say which hub and which spoke are meant.
type asked struct {
	kubeconfig          command.Kubeconfig
	hubARN, spokeARN    string
	issuer              string
	principals          []string
	namespace, klusters string
	singleton           bool
}

func (a *asked) addARNs(f *pflag.FlagSet) {
	addHub(a, f)
	f.StringVar(&a.spokeARN, "managed-cluster-arn", "", "the `ARN` of the joining cluster in EKS (default: that of its ManagedCluster; none for a cluster that is not in EKS)")
}

func (a *asked) addAgents(f *pflag.FlagSet) {
	f.StringVar(&a.issuer, "issuer", "", "the `URL` of the joining cluster's published token issuer, whose tokens its agents have")
	f.StringArrayVar(&a.principals, "principal", nil, "the `ARN` of a role or user whose credentials the agents have, for a cluster that is not in EKS. May be repeated")
	f.StringVar(&a.namespace, "agent-namespace", core.AgentNamespace, "the agents' namespace")
	f.StringVar(&a.klusters, "klusterlet-name", "klusterlet", "the name of the Klusterlet, with which the agents' ServiceAccounts begin")
	f.BoolVar(&a.singleton, "singleton", false, "the Klusterlet is deployed in the mode Singleton, with one agent for both")
}

// resolve says which hub and which spoke are meant. It asks the hub's cluster for the hub's ARN,
// and for the spoke's unless told, where no flag says them.
func (a *asked) resolve(ctx context.Context, world World, cluster string, told bool) (hub core.ARN, spoke core.Spoke, err error) {
	spoke = core.Spoke{
		Cluster: cluster, Issuer: a.issuer, Principals: a.principals,
		Agents: core.Agents{Namespace: a.namespace, Klusterlet: a.klusters, Singleton: a.singleton},
	}
	hubText, spokeText := a.hubARN, a.spokeARN
	if hubText == "" || !told {
		reader, err := world.Hub(&a.kubeconfig)
		if err != nil {
			return hub, spoke, err
		}
		if hubText == "" {
			if hubText, err = hubOf(ctx, reader); err != nil {
				return hub, spoke, err
			}
		}
		if !told {
			if spokeText, err = spokeOf(ctx, reader, cluster); err != nil {
				return hub, spoke, err
			}
		}
	}
	if hub, err = core.ParseARN(hubText); err != nil {
		return hub, spoke, fmt.Errorf("the ARN of the hub: %w", err)
	}
	if spokeText != "" {
		if spoke.ARN, err = core.ParseARN(spokeText); err != nil {
			return hub, spoke, fmt.Errorf("the ARN of the joining cluster: %w", err)
		}
	}
	return hub, spoke, nil
}

const nameTheHub = "name the hub with --hub-cluster-arn"

// hubOf is the ARN that the ClusterManager says, which stands in that of the driver for AWS.
func hubOf(ctx context.Context, reader client.Reader) (string, error) {
	manager := &unstructured.Unstructured{}
	manager.SetGroupVersionKind(clusterManagers)
	err := reader.Get(ctx, client.ObjectKey{Name: clusterManager}, manager)
	switch {
	case meta.IsNoMatchError(err):
		return "", fmt.Errorf("the cluster is no hub: it does not know ClusterManagers; choose the hub with --context, or %s", nameTheHub)
	case apierrors.IsNotFound(err):
		return "", fmt.Errorf("the cluster has no ClusterManager %s; choose the hub with --context, or %s", clusterManager, nameTheHub)
	case err != nil:
		return "", fmt.Errorf("read the ClusterManager %s: %w; or %s", clusterManager, err, nameTheHub)
	}
	if arn := hubIn(manager.Object); arn != "" {
		return arn, nil
	}
	return "", fmt.Errorf("the ClusterManager %s does not say the hub's ARN; %s", clusterManager, nameTheHub)
}

// spokeOf is the ARN that a ManagedCluster says, empty for a cluster that is not in EKS.
func spokeOf(ctx context.Context, reader client.Reader, name string) (string, error) {
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(managedClusters)
	err := reader.Get(ctx, client.ObjectKey{Name: name}, cluster)
	const say = "say what it is with --managed-cluster-arn, --issuer or --principal"
	switch {
	case meta.IsNoMatchError(err):
		return "", errors.New("the cluster is no hub: it does not know ManagedClusters; choose the hub with --context, or " + say)
	case apierrors.IsNotFound(err):
		return "", fmt.Errorf("the hub has no ManagedCluster %s; if it has not joined yet, %s", name, say)
	case err != nil:
		return "", fmt.Errorf("read the ManagedCluster %s: %w; or %s", name, err, say)
	}
	claim := core.Classify(cluster.GetAnnotations())
	if claim.Class == core.Malformed {
		return "", fmt.Errorf("the ManagedCluster %s: %s", name, claim.Problem)
	}
	return claim.Spoke.String(), nil
}
