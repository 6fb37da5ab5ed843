package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/carm"
)

// namespaces are read as metadata, which is all that is followed of them.
type namespaces struct{ client.Reader }

// get is a namespace as it is; one that has gone is empty.
func (n namespaces) get(ctx context.Context, name string) (carm.Namespace, error) {
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := n.Get(ctx, client.ObjectKey{Name: name}, found); client.IgnoreNotFound(err) != nil {
		return carm.Namespace{}, fmt.Errorf("read the namespace %s: %w", name, err)
	}
	return carm.Namespace{Name: name, Labels: found.Labels, Annotations: found.Annotations}, nil
}

// byCARM are the roles with the feature gate off.
type byCARM struct {
	reader     client.Reader
	namespaces namespaces
	self       bucket.Self
	settings   carm.Controller
}

func (r *byCARM) of(ctx context.Context, b *bucket.Bucket) (bucket.Standing, bucket.Place, error) {
	home, err := r.namespaces.get(ctx, b.Namespace)
	if err != nil {
		return bucket.Standing{}, bucket.Place{}, err
	}
	maps, err := r.maps(ctx)
	if err != nil {
		return bucket.Standing{}, bucket.Place{}, err
	}
	place := bucket.PlaceOf(b, r.settings.Settings(home))
	standing := r.self.ByCARM(r.settings.Resolve(maps, home, b.Recorded().Account), roleselector.Situation{
		Recorded: b.Recorded(), Region: place.Region, Deleting: !b.DeletionTimestamp.IsZero(), Retain: place.Retain,
	})
	return standing, place, nil
}

func (r *byCARM) maps(ctx context.Context) (maps carm.Maps, err error) {
	if maps.Accounts, err = r.read(ctx, carm.AccountMap); err != nil {
		return maps, err
	}
	maps.Teams, err = r.read(ctx, carm.TeamMap)
	return maps, err
}

// read is the content of a config map, nil if it does not exist.
func (r *byCARM) read(ctx context.Context, name string) (map[string]string, error) {
	found := &corev1.ConfigMap{}
	err := r.reader.Get(ctx, client.ObjectKey{Namespace: r.settings.SystemNamespace, Name: name}, found)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the config map %s/%s: %w", r.settings.SystemNamespace, name, err)
	case found.Data == nil:
		return map[string]string{}, nil
	}
	return found.Data, nil
}

// gone has nothing to forget.
func (r *byCARM) gone(client.ObjectKey) {}
