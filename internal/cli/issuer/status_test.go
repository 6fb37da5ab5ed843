package issuer

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// reported is an OIDCIssuer of which the operator has said that all is well.
func reported() *v1alpha1.OIDCIssuer {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	out := wanted()
	out.Generation = 2
	out.Status = v1alpha1.OIDCIssuerStatus{
		ObservedGeneration: 2,
		Conditions:         []metav1.Condition{{Type: core.TypeReady, Status: metav1.ConditionTrue, Reason: string(core.ReasonVerified), Message: "a token verifies"}},
		Keys:               []v1alpha1.SigningKey{{KeyID: "key-1", Algorithm: "RS256", State: v1alpha1.KeyActive, FirstSeen: at, ReadableSince: &at}},
		Publication:        v1alpha1.PublicationStatus{Bucket: "main-oidc", ObservedAnonymouslyAt: &at},
		Providers:          []v1alpha1.ProviderStatus{{AccountID: "123456789012", ARN: "arn:aws:iam::123456789012:oidc-provider/issuer.example.com", Created: true}},
	}
	return out
}

func TestStatusIsReadyOnlyForWhatTheObjectSaysNow(t *testing.T) {
	cases := map[string]struct {
		change func(*v1alpha1.OIDCIssuer)
		ready  bool
		says   string
	}{
		"all is well":                    {func(*v1alpha1.OIDCIssuer) {}, true, "yes"},
		"the accounts are listed":        {func(*v1alpha1.OIDCIssuer) {}, true, "123456789012  arn:aws:iam::123456789012:oidc-provider/issuer.example.com  yes"},
		"the keys are listed":            {func(*v1alpha1.OIDCIssuer) {}, true, "key-1  RS256      Active  2026-01-02T03:04:05Z  2026-01-02T03:04:05Z"},
		"no operator has looked at it":   {func(o *v1alpha1.OIDCIssuer) { o.Status = v1alpha1.OIDCIssuerStatus{} }, false, "no operator has looked"},
		"the spec has changed since":     {func(o *v1alpha1.OIDCIssuer) { o.Generation++ }, false, "has not looked at it since"},
		"Ready is Unknown":               {func(o *v1alpha1.OIDCIssuer) { o.Status.Conditions[0].Status = metav1.ConditionUnknown }, false, "Ready is Unknown"},
		"it is being deleted":            {func(o *v1alpha1.OIDCIssuer) { now := metav1.Now(); o.DeletionTimestamp = &now }, false, "being deleted"},
		"a message controls no terminal": {func(o *v1alpha1.OIDCIssuer) { o.Status.Conditions[0].Message = "\x1b[2Jwell" }, true, "�[2Jwell"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := reported()
			tc.change(o)
			var out bytes.Buffer
			err := Report(command.Streams{Out: &out}, []v1alpha1.OIDCIssuer{*o}, command.Output{Format: "table"})
			if !strings.Contains(out.String(), tc.says) {
				t.Errorf("it does not say %q:\n%s", tc.says, &out)
			}
			if exit, is := errors.AsType[*command.Exit](err); tc.ready && err != nil || !tc.ready && (!is || exit.Code != command.Found) {
				t.Errorf("it ended with %v, want ready %t", err, tc.ready)
			}
		})
	}
}

// TestTheHeadOfAStatusDoesNotContradictItsConditions: that the documents could be read
// once is no answer where the operator has just seen otherwise.
func TestTheHeadOfAStatusDoesNotContradictItsConditions(t *testing.T) {
	published := func(status metav1.ConditionStatus, reason core.Reason) []metav1.Condition {
		return []metav1.Condition{
			{Type: core.TypePublished, Status: status, Reason: string(reason), Message: "there is no bucket"},
			{Type: core.TypeReady, Status: status, Reason: string(reason)},
		}
	}
	const readable = "read without credentials since"
	cases := map[string]struct {
		conditions []metav1.Condition
		line       string
		readable   bool
	}{
		"the documents are there":         {published(metav1.ConditionTrue, core.ReasonPublished), "in bucket main-oidc, " + readable + " 2026-01-02T03:04:05Z", true},
		"the bucket is gone":              {published(metav1.ConditionFalse, core.ReasonBucketMissing), "no (BucketMissing)", false},
		"a document is gone":              {published(metav1.ConditionFalse, core.ReasonDocumentsMissing), "no (DocumentsMissing)", false},
		"nobody knows":                    {published(metav1.ConditionUnknown, core.ReasonAWSUnavailable), "not known (AWSUnavailable)", false},
		"nothing was looked at again yet": {nil, "in bucket main-oidc, " + readable, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := reported()
			o.Status.Conditions = tc.conditions
			text := StatusOf(o).Text()
			var head string
			for line := range strings.Lines(text) {
				if rest, is := strings.CutPrefix(line, "Published:"); is {
					head = strings.TrimSpace(rest)
				}
			}
			if !strings.HasPrefix(head, tc.line) || strings.Contains(text, readable) != tc.readable {
				t.Errorf("Published is %q, want %q, and no other line that says %q:\n%s", head, tc.line, readable, text)
			}
		})
	}
}

func TestStatusForPrograms(t *testing.T) {
	second := reported()
	second.Name, second.Status = "second", v1alpha1.OIDCIssuerStatus{}
	var out bytes.Buffer
	err := Report(command.Streams{Out: &out}, []v1alpha1.OIDCIssuer{*reported(), *second}, command.Output{Format: "json"})
	var list command.List[Status]
	must.Do(t, json.Unmarshal(out.Bytes(), &list))
	got := list.Items
	if list.Meta != command.MetaOf("IssuerStatusList") {
		t.Errorf("it is a %+v", list.Meta)
	}
	if len(got) != 2 || !got[0].Ready || got[1].Ready || got[1].NotReady == "" || err == nil || !strings.Contains(err.Error(), "second") {
		t.Errorf("got %+v (%v)", got, err)
	}
	out.Reset()
	_ = Report(command.Streams{Out: &out}, []v1alpha1.OIDCIssuer{*second}, command.Output{Format: command.Name}) // it is not Ready
	if out.String() != "oidcissuer.identity.tabard.dev/second\n" {
		t.Errorf("its name is %q", &out)
	}
	out.Reset()
	if err := Report(command.Streams{Out: &out}, nil, command.Output{Format: "json"}); err != nil || !strings.Contains(out.String(), `"items": []`) {
		t.Errorf("no OIDCIssuers are %q (%v)", &out, err)
	}
	out.Reset()
	if err := Report(command.Streams{Out: &out}, nil, command.Output{Format: "table"}); err != nil || !strings.Contains(out.String(), "tabard issuer init") {
		t.Errorf("no OIDCIssuers are %q (%v)", &out, err)
	}
}
