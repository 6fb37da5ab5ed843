package credentials

import (
	"cmp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

func cellsOf(r core.Row, now time.Time) []string {
	return []string{
		r.Namespace, r.Name, orDash(strings.Replace(r.Target, "ServiceAccount", "SA", 1)), r.Actor.Name(), r.StateText(), orDash(cmp.Or(r.RoleARN, r.Role)),
		duration.HumanDuration(now.Sub(r.Created.Time)), orDash(r.Why), orDash(r.Message),
	}
}

// nameOf is the request as kubectl get -o name has it.
func nameOf(r core.Row) string { return "credentialsrequest.cloudcredential.openshift.io/" + r.Name }

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
