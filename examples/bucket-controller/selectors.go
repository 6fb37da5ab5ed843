package main

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/carm"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

// bySelectors are the roles with the feature gate on.
type bySelectors struct {
	selectors  *kube.Selectors
	namespaces namespaces
	self       bucket.Self
	settings   carm.Controller
	auth       *awsauth.Auth
	// clusterID is a variable of templates, and part of the sessions' names.
	clusterID string
	resync    time.Duration
	// assumeRole is what the administrator says of roles, and sessions counts them.
	assumeRole roleselector.Settings
	sessions   *roleselector.Sessions

	mu sync.Mutex
	// said is what the selector said when an identity was used last.
	said map[identity.Identity]saying
}

// saying is one state of a selector.
type saying struct {
	uid        types.UID
	generation int64
}

func (r *bySelectors) of(ctx context.Context, b *bucket.Bucket) (bucket.Standing, bucket.Place, error) {
	home, err := r.namespaces.get(ctx, b.Namespace)
	if err != nil {
		return bucket.Standing{}, bucket.Place{}, err
	}
	place := bucket.PlaceOf(b, r.settings.SelectorSettings(home))
	situation := roleselector.Situation{
		Decision: r.selectors.Decide(bucket.Kind, b), Recorded: b.Recorded(), Region: place.Region,
		Deleting: !b.DeletionTimestamp.IsZero(), Retain: place.Retain, Announced: kube.Announced(b.Status.Conditions, time.Now(), r.resync),
		LastUsed: r.selectors.LastUsed(bucket.Kind, b, b.Recorded()),
	}
	subject := r.selectors.Subject(bucket.Kind, b)
	subject.ClusterID, subject.ControllerNamespace = r.clusterID, r.settings.SystemNamespace
	standing := r.admit(b, r.self.BySelectors(situation, subject, r.assumeRole))
	standing.MayCall = r.selectors.Guard(bucket.Kind, b, situation)
	r.bypass(standing)
	return standing, place, nil
}

// admit enters which role is assumed for a Bucket, and takes the standing's identity
// away where that would be one session too many.
func (r *bySelectors) admit(b *bucket.Bucket, s bucket.Standing) bucket.Standing {
	ref := resource(client.ObjectKeyFromObject(b))
	if s.Course.Selector.Name == "" || s.Trouble != nil {
		r.sessions.Release(ref)
		return s
	}
	if problem := r.sessions.Admit(ref, s.Course.Selector, s.Identity.Roles); problem != nil {
		return s.Without(*problem)
	}
	return s
}

// resource is a Bucket as sessions are counted.
func resource(key client.ObjectKey) roleselector.Object {
	return roleselector.Object{Group: bucket.Kind.Group, Version: bucket.Kind.Version, Kind: bucket.Kind.Kind, Namespace: key.Namespace, Name: key.Name}
}

// mostSaid bounds what is remembered of identities. Without it they are as new.
const mostSaid = 4096

// bypass lets the first call after a change of a selector ask STS anew, also where
// the role was refused a moment ago.
func (r *bySelectors) bypass(s bucket.Standing) {
	used, id := s.Course.Selector, s.Identity.In("")
	if used.Name == "" || s.Identity == (identity.Identity{}) {
		return
	}
	now := saying{used.UID, used.Generation}
	r.mu.Lock()
	before, known := r.said[id]
	if len(r.said) >= mostSaid || r.said == nil {
		r.said = map[identity.Identity]saying{}
	}
	r.said[id] = now
	r.mu.Unlock()
	if known && before != now {
		r.auth.Forget(s.Identity)
	}
}

func (r *bySelectors) gone(key client.ObjectKey) {
	r.selectors.Forget(bucket.Kind, key)
	r.sessions.Release(resource(key))
}
