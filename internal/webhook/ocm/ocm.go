// Package ocm is the admission server ocm.tabard.dev: it takes the objects of Open Cluster
// Management's operators apart, asks core/ocmhook, and writes what changes. It follows the
// Klusterlets and ClusterManagers of the cluster, of which there are few; while they are not
// known it answers with an error, so that the API server applies the hook's failurePolicy.
//
// +kubebuilder:rbac:groups=operator.open-cluster-management.io,resources=klusterlets;clustermanagers,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=tabard-ocm-cert,verbs=get;list;watch,namespace=tabard-certificate
package ocm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	core "github.com/tabard-dev/tabard/internal/core/ocmhook"
	"github.com/tabard-dev/tabard/internal/webhook"
)

// MetricsPrefix is what the names of the metrics begin with.
const MetricsPrefix = "tabard_ocm_webhook"

// Options are how to serve.
type Options struct {
	// Options say where and with what certificate. What is about pods' own identity has no
	// effect.
	webhook.Options
	// Settings decide what agents' pods get.
	Settings core.Settings
}

// Run serves until ctx ends, and returns nil then. The context's logger is used.
func Run(ctx context.Context, o Options) error {
	client, err := dynamic.NewForConfig(o.Config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	log := logr.FromContextOrDiscard(ctx)
	w := newWorld(client, log)
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go w.klusterlets.Run(following)
	go w.managers.Run(following)
	h := hooks{world: w, settings: o.Settings, log: log}
	return webhook.RunHooks(ctx, webhook.HookOptions{
		Options: o.Options, Prefix: MetricsPrefix, Known: w.known,
		Hooks: []webhook.Hook{
			{Path: "/klusterlets", Answer: h.klusterlet}, {Path: "/pods", Answer: h.pod}, {Path: "/serviceaccounts", Answer: h.account},
		},
	})
}

// hooks ask the decisions.
type hooks struct {
	world    *world
	settings core.Settings
	log      logr.Logger
}

// klusterlet answers about a Klusterlet.
func (h hooks) klusterlet(review webhook.Review) (webhook.Answer, error) {
	k, err := core.ReadKlusterlet(review.Object)
	if err != nil {
		return webhook.Answer{Refusal: err.Error()}, nil
	}
	return h.answer("Klusterlet", "", k.Name, core.AdmitKlusterlet(k))
}

// pod answers about a pod.
func (h hooks) pod(review webhook.Review) (webhook.Answer, error) {
	var pod corev1.Pod
	if err := json.Unmarshal(review.Object, &pod); err != nil {
		return webhook.Answer{Refusal: fmt.Sprintf("the pod cannot be read: %v", err)}, nil
	}
	name := pod.Name
	if name == "" {
		name = pod.GenerateName + "…"
	}
	return h.answer("pod", review.Namespace, name, core.AdmitPod(&pod, review.Namespace, h.world.now(), h.settings))
}

// account answers about a ServiceAccount.
func (h hooks) account(review webhook.Review) (webhook.Answer, error) {
	var account metav1.PartialObjectMetadata
	if err := json.Unmarshal(review.Object, &account); err != nil {
		return webhook.Answer{Refusal: fmt.Sprintf("the ServiceAccount cannot be read: %v", err)}, nil
	}
	return h.answer("ServiceAccount", review.Namespace, account.Name, core.AdmitServiceAccount(account.Annotations, review.Namespace, h.world.now()))
}

// answer writes a decision, and logs what it changes or refuses.
func (h hooks) answer(kind, namespace, name string, d core.Decision) (webhook.Answer, error) {
	out := webhook.Answer{Warnings: d.Warnings, Refusal: d.Refusal}
	switch {
	case d.Refusal != "":
		h.log.Info("refused", "kind", kind, "namespace", namespace, "name", name, "why", d.Refusal)
	case len(d.Patch) > 0:
		patch, err := json.Marshal(d.Patch)
		if err != nil {
			return out, errors.New("the patch cannot be written") // not reached: it is of plain data
		}
		out.Patch = patch
		h.log.Info("changed", "kind", kind, "namespace", namespace, "name", name, "operations", len(d.Patch))
	}
	return out, nil
}
