package iampolicy

import (
	"slices"
	"strings"
)

// verdict is what became of one statement, every element looked at.
type verdict struct {
	kind          Kind
	policy, index int
	statement     *statement
	// judged are the elements in the order of a statement's closeness.
	judged []judged
	// names is how a resource's policy names the caller, otherwise how it would
	// with the other answer to the open question of the principal.
	names, otherwise strength
}

// stage is how far a statement came before an element did not fit.
type stage int

const (
	atStatement stage = iota
	atAction
	atResource
	atPrincipal
	atCondition
	throughout
)

// judged is one element.
type judged struct {
	stage stage
	ok    bool
	// open are the questions with whose other answers ok would be reversed.
	open    []Question
	failure Failure
}

// judgeAll looks at all statements of all policies.
func (q *query) judgeAll(policies *Policies) []verdict {
	var all []verdict
	judge := func(kind Kind, index int, policy *Policy) {
		if policy == nil {
			return
		}
		for i := range policy.statements {
			all = append(all, q.judge(kind, index, i, &policy.statements[i]))
		}
	}
	for i, policy := range policies.Identity {
		judge(IdentityPolicy, i, policy)
	}
	judge(BoundaryPolicy, 0, policies.Boundary)
	for i, policy := range policies.Session {
		judge(SessionPolicy, i, policy)
	}
	judge(ResourcePolicy, 0, policies.Resource)
	return all
}

// judge looks at one statement.
func (q *query) judge(kind Kind, policy, index int, s *statement) verdict {
	v := verdict{kind: kind, policy: policy, index: index, statement: s}
	if s.broken {
		v.judged = append(v.judged, judged{stage: atStatement, failure: Failure{
			Element: "Statement", Note: "the statement has a mistake; such a statement never applies"}})
	}
	v.judged = append(v.judged, q.judgeAction(s), q.judgeResource(s, kind), q.judgePrincipal(&v))
	for i := range s.conditions {
		v.judged = append(v.judged, s.conditions[i].judge(q.Context))
	}
	return v
}

// answer says whether the statement applies, and how it names the caller, if
// the question had the other answer; the empty question changes nothing.
func (v *verdict) answer(other Question) (strength, bool) {
	names := v.names
	for i := range v.judged {
		one := &v.judged[i]
		reversed := other != "" && slices.Contains(one.open, other)
		if reversed && one.stage == atPrincipal {
			names = v.otherwise
		}
		if one.ok == reversed {
			return unnamed, false
		}
	}
	return names, true
}

// touched says whether a question comes up at all.
func touched(verdicts []verdict, question Question) bool {
	for i := range verdicts {
		for j := range verdicts[i].judged {
			if slices.Contains(verdicts[i].judged[j].open, question) {
				return true
			}
		}
	}
	return false
}

// closeness is how far the statement came.
func (v *verdict) closeness() stage {
	for i := range v.judged {
		if !v.judged[i].ok {
			return v.judged[i].stage
		}
	}
	return throughout
}

// failures counts what does not fit.
func (v *verdict) failures() int {
	count := 0
	for i := range v.judged {
		if !v.judged[i].ok {
			count++
		}
	}
	return count
}

// reason is the verdict for readers.
func (v *verdict) reason() Reason {
	s := v.statement
	r := Reason{Kind: v.kind, Policy: v.policy, Statement: v.index, Sid: s.sid.value, Effect: "Allow",
		Line: s.line, Column: s.column, EndLine: s.endLine, EndColumn: s.endColumn}
	if s.deny {
		r.Effect = "Deny"
	}
	r.Names = [...]string{unnamed: "", delegated: "account", everyone: "everyone", byRole: "role", exact: "caller"}[v.names]
	for i := range v.judged {
		if !v.judged[i].ok {
			r.Failures = append(r.Failures, v.judged[i].failure)
		}
	}
	r.Applied = len(r.Failures) == 0
	return r
}

// judgeAction looks at Action or NotAction.
func (q *query) judgeAction(s *statement) judged {
	j := judged{stage: atAction, ok: q.actionFits(s)}
	j.failure = s.actions.failure("Action", []string{q.Action})
	j.failure.Required = written(s.actions.values)
	return j
}

// failure is the failure of an element or its negation.
func (e *element) failure(name string, observed []string) Failure {
	f := Failure{Element: name, Observed: observed}
	if e.not {
		f.Element = "Not" + name
	}
	if len(e.values) == 0 {
		f.Note = "the statement has no " + name
	}
	return f
}

// written lists texts as the document has them.
func written(texts []text) []string {
	out := make([]string, 0, len(texts))
	for _, one := range texts {
		out = append(out, one.value)
	}
	return out
}

// judgeResource looks at Resource or NotResource.
func (q *query) judgeResource(s *statement, kind Kind) judged {
	j := judged{stage: atResource, ok: q.resourceFits(s)}
	if kind != ResourcePolicy && !s.resources.present {
		j.ok = false // only a trust policy does without
	}
	j.failure = s.resources.failure("Resource", []string{q.Resource})
	for i := range s.resourcePatterns {
		p := &s.resourcePatterns[i]
		shown := s.resources.values[i].value
		if full, ok := p.display(q.Context); ok {
			shown = full
		}
		j.failure.Required = append(j.failure.Required, shown)
		for k := range p.parts {
			j.failure.Missing = append(j.failure.Missing, p.parts[k].missing(q.Context)...)
		}
	}
	j.open = q.openResource(s)
	return j
}

// judgePrincipal looks at Principal or NotPrincipal, and at their absence in a
// policy that belongs to a principal.
func (q *query) judgePrincipal(v *verdict) judged {
	s := v.statement
	j := judged{stage: atPrincipal, failure: Failure{Element: "Principal", Observed: q.Principal.shown()}}
	if p := s.principals; p != nil {
		for _, entry := range p.entries {
			name := string(entry.kind) + ":" + entry.value
			if entry.kind == TypeAny {
				name = entry.value
			}
			j.failure.Required = append(j.failure.Required, name)
		}
		if p.not {
			j.failure.Element = "NotPrincipal"
		}
	}
	if v.kind != ResourcePolicy {
		j.ok = s.principals == nil
		j.failure.Note = "a policy that belongs to a principal names none; such a statement never applies"
		return j
	}
	if s.principals == nil {
		j.failure.Note = "the statement has no Principal"
		return j
	}
	v.names = s.names(&q.Principal, q.bounded)
	j.ok = v.names != unnamed
	v.otherwise = v.names
	if question, otherwise := q.openPrincipal(s, v.names); question != "" {
		v.otherwise = otherwise
		if (otherwise != unnamed) != j.ok {
			j.open = []Question{question}
		}
	}
	return j
}

// shown is the caller as a reader should see it.
func (p *Principal) shown() []string {
	switch {
	case p.Kind == Anonymous:
		return []string{"anonymous"}
	case p.RoleARN != "":
		return []string{p.ARN, p.RoleARN}
	default:
		return []string{p.ARN}
	}
}

// judge looks at one key of one operator.
func (c *condition) judge(context Context) judged {
	values := context[c.key]
	f := Failure{Element: "Condition", Operator: c.fullName(), Key: c.name.value, Observed: slices.Clone(values)}
	if len(values) == 0 {
		f.Missing = []string{c.name.value}
	}
	for i, o := range c.operands {
		shown := c.values[i].value
		if t := templateOf(o); t != nil {
			f.Missing = append(f.Missing, t.missing(context)...)
			if full, ok := t.resolve(context); ok {
				shown = deactivate.Replace(full)
			}
		}
		f.Required = append(f.Required, shown)
	}
	return judged{stage: atCondition, ok: c.holds(context), open: c.open(context), failure: f}
}

// fullName is the operator as written.
func (c *condition) fullName() string {
	name := [...]string{single: "", forAll: "ForAllValues:", forAny: "ForAnyValue:"}[c.set] + c.base
	if c.ifExists {
		name += "IfExists"
	}
	return name
}

// templateOf returns the text of an operand that may hold variables.
func templateOf(o operand) *template {
	switch o := o.(type) {
	case *textOperand:
		return &o.want
	case *foldedOperand:
		return &o.want
	case *arnOperand:
		return &o.want
	default:
		return nil
	}
}

// deactivate turns the wildcards of a pattern back into text.
var deactivate = strings.NewReplacer(string([]byte{anyText}), "*", string([]byte{anyChar}), "?")

// missing lists the variables without a value.
func (t *template) missing(context Context) []string {
	var keys []string
	for _, p := range t.parts {
		if p.key != "" && !p.many && len(context[p.key]) == 0 && p.fallback == nil {
			keys = append(keys, p.name)
		}
	}
	return keys
}

// display is the pattern with its variables filled in.
func (p *resourcePattern) display(context Context) (string, bool) {
	if p.all {
		return "*", true
	}
	parts := make([]string, 0, len(p.parts))
	for i := range p.parts {
		part, ok := p.parts[i].resolve(context)
		if !ok {
			return "", false
		}
		parts = append(parts, deactivate.Replace(part))
	}
	return strings.Join(parts, ":"), true
}
