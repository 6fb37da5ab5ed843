package credentials

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// ForeignRole is a role that somebody else made for a request, as it was read. Tabard
// never changes it.
type ForeignRole struct {
	ARN    string
	Exists bool
	// Trust is its trust policy, Policies are those that allow, inline and attached, and
	// Boundaries its permissions boundary, if it has one; in JSON.
	Trust                string
	Policies, Boundaries []string
	// Fault is why it could not be read, nil for nothing.
	Fault *fault.Fault
}

// outOfSync says whether the role that a request names allows what the request asks for,
// and trusts whom it names. True is that it does not. It is nil where no such role was
// read: to read roles of others is opted into.
func outOfSync(w World) *condition.Verdict {
	arn, _ := GivenRole(w)
	role := w.Foreign
	if role == nil || arn == "" || role.ARN != arn || w.Provider.AWS == nil {
		return nil
	}
	v := CompareRole(w, role)
	return &v
}

// CompareRole says whether a role lacks what an AWS request asks for, or does not trust
// whom it names: True is that it does, Unknown that it cannot be told.
func CompareRole(w World, role *ForeignRole) condition.Verdict {
	switch {
	case role.Fault != nil:
		return condition.Unknown(ReasonRoleUnread, "the role %s could not be read: %s", role.ARN, role.Fault.Error())
	case !role.Exists:
		return condition.Yes(ReasonRoleOutOfSync, "the role %s does not exist", role.ARN)
	}
	wrong, unsure := w.lacks(role)
	wrong = append(wrong, w.distrusts(role)...)
	if len(w.Issuers) == 0 {
		unsure = append(unsure, "no issuer is known, so that its trust policy cannot be judged")
	}
	switch {
	case len(wrong) > 0:
		return condition.Yes(ReasonRoleOutOfSync, "the role %s: %s", role.ARN, strings.Join(append(wrong, unsure...), "; "))
	case len(unsure) > 0:
		return condition.Unknown(ReasonRoleSyncUndecided, "the role %s: %s", role.ARN, strings.Join(unsure, "; "))
	}
	return condition.No(ReasonRoleInSync, "the role %s allows what the request asks for and trusts whom it names", role.ARN)
}

// lacks says which requested statement the role's policies, or its boundary, do not allow.
func (w World) lacks(role *ForeignRole) (wrong, unsure []string) {
	entries := w.Provider.AWS.StatementEntries
	if len(entries) == 0 {
		return nil, nil
	}
	asked, err := iampolicy.Parse([]byte(PermissionPolicy(entries)))
	if err != nil {
		return nil, []string{fmt.Sprintf("what the request asks for is no policy that AWS would take: %v", err)}
	}
	sets := map[string][]string{"its policies": role.Policies}
	if len(role.Boundaries) > 0 {
		sets["its permissions boundary"] = role.Boundaries
	}
	for _, what := range []string{"its policies", "its permissions boundary"} {
		documents, has := sets[what]
		if !has {
			continue
		}
		outer, err := united(documents)
		if err != nil {
			unsure = append(unsure, fmt.Sprintf("%s cannot be read: %v", what, err))
			continue
		}
		switch answer := iampolicy.Contains(outer, asked); answer.Answer {
		case iampolicy.Yes:
		case iampolicy.No:
			text := fmt.Sprintf("%s do not allow statementEntries[%d], %s on %s", what, answer.Statement, answer.Action, answer.Resource)
			if strings.HasSuffix(answer.Reason, " denies a part") {
				text += ", of which a Deny takes a part"
			}
			wrong = append(wrong, text)
		default:
			unsure = append(unsure, fmt.Sprintf("it cannot be decided whether %s allow what the request asks for: %s", what, inFields(answer.Reason, what)))
		}
	}
	return wrong, unsure
}

// united is one policy with the statements of all.
func united(documents []string) (*iampolicy.Policy, error) {
	statements := []Statement{}
	for _, document := range documents {
		if _, err := iampolicy.Parse([]byte(document)); err != nil {
			return nil, err
		}
		statements = append(statements, Statements(document)...)
	}
	text, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": statements})
	if err != nil {
		return nil, err
	}
	return iampolicy.Parse(text)
}

// distrusts says which ServiceAccounts cannot become the role by the tokens of an issuer
// that is in use, for any of the audiences that workloads ask for.
func (w World) distrusts(role *ForeignRole) (wrong []string) {
	targets, invalid := Targets(w.Request)
	if invalid != "" {
		return nil
	}
	trust, err := iampolicy.Parse([]byte(role.Trust))
	if err != nil {
		return []string{fmt.Sprintf("its trust policy cannot be read: %v", err)}
	}
	arn, _ := identity.ParseARN(role.ARN)
	for _, i := range w.Issuers {
		if i.Deleting || i.Retired {
			continue
		}
		for _, subject := range Subjects(w) {
			if audiences := Audiences(targets[0]); !admits(trust, arn, i.URL, subject, audiences) {
				wrong = append(wrong, fmt.Sprintf("its trust policy does not admit %s by tokens of %s for the audience %s", subject, i.URL, strings.Join(audiences, " or ")))
			}
		}
	}
	return wrong
}

func admits(trust *iampolicy.Policy, role identity.ARN, url, subject string, audiences []string) bool {
	bare := strings.TrimPrefix(url, "https://")
	provider := identity.ARN{Partition: role.Partition, Service: "iam", Account: role.Account, Resource: "oidc-provider/" + bare}
	for _, audience := range audiences {
		context := iampolicy.NewContext()
		context.Set(bare+":sub", subject)
		context.Set(bare+":aud", audience)
		request := &iampolicy.Request{
			Principal: iampolicy.Principal{Kind: iampolicy.Federated, ARN: provider.String(), AccountID: role.Account},
			Action:    "sts:AssumeRoleWithWebIdentity", Resource: role.String(), ResourceAccountID: role.Account, Context: context,
		}
		if iampolicy.Evaluate(request, &iampolicy.Policies{Resource: trust}).Allowed() {
			return true
		}
	}
	return false
}
