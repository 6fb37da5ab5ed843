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
	"github.com/tabard-dev/tabard/internal/olm/installing"
)

// write shows the plan, and makes what is missing if nothing speaks against it.
func (f *installFlags) write(ctx context.Context, streams command.Streams, client olm.Client, p installing.Planned) error {
	judged := p.Judged
	if f.dry == "files" {
		if err := printManifests(streams, p.Missing); err != nil {
			return err
		}
		return f.wouldPass(streams, judged)
	}
	if err := streams.Print(planLines(p)); err != nil {
		return err
	}
	if f.dry == "client" || f.dry == "server" {
		return f.tryOut(ctx, streams, client, p.Missing, judged)
	}
	verdict, err := f.gate(streams, judged.Verdict, judged.Digest, judged.CSV)
	if err != nil {
		return err
	}
	written, err := p.Apply(ctx, client, installing.Going{Verdict: verdict, Reason: f.reason, Follows: f.wait, Sure: func() error { return f.sure(streams) }})
	for i := len(written.Made) - 1; i >= 0; i-- {
		sayOn(streams.Err, "undo: %s", deletion(written.Made[i]))
	}
	if err != nil {
		return refused(streams, err)
	}
	f.sayUntold(streams, written)
	if !f.wait {
		return streams.Print(next(p.Install))
	}
	return f.follow(ctx, streams, client, p, operator.Checked{Verdict: verdict, Digest: judged.Digest, At: time.Now()})
}

// planLines are the plan, and what is said of the role.
func planLines(p installing.Planned) string {
	var out lines
	if len(p.Install.Values) > 0 {
		out.sayJudgement(p.Judged)
	}
	for _, change := range p.Changes {
		out.say("%s", change)
	}
	if p.Install.Approval == operator.Automatic {
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
	if _, err := installing.Gate(judged.Verdict, judged.Digest, f.accepts); err == nil {
		return nil
	}
	return streams.Refuse(command.Found, fmt.Errorf("without --accept the install would be refused: %s: %s", judged.Verdict, judged.Why))
}

// sure asks a person at a terminal before anything is made.
func (f *installFlags) sure(streams command.Streams) error {
	confirm := command.Confirm(streams.In, streams.Err)
	if confirm == nil || f.yes {
		return nil
	}
	ok, err := confirm("Make what is marked with +?")
	switch {
	case err != nil:
		return streams.Unusable(err)
	case !ok:
		return streams.Refuse(command.Found, errors.New("nothing was written"))
	}
	return nil
}

// deletion is the command that takes back an object that was made.
func deletion(object *unstructured.Unstructured) string {
	names := map[string]string{string(operator.KindNamespace): "namespace", string(operator.KindGroup): "operatorgroup.operators.coreos.com", string(operator.KindSubscription): "subscription.operators.coreos.com"}
	text := "kubectl delete " + names[object.GetKind()] + " " + object.GetName()
	if object.GetNamespace() != "" {
		text += " -n " + object.GetNamespace()
	}
	return text
}

// next is what to type after an install that is not followed.
func next(i operator.Install) string {
	var out lines
	out.say("tabard operators status %s -n %s   # shows how far it is", i.Wanted.Subscription, i.Namespace)
	return out.String()
}

// follow follows the install, and approves its plan if that installs the operator alone.
func (f *installFlags) follow(ctx context.Context, streams command.Streams, client olm.Client, p installing.Planned, checked operator.Checked) error {
	through := follower{streams: streams, client: client, wanted: p.Install.Wanted, timeout: f.timeout}
	through.approve = func(ctx context.Context, o *operator.Objects) (bool, error) {
		approved, err := p.ApproveOwn(ctx, client, o, checked)
		switch {
		case errors.Is(err, operator.ErrNoApproval):
			sayOn(streams.Err, "not approved: %v", err)
			return false, nil
		case err != nil:
			return false, streams.Refuse(command.Found, err)
		}
		return approved, nil
	}
	if err := through.follow(ctx); err != nil {
		return err
	}
	return streams.Print(fmt.Sprintf("%s is installed\n", command.Plain(p.Install.CSV)))
}
