package iampolicy

import (
	"cmp"
	"slices"
)

// Explanation is a decision with its reasons, as plain data.
type Explanation struct {
	Decision Decision `json:"decision"`
	// Certainty is Assumed if the decision rests on one of Questions.
	Certainty Certainty `json:"certainty"`
	// Questions are the open questions of which each alone, with the other
	// answer, would change the effect. Assumptions lists them.
	Questions []Question `json:"questions,omitempty"`
	// Statements holds a reason for each statement of each policy: the one that
	// decided, those that applied too, then the others by how close they came.
	// It is empty where no policy is asked, as for sts:GetCallerIdentity.
	Statements []Reason `json:"statements,omitempty"`
	// Missing are the keys that statements asked for and the request does not
	// have, those of the closest statements first.
	Missing []string `json:"missing,omitempty"`
}

// Reason says what became of one statement.
type Reason struct {
	// Kind, Policy and Statement say where it stands: the policy's place in the
	// decision, its index among those of the kind, and the statement's index in
	// the policy, both counted from 0.
	Kind      Kind   `json:"kind"`
	Policy    int    `json:"policy"`
	Statement int    `json:"statement"`
	Sid       string `json:"sid,omitempty"`
	// Line and Column are the place of the statement's opening brace, EndLine
	// and EndColumn the one behind its closing brace, counted from 1.
	Line      int `json:"line"`
	Column    int `json:"column"`
	EndLine   int `json:"endLine"`
	EndColumn int `json:"endColumn"`
	// Effect is "Allow" or "Deny".
	Effect string `json:"effect"`
	// Names says how a resource's policy names the caller: "caller", "role",
	// "everyone" or "account"; empty if it does not, and for other kinds.
	Names string `json:"names,omitempty"`
	// Applied says that everything fits. What applies need not decide: an Allow
	// of the account in a resource's policy leaves the matter to the account.
	Applied bool `json:"applied"`
	// Decided marks the statement on which the decision rests.
	Decided bool `json:"decided,omitempty"`
	// Failures are the elements that do not fit, in the order in which they are
	// looked at: Action, Resource, Principal, each key of Condition.
	Failures []Failure `json:"failures,omitempty"`
}

// Failure is one element or condition that does not fit the request.
type Failure struct {
	// Element is the element's name as written, like "NotAction". "Statement"
	// is one that can never apply; Note says why.
	Element string `json:"element"`
	// Operator and Key are those of a condition as written.
	Operator string `json:"operator,omitempty"`
	Key      string `json:"key,omitempty"`
	// Observed is what the request has; nothing if the condition's key is
	// missing.
	Observed []string `json:"observed,omitempty"`
	// Required is what the policy has, variables filled in where they could be.
	// With a negation it is what must not be.
	Required []string `json:"required,omitempty"`
	// Missing are the keys that the request does not have: the condition's own,
	// or variables in Required.
	Missing []string `json:"missing,omitempty"`
	Note    string   `json:"note,omitempty"`
}

// Explain decides as Evaluate does and gives the reasons. It costs some fifty
// times as much.
func Explain(request *Request, policies *Policies) Explanation {
	request, policies = present(request), present(policies)
	if isExempt(request) {
		return Explanation{Decision: Evaluate(request, policies), Certainty: Documented}
	}
	q := newQuery(request, policies)
	verdicts := q.judgeAll(policies)
	var f findings
	f.collect(verdicts, policies, "")
	e := Explanation{Decision: f.decision(&q, policies), Certainty: Documented}
	e.Questions = q.questions(verdicts, policies, &f, e.Decision.Effect)
	if len(e.Questions) > 0 {
		e.Certainty = Assumed
	}
	e.reasons(verdicts, f.deciding(e.Decision, request.Principal.Kind))
	return e
}

// collect is askAll on statements that were judged already. With a question it
// takes the other answer to it.
func (f *findings) collect(verdicts []verdict, policies *Policies, other Question) {
	f.given(policies)
	for i := range verdicts {
		v := &verdicts[i]
		names, applies := v.answer(other)
		switch {
		case !applies:
		case v.kind == ResourcePolicy:
			f.resource.takeNamed(v.statement, names)
		default:
			f.of(v.kind).take(v.statement)
		}
	}
}

// of returns what the policies of one kind say.
func (f *findings) of(kind Kind) *finding {
	switch kind {
	case BoundaryPolicy:
		return &f.boundary
	case SessionPolicy:
		return &f.session
	case ResourcePolicy:
		return &f.resource
	default:
		return &f.identity
	}
}

// deciding returns the statement behind a decision, nil for none: where an
// Allow is missing, and for what a root user may by itself.
func (f *findings) deciding(d Decision, caller PrincipalKind) *statement {
	switch {
	case d.Effect == ExplicitDeny:
		return f.of(d.Kind).deny
	case d.Effect == Allow && (caller != Root || d.Kind != IdentityPolicy):
		return f.of(d.Kind).allow
	default:
		return nil
	}
}

// questions returns the open questions on which an effect rests.
func (q *query) questions(verdicts []verdict, policies *Policies, f *findings, effect Effect) []Question {
	var found []Question
	for _, one := range Assumptions() {
		if !touched(verdicts, one.Question) {
			continue
		}
		var other findings
		other.collect(verdicts, policies, one.Question)
		if other.decision(q, policies).Effect != effect {
			found = append(found, one.Question)
		}
	}
	_, limited := f.limited()
	own := q.Principal.AccountID == q.ResourceAccountID
	switch caller := q.Principal.Kind; {
	case caller == User && own && f.resource.strength == everyone && limited && effect == Allow:
		found = append(found, QuestionEveryoneBoundary)
	case caller == RoleSession && !own && f.resource.strength == exact && f.identity.allow == nil && effect == ImplicitDeny:
		found = append(found, QuestionForeignSession)
	case caller == Root && !own && effect == Allow:
		found = append(found, QuestionForeignRoot)
	}
	return found
}

// reasons fills in what became of the statements.
func (e *Explanation) reasons(verdicts []verdict, deciding *statement) {
	slices.SortStableFunc(verdicts, func(a, b verdict) int {
		return cmp.Or(cmp.Compare(b.closeness(), a.closeness()), cmp.Compare(a.failures(), b.failures()))
	})
	for i := range verdicts {
		reason := verdicts[i].reason()
		if deciding != nil && verdicts[i].statement == deciding && reason.Kind == e.Decision.Kind {
			reason.Decided, deciding = true, nil
			e.Statements = slices.Insert(e.Statements, 0, reason)
		} else {
			e.Statements = append(e.Statements, reason)
		}
	}
	e.Missing = missing(e.Statements)
}

// missing lists the keys that statements missed, each once.
func missing(reasons []Reason) []string {
	var keys []string
	known := map[string]bool{}
	for i := range reasons {
		for _, failure := range reasons[i].Failures {
			for _, key := range failure.Missing {
				if !known[key] {
					known[key] = true
					keys = append(keys, key)
				}
			}
		}
	}
	return keys
}
