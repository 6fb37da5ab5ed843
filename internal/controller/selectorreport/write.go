package selectorreport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// manager is the field manager of the writes.
const manager = "tabard." + Name

// write makes the stored reports those wanted. One that fails keeps no other from
// being written.
func (c *Controller) write(ctx context.Context, wanted map[string]v1alpha1.IAMRoleSelectorReportStatus) error {
	var list v1alpha1.IAMRoleSelectorReportList
	if err := c.writer.List(ctx, &list); err != nil {
		return fmt.Errorf("list the reports: %w", err)
	}
	var failures []error
	stored := make(map[string]*v1alpha1.IAMRoleSelectorReport, len(list.Items))
	for i := range list.Items {
		report := &list.Items[i]
		stored[report.Name] = report
		if _, is := wanted[report.Name]; !is {
			failures = append(failures, c.made("DeleteReport", c.remove(ctx, report)))
		}
	}
	for name, status := range wanted {
		if !isCurrent(stored[name], status) {
			failures = append(failures, c.made("ApplyReport", c.apply(ctx, name, status)))
		}
	}
	return errors.Join(failures...)
}

// made counts a write.
func (c *Controller) made(step string, err error) error {
	c.metrics.Made(step, err)
	return err
}

// isCurrent says that a report says this, and belongs to the selector of which it
// says it.
func isCurrent(stored *v1alpha1.IAMRoleSelectorReport, status v1alpha1.IAMRoleSelectorReportStatus) bool {
	if stored == nil || len(stored.OwnerReferences) != 1 || stored.OwnerReferences[0].UID != status.SelectorUID {
		return false
	}
	return equality.Semantic.DeepEqual(stored.Status, status)
}

// remove deletes the report of a selector that is gone. The garbage collector does
// so by the owner reference while nobody runs here.
func (c *Controller) remove(ctx context.Context, report *v1alpha1.IAMRoleSelectorReport) error {
	err := c.writer.Delete(ctx, report, client.Preconditions{UID: &report.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete the report %s: %w", report.Name, err)
	}
	return nil
}

// apply writes a report. It takes over what others wrote: nobody else may.
func (c *Controller) apply(ctx context.Context, name string, status v1alpha1.IAMRoleSelectorReportStatus) error {
	body := map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "IAMRoleSelectorReport",
		"metadata": map[string]any{"name": name, "ownerReferences": []metav1.OwnerReference{{
			APIVersion: services.GroupVersion.String(), Kind: "IAMRoleSelector", Name: name, UID: status.SelectorUID,
		}}},
	}
	target := &v1alpha1.IAMRoleSelectorReport{ObjectMeta: metav1.ObjectMeta{Name: name}}
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write the report %s: %w", name, err)
	}
	if err := c.writer.Patch(ctx, target, client.RawPatch(types.ApplyPatchType, text), client.FieldOwner(manager), client.ForceOwnership); err != nil {
		return fmt.Errorf("write the report %s: %w", name, err)
	}
	body["metadata"], body["status"] = map[string]any{"name": name}, status
	if text, err = json.Marshal(body); err != nil {
		return fmt.Errorf("write the report %s: %w", name, err)
	}
	if err := c.writer.Status().Patch(ctx, target, client.RawPatch(types.ApplyPatchType, text), client.FieldOwner(manager), client.ForceOwnership); err != nil {
		return fmt.Errorf("write the status of the report %s: %w", name, err)
	}
	return nil
}
