package sufficiency

import (
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// mostBroader bounds the sentences about what nobody asks for.
const mostBroader = 50

// broader finds the statements of a role that allow what nobody asks for.
func (r *Report) broader(q Question, role set) {
	var asked iampolicy.Document
	for _, a := range q.Atoms {
		if a.Cloud == permission.AWS && a.Effect != "Deny" && len(asked) < mostChecked && strings.Count(a.Action, "*") <= mostStars && strings.Count(a.Resource, "*") <= mostStars {
			asked = append(asked, iampolicy.Statement{Actions: []string{a.Action}, Resources: []string{a.Resource}, Conditions: a.Condition.Tests()})
		}
	}
	policy, err := iampolicy.Parse([]byte(asked.String()))
	if err != nil {
		return
	}
	for _, one := range role.statements {
		if one.deny || !role.ask() {
			continue
		}
		found := iampolicy.Contains(policy, one.allow)
		switch {
		case found.Answer != iampolicy.No:
		case len(r.Broader) == mostBroader:
			r.Broader = append(r.Broader, fmt.Sprintf("there is more than these %d", mostBroader))
			return
		default:
			r.Broader = append(r.Broader, fmt.Sprintf("%s allows %s on %s", one.name, found.Action, found.Resource))
		}
	}
}

// advise tells of a Deny that is asked for and that no policy of the role certainly has.
func (r *Report) advise(a permission.Atom, role set) {
	if asked, err := policyOf(a); err == nil {
		for _, one := range role.statements {
			if one.deny && role.contains(one.allow, asked) == iampolicy.Yes {
				return
			}
		}
	}
	r.warn("the operator asks that %s be denied, and no policy of the role does that", strings.TrimPrefix(a.Sentence(), "may not "))
}
