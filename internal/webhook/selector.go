package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

// selectorPath is the one that a hook for IAMRoleSelectors asks.
const selectorPath = "/validate/iamroleselector"

// maxOverlaps is how many selectors a warning names.
const maxOverlaps = 5

// overlaps warns of selectors that can come into conflict with others. It refuses
// nothing, whatever is asked.
type overlaps struct {
	index  *roleselector.Index
	intake *intake
	log    logr.Logger
}

func newOverlaps(from *intake, log logr.Logger) *overlaps {
	return &overlaps{roleselector.NewIndex(roleselector.Options{}), from, log}
}

// follow returns what keeps the selectors up to date. While their kind is not
// served, or may not be listed, it tries again, and no overlap is known.
func (o *overlaps) follow(config *rest.Config) (func(context.Context), error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.GroupVersion, config.APIPath = &v1alpha1.GroupVersion, "/apis"
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	reader, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("follow the IAMRoleSelectors: %w", err)
	}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(reader, "iamroleselectors", "", fields.Everything()),
		ObjectType:    &v1alpha1.IAMRoleSelector{}, Transform: trimmed, Handler: o.handler(),
	})
	return func(ctx context.Context) {
		go func() {
			if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
				o.index.MarkSynced(roleselector.Everything) // overlaps depend on nothing else
			}
		}()
		informer.RunWithContext(ctx)
	}, nil
}

// trimmed drops what selecting does not need before it is kept.
func trimmed(object any) (any, error) {
	if s, is := object.(*v1alpha1.IAMRoleSelector); is {
		s.ManagedFields = nil
	}
	return object, nil
}

func (o *overlaps) handler() cache.ResourceEventHandler {
	put := func(object any) {
		if s, is := object.(*v1alpha1.IAMRoleSelector); is {
			o.index.Set(roleselector.Compile(s))
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    put,
		UpdateFunc: func(_, now any) { put(now) },
		DeleteFunc: func(object any) {
			if name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil { // of a kind without namespaces
				o.index.Delete(name)
			}
		},
	}
}

// ServeHTTP answers one review.
func (o *overlaps) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !expectsJSON(w, r) {
		return
	}
	body, leave, heard := o.intake.hear(w, r)
	defer leave()
	if !heard {
		return
	}
	question, err := readReview(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer{warnings: o.warnings(question.object.Bytes())}.send(w, question, o.log)
}

// warnings are those about one object. What is none has none: the API server's own
// rules are about that.
func (o *overlaps) warnings(text []byte) []string {
	var object v1alpha1.IAMRoleSelector
	if json.Unmarshal(text, &object) != nil {
		return nil
	}
	if !o.index.Ready() {
		return []string{"it is not known whether it overlaps with others: the IAMRoleSelectors have not been read yet"}
	}
	var names []string
	for _, other := range o.index.Overlapping(roleselector.Compile(&object)) {
		names = append(names, other.Reference().Name)
	}
	if len(names) == 0 {
		return nil
	}
	more := ""
	if rest := len(names) - maxOverlaps; rest > 0 {
		names, more = names[:maxOverlaps], fmt.Sprintf(" (and %d more)", rest)
	}
	return []string{"overlaps with " + strings.Join(names, ", ") + more + ": resources that both select are in conflict"}
}
