package sts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/iam"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	// maxSessionPolicies is how many managed policies may limit a session.
	maxSessionPolicies = 10
	// packedSpace is the room for packed session policies and tags, in bytes.
	// AWS's way of packing is its own; about half the size of a policy's text is
	// what is seen.
	packedSpace = 1024
	packedRatio = 0.55
)

var policyPattern = pattern.New(`^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/[!-~]+$`)

// readPolicyARNs reads the managed session policies' ARNs, and at most one more
// than there may be.
func readPolicyARNs(form query.Form, v *query.Validation) []string {
	arns := []string{}
	for i := 1; i <= maxSessionPolicies+1; i++ {
		name := fmt.Sprintf("PolicyArns.member.%d.arn", i)
		if !form.Has(name) {
			break
		}
		arns = append(arns, v.Text(form, name, 20, 2048, nil))
	}
	v.Count("PolicyArns", len(arns), maxSessionPolicies)
	return arns
}

// resolve finds the managed session policies, which are those of the role's
// account, and parses the inline one. They stay as they are now for as long as
// the session lasts.
func (s *Service) resolve(want *wanted, role iam.Role) {
	for _, arn := range want.arns {
		if !policyPattern.MatchString(arn) {
			call.Refuse(badRequest("ValidationError", "Invalid policy ARN: "+arn))
		}
		found, known := s.options.Directory.ManagedPolicy(role.AccountID, arn)
		if !known {
			call.Refuse(malformedPolicy("Policy " + arn + " does not exist or is not attachable."))
		}
		want.documents = append(want.documents, found)
	}
	if want.text == "" {
		return
	}
	found, err := parse(want.text)
	if err != nil {
		call.Refuse(malformedPolicy(message(err)))
	}
	want.documents = append(want.documents, found)
}

// parse reads a session policy.
func parse(text string) (iam.Document, error) {
	policy, err := iampolicy.Parse([]byte(text))
	if err == nil {
		err = policy.Validate(iampolicy.SessionPolicy)
	}
	return iam.Document{Text: text, Policy: policy}, err
}

func message(err error) string {
	var all iampolicy.Errors
	if errors.As(err, &all) {
		return all.Text(iampolicy.SessionPolicy)
	}
	return err.Error()
}

// pack says how much of their room policies and tags take, in percent.
func (w *wanted) pack() int {
	text := w.carried.text()
	for _, arn := range w.arns {
		text += arn
	}
	return packed(w.text, text)
}

// packed is the share of the room that an inline policy, of which the packing
// leaves a part, and further text take.
func packed(policy, more string) int {
	var small bytes.Buffer
	if json.Compact(&small, []byte(policy)) != nil {
		small.WriteString(policy)
	}
	return max(1, int((float64(small.Len())*packedRatio+float64(len(more)))*100/packedSpace))
}
