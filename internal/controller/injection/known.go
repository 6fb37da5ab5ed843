package injection

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/awsauth/kube/follow"
	core "github.com/tabard-dev/tabard/internal/core/injection"
)

// running selects pods that are not over. What they leave behind may be many.
const running = "status.phase!=Succeeded,status.phase!=Failed"

// known is what is followed of the cluster.
type known struct {
	pods                 *follow.Store[*core.Pod]
	accounts, namespaces *follow.Store[*metav1.PartialObjectMetadata]
	followers            []follower

	mu sync.Mutex
	// seen is when a ServiceAccount was seen to be given its annotation, zero for
	// those that had it from the beginning.
	seen map[types.UID]time.Time
}

// follower is what follows one resource.
type follower interface {
	Run(ctx context.Context)
	Read() <-chan struct{}
}

func newKnown(examiner *core.Examiner) *known {
	k := &known{
		pods:       &follow.Store[*core.Pod]{Key: func(pod *core.Pod) string { return keyOf(pod.Namespace, pod.Name) }},
		accounts:   &follow.Store[*metav1.PartialObjectMetadata]{Key: keyOfMetadata},
		namespaces: &follow.Store[*metav1.PartialObjectMetadata]{Key: keyOfMetadata},
		seen:       map[types.UID]time.Time{},
	}
	k.accounts.Changed = func(before, now **metav1.PartialObjectMetadata, first bool) { k.note(examiner, before, now, first) }
	return k
}

func keyOf(namespace, name string) string { return namespace + "/" + name }

func keyOfMetadata(o *metav1.PartialObjectMetadata) string { return keyOf(o.Namespace, o.Name) }

// followCluster prepares to follow pods, and the metadata of ServiceAccounts and namespaces.
func followCluster(mgr ctrl.Manager, examiner *core.Examiner) (*known, kubernetes.Interface, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfigAndClient(config, mgr.GetHTTPClient())
	if err != nil {
		return nil, nil, fmt.Errorf("make a client: %w", err)
	}
	access, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, nil, fmt.Errorf("make a client for metadata: %w", err)
	}
	k := newKnown(examiner)
	k.followers = []follower{
		follow.Of(client.CoreV1().Pods(metav1.NamespaceAll), follow.Options[*core.Pod]{
			Fields: running, Sink: k.pods, Failed: says("pods"),
			Trim: func(o runtime.Object) (*core.Pod, error) {
				kept, err := examiner.Trim(o.(*corev1.Pod)) //nolint:forcetypeassert // the client's
				if errors.Is(err, core.ErrLong) {
					says("pods")(err)
					return kept, nil
				}
				return kept, err
			},
		}),
		ofMetadata(access, "serviceaccounts", k.accounts, examiner.TrimAccount),
		ofMetadata(access, "namespaces", k.namespaces, trimNamespace),
	}
	return k, client, nil
}

func ofMetadata(access metadata.Interface, resource string, into *follow.Store[*metav1.PartialObjectMetadata], trim func(*metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata) follower {
	return follow.Of(access.Resource(corev1.SchemeGroupVersion.WithResource(resource)), follow.Options[*metav1.PartialObjectMetadata]{
		Sink: into, Failed: says(resource),
		Trim: func(o runtime.Object) (*metav1.PartialObjectMetadata, error) {
			return trim(o.(*metav1.PartialObjectMetadata)), nil //nolint:forcetypeassert // the client's
		},
	})
}

// says logs why a resource cannot be followed. It is tried again.
func says(resource string) func(error) {
	return func(err error) {
		ctrl.Log.WithName(Name).Error(err, "cannot follow what is examined", "resource", resource)
	}
}

// note notes when ServiceAccounts are annotated. One that was deleted and made anew is
// another.
func (k *known) note(examiner *core.Examiner, before, now **metav1.PartialObjectMetadata, first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if before != nil && (now == nil || (*now).UID != (*before).UID || !examiner.Annotated(*now)) {
		delete(k.seen, (*before).UID)
	}
	if now == nil || !examiner.Annotated(*now) {
		return
	}
	if _, noted := k.seen[(*now).UID]; !noted {
		k.seen[(*now).UID] = time.Time{}
		if !first {
			k.seen[(*now).UID] = time.Now()
		}
	}
}

// seenAnnotated is when a ServiceAccount was seen to be annotated. One that is not noted
// has gone in this moment.
func (k *known) seenAnnotated(account *metav1.PartialObjectMetadata) (seen time.Time, noted bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	seen, noted = k.seen[account.UID]
	return seen, noted
}

func trimNamespace(namespace *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: namespace.Name, UID: namespace.UID, ResourceVersion: namespace.ResourceVersion, Labels: namespace.Labels,
	}}
}

// run follows until the context ends, or what it returns is called.
func (k *known) run(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	for _, each := range k.followers {
		group.Go(func() { each.Run(ctx) })
	}
	return func() {
		cancel()
		group.Wait()
	}
}

// wait returns when all has been read; false if the context ends before.
func (k *known) wait(ctx context.Context) bool {
	for _, each := range k.followers {
		select {
		case <-each.Read():
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// account is the ServiceAccount of a pod, nil if there is none.
func (k *known) account(pod *core.Pod) *metav1.PartialObjectMetadata {
	if pod.Account == "" {
		return nil // also of a pod that has been injected, as Trim leaves it
	}
	found, _ := k.accounts.Get(keyOf(pod.Namespace, pod.Account))
	return found
}

// namespace is nil if there is none.
func (k *known) namespace(name string) *metav1.PartialObjectMetadata {
	found, _ := k.namespaces.Get(keyOf("", name))
	return found
}

func (k *known) hasNamespace(name string) bool { return k.namespace(name) != nil }
