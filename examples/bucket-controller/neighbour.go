package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	crdName = "buckets.s3.services.k8s.aws"
	// servedBy is the annotation by which the kind says whose it is.
	servedBy = "tabard.dev/served-by"
)

// ackLeases are the leases by which ACK's S3 controller elects its leader.
var ackLeases = []string{"ack-s3.services.k8s.aws", "ack-s3-controller"}

// mayStart refuses to start beside ACK's own S3 controller, or on its kind: two
// controllers of one bucket undo each other's work.
func mayStart(ctx context.Context, reader client.Reader) error {
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	err := reader.Get(ctx, client.ObjectKey{Name: crdName}, crd)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("the kind %s is not installed", crdName)
	case err != nil:
		return fmt.Errorf("read whose kind %s is: %w", crdName, err)
	case crd.Annotations[servedBy] != name:
		return fmt.Errorf("the kind %s is not this controller's: its annotation %s is %q, not %s", crdName, servedBy, crd.Annotations[servedBy], name)
	}
	leases := &coordinationv1.LeaseList{}
	if err := reader.List(ctx, leases); err != nil {
		return fmt.Errorf("read whether ACK's S3 controller runs: %w", err)
	}
	now := time.Now()
	for i := range leases.Items {
		if l := &leases.Items[i]; slices.Contains(ackLeases, l.Name) && isAlive(l.Spec, now) {
			return fmt.Errorf("ACK's S3 controller runs: it holds the lease %s/%s", l.Namespace, l.Name)
		}
	}
	return nil
}

// isAlive says that somebody holds a lease. One that does not say since when, or for
// how long, counts as held.
func isAlive(l coordinationv1.LeaseSpec, now time.Time) bool {
	if l.HolderIdentity == nil || *l.HolderIdentity == "" {
		return false
	}
	if l.RenewTime == nil || l.LeaseDurationSeconds == nil {
		return true
	}
	return now.Before(l.RenewTime.Add(time.Duration(*l.LeaseDurationSeconds) * time.Second))
}
