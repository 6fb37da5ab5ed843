package selectorreport

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/log"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/kube/follow"
	"github.com/tabard-dev/tabard/roleselector"
)

// kinds follow the objects of all kinds of services. It is used by one goroutine.
type kinds struct {
	metadata  metadata.Interface
	discovery discovery.DiscoveryInterface
	followed  map[schema.GroupVersionResource]*followed
	// refused are the kinds that may not be listed, as the log says them.
	refused []string
	// waiting is what the log says is still being read.
	waiting string
}

// followed is one kind.
type followed struct {
	kind    schema.GroupVersionKind
	objects *follow.Store[*metav1.PartialObjectMetadata]
	read    <-chan struct{}
	stop    context.CancelFunc
	ended   chan struct{}
}

// probe follows the kinds that are served now, and no others. A kind that may not
// be listed is left out, and the log says so: the other kinds are reported.
func (k *kinds) probe(ctx context.Context) error {
	served, err := k.served()
	if err != nil {
		return err
	}
	for resource, gone := range k.followed {
		if served[resource] != gone.kind {
			k.unfollow(resource)
		}
	}
	var refused []string
	for resource, kind := range served {
		if k.followed[resource] != nil {
			continue
		}
		_, err := k.metadata.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
		switch {
		case apierrors.IsForbidden(err):
			refused = append(refused, resource.GroupResource().String())
		case err != nil && !apierrors.IsNotFound(err):
			return fmt.Errorf("list %s: %w", resource, err)
		case err == nil:
			k.follow(ctx, resource, kind)
		}
	}
	slices.Sort(refused)
	if !slices.Equal(refused, k.refused) {
		log.FromContext(ctx).Info("these kinds may not be listed, and are in no report", "resources", refused)
		k.refused = refused
	}
	return nil
}

// served are the kinds of services in the version that the cluster prefers. A
// group whose discovery fails makes all of them unknown: its kinds would be taken
// for gone.
func (k *kinds) served() (map[schema.GroupVersionResource]schema.GroupVersionKind, error) {
	lists, err := discovery.ServerPreferredResources(k.discovery)
	if err != nil && !isOthers(err) {
		return nil, fmt.Errorf("list the kinds that are served: %w", err)
	}
	out := map[schema.GroupVersionResource]schema.GroupVersionKind{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil || !roleselector.IsServiceGroup(version.Group) {
			continue
		}
		for _, each := range list.APIResources {
			if !strings.Contains(each.Name, "/") && slices.Contains(each.Verbs, "list") && slices.Contains(each.Verbs, "watch") {
				out[version.WithResource(each.Name)] = version.WithKind(each.Kind)
			}
		}
	}
	return out, nil
}

// isOthers says that discovery failed for groups alone that are not of services.
func isOthers(err error) bool {
	failed, is := discovery.GroupDiscoveryFailedErrorGroups(err)
	if !is {
		return false
	}
	for group := range maps.Keys(failed) {
		if roleselector.IsServiceGroup(group.Group) {
			return false
		}
	}
	return true
}

// follow reads the objects of a kind, and what becomes of them.
func (k *kinds) follow(ctx context.Context, resource schema.GroupVersionResource, kind schema.GroupVersionKind) {
	life, stop := context.WithCancel(ctx)
	one := &followed{kind: kind, objects: newStore(), stop: stop, ended: make(chan struct{})}
	follower := follow.Of(k.metadata.Resource(resource), follow.Options[*metav1.PartialObjectMetadata]{
		Trim: trim, Sink: one.objects,
		Failed: func(err error) { log.FromContext(ctx).Error(err, "cannot follow a kind", "resource", resource) },
	})
	one.read = follower.Read()
	go func() {
		defer close(one.ended)
		follower.Run(life)
	}()
	k.followed[resource] = one
}

func newStore() *follow.Store[*metav1.PartialObjectMetadata] {
	return &follow.Store[*metav1.PartialObjectMetadata]{Key: func(o *metav1.PartialObjectMetadata) string { return o.Namespace + "/" + o.Name }}
}

// objects are those of all kinds.
func (k *kinds) objects() iter.Seq2[schema.GroupVersionKind, *metav1.PartialObjectMetadata] {
	return func(yield func(schema.GroupVersionKind, *metav1.PartialObjectMetadata) bool) {
		for _, each := range k.followed {
			for _, object := range each.objects.All() {
				if !yield(each.kind, object) {
					return
				}
			}
		}
	}
}

// longestLabels and longestChoice are how many bytes are kept of an object's labels and of the
// name of its choice: whoever may create objects could make them as many as fill the memory.
// Objects have some hundred, and names at most 253.
const longestLabels, longestChoice = 4 << 10, 1 << 10

// trim takes away all of an object that decides nothing, before it is kept. What is longer
// than it may be is left out: such an object is reported as if it had no labels.
func trim(read runtime.Object) (*metav1.PartialObjectMetadata, error) {
	o := read.(*metav1.PartialObjectMetadata) //nolint:forcetypeassert // the client's
	kept := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion, Labels: o.Labels,
	}}
	if choice, chosen := o.Annotations[services.ChoiceAnnotation]; chosen {
		kept.Annotations = map[string]string{services.ChoiceAnnotation: choice[:min(len(choice), longestChoice)]}
	}
	if (&metav1.ObjectMeta{Labels: o.Labels}).Size() > longestLabels {
		kept.Labels = nil
	}
	return kept, nil
}

// unfollow forgets a kind that is not served any more.
func (k *kinds) unfollow(resource schema.GroupVersionResource) {
	gone := k.followed[resource]
	gone.stop()
	<-gone.ended
	delete(k.followed, resource)
}

// stop ends all that follows.
func (k *kinds) stop() {
	for resource := range k.followed {
		k.unfollow(resource)
	}
}

// synced says that all objects of all kinds have been read.
func (k *kinds) synced(ctx context.Context) bool {
	var waiting []string
	for resource, each := range k.followed {
		select {
		case <-each.read:
		default:
			waiting = append(waiting, resource.GroupResource().String())
		}
	}
	slices.Sort(waiting)
	if text := strings.Join(waiting, ", "); text != k.waiting {
		k.waiting = text
		log.FromContext(ctx).V(1).Info("waiting for the objects of these kinds", "resources", waiting)
	}
	return len(waiting) == 0
}
