package hub

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/cli/bootstrapping"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
)

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
		err = bootstrapping.SignInFirst(err)
	}
	return account, caller, err
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

// look reads what the decision goes by.
func (b *bootstrap) look(ctx context.Context, session AWS, account string) (core.BootstrapSeen, error) {
	c := b.controller
	out := core.BootstrapSeen{Account: account, Stated: b.stated, Issuer: b.issuer, ReplaceRole: b.replaceRole}
	if account != c.Hub.Account { // which is refused, and has nothing to look at
		return out, nil
	}
	out.Provider = session.Provider(ctx, c.Hub.Region, c.Provider())
	out.Role = session.Role(ctx, c.Hub.Region, core.ControllerRoleName(c.Hub))
	seen, err := told(b.cluster, c.Namespace).Look(ctx)
	out.Namespace, out.Config, out.Lacks = seen.Namespace, seen.Config, seen.Lacks
	return out, err
}

// told is the ConfigMap that tells the controller its role.
func told(cluster Cluster, namespace string) bootstrapping.Told {
	return bootstrapping.Told{Client: cluster.Client, Key: client.ObjectKey{Namespace: namespace, Name: core.ControllerName}}
}

// make makes everything true, and says what it changed.
func (b *bootstrap) make(ctx context.Context, session AWS, before map[string]string) error {
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
	if maps.Equal(before, c.Config(arn)) {
		b.note(false, "ConfigMap %s/%s tells the controller its role: unchanged", c.Namespace, core.ControllerName)
	} else {
		config := told(b.cluster, c.Namespace)
		if err := config.Write(ctx, c.Config(arn)); err != nil {
			return err
		}
		restarted := ""
		if before["roleARN"] != "" { // pods that wait for the ConfigMap start by themselves
			restarted = config.Restart(ctx, "identity.tabard.dev/hub-role", arn)
		}
		b.note(true, "ConfigMap %s tells the controller its role: written%s", config.Key, restarted)
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
