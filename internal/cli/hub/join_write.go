package hub

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/ocmhook"
)

// bootstrapSecret is the Secret by which agents first reach the hub (Open Cluster Management
// v1.2.1, pkg/operator/helpers).
const bootstrapSecret = "bootstrap-hub-kubeconfig" //nolint:gosec // a name, and no secret

func namespaceOf(j core.Join) map[string]any {
	metadata := map[string]any{"name": j.AgentNamespace}
	if j.AuthType == core.DriverAWS {
		metadata["labels"] = map[string]any{core.HookLabel: core.HookLabelValue}
	}
	return map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
}

func secretOf(kubeconfig []byte) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": map[string]any{"namespace": core.AgentNamespace, "name": bootstrapSecret},
		"data": map[string]any{"kubeconfig": base64.StdEncoding.EncodeToString(kubeconfig)},
	}
}

// redacted is the Secret as it is printed: its kubeconfig is legible, and has no token.
func (j *joining) redacted() map[string]any {
	without := j.hub
	without.token = withoutToken
	out := maps.Clone(j.secret)
	delete(out, "data")
	text, err := without.kubeconfig()
	if err != nil {
		text = []byte(withoutToken)
	}
	out["stringData"] = map[string]any{"kubeconfig": string(text)}
	return out
}

// write writes all, and waits.
func (j *joining) write(ctx context.Context) error {
	if j.dryRun {
		say(j.out, "this was a dry run: nothing was written")
		return nil
	}
	for _, object := range []map[string]any{j.namespace, j.secret} {
		if _, err := apply(ctx, j.cluster, object, false); err != nil {
			return err
		}
	}
	if _, err := j.applyKlusterlet(ctx, false); err != nil {
		return err
	}
	say(j.out, "the Klusterlet is written")
	if j.patience.wait {
		if err := j.patience.until(ctx, j.world.Streams, j.waits); err != nil {
			return fmt.Errorf("the cluster is %w", err)
		}
		say(j.out, "the agents run, and the hub knows the cluster")
	}
	say(j.out, "now accept the cluster: with a kubeconfig of the hub, type\n\n    tabard hub accept --clusters %s\n", j.want.Cluster)
	return nil
}

// waits says what is missing until the agents run and the hub knows the cluster.
func (j *joining) waits(ctx context.Context) ([]string, error) {
	klusterlet := theKlusterlet.empty()
	if err := j.cluster.Get(ctx, client.ObjectKeyFromObject(klusterlet), klusterlet); err != nil {
		return nil, err
	}
	if missing := core.KlusterletWaits(klusterlet.Object); len(missing) > 0 {
		return missing, nil
	}
	at, err := j.hub.managedCluster(ctx, j.world, j.want.Cluster)
	switch {
	case err != nil:
		return []string{fmt.Sprintf("the hub does not say whether it knows the cluster: %v", err)}, nil
	case at == nil:
		return []string{"the hub does not know the cluster yet: the agent's log says why, kubectl -n " + core.AgentNamespace + " logs deployment/klusterlet-registration-agent"}, nil
	}
	return nil, nil
}

const (
	configField  = "iamConfigSecret"
	managedField = "managedClusterArn"
)

// applyKlusterlet applies the Klusterlet, and refuses one that is not as wanted then.
func (j *joining) applyKlusterlet(ctx context.Context, dry bool) (map[string]any, error) {
	after, err := applyOver(ctx, j.cluster, j.existing, j.klusterlet, dry)
	if lacks := lacksField(err, configField); lacks != nil {
		return nil, lacks
	}
	switch {
	case apierrors.IsInvalid(err) && strings.Contains(err.Error(), managedField) && j.isOutsideEKS():
		return nil, fmt.Errorf("%w (%w)", errNoHook, err)
	case err != nil:
		return nil, err
	}
	if err := j.compare(after); err != nil {
		if !dry {
			err = fmt.Errorf("the Klusterlet was written, and is not as wanted: %w", err)
		}
		return nil, err
	}
	return after, nil
}

// errNoHook says what a cluster outside EKS lacks.
var errNoHook = fmt.Errorf("a Klusterlet without %s needs Tabard's admission hook, and it is not there: Open Cluster Management's operator would end at this Klusterlet. Turn the chart's component ocm on in this cluster first: helm upgrade tabard charts/tabard --namespace tabard-system --reset-then-reuse-values --set ocm.enabled=true; a cluster in EKS is said with --managed-cluster-arn", managedField)

func (j *joining) isOutsideEKS() bool {
	return j.want.AuthType == core.DriverAWS && j.want.Managed.IsZero()
}

// compare says what of a Klusterlet is not as wanted: what the API server has dropped, what nothing
// has put in, and what somebody else wrote before.
func (j *joining) compare(after map[string]any) error {
	read, err := readKlusterlet(after)
	if err != nil || j.want.AuthType != core.DriverAWS {
		return err
	}
	const at = "spec.registrationConfiguration.registrationDriver.awsIrsa."
	managed := j.want.Managed.String()
	switch {
	case read.IAMConfigSecret == "" && j.want.IAMConfigSecret != "":
		return dropped("awsIrsa." + configField)
	case read.ManagedARN == "":
		return errNoHook
	case managed == "" && read.ManagedARN != placeholderOf(after):
		return stale(at+managedField, read.ManagedARN)
	case managed != "" && read.ManagedARN != managed:
		return stale(at+managedField, read.ManagedARN)
	case read.IAMConfigSecret != j.want.IAMConfigSecret:
		return stale(at+configField, read.IAMConfigSecret)
	case read.HubRole != j.hubRole:
		return stale("the annotation "+ocmhook.HubRoleAnnotation, read.HubRole)
	}
	return nil
}

func stale(what, value string) error {
	return fmt.Errorf("the Klusterlet says %.200q as %s, which somebody else wrote and no flag says: take it out first with kubectl edit klusterlet %s, or say it with the flag", value, what, theKlusterlet.name)
}

// placeholderOf is what Tabard's admission hook writes as the ARN of such a Klusterlet.
func placeholderOf(klusterlet map[string]any) string {
	without := runtime.DeepCopyJSON(klusterlet)
	if read, err := readKlusterlet(without); err == nil {
		read.ManagedARN = ""
		for _, operation := range ocmhook.AdmitKlusterlet(read).Patch {
			if arn, is := operation.Value.(string); is {
				return arn
			}
		}
	}
	return ""
}
