package operators

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/olm/installing"
)

// acceptance are the flags --accept and --reason: a person takes the risk of a role that is not enough.
type acceptance struct {
	accepts []string
	reason  string
	// hasReason says that --reason was typed, also with an empty text.
	hasReason func() bool
}

func (a *acceptance) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&a.accepts, "accept", nil, "go on with a role that is not enough, as `missing=DIGEST` with the digest that was printed, or with one of which it is unknown, as unknown")
	flags.StringVar(&a.reason, "reason", "", "why the risk is taken, as one line of `TEXT`, for the event that tells of it")
	a.hasReason = func() bool { return flags.Changed("reason") }
}

func (a *acceptance) check() error {
	for _, value := range a.accepts {
		digest, is := strings.CutPrefix(value, installing.AcceptMissing)
		if value != installing.AcceptUnknown && (!is || !strings.HasPrefix(digest, "sha256:")) {
			return fmt.Errorf("--accept is %.200q, expected unknown, or missing=DIGEST with the digest that was printed, such as missing=sha256:0123…", value)
		}
	}
	if !a.hasReason() {
		return nil
	}
	if err := installing.CheckReason(a.reason); err != nil {
		return fmt.Errorf("--reason: %w", err)
	}
	return nil
}

// sayJudgement prints what is said of one operator.
func (l *lines) sayJudgement(j operator.Judgement) {
	l.say("%s: %s: %s.", j.CSV, j.Verdict, j.Why)
	if j.Difference != nil {
		for _, change := range j.Difference.Changes {
			l.say("  %s", change.Text)
		}
	}
	if j.Report == nil {
		return
	}
	for _, t := range j.Report.Trust {
		if t.Result != sufficiency.Trusted {
			l.say("  - %s for %s: %s", t.Subject, t.Audience, t.Why)
		}
	}
	for _, p := range j.Report.Permissions {
		if p.Result != sufficiency.Granted {
			l.say("  - %s: %s: %s", p.Sentence(), p.Result, p.Why)
		}
	}
	for _, warning := range j.Report.Warnings {
		l.say("  ! %s", warning)
	}
}

// gate lets a verdict pass, or asks, or refuses. The result is what is written on the plan: it is
// Overridden where a person accepted the risk.
func (a *acceptance) gate(streams command.Streams, verdict operator.Verdict, digest, subject string) (operator.Verdict, error) {
	passed, err := installing.Gate(verdict, digest, a.accepts)
	refusal, is := errors.AsType[*installing.Refusal](err)
	if !is {
		return passed, err
	}
	hint := fmt.Sprintf(". Have the role extended, by tabard operators handoff; or go on all the same with --accept %s%s", installing.AcceptMissing, digest)
	if refusal.Code == installing.RoleUnknown {
		hint = "; --accept " + installing.AcceptUnknown + " goes on"
		if confirm := command.Confirm(streams.In, streams.Err); confirm != nil {
			ok, err := confirm("It is unknown whether the role is enough. Go on?")
			if err == nil && !ok {
				err = streams.Refuse(command.Found, errors.New("nothing was written"))
			}
			return operator.VerdictOverridden, err
		}
	}
	return passed, streams.Refuse(command.Found, fmt.Errorf("%w for %s: nothing was written%s", refusal, subject, hint))
}

// sayUntold tells a person that no event tells of what was written, or of the reason.
func (a *acceptance) sayUntold(streams command.Streams, written installing.Written) {
	switch {
	case written.Untold != nil:
		sayOn(streams.Err, "tabard: %v", written.Untold)
	case a.hasReason() && !written.Overridden:
		sayOn(streams.Err, "no risk was taken: --reason was not recorded")
	}
}

// hint is how a person goes on after a refusal by the flags and commands that there are, and says
// whether what was typed cannot be used.
type hint struct {
	text  string
	wrong bool
}

// goOn adds to a refusal how a person goes on.
func goOn(err error, hints func(installing.Code) hint) error {
	refusal, is := errors.AsType[*installing.Refusal](err)
	if !is {
		return err
	}
	add := hints(refusal.Code)
	err = fmt.Errorf("%w%s", err, add.text)
	if add.wrong {
		return usage.Wrong(err)
	}
	return err
}

// refused says an error, unless that was said, and is the end of the program.
func refused(streams command.Streams, err error) error {
	if said, is := errors.AsType[*command.Exit](err); is {
		return said
	}
	return streams.Refuse(command.Found, err)
}

// waitingHints are those about a plan that is looked for by a name.
func waitingHints(namespace, name string) func(installing.Code) hint {
	return func(code installing.Code) hint {
		if code == installing.NoSubscription {
			return hint{": tabard operators status -A shows the Subscriptions", true}
		}
		return hint{fmt.Sprintf(": tabard operators status %s -n %s shows how far it is", line.Word(name), namespace), false}
	}
}
