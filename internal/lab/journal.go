package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awslocal"
)

// JournalFormats are the formats in which a journal is written.
func JournalFormats() []string { return []string{"text", "json"} }

// WriteJournal writes the calls of a local AWS in one of JournalFormats; only those
// that were refused, if asked. The JSON is what the admin API answers.
func WriteJournal(out io.Writer, entries []awslocal.Entry, refusedOnly bool, format string) error {
	if refusedOnly {
		entries = slices.DeleteFunc(slices.Clone(entries), func(entry awslocal.Entry) bool { return entry.Error == "" })
	}
	if format == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(append([]awslocal.Entry{}, entries...))
	}
	var text strings.Builder
	for i := range entries {
		entry := &entries[i]
		fmt.Fprintf(&text, "%s  %s:%s  %s\n", entry.Time.UTC().Format(time.RFC3339), plain(entry.Service), plain(entry.Operation), plain(result(entry)))
		fmt.Fprintf(&text, "  asked by %s\n", plain(caller(entry)))
		if entry.Resource != "" {
			fmt.Fprintf(&text, "  about %s\n", plain(entry.Resource))
		}
		if entry.Decision != nil {
			fmt.Fprintf(&text, "  refused by %s\n", plain(decision(entry.Decision)))
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func result(entry *awslocal.Entry) string {
	if entry.Error == "" {
		return strconv.Itoa(entry.Status)
	}
	return strconv.Itoa(entry.Status) + " " + entry.Error
}

// caller is who asked: of a web identity token the identity that it claims.
func caller(entry *awslocal.Entry) string {
	of := entry.WebIdentity
	if of == nil {
		return entry.Caller
	}
	text := fmt.Sprintf("%s, audience %s, issuer %s", of.Subject, strings.Join(of.Audience, " and "), of.Issuer)
	if !of.Verified {
		text += " (claims of a token whose signature was not verified)"
	}
	return text
}

func decision(of *awslocal.Decision) string {
	text := "the " + string(of.Kind) + " policy"
	if of.Kind == "boundary" {
		text = "the permissions boundary"
	}
	switch {
	case of.Policy != "" && of.Kind == "trust", of.Policy != "" && of.Kind == "resource":
		text += " of " + of.Policy
	case of.Policy != "":
		text += " " + of.Policy
	}
	if of.Statement != nil {
		text += fmt.Sprintf(", statement %d", *of.Statement)
	}
	if of.Sid != "" {
		text += " (" + of.Sid + ")"
	}
	return fmt.Sprintf("%s: %s of %s: %s", text, of.Effect, of.Action, of.Reason)
}

// plain keeps a caller's control characters, which would reach the terminal, and tabs
// and line ends, which would look like other calls, out of the text.
func plain(text string) string {
	quoted := strconv.QuoteToGraphic(text)
	return strings.ReplaceAll(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`), `\\`, `\`)
}
