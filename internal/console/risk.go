package console

import (
	"net/http"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm/installing"
)

// reason says whether a text may be recorded as why a person takes a risk, and how a command says it.
func (s *Server) reason(r *http.Request) (any, error) {
	var question api.ReasonQuestion
	if err := readBody(r, &question); err != nil {
		return nil, err
	}
	if err := checkReason(question.Text); err != nil {
		return nil, err
	}
	return api.Reason{Text: question.Text, Flag: flag("reason", question.Text)}, nil
}

func checkReason(text string) error {
	if err := installing.CheckReason(text); err != nil {
		return &Problem{Status: http.StatusBadRequest, Code: "field", Field: "reason", Title: "The reason cannot be recorded", Detail: err.Error()}
	}
	return nil
}

// goingOn is how a person goes on who has seen a verdict about what has a digest. Accept takes its risk, for
// which a reason is required, and is empty for who takes none.
func goingOn(verdict operator.Verdict, digest, accept, reason string) (installing.Going, error) {
	var accepted []string
	if accept != "" {
		accepted = []string{accept}
	}
	passed, err := installing.Gate(verdict, digest, accepted)
	if err == nil && (passed == operator.VerdictOverridden || reason != "") {
		err = checkReason(reason)
	}
	return installing.Going{Verdict: passed, Reason: reason}, err
}
