// Package ready holds the command "tabard ready": it waits until what is installed of Tabard is
// ready, and says what is not and what to do. The chart's "helm test" runs it.
package ready

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// Seen is what a cluster has of Tabard.
type Seen struct {
	Deployments []appsv1.Deployment
	// Pods are those of the namespaces in which a Deployment is not ready; without the right to list
	// them there are none.
	Pods []corev1.Pod
	// Hooks are the webhook configuration, nil for none.
	Hooks *admissionv1.MutatingWebhookConfiguration
	// Told are the ConfigMaps by which bootstrap commands tell controllers their roles, by name.
	Told map[string]bool
}

// Ask reads a cluster.
type Ask func(ctx context.Context, kubeconfig *command.Kubeconfig, namespaces []string) (Seen, error)

const long = `Waits until all installed components of Tabard are ready: the Deployments, and the webhook's
certificate, without which no pod gets an identity. While it waits, it names what is not ready.

Exit codes: 0 all is ready; 1 something is not after --timeout, or the cluster gives no answer; 2 there
is no kubeconfig and so no cluster to ask, or Tabard is not installed in it.`

// New makes the command.
func New(streams command.Streams, ask Ask) *cobra.Command {
	var kubeconfig command.Kubeconfig
	var timeout time.Duration
	var namespaces []string
	var output command.Output
	out := &cobra.Command{
		Use:     "ready",
		Short:   "Wait until all installed components of Tabard are ready, and name those that are not",
		Long:    long,
		Example: "  tabard ready\n  tabard ready --timeout=0s # do not wait",
		Args:    command.NoArgs(streams),
		RunE: command.Spoken(streams, func(c *cobra.Command, _ []string) error {
			if err := output.Check(); err != nil {
				return err
			}
			return wait(c.Context(), streams, output, timeout, func(ctx context.Context) (Seen, error) { return ask(ctx, &kubeconfig, namespaces) })
		}),
	}
	kubeconfig.AddFlags(out.Flags())
	out.Flags().StringSliceVarP(&namespaces, "namespace", "n", []string{command.Namespace, "tabard-certificate"}, "`namespaces` in which Tabard's Deployments are")
	output.AddFlags(out, command.Name)
	out.Flags().DurationVar(&timeout, "timeout", 2*time.Minute, "how long to wait")
	return out
}

func wait(ctx context.Context, streams command.Streams, output command.Output, timeout time.Duration, look func(context.Context) (Seen, error)) error {
	var seen Seen
	waits, err := command.Until(ctx, streams.Err, timeout, func(ctx context.Context) (_ []string, err error) {
		if seen, err = look(ctx); err == nil && len(seen.Deployments) == 0 {
			err = errors.New("nothing of Tabard is installed: expected Deployments with the label app.kubernetes.io/name=tabard; see docs/install.md")
		}
		return missing(seen), err
	})
	switch {
	case err != nil:
		return err
	case len(waits) == 0:
		return streams.PrintAs(output, printed(seen, nil))
	}
	if err := reportWaiting(streams, output, seen, waits); err != nil {
		return err
	}
	return streams.Refuse(command.Found, fmt.Errorf("not ready after %s:\n%s", timeout, command.Indented(waits)))
}

// report is what -o json prints.
type report struct {
	command.Meta `json:",inline"`

	Ready       bool     `json:"ready"`
	Deployments []string `json:"deployments"`
	// WaitsFor is what is not ready, each with what to do.
	WaitsFor []string `json:"waitsFor,omitempty"`
}

// printed is what was found, of which missing is not ready.
func printed(seen Seen, missing []string) command.Printed {
	out := command.Printed{Text: func() string { return fmt.Sprintf("ready: %s\n", strings.Join(names(seen.Deployments), ", ")) }}
	document := report{Meta: command.MetaOf("Readiness"), Ready: len(missing) == 0}
	for _, d := range seen.Deployments {
		document.Deployments = append(document.Deployments, d.Namespace+"/"+d.Name)
		out.Names = append(out.Names, "deployment.apps/"+d.Name)
	}
	slices.Sort(document.Deployments)
	slices.Sort(out.Names)
	document.WaitsFor = missing
	out.Document = document
	return out
}

// reportWaiting prints for programs what is not ready. People read the refusal.
func reportWaiting(streams command.Streams, output command.Output, seen Seen, missing []string) error {
	if output.IsForPeople() {
		return nil
	}
	return streams.PrintAs(output, printed(seen, missing))
}

func names(deployments []appsv1.Deployment) (out []string) {
	for _, d := range deployments {
		out = append(out, d.Name)
	}
	slices.Sort(out)
	return out
}

// bootstraps are the commands that tell a controller its role, by the name of its ConfigMap,
// which is that of its Deployment, too.
var bootstraps = map[string]string{
	"tabard-issuer":      "tabard issuer bootstrap -f issuer.yaml",
	"tabard-credentials": "tabard credentials bootstrap --infrastructure-name NAME",
	"tabard-hub":         "tabard hub bootstrap",
}

// waitsForRole says that the pods of a Deployment cannot start before a bootstrap command has
// written the ConfigMap of its name. Those of a hub whose managed IAM is off ask for none.
func waitsForRole(seen Seen, d appsv1.Deployment) bool {
	if bootstraps[d.Name] == "" || seen.Told[d.Name] {
		return false
	}
	for _, container := range d.Spec.Template.Spec.Containers {
		for _, variable := range container.Env {
			if from := variable.ValueFrom; from != nil && from.ConfigMapKeyRef != nil && from.ConfigMapKeyRef.Name == d.Name {
				return true
			}
		}
	}
	return false
}

// missing is the decision: what is not ready, each with why or with what to do, in a steady order.
func missing(seen Seen) (out []string) {
	for _, d := range seen.Deployments {
		if text := waitsFor(seen, d); text != "" {
			out = append(out, fmt.Sprintf("Deployment %s/%s %s", d.Namespace, d.Name, text))
		}
	}
	if h := seen.Hooks; h != nil && slices.ContainsFunc(h.Webhooks, func(w admissionv1.MutatingWebhook) bool { return len(w.ClientConfig.CABundle) == 0 }) {
		out = append(out, fmt.Sprintf("MutatingWebhookConfiguration %s has no CA yet, without which no pod gets an identity: kubectl logs -n tabard-certificate deployment/tabard-certificate", h.Name))
	}
	slices.Sort(out)
	return out
}

// IsReady says that a Deployment is ready as "kubectl rollout status" counts it: no pod of an earlier
// version is left. An earlier version that runs on while the new one cannot start is not ready.
func IsReady(d appsv1.Deployment) bool {
	want, now := wanted(d), d.Status
	return now.ObservedGeneration >= d.Generation && now.UpdatedReplicas >= want && now.Replicas <= now.UpdatedReplicas && now.AvailableReplicas >= want
}

// wanted is how many replicas a Deployment wants.
func wanted(d appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// waitsFor says what a Deployment waits for; empty for nothing.
func waitsFor(seen Seen, d appsv1.Deployment) string {
	if IsReady(d) {
		return ""
	}
	want, now := wanted(d), d.Status
	reason, why := cause(d, seen.Pods)
	if waitsForRole(seen, d) && (why == "" || reason == lacksConfig) {
		return "waits for its role: run " + bootstraps[d.Name]
	}
	state := fmt.Sprintf("has %d of %d replicas available", now.AvailableReplicas, want)
	if old := now.Replicas - now.UpdatedReplicas; old > 0 {
		state = fmt.Sprintf("is being rolled out, and %d of its pods are of an earlier version", old)
	}
	if why != "" {
		return state + "; " + why
	}
	return fmt.Sprintf("%s: kubectl describe pods -n %s -l %s", state, d.Namespace, selectorOf(d))
}

func selectorOf(d appsv1.Deployment) string {
	var out []string
	if d.Spec.Selector != nil {
		for key, value := range d.Spec.Selector.MatchLabels {
			out = append(out, key+"="+value)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}
