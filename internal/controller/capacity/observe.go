package capacity

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	core "github.com/tabard-dev/tabard/internal/core/capacity"
)

// observation is what a pass has read.
type observation struct {
	world core.World
	// object is as stored.
	object *object
}

// observe reads the object and what it leads to, and asks AWS. A NotFound error
// is about the object itself.
func (r *run) observe(ctx context.Context, request Request) (observation, error) {
	k := kindOf(request.Kind)
	stored, err := r.get(ctx, k, request.NamespacedName)
	if err != nil {
		return observation{}, err
	}
	w := core.World{
		Options: r.options.Decision, Object: objectOf(k, stored),
		DefaultRegion: r.options.DefaultRegion, Memory: r.memory.of(request),
	}
	w.Options.Migration = r.served.migration
	platform, err := r.lookup(ctx, infrastructure, types.NamespacedName{Name: infrastructure.only})
	if err != nil {
		return observation{}, err
	}
	if platform != nil {
		w.Platform = core.Platform{Type: platform.Status.PlatformStatus.Type, Region: platform.Status.PlatformStatus.AWS.Region}
	}
	if err := r.follow(ctx, &w); err != nil {
		return observation{}, err
	}
	err = r.ask(ctx, request, &w, stored, platform)
	return observation{world: w, object: stored}, err
}

// follow reads what the object refers to.
func (r *run) follow(ctx context.Context, w *core.World) error {
	own := w.Object.Namespace
	if ref, ok := core.TemplateRef(w.Object); ok {
		template, err := r.lookup(ctx, machineTemplate, types.NamespacedName{Namespace: own, Name: ref.Name})
		if err != nil {
			return err
		}
		w.Template = templateOf(template)
	}
	if w.Object.ClusterName == "" {
		return nil
	}
	owner, err := r.lookup(ctx, cluster, types.NamespacedName{Namespace: own, Name: w.Object.ClusterName})
	if err != nil {
		return err
	}
	w.Cluster = clusterOf(owner)
	w.ClusterRegion, err = r.region(ctx, w)
	return err
}

// region is what the cluster's own object says, empty if there is none.
func (r *run) region(ctx context.Context, w *core.World) (string, error) {
	ref, ok := core.RegionRef(w.Object, w.Cluster)
	if !ok {
		return "", nil
	}
	for _, k := range regional {
		if k.Group != ref.Group() || k.Kind != ref.Kind {
			continue
		}
		found, err := r.lookup(ctx, k, types.NamespacedName{Namespace: w.Object.Namespace, Name: ref.Name})
		if found == nil || err != nil {
			return "", err
		}
		return found.Spec.Region, nil
	}
	return "", nil
}

// ask finds out who asks and what, and asks. Objects that are left alone are not
// asked for.
func (r *run) ask(ctx context.Context, request Request, w *core.World, stored, platform *object) error {
	if _, ok := core.Ask(*w); !ok {
		return nil
	}
	claim := Claim{
		Kind: request.Kind, Namespace: request.Namespace, Name: request.Name,
		Secret: core.SecretName(w.Object), OpenShift: platform != nil, Selected: r.selected(kindOf(request.Kind), stored),
	}
	if platform != nil {
		claim.Endpoints = map[string]string{}
		for _, each := range platform.Status.PlatformStatus.AWS.ServiceEndpoints {
			claim.Endpoints[each.Name] = each.URL // the last one counts
		}
	}
	who, credentials, err := r.options.Credentials.For(ctx, claim)
	if err != nil {
		return fmt.Errorf("choose the credentials: %w", err)
	}
	w.Credentials = r.admit(request, claim.Selected, who, credentials)
	if question, ok := core.Ask(*w); ok {
		w.Answer, w.Fault = r.desk.ask(ctx, request, inquiryKey{who, question})
	}
	return nil
}

// get reads an object from its kind's cache.
func (r *run) get(ctx context.Context, k *kind, name types.NamespacedName) (*object, error) {
	var found object
	if err := r.caches[k].Get(ctx, name, &found); err != nil {
		return nil, err
	}
	return &found, nil
}

// lookup is get, with nil for what does not exist and for kinds that are not
// watched.
func (r *run) lookup(ctx context.Context, k *kind, name types.NamespacedName) (*object, error) {
	if !r.served.has(k) {
		return nil, nil
	}
	found, err := r.get(ctx, k, name)
	return found, client.IgnoreNotFound(err)
}

// objectOf is what the decision sees of an object.
func objectOf(k *kind, o *object) core.Object {
	out := core.Object{
		Kind: k.annotated, Namespace: o.Namespace, Name: o.Name, Version: o.ResourceVersion,
		Deleting: !o.DeletionTimestamp.IsZero(), Annotations: o.Annotations, Owners: core.OwnersOf(o.ManagedFields),
	}
	if k == machineAPISet {
		out.ProviderSpec = o.Spec.Template.Spec.ProviderSpec.Value
		out.Authority = o.Status.AuthoritativeAPI
		for _, c := range o.Status.Conditions {
			out.Paused = out.Paused || c.Type == pausedCondition && c.Status == string(metav1.ConditionTrue)
		}
		return out
	}
	for _, owner := range o.OwnerReferences {
		group, _, _ := strings.Cut(owner.APIVersion, "/")
		out.HasDeployment = out.HasDeployment || group == clusterGroup && owner.Kind == machineDeployment.Kind
	}
	out.ClusterName = o.Spec.ClusterName
	out.Infrastructure = o.Spec.Template.Spec.InfrastructureRef
	return out
}

func templateOf(o *object) *core.Template {
	if o == nil {
		return nil
	}
	return &core.Template{
		InstanceType: o.Spec.Template.Spec.InstanceType, CPU: string(o.Status.Capacity.CPU),
		Memory: string(o.Status.Capacity.Memory), Architecture: o.Status.NodeInfo.Architecture,
	}
}

func clusterOf(o *object) *core.Cluster {
	if o == nil {
		return nil
	}
	return &core.Cluster{Paused: o.Spec.Paused, Infrastructure: o.Spec.InfrastructureRef, ControlPlane: o.Spec.ControlPlaneRef}
}
