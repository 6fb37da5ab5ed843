package cco

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// Mode is an effective mode of the operator.
type Mode string

// The modes.
const (
	Mint        Mode = "Mint"
	Manual      Mode = "Manual"
	Passthrough Mode = "Passthrough"
)

var (
	requests   = schema.GroupVersionResource{Group: "cloudcredential.openshift.io", Version: "v1", Resource: "credentialsrequests"}
	secrets    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// StandIn runs until its test ends, or Drain.
type StandIn struct {
	cluster dynamic.Interface
	iam     *iam.Client

	mu     sync.Mutex
	mode   Mode
	died   bool
	writes map[string]int
	stop   context.CancelFunc
	ended  chan struct{}
}

// Start runs a stand-in in a mode, with an administrator's clients. The lab's user is
// the root user whose keys the operator mints with.
func Start(t testing.TB, cluster dynamic.Interface, aws *iam.Client, mode Mode) *StandIn {
	t.Helper()
	s := &StandIn{cluster: cluster, iam: aws, mode: mode, writes: map[string]int{}}
	s.Resume(t)
	t.Cleanup(s.Drain)
	return s
}

// Resume runs the stand-in again after Drain.
func (s *StandIn) Resume(t testing.TB) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	s.stop, s.ended = stop, make(chan struct{})
	events, err := s.cluster.Resource(requests).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatalf("watch CredentialsRequests: %v", err)
	}
	go s.run(ctx, events, s.ended)
}

// Drain ends the stand-in and waits until it is at rest.
func (s *StandIn) Drain() {
	s.stop()
	<-s.ended
}

// Switch changes the mode.
func (s *StandIn) Switch(mode Mode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = mode
}

// Died says that a request without providerSpec has ended the operator.
func (s *StandIn) Died() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.died
}

// Writes is how often it has written a request, as NAMESPACE/NAME.
func (s *StandIn) Writes(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes[key]
}

// look is how often it looks at all requests, for what announces itself by no event.
const look = 200 * time.Millisecond

func (s *StandIn) run(ctx context.Context, events watch.Interface, ended chan<- struct{}) {
	defer close(ended)
	defer func() { events.Stop() }()
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for !s.Died() {
		select {
		case <-ctx.Done():
			return
		case event, open := <-events.ResultChan():
			if !open {
				<-ticker.C // an API server that ends is asked five times a second
				if again, err := s.cluster.Resource(requests).Watch(ctx, metav1.ListOptions{}); err == nil {
					events = again
				}
				continue
			}
			if named, is := event.Object.(metav1.Object); is {
				s.pass(ctx, named.GetNamespace(), named.GetName())
			}
		case <-ticker.C:
			list, err := s.cluster.Resource(requests).List(ctx, metav1.ListOptions{})
			for i := 0; err == nil && i < len(list.Items); i++ {
				s.pass(ctx, list.Items[i].GetNamespace(), list.Items[i].GetName())
			}
		}
	}
}

// pass is one reconciliation. What fails is tried again with the next look.
func (s *StandIn) pass(ctx context.Context, namespace, name string) {
	found, err := s.cluster.Resource(requests).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return
	}
	r, err := decode(found)
	if err != nil {
		return
	}
	if r.Spec.ProviderSpec == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.died = true
		return
	}
	var asked awsSpec
	if err := json.Unmarshal(r.Spec.ProviderSpec.Raw, &asked); err != nil || asked.Kind != "AWSProviderSpec" {
		return
	}
	switch {
	case r.DeletionTimestamp != nil:
		_ = s.deprovision(ctx, r)
	case !slices.Contains(r.Finalizers, finalizer):
		r.Finalizers = append(r.Finalizers, finalizer)
		_ = s.update(ctx, r)
	default:
		_ = s.provision(ctx, r, asked)
	}
}

// update writes the whole object.
func (s *StandIn) update(ctx context.Context, r *request) error {
	object, err := r.encode()
	if err != nil {
		return err
	}
	_, err = s.cluster.Resource(requests).Namespace(r.Namespace).Update(ctx, object, metav1.UpdateOptions{FieldManager: manager})
	s.wrote(r, err)
	return err
}

// store writes the whole status.
func (s *StandIn) store(ctx context.Context, r *request) error {
	object, err := r.encode()
	if err != nil {
		return err
	}
	_, err = s.cluster.Resource(requests).Namespace(r.Namespace).UpdateStatus(ctx, object, metav1.UpdateOptions{FieldManager: manager})
	s.wrote(r, err)
	return err
}

func (s *StandIn) wrote(r *request, err error) {
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.writes[r.key()]++
	}
}

// provision makes a request's Secret, as the mode says.
func (s *StandIn) provision(ctx context.Context, r *request, asked awsSpec) error {
	before, _ := json.Marshal(r.Status)
	s.mu.Lock()
	mode := s.mode
	s.mu.Unlock()
	_, err := s.cluster.Resource(namespaces).Get(ctx, r.Spec.SecretRef.Namespace, metav1.GetOptions{})
	missing := r.Spec.SecretRef.Namespace == "" || apierrors.IsNotFound(err)
	switch {
	case missing:
		r.Status.Provisioned = false
		r.Status.fail("MissingTargetNamespace", "NamespaceMissing", "target namespace "+r.Spec.SecretRef.Namespace+" not found", true)
	case mode == Mint || s.hasUser(ctx, r):
		err = s.mint(ctx, r, asked)
		s.synced(r, before)
	case mode == Passthrough:
		err = s.copyRoot(ctx, r)
		s.synced(r, before)
	case asked.STSIAMRoleARN == "":
		// Nothing is written to a Secret; while there is none, each look is a new time.
		if s.secret(ctx, r) == nil {
			now := metav1.NewTime(time.Now())
			r.Status.LastSyncTimestamp = &now
		}
		s.synced(r, before)
	default:
		if first := r.Status.LastSyncTimestamp == nil; first {
			r.Status = status{}
		}
		err = s.writeToken(ctx, r, asked)
		s.synced(r, before)
	}
	if after, _ := json.Marshal(r.Status); string(after) != string(before) {
		return errors.Join(err, s.store(ctx, r))
	}
	return err
}

// synced puts back what tells of success.
func (s *StandIn) synced(r *request, before []byte) {
	r.Status.fail("MissingTargetNamespace", "NamespaceExists", "", false)
	r.Status.fail("CredentialsProvisionFailure", "CredentialsProvisionSuccess", "", false)
	r.Status.Provisioned, r.Status.LastSyncGeneration = true, r.Generation
	if after, _ := json.Marshal(r.Status); string(after) != string(before) || r.Status.LastSyncTimestamp == nil {
		now := metav1.NewTime(time.Now())
		r.Status.LastSyncTimestamp = &now
	}
}
