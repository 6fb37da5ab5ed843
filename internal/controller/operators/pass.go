package operators

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/operator"
)

// mostSubscriptions bounds what is read of a namespace.
const mostSubscriptions = 1000

// pass is one over a namespace.
type pass struct {
	*Controller
	*memory
	namespace     string
	subscriptions []operator.Subscription
	// issuer is that of the cluster's tokens; empty where it is not known.
	issuer string
	// empty says that the namespace has nothing to look at, and again when to look next.
	empty bool
	again time.Duration
}

func (p *pass) run(ctx context.Context) error {
	p.roles.begin()
	var err error
	if p.subscriptions, err = p.options.OLM.First(ctx, p.namespace, mostSubscriptions); err != nil {
		return err
	}
	names, err := p.candidates(ctx)
	if err != nil {
		return err
	}
	if p.empty = len(names) == 0 && len(p.settled) == 0 && len(p.subscriptions) == 0; p.empty {
		return nil
	}
	if p.issuer, err = p.options.OLM.Issuer(ctx); err != nil {
		return err
	}
	return errors.Join(p.plans(ctx, names), p.installed(ctx))
}

// candidates are the names of the plans that may wait. Of those that do not only the
// resourceVersion is remembered.
func (p *pass) candidates(ctx context.Context) ([]string, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(metadataOf(operator.KindPlan).GroupVersionKind())
	if err := p.metadata.List(ctx, list, client.InNamespace(p.namespace)); err != nil {
		return nil, fmt.Errorf("list the InstallPlans of %s: %w", p.namespace, err)
	}
	settled := map[string]string{}
	var open []operator.Candidate
	for i := range list.Items {
		one := &list.Items[i]
		if uid := string(one.UID); p.settled[uid] == one.ResourceVersion {
			settled[uid] = one.ResourceVersion
			continue
		}
		open = append(open, operator.Candidate{Name: one.Name, Created: one.CreationTimestamp.Time})
	}
	p.settled = settled
	return operator.Choose(open, p.subscriptions), nil
}

// plans judges the plans that wait. One of which something cannot be read keeps none of the others
// from being judged.
func (p *pass) plans(ctx context.Context, names []string) (err error) {
	waiting := map[operator.Verdict]int{}
	for _, name := range names {
		verdict, failed := p.plan(ctx, name)
		if errors.Is(failed, errBusy) {
			return errors.Join(err, failed)
		}
		if verdict != "" {
			waiting[verdict]++
		}
		err = errors.Join(err, failed)
	}
	p.waiting = waiting
	return err
}

// plan judges one plan. One that does not wait has no verdict.
func (p *pass) plan(ctx context.Context, name string) (operator.Verdict, error) {
	plan, bundles, whys, err := p.options.OLM.Waiting(ctx, p.namespace, name)
	if err != nil {
		return "", err
	}
	if !plan.Waits() {
		if plan.Approved {
			p.settled[plan.UID] = plan.ResourceVersion
		}
		return "", nil
	}
	p.look(p.options.Recheck)
	watched := operator.Watched{Plan: plan, Subscriptions: p.subscriptions}
	if watched.Judged, err = p.judgements(ctx, plan, bundles, whys); err != nil {
		return "", err
	}
	verdict, steps := operator.Watch(watched, time.Now())
	if verdict == "" {
		p.look(operator.Settles)
	}
	return verdict, p.do(ctx, steps)
}

// look has the next pass come after a time at the latest.
func (p *pass) look(after time.Duration) {
	if p.again == 0 || after < p.again {
		p.again = after
	}
}

func (p *pass) judgements(ctx context.Context, plan operator.Plan, bundles map[string]catalogue.Bundle, whys map[string]string) (out []operator.Judgement, err error) {
	if one, many := operator.NotJudged(plan); many {
		return []operator.Judgement{one}, nil
	}
	for _, csv := range plan.CSVs {
		u, _, err := p.options.OLM.Upgrade(ctx, p.namespace, p.subscriptions, bundles[csv])
		if err != nil {
			return nil, err
		}
		u.NotRead = whys[csv]
		judged, err := p.judge(ctx, u)
		if err != nil {
			return nil, err
		}
		out = append(out, judged)
	}
	return out, nil
}

// judge judges one operator, and reads its role if that decides.
func (p *pass) judge(ctx context.Context, u operator.Upgrade) (operator.Judgement, error) {
	u.Issuer = p.issuer
	out := operator.Judge(u)
	if out.Verdict != operator.VerdictUnknown || u.NotRead != "" || !u.IsOfAWS() {
		return out, nil
	}
	var err error
	if u.Role, u.Unread, err = p.roles.of(ctx, operator.IdentityOf(u.Values)); err != nil {
		return out, err
	}
	return operator.Judge(u), nil
}

// installed tells of roles that are not enough for the versions that are installed.
func (p *pass) installed(ctx context.Context) (err error) {
	told, looked := map[string]bool{}, 0
	for _, s := range p.subscriptions {
		if s.InstalledCSV == "" || operator.IdentityOf(s.Env) == "" || p.roles.read == nil {
			continue
		}
		if looked++; looked > operator.MostOperators {
			break
		}
		p.look(p.options.Recheck)
		u, is, failed := p.options.OLM.Live(ctx, s)
		if failed != nil || !is {
			err = errors.Join(err, failed)
			continue
		}
		judged, failed := p.judge(ctx, u)
		if failed != nil {
			return errors.Join(err, failed)
		}
		event, is := operator.OutOfSync(s, judged)
		if !is {
			continue
		}
		if !p.told[event.Name()] {
			failed = p.do(ctx, []operator.Step{event})
		}
		err = errors.Join(err, failed)
		told[event.Name()] = failed == nil
	}
	if err == nil { // else some were not looked at
		p.told = told
	}
	return err
}

// do makes steps. One that fails keeps none of the others from being made: an event that cannot be
// written leaves no plan with the verdict of yesterday.
func (p *pass) do(ctx context.Context, steps []operator.Step) (err error) {
	for _, step := range steps {
		err = errors.Join(err, controller.Perform(ctx, p.metrics.Metrics, controller.Work[operator.Step]{Steps: []operator.Step{step}, Do: p.perform}).Err)
	}
	return err
}
