package operators

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm"
)

// write shows the plan, and makes what is missing if nothing speaks against it.
func (f *installFlags) write(ctx context.Context, streams command.Streams, client olm.Client, o *operator.Objects, judged operator.Judgement) error {
	changes, err := f.install.Plan(o)
	if err != nil {
		return streams.Refuse(command.Found, err)
	}
	missing := olm.Manifests(f.install, o, changes)
	if f.dry == "files" {
		if err := printManifests(streams, missing); err != nil {
			return err
		}
		return f.wouldPass(streams, judged)
	}
	if err := streams.Print(f.text(changes, judged)); err != nil {
		return err
	}
	if f.dry == "client" || f.dry == "server" {
		return f.tryOut(ctx, streams, client, missing, judged)
	}
	verdict, err := f.gate(streams, judged.Verdict, judged.Digest, judged.CSV)
	if err != nil {
		return err
	}
	rights := olm.Creates(missing)
	if f.wait && f.install.Approval == operator.Manual {
		rights = append(rights, olm.Approves(f.install.Namespace))
	}
	if err := may(ctx, streams, client, rights...); err != nil {
		return err
	}
	if len(missing) > 0 {
		if err := f.create(ctx, streams, client, missing); err != nil {
			return err
		}
		if verdict == operator.VerdictOverridden {
			record(ctx, streams, client, olm.About{Kind: operator.KindSubscription, Namespace: f.install.Namespace, Name: f.install.Wanted.Subscription}, "Warning", "PermissionsOverridden", fmt.Sprintf("installed with a role of which the verdict was %s: %s", judged.Verdict, judged.Why))
		}
	}
	if !f.wait {
		return streams.Print(f.next())
	}
	return f.follow(ctx, streams, client, operator.Checked{Verdict: verdict, Digest: judged.Digest, At: time.Now()}.String())
}

// text is the plan, and what is said of the role.
func (f *installFlags) text(changes []operator.Change, judged operator.Judgement) string {
	var out lines
	if len(f.install.Values) > 0 {
		out.sayJudgement(judged)
	}
	for _, change := range changes {
		out.say("%s", change)
	}
	if f.install.Approval == operator.Automatic {
		out.say("! OLM upgrades the operator by itself, also to a version that asks for permissions that the role does not have.")
	}
	return out.String()
}

func printManifests(streams command.Streams, all []*unstructured.Unstructured) error {
	text := ""
	for i, one := range all {
		if i > 0 {
			text += "---\n"
		}
		document, err := yaml.Marshal(one.Object)
		if err != nil {
			return fmt.Errorf("write the output: %w", err)
		}
		text += string(document)
	}
	return streams.Print(text)
}

// tryOut ends a dry run.
func (f *installFlags) tryOut(ctx context.Context, streams command.Streams, client olm.Client, all []*unstructured.Unstructured, judged operator.Judgement) error {
	if f.dry == "server" {
		if _, err := client.Create(ctx, all, true); err != nil {
			return streams.Refuse(command.Found, err)
		}
	}
	if err := streams.Print("this was a dry run: nothing was written\n"); err != nil {
		return err
	}
	return f.wouldPass(streams, judged)
}

// wouldPass ends a dry run: with exit code 1 where the install would be refused, or asked about.
func (f *installFlags) wouldPass(streams command.Streams, judged operator.Judgement) error {
	if judged.Verdict.MayPass() || f.takes(judged.Verdict, judged.Digest) {
		return nil
	}
	return streams.Refuse(command.Found, fmt.Errorf("without --accept the install would be refused: %s: %s", judged.Verdict, judged.Why))
}

// create makes what is missing, and says how to take it back.
func (f *installFlags) create(ctx context.Context, streams command.Streams, client olm.Client, all []*unstructured.Unstructured) error {
	if confirm := command.Confirm(streams.In, streams.Err); confirm != nil && !f.yes {
		ok, err := confirm("Make what is marked with +?")
		if err != nil {
			return err
		}
		if !ok {
			return streams.Refuse(command.Found, errors.New("nothing was written"))
		}
	}
	made, err := client.Create(ctx, all, false)
	for i := len(made) - 1; i >= 0; i-- {
		sayOn(streams.Err, "undo: %s", deletion(made[i]))
	}
	if err != nil {
		return streams.Refuse(command.Found, err)
	}
	return nil
}

func deletion(object *unstructured.Unstructured) string {
	names := map[string]string{string(operator.KindNamespace): "namespace", string(operator.KindGroup): "operatorgroup.operators.coreos.com", string(operator.KindSubscription): "subscription.operators.coreos.com"}
	text := "kubectl delete " + names[object.GetKind()] + " " + object.GetName()
	if object.GetNamespace() != "" {
		text += " -n " + object.GetNamespace()
	}
	return text
}

// next is what to type after an install that is not followed.
func (f *installFlags) next() string {
	var out lines
	out.say("tabard operators status %s -n %s   # shows how far it is", f.install.Wanted.Subscription, f.install.Namespace)
	return out.String()
}

// follow follows the install, and approves its plan if that installs the operator alone.
func (f *installFlags) follow(ctx context.Context, streams command.Streams, client olm.Client, checked string) error {
	through := follower{streams: streams, client: client, wanted: f.install.Wanted, timeout: f.timeout}
	through.approve = func(ctx context.Context, o *operator.Objects) (bool, error) {
		plan := o.Waiting()
		if plan == nil {
			return false, nil
		}
		if err := operator.MayApprove(*plan, f.install.CSV, nil, o.Subscriptions); err != nil {
			sayOn(streams.Err, "not approved: %v", err)
			return false, nil
		}
		err := client.Approve(ctx, f.install.Namespace, *plan, checked)
		switch {
		case errors.Is(err, olm.ErrChanged):
			return true, nil // The next look sees the plan as it is then.
		case err != nil:
			return false, streams.Refuse(command.Found, fmt.Errorf("approve the InstallPlan %s: %w", plan.Name, err))
		}
		return true, nil
	}
	if err := through.follow(ctx); err != nil {
		return err
	}
	return streams.Print(fmt.Sprintf("%s is installed\n", command.Plain(f.install.CSV)))
}
