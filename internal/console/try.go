package console

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/decode"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/policycheck"
)

// decode says which link of the chain a pasted text is about.
func (s *Server) decode(r *http.Request) (any, error) {
	var question api.DecodeQuestion
	if err := readBody(r, &question); err != nil {
		return nil, err
	}
	if strings.TrimSpace(question.Text) == "" {
		return nil, wrongField("text", question.Text, "an error, a token or an event of CloudTrail")
	}
	found := decode.Decode(question.Text, time.Now())
	return api.Decoded{Result: found, LinkName: found.Link.Name(), Command: "tabard decode FILE"}, nil
}

// How many texts are checked at once, how many policies of one, and how many mistakes are looked for: a megabyte
// may have hundreds of thousands. A policy of longestPolicy bytes is ten times as long as AWS's largest, which
// does not count space.
const (
	mostChecked   = 2
	mostPolicies  = 200
	mostMistakes  = 1000
	longestPolicy = 100 << 10
)

// policy says what is wrong with a pasted policy.
func (s *Server) policy(r *http.Request) (any, error) {
	var question api.PolicyQuestion
	if err := readBody(r, &question); err != nil {
		return nil, err
	}
	kind := iampolicy.Kind(question.Kind)
	switch {
	case strings.TrimSpace(question.Text) == "":
		return nil, wrongField("text", question.Text, "a policy in JSON")
	case !slices.Contains(policycheck.Kinds(), kind):
		return nil, wrongField("kind", question.Kind, fmt.Sprintf("one of %v", policycheck.Kinds()))
	case question.RoleARN != "" && kind != iampolicy.TrustPolicy:
		return nil, wrongField("roleARN", question.RoleARN, "nothing, as only a trust policy is of one role")
	case question.RoleARN != "" && !policycheck.IsRoleARN(question.RoleARN):
		return nil, wrongField("roleARN", question.RoleARN, "the ARN of a role, such as arn:aws:iam::123456789012:role/NAME")
	}
	leave, err := place(r.Context(), s.checking, "Too many policies are being checked")
	if err != nil {
		return nil, err
	}
	defer leave()
	most := policycheck.Bounds{Policies: mostPolicies, Findings: mostMistakes, Bytes: longestPolicy}
	checked, isJSON := policycheck.CheckWithin(most, kind, iampolicy.LintOptions{RoleARN: question.RoleARN}, []byte(question.Text))
	command := "tabard policy check --kind " + string(kind)
	if question.RoleARN != "" {
		command += " --role-arn " + line.Word(question.RoleARN)
	}
	return policyCheck(checked, isJSON, command+" FILE"), nil
}

// policyCheck is the answer about a policy. Of very many mistakes it has the first ones.
func policyCheck(checked policycheck.Checked, isJSON bool, command string) api.PolicyCheck {
	out := api.PolicyCheck{Findings: []api.PolicyFinding{}, Command: command}
	errors, warnings := 0, 0
	for _, f := range checked.Findings {
		if f.Severity == iampolicy.SeverityError {
			errors++
		} else {
			warnings++
		}
		if len(out.Findings) < mostFindings {
			out.Findings = append(out.Findings, api.PolicyFinding{Line: f.Line, Column: f.Column, Code: string(f.Code), Severity: string(f.Severity), Message: f.Message})
		}
	}
	switch {
	case !isJSON:
		out.Unusable = "The text is no JSON document."
		out.Sentence = out.Unusable
	case errors+warnings == 0 && checked.More:
		out.Sentence = fmt.Sprintf("Nothing is wrong with the first %d policies, as far as AWS and Tabard check.", mostPolicies)
	case errors+warnings == 0:
		out.Sentence = "Nothing is wrong with it, as far as AWS and Tabard check."
	default:
		if checked.More {
			out.Sentence = "At least "
		}
		out.Sentence += line.Count(errors, "error", "errors") + " and " + line.Count(warnings, "warning", "warnings") + " were found."
	}
	if more := errors + warnings - len(out.Findings); more > 0 {
		out.Sentence += fmt.Sprintf(" The first %d are shown.", len(out.Findings))
	}
	if checked.More {
		out.Sentence += " The text has more than is checked here: the command checks all of it."
	}
	if room := checked.Room; room != nil {
		out.Room = fmt.Sprintf("It counts %d of the %d characters that AWS allows for %s policies.", room.Used, room.Limit, room.Quota)
	}
	return out
}
