package overview

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// todo is the one thing to do: about the first broken link, else about the first pod that lacks its identity,
// else about the first request that waits.
func (s Seen) todo(links []State) *Todo {
	for _, link := range links {
		if link.State == chain.Broken {
			return about(link.Text, link.Finding, link.By)
		}
	}
	switch {
	case s.Pods.First != nil:
		return about(s.Pods.First.Text, s.Pods.Finding, &s.Pods.First.Subject)
	case s.Requests.First != nil:
		row := s.Requests.First
		waits := "waits"
		if row.State == credentials.RowDeleting {
			waits = "waits to be deleted"
		}
		return &Todo{Title: fmt.Sprintf("CredentialsRequest %s/%s %s", row.Namespace, row.Name, waits), Request: row, Remedy: remedyOf(row.Reason)}
	}
	return nil
}

// about is what to do about a finding; where it is not known how it is mended, the chain of the workload says.
func about(text string, finding *chain.Finding, of *chain.Subject) *Todo {
	if finding != nil {
		text = finding.Symptom
	}
	return &Todo{Title: capital(text), Finding: finding, Subject: of}
}

// FindingOf is the finding of a code in a report; nil for none.
func FindingOf(r *chain.Report, code chain.Code) *chain.Finding {
	for i := range r.Links {
		for j := range r.Links[i].Findings {
			if f := &r.Links[i].Findings[j]; f.Code == code {
				return f
			}
		}
	}
	return nil
}

// remedyOf is what the reference says of a reason; empty for nothing.
func remedyOf(reason string) string {
	for _, e := range credentials.Reference.Reasons {
		if reason == string(e.Reason) {
			return e.Remedy
		}
	}
	return ""
}

// capital begins a text as a sentence.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// sentence is the answer as a whole, with what could not be seen.
func (s Seen) sentence(o Overview) string {
	out := s.answer(o)
	if lacking := s.lacking(o.Links); len(lacking) > 0 {
		out += " Not everything could be seen: " + strings.Join(lacking, ", ") + "."
	}
	return out
}

func (s Seen) answer(o Overview) string {
	nobody := false
	for _, link := range o.Links {
		switch link.State {
		case chain.Broken:
			return fmt.Sprintf("The first broken link is %s %s.", link.Link, link.Link.Name())
		case chain.Unreached:
			nobody = nobody || link.Link == chain.Binding
		case chain.Sound, chain.Unseen, chain.Unasked:
		}
	}
	switch {
	case s.Pods.First != nil:
		return counted(s.Pods.Without, "One pod lacks its identity.", "%d pods lack their identity.")
	case s.Requests.First != nil:
		return counted(s.Requests.Waiting, "One CredentialsRequest waits.", "%d CredentialsRequests wait.")
	case len(s.lacking(o.Links)) > 0:
		return "Nothing that was looked at is wrong."
	case nobody:
		return "All is well, as far as was looked; no ServiceAccount names a role yet."
	}
	return "All is well, as far as was looked."
}

func counted(number int, one, many string) string {
	if number == 1 {
		return one
	}
	return fmt.Sprintf(many, number)
}

// lacking is what could not be seen.
func (s Seen) lacking(links []State) (out []string) {
	for _, link := range links {
		if link.State == chain.Unseen || link.State == chain.Unasked {
			out = append(out, string(link.Link)+" "+link.Link.Name())
		}
	}
	switch {
	case s.Pods.Unknown != "":
		out = append(out, "the pods")
	case s.Pods.Unjudged > 0:
		out = append(out, line.Count(s.Pods.Unjudged, "pod", "pods"))
	}
	if s.Requests.Unknown != "" {
		out = append(out, "the CredentialsRequests")
	}
	return out
}
