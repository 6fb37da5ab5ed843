package conformance_test

import (
	"fmt"
	"slices"
	"testing"
)

// client is one of those that nobody here wrote; several add up.
type client uint

const (
	goSDK client = 1 << iota
	javascript
	python
	commandLine

	// modern marks a check for those only that know AWS_ENDPOINT_URL: without it,
	// the clients that an SDK makes for itself ask AWS. They know pod identity too.
	modern

	everyone = goSDK | javascript | python | commandLine
	sdks     = goSDK | javascript | python
)

// isExpected says whether a client makes a check; old ones do not know
// AWS_ENDPOINT_URL.
func (c check) isExpected(who client, old bool) bool {
	return c.by&who != 0 && !(old && c.by&modern != 0)
}

// check is one thing that clients and the local AWS must agree on.
type check struct {
	name string
	by   client
}

// checks is the whole list. A client that does not make a check has a reason
// beside the row.
var checks = []check{
	{"the caller is the key's user", everyone},
	{"a wrong secret is refused", everyone},
	{"an unknown key is refused", everyone},
	{"a role is assumed", everyone},
	{"a web identity token becomes a session", everyone},
	{"a tampered web identity token is refused", everyone},
	{"a session that has expired is refused", everyone},
	{"a tampered session token is refused", everyone},
	// botocore, which the command line is made of too, signs by its own clock.
	{"a wrong clock is set right", goSDK | javascript},
	// The SDK for JavaScript presigns for S3 alone.
	{"a presigned GetCallerIdentity is an EKS token", goSDK | python},
	{"eks get-token makes a token for a cluster", commandLine | modern},

	{"the default chain takes keys from the environment", everyone | modern},
	{"the default chain takes a token file", everyone | modern},
	{"the default chain follows source_profile", everyone | modern},
	{"the endpoint is given by a flag", commandLine},
	{"the default chain asks the container endpoint", everyone | modern},
	// Each command is a process of its own, which never lives that long.
	{"credentials that end are renewed", sdks | modern},

	{"a role is written and read", everyone},
	{"roles come in pages", everyone},
	{"policies come in pages", everyone},
	{"a role is waited for", everyone},
	{"a role that is missing is NoSuchEntity", everyone},
	{"a call without permission is AccessDenied", everyone},

	{"an object comes back as it was written", everyone},
	{"a stream is written with a checksum", sdks},
	{"a range of an object is read", everyone},
	{"objects come in pages", everyone},
	{"a presigned URL reads an object", everyone},
	{"a presigned URL writes an object", sdks}, // the command line signs reading only
	{"a bucket is waited for", everyone},
	{"an object that is missing is NoSuchKey", everyone},
	// What is made for files: boto3's transfer manager, aws s3 cp and aws s3 sync.
	{"a file is uploaded and downloaded", python | commandLine},
	{"a folder is synchronised", commandLine},

	// Clients do not send these: the SDK's signer signs, and the request is changed.
	{"a tampered signature is refused", goSDK},
	{"a tampered body is refused", goSDK},
	{"a tampered header is refused", goSDK},
	{"a signature for another service is refused", goSDK},
	{"a signature for another region is refused", goSDK},
	{"a signature of another day is refused", goSDK},

	{"a cluster is waited for and described", everyone},
	{"a cluster that is missing is ResourceNotFound", everyone},
	{"pod identity associations are listed", everyone | modern},

	{"instance types come in pages", everyone},
	{"regions are listed", everyone},
}

// line is what a client reports of one check.
type line struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// disagreements compares the names that the table expects of a client with those
// that it reported: one sentence for each check that is missing, that was
// reported twice, or that nobody expects.
func disagreements(table []check, who client, old bool, reported []line) []string {
	var out []string
	open := map[string]bool{}
	for _, c := range table {
		if c.isExpected(who, old) {
			open[c.name] = true
		}
	}
	for _, l := range reported {
		if !open[l.Name] {
			out = append(out, fmt.Sprintf("%q was reported, and the table does not expect it, or not twice", l.Name))
		}
		delete(open, l.Name)
	}
	for name := range open {
		out = append(out, fmt.Sprintf("%q was not reported", name))
	}
	slices.Sort(out)
	return out
}

// demand makes a subtest of each line, fails the test for every disagreement,
// and counts the checks.
func demand(t *testing.T, who client, old bool, version string, reported []line) {
	t.Helper()
	ran.add(version, len(reported))
	for _, l := range reported {
		t.Run(l.Name, func(t *testing.T) {
			if !l.OK {
				t.Error(l.Detail)
			}
		})
	}
	for _, text := range disagreements(checks, who, old, reported) {
		t.Error(text)
	}
}

// attempt is a check that Go code makes, of the Go SDK or the command line.
type attempt func(*testing.T, *world)

// perform makes the attempts in the order of the table.
func perform(t *testing.T, who client, old bool, version string, w *world, attempts map[string]attempt) {
	t.Helper()
	var reported []line
	left := len(attempts)
	for _, c := range checks {
		do, known := attempts[c.name]
		if !known {
			continue
		}
		left--
		if !c.isExpected(who, old) {
			continue
		}
		reported = append(reported, line{Name: c.name, OK: t.Run(c.name, func(t *testing.T) { do(t, w) })})
	}
	ran.add(version, len(reported))
	if left != 0 {
		t.Errorf("%d attempts are not in the table", left)
	}
	for _, text := range disagreements(checks, who, old, reported) {
		t.Error(text)
	}
}

func TestEveryDisagreementIsSeen(t *testing.T) {
	table := []check{{"good", everyone}, {"forgotten", everyone}, {"modern", everyone | modern}, {"of others", goSDK}, {"twice", everyone}}
	reported := []line{{Name: "good", OK: true}, {Name: "of others", OK: true}, {Name: "twice", OK: true}, {Name: "twice", OK: true}}
	want := []string{
		`"forgotten" was not reported`,
		`"of others" was reported, and the table does not expect it, or not twice`,
		`"twice" was reported, and the table does not expect it, or not twice`,
	}
	if got := disagreements(table, javascript, true, reported); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := disagreements(table[:1], javascript, false, reported[:1]); got != nil {
		t.Errorf("got %q where all is well", got)
	}
}
