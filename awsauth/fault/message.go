package fault

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/aws/smithy-go"
)

// maxMessage bounds a message, in bytes; AWS's longest useful ones are shorter.
const maxMessage = 1024

var (
	// changing are the parts of AWS's texts that are new at each attempt.
	changing = sync.OnceValue(func() []change {
		return []change{
			{regexp.MustCompile(`(?i)[,;(]?\s*(extended )?(request|host) ?id:?\s*[\w+/=-]{8,}\)?`), ""},
			{regexp.MustCompile(`\b\d{8}T\d{6}Z\b`), "…"},
			{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT[\d:.]+Z?`), "…"},
			{regexp.MustCompile(`(date/time |Token too old: )\d+`), "${1}…"},
			{regexp.MustCompile(`(?i)encoded authorization failure message: [\w+/=-]+`), ""},
		}
	})
	spaces = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s+`) })
)

// change is a text that is written in another's place.
type change struct {
	pattern *regexp.Regexp
	instead string
}

// Clean is a service's text in one line, without what changes from attempt to
// attempt: a message that changes would make a condition that changes.
func Clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	for _, c := range changing() {
		text = c.pattern.ReplaceAllString(text, c.instead)
	}
	text = strings.TrimSpace(spaces().ReplaceAllString(text, " "))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// transport classes an error that came without an answer of the service. Its
// text is ours: Go's names local ports and the current time.
func transport(err error) (Class, string) {
	if message := certificate(err); message != "" {
		return Certificate, message
	}
	var (
		canceled *smithy.CanceledError
		invalid  smithy.InvalidParamsError
		timeout  net.Error
		dns      *net.DNSError
		op       *net.OpError
	)
	switch {
	case errors.As(err, &invalid):
		return Request, Clean(invalid.Error())
	case errors.Is(err, context.Canceled):
		return Canceled, "the call was given up"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return Transient, "no answer in time; check the network to the endpoint"
	case errors.As(err, &dns):
		return Transient, "the name " + dns.Name + " cannot be resolved; check the region, the endpoint and DNS"
	case errors.As(err, &op):
		return Transient, "no connection" + remote(op) + cause(op) + "; check the network to the endpoint"
	case errors.As(err, &canceled):
		return Canceled, "the call was given up"
	case statusOf(err) >= 500:
		return Transient, "the service answered with a server error and no explanation"
	}
	return Transient, "no usable answer; check that the endpoint is the service's"
}

// certificate says why a server's certificate was refused, empty if it was not.
func certificate(err error) string {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &authority):
		return "the endpoint's certificate is signed by an unknown authority; add that authority to AWS_CA_BUNDLE"
	case errors.As(err, &host):
		return "the endpoint's certificate is not for " + host.Host
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the endpoint's certificate is not valid now; check its dates and this machine's clock"
	case errors.As(err, &invalid):
		return "the endpoint's certificate is not valid for a server"
	}
	return ""
}

func remote(op *net.OpError) string {
	if op.Addr == nil {
		return ""
	}
	return " with " + op.Addr.String()
}

func cause(op *net.OpError) string {
	var call *os.SyscallError
	if errors.As(op, &call) {
		return ": " + call.Err.Error()
	}
	return ""
}
