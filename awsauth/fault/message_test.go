package fault_test

import (
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth/fault"
)

func TestMessagesAreTheSameAtEveryAttempt(t *testing.T) {
	cases := map[string]struct{ message, want string }{
		"the service's text is kept": {
			"User: arn:aws:sts::123456789012:assumed-role/r/s is not authorized to perform: s3:GetObject",
			"User: arn:aws:sts::123456789012:assumed-role/r/s is not authorized to perform: s3:GetObject",
		},
		"request and host IDs go": {
			"Slow down (Request ID: 7GH2-KLM4N5P6Q7R8, Host ID: abcdEFGH12+/=)", "Slow down",
		},
		"lines become one":      {"a\r\n  b\tc", "a b c"},
		"control characters go": {"a\x00b\x1b[31m", "a b [31m"},
		"epochs of expired tokens go": {
			"Token expired: current date/time 1700000000 must be before the expiration date/time 1699999000",
			"Token expired: current date/time … must be before the expiration date/time …",
		},
		"the age of a token goes": {"Token too old: 1700000000", "Token too old: …"},
		"times of a wrong clock go": {
			"Signature expired: 20260101T100000Z is now earlier than 20260101T101500Z (20260101T103000Z - 15 min.)",
			"Signature expired: … is now earlier than … (… - 15 min.)",
		},
		"account IDs and numbers stay": {"role/1700000000 of 123456789012", "role/1700000000 of 123456789012"},
		"encoded authorization details go": {
			"You are not authorized. Encoded authorization failure message: abcDEF-123_4", "You are not authorized.",
		},
		"bytes that are no text go": {"a\xffb", "a?b"},
		"endless texts end":         {strings.Repeat("é", 1000), strings.Repeat("é", 512) + "…"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := fault.Of("S3", "Op", &smithy.GenericAPIError{Code: "X", Message: c.message, Fault: smithy.FaultClient})
			if diff := cmp.Diff(c.want, got.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMessageOfABrokenConnectionHasNoLocalPort(t *testing.T) {
	got := fault.Of("S3", "Op", refused())
	want := "no connection with 10.0.0.2:443: connection refused; check the network to the endpoint"
	if got.Message != want {
		t.Errorf("message %q, want %q", got.Message, want)
	}
}

func TestMessagesOfCertificatesSayWhatToDo(t *testing.T) {
	cases := map[string]struct {
		err  error
		want string
	}{
		"an unknown authority": {x509.UnknownAuthorityError{}, "AWS_CA_BUNDLE"},
		"an expired one":       {x509.CertificateInvalidError{Reason: x509.Expired, Detail: "current time 2026"}, "clock"},
		"a wrong name":         {x509.HostnameError{Host: "s3.example", Certificate: &x509.Certificate{}}, "not for s3.example"},
		"a wrong use":          {x509.CertificateInvalidError{Reason: x509.IncompatibleUsage}, "not valid for a server"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := fault.Of("S3", "Op", fmt.Errorf("tls: %w", c.err))
			if !strings.Contains(got.Message, c.want) || strings.Contains(got.Message, "2026") {
				t.Errorf("message %q does not say %q", got.Message, c.want)
			}
		})
	}
}

// FuzzMessage looks for texts that would break a condition's message.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{"", "plain", "a\nb", "RequestId: 1234567890", "\xff\xfe", strings.Repeat("x ", 2000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		got := fault.Of("S3", "Op", &smithy.GenericAPIError{Code: "X", Message: message}).Message
		if strings.ContainsAny(got, "\n\r\t\x00") || len(got) > 1100 || strings.TrimSpace(got) != got {
			t.Errorf("%q became %q", message, got)
		}
	})
}

func refused() error {
	return &net.OpError{
		Op: "read", Net: "tcp",
		Source: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 53412}, Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 443},
		Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
	}
}
