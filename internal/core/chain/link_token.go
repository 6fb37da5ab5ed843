package chain

import (
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/line"
)

// apiTokenFolder has the token that is for the API server alone.
const apiTokenFolder = "/var/run/secrets/kubernetes.io/serviceaccount/"

func (w *walk) token() Step {
	if step, ends := w.noPod(); ends {
		return step
	}
	if w.own == nil {
		return Step{State: Unreached, Text: "the pod has no token for AWS"}
	}
	file := valueOf(w.own, tokenVariable)
	token := w.tokenIn(w.own)
	switch {
	case strings.HasPrefix(file, apiTokenFolder) || token != nil && token.Audience == "":
		return broken(Finding{
			Code: CodeAPIToken, Symptom: "the container shows AWS the token that is for the API server",
			Observed: tokenVariable + "=" + file, Required: "a projected token with the audience " + w.audience,
			Mend: w.leaveToWebhook(roleVariable, tokenVariable), Note: byWebhook,
		})
	case token == nil && file == "":
		return broken(Finding{
			Code: CodeNoToken, Symptom: fmt.Sprintf("container %s has a role and is told of no token", w.own.Name),
			Observed: "no " + tokenVariable, Required: "a projected token with the audience " + w.audience,
			Mend: w.leaveToWebhook(roleVariable), Note: byWebhook,
		})
	case token == nil:
		return unseen("the token at "+file, "no projected volume of the pod brings it", "a look into the container")
	}
	return Step{State: Sound, Text: fmt.Sprintf("sub %s, aud %s, at %s", w.tokenSubject(), token.Audience, file)}
}

const byWebhook = "The webhook puts the role and a token in place of what is taken out."

// leaveToWebhook are the commands by which the webhook injects what a template says by hand. The
// ServiceAccount comes first: the other command makes new pods.
func (w *walk) leaveToWebhook(variables ...string) []string {
	take := "set env " + line.Word(w.workload()) + " -c " + line.Word(w.own.Name)
	for _, name := range variables {
		take += " " + name + "-"
	}
	return []string{w.annotate(w.role), w.kubectl(take)}
}
