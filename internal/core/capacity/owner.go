package capacity

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Owner is a field manager that owns an annotation.
type Owner struct {
	Manager string
	// Applied says that it owns it by server-side apply: it goes on asserting
	// the value. Otherwise it wrote the value once.
	Applied bool
}

// OwnersOf finds the owners of those annotations that this package writes.
// Entries that cannot be read own nothing.
func OwnersOf(fields []metav1.ManagedFieldsEntry) map[string][]Owner {
	out := map[string][]Owner{}
	for _, entry := range fields {
		if entry.FieldsV1 == nil || entry.Subresource != "" {
			continue
		}
		var owned struct {
			Metadata struct {
				Annotations map[string]json.RawMessage `json:"f:annotations"`
			} `json:"f:metadata"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) != nil {
			continue
		}
		owner := Owner{Manager: entry.Manager, Applied: entry.Operation == metav1.ManagedFieldsOperationApply}
		for _, key := range append([]string{LabelsKey}, ownKeys...) {
			if _, found := owned.Metadata.Annotations["f:"+key]; found && !slices.Contains(out[key], owner) {
				out[key] = append(out[key], owner)
			}
		}
	}
	return out
}

// self is the owner that our server-side apply makes us.
func (w World) self() Owner { return Owner{Manager: w.Options.manager(), Applied: true} }

// isOurs says that an owner is this program, or one whose work it carries on.
func (w World) isOurs(owner Owner) bool {
	if owner.Manager == w.Options.manager() {
		return true
	}
	return !owner.Applied && slices.Contains(w.Options.Predecessors, owner.Manager)
}

// applies says that we own an annotation by server-side apply.
func (w World) applies(key string) bool { return slices.Contains(w.Object.Owners[key], w.self()) }

// isOnlyOurs says that an annotation has owners, and that all of them are ours.
func (w World) isOnlyOurs(key string) bool {
	owners := w.Object.Owners[key]
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(o Owner) bool { return !w.isOurs(o) })
}

// rival is an owner to whom an annotation is to be left; false for none. Whoever
// applies a value keeps it. Whoever wrote one once keeps it if it is a choice, unless
// we have agreed with it since, or agree with it now.
func (w World) rival(key, want string) (Owner, bool) {
	agreed := w.applies(key) || w.Object.Annotations[key] == want
	for _, owner := range w.Object.Owners[key] {
		if !w.isOurs(owner) && (owner.Applied || !agreed && !w.isCopy()) {
			return owner, true
		}
	}
	return Owner{}, false
}
