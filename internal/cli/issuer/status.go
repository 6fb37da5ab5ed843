package issuer

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// Status is what is told of the state of an OIDCIssuer.
type Status struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// Ready says that the condition Ready is True, for the spec as it is now, of an
	// OIDCIssuer that is not being deleted. NotReady says why it is not.
	Ready    bool                      `json:"ready"`
	NotReady string                    `json:"notReady,omitempty"`
	Status   v1alpha1.OIDCIssuerStatus `json:"status"`
}

// StatusOf reads the state of an OIDCIssuer as its operator has reported it.
func StatusOf(o *v1alpha1.OIDCIssuer) Status {
	out := Status{Name: o.Name, URL: o.Spec.URL, Status: o.Status}
	ready := meta.FindStatusCondition(o.Status.Conditions, core.TypeReady)
	switch {
	case !o.DeletionTimestamp.IsZero():
		out.NotReady = "it is being deleted"
	case ready == nil:
		out.NotReady = "no operator has looked at it: check that the Deployment tabard-issuer runs (its pods wait for tabard issuer bootstrap)"
	case o.Status.ObservedGeneration != o.Generation:
		out.NotReady = "its spec has changed, and the operator has not looked at it since: check that the Deployment tabard-issuer runs"
	case ready.Status != metav1.ConditionTrue:
		out.NotReady = fmt.Sprintf("Ready is %s (%s)", ready.Status, ready.Reason)
	default:
		out.Ready = true
	}
	return out
}

// Text is the state for people.
func (s Status) Text() string {
	verdict := "yes"
	if !s.Ready {
		verdict = "no: " + s.NotReady
	}
	out := command.Table([][]string{{"OIDCIssuer:", s.Name}, {"URL:", s.URL}, {"Published:", s.published()}, {"Ready:", verdict}})
	rows := [][]string{{"CONDITION", "STATUS", "REASON", "MESSAGE"}}
	for _, c := range s.Status.Conditions {
		rows = append(rows, []string{c.Type, string(c.Status), c.Reason, c.Message})
	}
	out += section(rows)
	rows = [][]string{{"ACCOUNT", "PROVIDER", "MADE BY TABARD", "THROUGH ROLE"}}
	for _, p := range s.Status.Providers {
		rows = append(rows, []string{p.AccountID, p.ARN, yesNo(p.Created), p.AssumeRoleARN})
	}
	out += section(rows)
	rows = [][]string{{"KEY", "ALGORITHM", "STATE", "FIRST SEEN", "READABLE SINCE"}}
	for _, k := range s.Status.Keys {
		since := "-"
		if k.ReadableSince != nil {
			since = instant(*k.ReadableSince)
		}
		rows = append(rows, []string{k.KeyID, k.Algorithm, string(k.State), instant(k.FirstSeen), since})
	}
	return out + section(rows)
}

// published says where the documents can be read. That they could be read once says
// nothing beside a condition that denies it: the head must not contradict it.
func (s Status) published() string {
	is := meta.FindStatusCondition(s.Status.Conditions, core.TypePublished)
	at := s.Status.Publication.ObservedAnonymouslyAt
	switch {
	case is != nil && is.Status == metav1.ConditionFalse:
		return "no (" + is.Reason + ")"
	case is != nil && is.Status != metav1.ConditionTrue && at != nil:
		return "not known (" + is.Reason + ")"
	case at == nil:
		return "not yet"
	}
	return "in bucket " + s.Status.Publication.Bucket + ", read without credentials since " + instant(*at)
}

// section is a table after an empty line; nothing where it has only its head.
func section(rows [][]string) string {
	if len(rows) < 2 {
		return ""
	}
	return "\n" + command.Table(rows)
}

func instant(t metav1.Time) string { return t.UTC().Format(time.RFC3339) }

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// Report prints the state of OIDCIssuers. The error has exit code 1 if
// one of them is not Ready.
func Report(streams command.Streams, issuers []v1alpha1.OIDCIssuer, output command.Output) error {
	all, waiting, texts, names := []Status{}, []string{}, []string{}, []string{}
	for i := range issuers {
		one := StatusOf(&issuers[i])
		all, texts = append(all, one), append(texts, one.Text())
		names = append(names, "oidcissuer."+v1alpha1.GroupVersion.Group+"/"+one.Name)
		if !one.Ready {
			waiting = append(waiting, one.Name)
		}
	}
	err := streams.PrintAs(output, command.Printed{Document: command.ListOf("IssuerStatusList", all), Names: names, Text: func() string {
		if len(all) == 0 {
			return "There are no OIDCIssuers: tabard issuer init writes the file of one.\n"
		}
		return strings.Join(texts, "\n")
	}})
	if err == nil && len(waiting) > 0 {
		err = &command.Exit{Code: command.Found, What: "not Ready: " + strings.Join(waiting, ", ")}
	}
	return err
}
