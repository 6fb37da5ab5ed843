package injection

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"

	core "github.com/tabard-dev/tabard/internal/core/injection"
)

// running selects pods that are not over. What they leave behind may be many.
const running = "status.phase!=Succeeded,status.phase!=Failed"

// known is what is followed of the cluster.
type known struct {
	informers                  []cache.SharedIndexInformer
	synced                     []cache.InformerSynced
	pods, accounts, namespaces cache.Store

	mu sync.Mutex
	// seen is when a ServiceAccount was seen to be given its annotation, zero for
	// those that had it from the beginning.
	seen map[types.UID]time.Time
}

// follow prepares to follow pods, and the metadata of ServiceAccounts and namespaces.
func follow(mgr ctrl.Manager, examiner *core.Examiner) (*known, kubernetes.Interface, error) {
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
	k := &known{seen: map[types.UID]time.Time{}}
	pods := coreinformers.NewFilteredPodInformer(client, metav1.NamespaceAll, 0, cache.Indexers{}, func(o *metav1.ListOptions) { o.FieldSelector = running })
	if k.pods, err = k.add(pods, "pods", func(o any) (any, error) {
		if pod, is := o.(*corev1.Pod); is {
			return examiner.Trim(pod)
		}
		return o, nil // a tombstone, or trimmed already
	}); err != nil {
		return nil, nil, err
	}
	of := func(resource string) cache.SharedIndexInformer {
		return metadatainformer.NewFilteredMetadataInformer(access, corev1.SchemeGroupVersion.WithResource(resource), metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	}
	accounts := of("serviceaccounts")
	if k.accounts, err = k.add(accounts, "ServiceAccounts", func(o any) (any, error) {
		if account, is := o.(*metav1.PartialObjectMetadata); is {
			return examiner.TrimAccount(account), nil
		}
		return o, nil
	}); err != nil {
		return nil, nil, err
	}
	if err := k.noteAnnotations(accounts, examiner); err != nil {
		return nil, nil, err
	}
	k.namespaces, err = k.add(of("namespaces"), "namespaces", trimNamespace)
	return k, client, err
}

// noteAnnotations notes when ServiceAccounts are annotated.
func (k *known) noteAnnotations(accounts cache.SharedIndexInformer, examiner *core.Examiner) error {
	note := func(before, after any, now time.Time) {
		was, _ := before.(*metav1.PartialObjectMetadata)
		is, _ := after.(*metav1.PartialObjectMetadata)
		k.mu.Lock()
		defer k.mu.Unlock()
		switch had, has := was != nil && examiner.Annotated(was), is != nil && examiner.Annotated(is); {
		case has && !had:
			k.seen[is.UID] = now
		case had && !has:
			delete(k.seen, was.UID)
		}
	}
	_, err := accounts.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, isInInitialList bool) {
			now := time.Now()
			if isInInitialList {
				now = time.Time{}
			}
			note(nil, o, now)
		},
		UpdateFunc: func(before, after any) { note(before, after, time.Now()) },
		DeleteFunc: func(o any) {
			if gone, is := o.(cache.DeletedFinalStateUnknown); is {
				o = gone.Obj
			}
			note(o, nil, time.Now())
		},
	})
	if err != nil {
		return fmt.Errorf("follow ServiceAccounts: %w", err)
	}
	return nil
}

// seenAnnotated is when a ServiceAccount was seen to be annotated. An annotation that
// is in the store, and not noted yet, will be in a moment.
func (k *known) seenAnnotated(account *metav1.PartialObjectMetadata) (seen time.Time, noted bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	seen, noted = k.seen[account.UID]
	return seen, noted
}

func trimNamespace(o any) (any, error) {
	namespace, is := o.(*metav1.PartialObjectMetadata)
	if !is {
		return o, nil
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: namespace.Name, UID: namespace.UID, ResourceVersion: namespace.ResourceVersion, Labels: namespace.Labels,
	}}, nil
}

// add prepares one informer, which keeps what trim leaves.
func (k *known) add(informer cache.SharedIndexInformer, what string, trim cache.TransformFunc) (cache.Store, error) {
	if err := informer.SetTransform(trim); err != nil {
		return nil, fmt.Errorf("follow %s: %w", what, err)
	}
	k.informers = append(k.informers, informer)
	k.synced = append(k.synced, informer.HasSynced)
	return informer.GetStore(), nil
}

// run follows until the context ends, or what it returns is called.
func (k *known) run(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	for _, each := range k.informers {
		group.Go(func() { each.RunWithContext(ctx) })
	}
	return func() {
		cancel()
		group.Wait()
	}
}

// account is the ServiceAccount of a pod, nil if there is none.
func (k *known) account(pod *core.Pod) *metav1.PartialObjectMetadata {
	if pod.Account == "" {
		return nil // also of a pod that has been injected, as Trim leaves it
	}
	return partial(k.accounts, pod.Namespace+"/"+pod.Account)
}

// namespace is nil if there is none.
func (k *known) namespace(name string) *metav1.PartialObjectMetadata {
	return partial(k.namespaces, name)
}

func (k *known) hasNamespace(name string) bool { return k.namespace(name) != nil }

func partial(from cache.Store, key string) *metav1.PartialObjectMetadata {
	// A store of an informer in memory does not fail.
	found, _, _ := from.GetByKey(key)
	object, _ := found.(*metav1.PartialObjectMetadata)
	return object
}
