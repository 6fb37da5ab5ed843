package console

import (
	"context"
	"net/http"
	"time"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm/installing"
)

// upgrade is the plan that waits for an install, and what is said of each operator in it.
func (s *Server) upgrade(r *http.Request) (any, error) {
	q := queryOf(r)
	if err := q.err(); err != nil {
		return nil, err
	}
	planner, err := s.planner("")
	if err != nil {
		return nil, err
	}
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	waits, err := planner.Waiting(r.Context(), namespace, name)
	if err != nil {
		return nil, err
	}
	verdict, digest := operator.Sum(waits.Judged)
	accept := acceptOf(verdict, digest)
	out := api.Upgrade{
		Plan: waits.Plan.Name, Judgements: []api.Judgement{}, Warnings: append([]string{}, waits.Warnings...), Verdict: string(verdict), Digest: seenOf(waits),
		MayPass: verdict.MayPass(), Accept: accept, Command: s.command(about("operators approve", name, flag("namespace", namespace)+flag("accept", accept))),
	}
	if accept != "" {
		out.Annotation = operator.CheckedAnnotation + ": " + operator.Checked{Verdict: operator.VerdictOverridden, Digest: digest}.Untimed()
	}
	for _, one := range waits.Judged {
		out.Judgements = append(out.Judgements, judgementOf(one))
	}
	return out, nil
}

// seenOf is a digest of what a person sees of a plan.
func seenOf(w installing.Waiting) string {
	said := [][]string{{w.Plan.UID}, w.Plan.CSVs}
	for _, one := range w.Judged {
		said = append(said, installing.Said(one))
	}
	return digestOf(said)
}

// approve approves the plan that a person has seen, if it is judged as it was then.
func (s *Server) approve(r *http.Request) (any, error) {
	var question api.ApproveQuestion
	if err := readBody(r, &question); err != nil {
		return nil, err
	}
	if err := s.mayWrite(); err != nil {
		return nil, err
	}
	planner, err := s.planner("")
	if err != nil {
		return nil, err
	}
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	ctx, cancel := untilWritten(r)
	defer cancel()
	waits, err := planner.Waiting(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	judged, digest := operator.Sum(waits.Judged)
	if waits.Plan.Name != question.Plan || string(judged) != question.Verdict || seenOf(waits) != question.Digest {
		return nil, changed("The plan that waits is another one now, or is judged otherwise: look at it again.")
	}
	going, err := goingOn(judged, digest, question.Accept, question.Reason)
	if err != nil {
		return nil, err
	}
	written, err := planner.Approve(ctx, waits, going, time.Now())
	s.audit("approve", "InstallPlan", namespace, waits.Plan.Name, digest, going, err)
	if err != nil {
		return nil, err
	}
	return api.Written{Namespace: namespace, Name: name, Said: append([]string{"approved the InstallPlan " + waits.Plan.Name}, said(written)...)}, nil
}

// setRole says what another role would change, or with the digest of that changes it.
func (s *Server) setRole(r *http.Request) (any, error) {
	var question api.RoleQuestion
	if err := readBody(r, &question); err != nil {
		return nil, err
	}
	planner, err := s.planner(question.Documents)
	if err != nil {
		return nil, err
	}
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	ctx, cancel := untilWritten(r)
	defer cancel()
	other, err := s.otherRole(ctx, planner, namespace, name, question.Role)
	if err != nil {
		return nil, err
	}
	plan := s.rolePlan(other, question)
	if question.Digest == "" {
		return plan, nil
	}
	if err := s.mayWrite(); err != nil {
		return nil, err
	}
	if question.Digest != plan.Digest {
		return nil, changed("The Subscription is another one now, or the role is judged otherwise: look at it again.")
	}
	going, err := goingOn(other.Judged.Verdict, other.Judged.Digest, question.Accept, question.Reason)
	if err != nil {
		return nil, err
	}
	written, err := other.Apply(ctx, planner.Client, going)
	s.audit("set-role", "Subscription", namespace, name, plan.Digest, going, err)
	if err != nil {
		return nil, err
	}
	return api.Written{Namespace: namespace, Name: name, Said: append([]string{"the Subscription has the role " + operator.IdentityOf(other.Values)}, said(written)...)}, nil
}

// otherRole is another role for an install, before anything is written.
func (s *Server) otherRole(ctx context.Context, planner installing.Planner, namespace, name string, role api.Role) (out installing.OtherRole, err error) {
	seen, err := s.seen(ctx)
	if err != nil {
		return out, err
	}
	values, err := valuesOf(role, seen.Partition())
	if err != nil {
		return out, err
	}
	subscription, err := planner.Subscription(ctx, namespace, name)
	if err != nil {
		return out, err
	}
	return planner.OtherRole(ctx, subscription, values)
}

// rolePlan is what another role would change.
func (s *Server) rolePlan(o installing.OtherRole, question api.RoleQuestion) api.RolePlan {
	out := api.RolePlan{
		Digest: digestOf(o.Subscription.UID, o.Subscription.Generation, o.Values, installing.Said(o.Judged)), Changes: []string{}, Judgement: judgementOf(o.Judged),
		MayPass: o.Judged.Verdict.MayPass(), Accept: acceptOf(o.Judged.Verdict, o.Judged.Digest),
		Command: s.command(about("operators set-role", o.Subscription.Name, flag("namespace", o.Subscription.Namespace)+roleFlags(question.Role)+
			documentsFlag(question.Documents)+flag("accept", acceptOf(o.Judged.Verdict, o.Judged.Digest)))),
	}
	for _, edit := range o.Edits() {
		switch {
		case edit.Becomes == "":
			out.Changes = append(out.Changes, edit.Name+" is removed")
		case edit.Was == "":
			out.Changes = append(out.Changes, edit.Name+" becomes "+edit.Becomes)
		default:
			out.Changes = append(out.Changes, edit.Name+" becomes "+edit.Becomes+", and was "+edit.Was)
		}
	}
	return out
}

// refusedBecause is the answer to an install that is refused.
func refusedBecause(r *installing.Refusal) *Problem {
	out := &Problem{Status: http.StatusConflict, Code: string(r.Code), Title: "This is not done", Detail: r.Text + "."}
	switch r.Code {
	case installing.NoSubscription:
		out.Status, out.Title = http.StatusNotFound, "There is no such install"
	case installing.NothingWaits:
		out.Status, out.Title = http.StatusNotFound, "There is nothing that waits"
	case installing.NoNamespace, installing.NoChannel:
		out.Status, out.Title = http.StatusBadRequest, "The install lacks something"
	case installing.RoleMissing:
		out.Status, out.Title = http.StatusBadRequest, "The operator takes a role"
	case installing.RoleNotEnough, installing.RoleUnknown:
		out.Title = "Nobody has accepted the risk"
	case installing.NotTokenMode, installing.OtherCloud, installing.NotSupported, installing.NoMetadata:
		out.Next = []string{"choose Without a role", "who is sure types the command with --force: tabard operators install --help"}
	case installing.NotOfCatalogSource:
	}
	return out
}
