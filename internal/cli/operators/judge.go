package operators

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/olm"
)

// acceptance is the flag --accept: a person takes the risk of a role that is not enough.
type acceptance struct{ accepts []string }

func (a *acceptance) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&a.accepts, "accept", nil, "go on with a role that is not enough, as `missing=DIGEST` with the digest that was printed, or with one of which it is unknown, as unknown")
}

func (a *acceptance) check() error {
	for _, value := range a.accepts {
		digest, is := strings.CutPrefix(value, "missing=")
		if value != "unknown" && (!is || !strings.HasPrefix(digest, "sha256:")) {
			return fmt.Errorf("--accept is %.200q, expected unknown, or missing=DIGEST with the digest that was printed, such as missing=sha256:0123…", value)
		}
	}
	return nil
}

// takes says whether the flag accepts a verdict about what has a digest.
func (a *acceptance) takes(verdict operator.Verdict, digest string) bool {
	switch verdict {
	case operator.VerdictMissing:
		return digest != "" && slices.Contains(a.accepts, "missing="+digest)
	case operator.VerdictUnknown:
		return slices.Contains(a.accepts, "unknown")
	case operator.VerdictNoChange, operator.VerdictSatisfied, operator.VerdictNotToken, operator.VerdictOverridden:
	}
	return true
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
	switch {
	case verdict.MayPass():
		return verdict, nil
	case a.takes(verdict, digest):
		return operator.VerdictOverridden, nil
	case verdict == operator.VerdictUnknown:
		confirm := command.Confirm(streams.In, streams.Err)
		if confirm == nil {
			return verdict, streams.Refuse(command.Found, fmt.Errorf("it is unknown whether the role is enough for %s: nothing was written; --accept unknown goes on", subject))
		}
		ok, err := confirm("It is unknown whether the role is enough. Go on?")
		if err == nil && !ok {
			err = streams.Refuse(command.Found, errors.New("nothing was written"))
		}
		return operator.VerdictOverridden, err
	}
	return verdict, streams.Refuse(command.Found, fmt.Errorf("the role is not enough for %s: nothing was written. Have the role extended, by tabard operators handoff; or go on all the same with --accept missing=%s", subject, digest))
}

// may refuses if a right is missing, before anything is written.
func may(ctx context.Context, streams command.Streams, client olm.Client, rights ...olm.Right) error {
	missing, err := client.Lacks(ctx, rights...)
	if err != nil {
		return streams.Refuse(command.Found, err)
	}
	if len(missing) == 0 {
		return nil
	}
	text := "nothing was written, because you may not:"
	for _, right := range missing {
		text += fmt.Sprintf("\n  %s; a role with it: %s", right, right.Grant())
	}
	return streams.Refuse(command.Found, errors.New(text))
}

// record writes an event. Without the right to write one the change is made all the same, and the person
// is told.
func record(ctx context.Context, streams command.Streams, client olm.Client, about olm.About, kind, reason, note string) {
	if err := client.Record(ctx, about, kind, reason, note); err != nil {
		sayOn(streams.Err, "tabard: %v", err)
	}
}

// judge says whether a role is enough, reading the role's documents if they decide.
func (r *roleFlags) judge(ctx context.Context, streams command.Streams, world World, u operator.Upgrade) (operator.Judgement, error) {
	out := operator.Judge(u)
	if out.Verdict != operator.VerdictUnknown || u.Role != nil || u.NotRead != "" || !u.IsOfAWS() {
		return out, nil
	}
	var err error
	if u.Role, u.Unread, err = r.role(ctx, streams, world, operator.IdentityOf(u.Values)); err != nil {
		return out, err
	}
	return operator.Judge(u), nil
}
