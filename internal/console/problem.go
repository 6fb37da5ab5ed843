package console

import (
	"context"
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/olm/installing"
)

// Problem is an answer that is an error.
type Problem api.Problem

// Error implements error.
func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// problemOf is what a page says of an error. What the cluster said is for a person as it is: it has no
// stack and no object.
func problemOf(err error) *Problem {
	if problem, ok := errors.AsType[*Problem](err); ok {
		return problem
	}
	if refused, ok := errors.AsType[*installing.Refusal](err); ok {
		return refusedBecause(refused)
	}
	if lacking, ok := errors.AsType[*installing.Unpermitted](err); ok {
		return lacks(lacking)
	}
	switch {
	case errors.Is(err, olm.ErrChanged):
		return changed(line.Of(err.Error()) + ".")
	case errors.Is(err, olm.ErrNoOLM):
		return &Problem{Status: http.StatusNotFound, Code: "noOLM", Title: "The cluster has no OLM", Detail: line.Of(err.Error()),
			Next: []string{"install OLM, or see a catalogue in files: tabard console --catalogue PATH"}}
	case apierrors.IsForbidden(err): // before a conflict, which may be that something may not be read
		return &Problem{Status: http.StatusForbidden, Code: "right", Title: "You may not read this", Detail: line.Of(err.Error()), MissingRight: rightOf(err)}
	case errors.Is(err, operator.ErrConflict):
		return &Problem{Status: http.StatusConflict, Code: "conflict", Title: "What is there does not fit", Detail: line.Of(err.Error())}
	case apierrors.IsUnauthorized(err):
		return &Problem{Status: http.StatusBadGateway, Code: "login", Title: "The cluster does not know you", Detail: line.Of(err.Error()),
			Next: []string{"log in to the cluster again, as for kubectl, and type tabard console again"}}
	case errors.Is(err, context.DeadlineExceeded), apierrors.IsTimeout(err), apierrors.IsServerTimeout(err):
		return &Problem{Status: http.StatusGatewayTimeout, Code: "timeout", Title: "The cluster does not answer in time", Detail: line.Of(err.Error())}
	}
	return &Problem{Status: http.StatusBadGateway, Code: "cluster", Title: "This could not be read", Detail: line.Of(err.Error())}
}

// lacks names the rights without which nothing was written, and how an administrator gives them.
func lacks(u *installing.Unpermitted) *Problem {
	out := &Problem{Status: http.StatusForbidden, Code: "right", Title: "You may not do this", Detail: "Nothing was written."}
	var names []string
	for _, right := range u.Rights {
		names, out.Next = append(names, right.String()), append(out.Next, right.Grant())
	}
	out.MissingRight = strings.Join(names, "; ")
	return out
}

// rightOf is the right that was missing, in the words of the API server.
func rightOf(err error) string {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return ""
	}
	return line.Of(status.Status().Message)
}

// refuse answers with a problem (RFC 9457).
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, p *Problem) {
	out := *p
	out.Type = "about:blank"
	if out.Instance == "" {
		out.Instance = s.nextRequest()
	}
	text, err := written(api.Problem(out))
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(out.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // with the browser gone there is nobody to tell
	}
}
