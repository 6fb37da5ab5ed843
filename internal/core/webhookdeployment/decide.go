// Package webhookdeployment decides what the controller of that name does to the
// webhook's own Deployment, Services, budget and hooks: they are made, kept as the
// manifest has them, or left alone where another has a webhook or keeps these.
package webhookdeployment

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/json"
)

// Owner is the field manager of all writes.
const Owner = "tabard.webhookdeployment"

// Again is when to look next, though events wake the controller: what is not watched,
// as the cluster's topology, counts within that time.
const Again = 30 * time.Second

// Topologies of config.openshift.io/v1 Infrastructure that matter.
const (
	SingleReplica = "SingleReplica"
	External      = "External"
)

// Names of what the Cloud Credential Operator has.
const (
	TheirName      = "pod-identity-webhook"
	TheirNamespace = "openshift-cloud-credential-operator"
)

// Platform is what OpenShift's Infrastructure says; empty elsewhere.
type Platform struct{ InfrastructureTopology, ControlPlaneTopology string }

// World is all that a pass has seen.
type World struct {
	Wanted   Wanted
	Platform Platform
	// Stored are the objects of Wanted that are there.
	Stored map[ID]Object
	// TheirDeployment is the Cloud Credential Operator's, TheirConfiguration the
	// MutatingWebhookConfiguration of its name; nil without one.
	TheirDeployment, TheirConfiguration Object
}

// Step is one thing to do.
type Step interface{ step() }

// Create makes an object, by an apply without force: one that has come to be in between
// is not written over.
type Create struct {
	ID ID
	// Object is JSON, with its keys in order.
	Object string
}

// Change puts what has drifted back, if the object still is what was seen.
type Change struct {
	ID ID
	// Patch is a JSON merge patch (RFC 7396) of the fields that change, and with the
	// resourceVersion that was seen.
	Patch string
}

// Delete removes the budget, which would block the drain of the only node.
type Delete struct {
	ID ID
	// UID is that of the object that was seen.
	UID string
}

func (Create) step() {}
func (Change) step() {}
func (Delete) step() {}

// Reason says in a word what the controller does.
type Reason string

// Reasons. All but Kept say that nothing is deployed.
const (
	Kept         Reason = "Kept"
	TheirWebhook Reason = "CloudCredentialOperatorWebhook"
	HostedHook   Reason = "HostedControlPlaneWebhook"
	OtherManager Reason = "ManagedByOthers"
	Stuck        Reason = "SelectorDiffers"
)

// Reasons are all.
func Reasons() []Reason { return []Reason{Kept, TheirWebhook, HostedHook, OtherManager, Stuck} }

// Notice is what people are told.
type Notice struct {
	Reason Reason
	Note   string
}

// Plan is what to do.
type Plan struct {
	Steps  []Step
	Notice Notice
}

// Decide says what to do.
func Decide(w World) Plan {
	if notice := standDown(w); notice.Reason != "" {
		return Plan{Notice: notice}
	}
	plan := Plan{Notice: Notice{Kept, "the webhook's Deployment, Services, PodDisruptionBudget and hooks are kept as the manifest has them"}}
	for _, id := range w.Wanted.IDs {
		if step := keep(id, w.Stored[id], w.Wanted.For(id, w.Platform)); step != nil {
			plan.Steps = append(plan.Steps, step)
		}
	}
	return plan
}

// keep is the step that an object needs, nil for none.
func keep(id ID, stored, wanted Object) Step {
	switch {
	case stored == nil && wanted == nil:
		return nil
	case stored == nil:
		return Create{id, text(wanted)}
	case wanted == nil:
		uid, _ := look(stored, "metadata", "uid").(string)
		return Delete{id, uid}
	}
	patch := difference(stored, fit(stored, wanted))
	if len(patch) == 0 {
		return nil
	}
	at(patch, "metadata")["resourceVersion"] = look(stored, "metadata", "resourceVersion")
	return Change{id, text(patch)}
}

// text is an object's JSON.
func text(object Object) string {
	out, err := json.Marshal(object)
	if err != nil {
		panic(err) // not reached: it came from JSON
	}
	return string(out)
}

// standDown says why nothing is to be deployed; without a reason something is.
func standDown(w World) Notice {
	hooks := items(w.TheirConfiguration, "webhooks")
	switch {
	case wants(w.TheirDeployment):
		return Notice{TheirWebhook, fmt.Sprintf("nothing is deployed: the Cloud Credential Operator runs its webhook, Deployment %s/%s", TheirNamespace, TheirName)}
	case w.Platform.ControlPlaneTopology == External && len(hooks) > 0:
		return Notice{HostedHook, fmt.Sprintf("nothing is deployed: the hosted control plane runs a webhook of its own, MutatingWebhookConfiguration %s", TheirName)}
	case isTheirs(hooks):
		return Notice{TheirWebhook, fmt.Sprintf("nothing is deployed: MutatingWebhookConfiguration %s is the Cloud Credential Operator's; if that does not run any more, delete it", TheirName)}
	}
	for _, id := range w.Wanted.IDs {
		stored := w.Stored[id]
		if stored == nil {
			continue
		}
		if by := manager(stored, w.Wanted.objects[id]); by != "" {
			return Notice{OtherManager, fmt.Sprintf("nothing is deployed: %s is kept by %s; leave it there and turn this controller off, or have %s give it up", id, by, by)}
		}
	}
	return stuck(w)
}

// stuck names a Deployment that no change can make ours: its selector cannot change.
func stuck(w World) Notice {
	for _, id := range w.Wanted.IDs {
		if id.Kind != Deployment || w.Stored[id] == nil {
			continue
		}
		if !equality.Semantic.DeepEqual(look(w.Stored[id], "spec", "selector"), look(w.Wanted.objects[id], "spec", "selector")) {
			return Notice{Stuck, fmt.Sprintf("nothing is deployed: the selector of %s is not the manifest's, and Kubernetes lets nobody change it; delete the Deployment, and it is made anew", id)}
		}
	}
	return Notice{}
}

// wants says that a Deployment is to have a pod. Kubernetes: without replicas it has one.
func wants(deployment Object) bool {
	if deployment == nil {
		return false
	}
	replicas, said := look(deployment, "spec", "replicas").(int64)
	return !said || replicas > 0
}

// isTheirs says that hooks call a Service of the Cloud Credential Operator's namespace.
// Other webhooks have the same name; EKS's is one.
func isTheirs(hooks []Object) bool {
	for _, hook := range hooks {
		name, _ := hook["name"].(string)
		if look(hook, "clientConfig", "service", "namespace") == TheirNamespace || strings.HasPrefix(name, TheirName+".") && strings.HasSuffix(name, ".mutate.io") {
			return true
		}
	}
	return false
}
