package hub

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
)

// fieldOwner is whose the fields of the ConfigMap are that a bootstrap wrote.
const fieldOwner = "tabard.bootstrap"

// Result is what a bootstrap planned and did, for programs.
type Result struct {
	command.Meta `json:",inline"`

	HubARN string `json:"hubARN"`
	// Account and Caller are those of the person's session.
	Account string         `json:"account"`
	Caller  string         `json:"caller"`
	DryRun  bool           `json:"dryRun"`
	Plan    []core.Planned `json:"plan"`
	// Changes are in the order in which they were made.
	Changes []string `json:"changes"`
	RoleARN string   `json:"roleARN"`
	// Undo are the commands that take everything back.
	Undo []string `json:"undo,omitempty"`
}

// bootstrap carries a setup out.
type bootstrap struct {
	*setup
	place
	// confirm asks the person; nil goes on without asking.
	confirm func(question string) (bool, error)
	// out receives the plan, and then one line a change.
	out    io.Writer
	result Result
}

func (b *bootstrap) run(ctx context.Context, session AWS) error {
	c := b.controller
	account, caller, err := whoami(ctx, session, c.Hub.Region)
	if err != nil {
		return err
	}
	seen, err := b.look(ctx, session, account)
	if err != nil {
		return err
	}
	plan, refusal := c.Bootstrap(seen)
	if refusal != nil {
		return refusal
	}
	b.result = Result{
		Meta: command.MetaOf("HubBootstrap"), HubARN: c.Hub.String(), Account: account, Caller: caller, DryRun: b.dryRun, Plan: plan, Changes: []string{}, RoleARN: c.ARN(seen),
	}
	say(b.out, "hub %s, as %s in account %s", c.Hub, caller, account)
	showPlan(b.out, plan)
	if b.dryRun {
		say(b.out, "this was a dry run: nothing was written")
		return nil
	}
	if err := agreed(b.confirm, "Continue?"); err != nil {
		return err
	}
	return b.make(ctx, session, seen.Config)
}

func whoami(ctx context.Context, session AWS, region string) (account, caller string, err error) {
	if account, caller, err = session.Caller(ctx, region); err != nil {
		return "", "", fmt.Errorf("AWS does not know your session: %w; sign in first: aws sts get-caller-identity must answer", err)
	}
	return account, caller, nil
}

func showPlan(out io.Writer, plan []core.Planned) {
	for _, line := range plan {
		say(out, "  %s %s", line.Change.Mark(), line.Object)
	}
}

// agreed asks the person, where there is one to ask.
func agreed(confirm func(string) (bool, error), question string) error {
	if confirm == nil {
		return nil
	}
	yes, err := confirm(question)
	if err == nil && !yes {
		err = ErrDeclined
	}
	return err
}

// look reads what the decision goes by. Rights are asked for only where there is a namespace to
// have them in.
func (b *bootstrap) look(ctx context.Context, session AWS, account string) (core.BootstrapSeen, error) {
	c := b.controller
	out := core.BootstrapSeen{Account: account, Stated: b.stated, Issuer: b.issuer, ReplaceRole: b.replaceRole}
	if account != c.Hub.Account { // which is refused, and has nothing to look at
		return out, nil
	}
	out.Provider = session.Provider(ctx, c.Hub.Region, c.Provider())
	out.Role = session.Role(ctx, c.Hub.Region, core.ControllerRoleName(c.Hub))
	switch err := b.cluster.Get(ctx, client.ObjectKey{Name: c.Namespace}, &corev1.Namespace{}); {
	case apierrors.IsNotFound(err):
		return out, nil
	case err != nil && !apierrors.IsForbidden(err): // who may not look may still be allowed to write
		return out, fmt.Errorf("read the namespace %s: %w", c.Namespace, err)
	}
	out.Namespace = true
	config, err := configOf(ctx, b.cluster, c.Namespace)
	if err != nil && !apierrors.IsForbidden(err) {
		return out, err
	}
	out.Config = config.Data
	out.Lacks, err = lacks(ctx, b.cluster, c.Namespace)
	return out, err
}

// configOf is the controller's ConfigMap, empty for none.
func configOf(ctx context.Context, cluster client.Reader, namespace string) (out corev1.ConfigMap, err error) {
	err = cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: core.ControllerName}, &out)
	if apierrors.IsNotFound(err) {
		return corev1.ConfigMap{}, nil
	}
	if err != nil {
		return out, fmt.Errorf("read the ConfigMap %s/%s: %w", namespace, core.ControllerName, err)
	}
	return out, nil
}

// lacks are the rights to the ConfigMap that the person does not have.
func lacks(ctx context.Context, cluster client.Writer, namespace string) (out []string, err error) {
	for _, verb := range []string{"get", "create", "patch"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Resource: "configmaps", Namespace: namespace, Name: core.ControllerName},
		}}
		if err := cluster.Create(ctx, review); err != nil {
			return nil, fmt.Errorf("ask the cluster for your rights: %w", err)
		}
		if !review.Status.Allowed {
			out = append(out, fmt.Sprintf("%s the ConfigMap %s/%s", verb, namespace, core.ControllerName))
		}
	}
	return out, nil
}

// make makes everything true, and says what it changed.
func (b *bootstrap) make(ctx context.Context, session AWS, config map[string]string) error {
	c := b.controller
	arn, parts, err := session.EnsureRole(ctx, c)
	if err != nil {
		return fmt.Errorf("make the role %s: %w", b.result.RoleARN, err)
	}
	b.result.RoleARN = arn
	changed := "unchanged"
	if len(parts) > 0 {
		changed = "written: " + strings.Join(parts, ", ")
	}
	b.note(len(parts) > 0, "role %s for ServiceAccount %s/%s: %s", arn, c.Namespace, c.ServiceAccount, changed)
	if maps.Equal(config, c.Config(arn)) {
		b.note(false, "ConfigMap %s/%s tells the controller its role: unchanged", c.Namespace, core.ControllerName)
	} else {
		wanted := applycorev1.ConfigMap(core.ControllerName, c.Namespace).WithData(c.Config(arn))
		if err := b.cluster.Apply(ctx, wanted, client.FieldOwner(fieldOwner), client.ForceOwnership); err != nil {
			return fmt.Errorf("write the ConfigMap %s/%s: %w", c.Namespace, core.ControllerName, err)
		}
		b.note(true, "ConfigMap %s/%s tells the controller its role: written%s", c.Namespace, core.ControllerName, b.restart(ctx, config))
	}
	b.result.Undo = []string{fmt.Sprintf("tabard hub unbootstrap --hub-cluster-arn %s --namespace %s", c.Hub, c.Namespace)}
	say(b.out, "to undo all of it later:\n  %s", b.result.Undo[0])
	say(b.out, "next: "+turnOn, c.Namespace)
	return nil
}

// note says what became of one object.
func (b *bootstrap) note(changed bool, format string, args ...any) {
	say(b.out, format, args...)
	if changed {
		b.result.Changes = append(b.result.Changes, fmt.Sprintf(format, args...))
	}
}

// restart replaces the controller's pods that read another ConfigMap before, and says so, or what
// to type for it. Pods that wait for the ConfigMap start by themselves.
func (b *bootstrap) restart(ctx context.Context, before map[string]string) string {
	if before["roleARN"] == "" {
		return ""
	}
	c := b.controller
	patch := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"identity.tabard.dev/hub-role":%q}}}}}`, b.result.RoleARN)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: core.ControllerName}}
	err := b.cluster.Patch(ctx, deployment, client.RawPatch(types.StrategicMergePatchType, []byte(patch)), client.FieldOwner(fieldOwner))
	switch {
	case err == nil:
		return fmt.Sprintf("; the pods of Deployment %s/%s are replaced, since it has changed", c.Namespace, core.ControllerName)
	case apierrors.IsNotFound(err):
		return ""
	}
	return fmt.Sprintf("; it has changed, and the pods that read it could not be replaced (%v): kubectl rollout restart deployment/%s --namespace %s", err, core.ControllerName, c.Namespace)
}
