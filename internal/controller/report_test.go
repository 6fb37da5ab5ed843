package controller

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
)

func TestShorten(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("a", maxNote), strings.Repeat("a", maxNote+1), strings.Repeat("…", maxNote)} {
		got := Shorten(text, "the condition")
		if len(got) > maxNote || !utf8.ValidString(got) {
			t.Errorf("%d bytes became %d, valid %v", len(text), len(got), utf8.ValidString(got))
		}
		if len(text) <= maxNote && got != text {
			t.Errorf("%d bytes were cut for nothing", len(text))
		}
	}
}

func TestAnnounce(t *testing.T) {
	condition := func(status metav1.ConditionStatus, reason string) []metav1.Condition {
		return []metav1.Condition{{Type: "Ready", Status: status, Reason: reason, Message: "so"}}
	}
	cases := map[string]struct {
		before, after []metav1.Condition
		want          string
	}{
		"a condition that becomes true is news":           {condition("False", "Bad"), condition("True", "Good"), "Normal Good Ready: so"},
		"a condition that becomes false is a warning":     {condition("True", "Good"), condition("False", "Bad"), "Warning Bad Ready: so"},
		"another reason is news":                          {condition("False", "Bad"), condition("False", "Worse"), "Warning Worse Ready: so"},
		"the same again is none":                          {condition("False", "Bad"), condition("False", "Bad"), ""},
		"unknown is no news of something just come up":    {nil, condition("Unknown", "NotReached"), ""},
		"unknown is news of something that was all right": {condition("True", "Good"), condition("Unknown", "AWSUnavailable"), "Normal AWSUnavailable Ready: so"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			recorder := events.NewFakeRecorder(1)
			var logged []string
			logger := funcr.New(func(_, line string) { logged = append(logged, line) }, funcr.Options{})
			Kit{Events: recorder}.announce(log.IntoContext(t.Context(), logger), &v1alpha1.OIDCIssuer{}, tc.before, tc.after)
			got := ""
			select {
			case got = <-recorder.Events:
			default:
			}
			if got != tc.want {
				t.Errorf("event %q, want %q", got, tc.want)
			}
			if warns := strings.HasPrefix(tc.want, "Warning"); warns != (len(logged) == 1) || warns && !strings.Contains(logged[0], tc.after[0].Reason) {
				t.Errorf("logged %q", logged)
			}
		})
	}
}
