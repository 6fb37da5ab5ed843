package credentials

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/cli/command"
)

// leftOut tells a person who may not read the CredentialsGrants what is missing, and the
// right by which it is there. Without the error stream the command still has its output.
func (s *seen) leftOut(streams command.Streams) {
	if s.Unread {
		_ = command.Write(streams.Err, "tabard: you may not read the CredentialsGrants, so this shows the requests' own status, which has less of reasons and roles. "+
			"The right that shows all: list credentialsgrants.identity.tabard.dev in the cluster\n")
	}
}

// ownConditions are those of the request, in the form of newer kinds.
func ownConditions(request *cloudv1.CredentialsRequest) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range request.Status.Conditions {
		out = append(out, metav1.Condition{
			Type: string(c.Type), Status: c.Status, ObservedGeneration: request.Status.LastSyncGeneration,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}
