package inject_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestNothingOfAServiceAccountIsIgnoredInSilence: what the webhook warns of is what the
// annotations alone tell to everybody else.
func TestNothingOfAServiceAccountIsIgnoredInSilence(t *testing.T) {
	t.Parallel()
	const prefix = "eks.amazonaws.com/"
	tests := map[string]struct {
		name, value, says string
		unread            bool // without a role beside it
	}{
		"hours":                          {name: "token-expiration", value: "1h", says: `annotation eks.amazonaws.com/token-expiration is "1h", expected whole seconds, 600 or more: write "3600"; it does not count`},
		"half an hour":                   {name: "token-expiration", value: "30m", says: `write "1800"`},
		"minutes that are too few":       {name: "token-expiration", value: "5m", says: `write "3600"`},
		"a day":                          {name: "token-expiration", value: "1d", says: `write "3600"`},
		"seconds with a point":           {name: "token-expiration", value: "3600.0", says: `is "3600.0", expected whole seconds`},
		"a blank":                        {name: "token-expiration", value: " 3600", says: `is " 3600", expected whole seconds`},
		"seconds that are too few":       {name: "token-expiration", value: "60", says: "is 60, expected seconds, 600 or more; 600 counts"},
		"seconds that are too many":      {name: "token-expiration", value: "4294967297", says: "at most 4294967296, which counts"},
		"seconds":                        {name: "token-expiration", value: "900"},
		"seconds of more than a day":     {name: "token-expiration", value: "90000"},
		"yes":                            {name: "sts-regional-endpoints", value: "yes", says: `annotation eks.amazonaws.com/sts-regional-endpoints is "yes", expected true or false; it does not count`},
		"true":                           {name: "sts-regional-endpoints", value: "True"},
		"no region":                      {name: "region", value: "Frankfurt", says: "no region such as eu-central-1"},
		"an audience":                    {name: "audience", value: "x"},
		"an audience, and no role":       {name: "audience", value: "x", unread: true, says: "has the annotation eks.amazonaws.com/audience and no eks.amazonaws.com/role-arn: the pod gets no AWS identity"},
		"a letter too many":              {name: "token-expirations", value: "900", says: "has the annotation eks.amazonaws.com/token-expirations, which does not count: did you mean eks.amazonaws.com/token-expiration?"},
		"another case":                   {name: "tokenExpiration", value: "900", says: "did you mean eks.amazonaws.com/token-expiration?"},
		"a part":                         {name: "expiration", value: "900", says: "did you mean eks.amazonaws.com/token-expiration?"},
		"a word more":                    {name: "token-expiration-seconds", value: "900", says: "did you mean eks.amazonaws.com/token-expiration?"},
		"a letter missing":               {name: "audence", value: "x", says: "did you mean eks.amazonaws.com/audience?"},
		"a second role, misspelt":        {name: "role_arn", value: "x", says: "did you mean eks.amazonaws.com/role-arn?"},
		"what is a pod's":                {name: "skip-containers", value: "x", says: "has the annotation eks.amazonaws.com/skip-containers, which counts on pods only"},
		"what is a label":                {name: "skip-pod-identity-webhook", value: "true", says: "which is a label of pods"},
		"what means something to others": {name: "compute-type", value: "fargate"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := optedIn()
			if test.unread {
				given = newSetup()
				given.Annotations = map[string]string{}
			}
			given.Annotations[prefix+test.name] = test.value
			warned := injected(t, given, []byte(`{"spec":{"serviceAccountName":"app","containers":[{"name":"app"}]}}`)).Warnings
			wantSlip(t, test.says, warned, given.aws(t).AccountSlips("app", given.subject(t).Account))
		})
	}
}

// TestNothingOfAPodIsIgnoredInSilence is the same of a pod.
func TestNothingOfAPodIsIgnoredInSilence(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind, name, value, says string
	}{
		"hours":                            {"annotations", "token-expiration", "1h", `annotation eks.amazonaws.com/token-expiration is "1h", expected whole seconds, 600 or more: write "3600"; it does not count`},
		"seconds that are too few":         {"annotations", "token-expiration", "-1", "600 counts"},
		"no container to skip":             {"annotations", "skip-containers", "app, sidecar", `annotation eks.amazonaws.com/skip-containers names "sidecar", which is no container of the pod`},
		"containers to skip":               {"annotations", "skip-containers", "first", ""},
		"no container to include":          {"annotations", "include-containers", "app,sidecar", `names "sidecar", which is no container of the pod, or a skipped one`},
		"no list":                          {"annotations", "skip-containers", `a"b`, "no container is skipped"},
		"no profile":                       {"annotations", "role-profiles", "x", "expected NAME=ROLE"},
		"what is the ServiceAccount's":     {"annotations", "role-arn", roleARN, "annotation eks.amazonaws.com/role-arn of the pod does not count: write it on the ServiceAccount"},
		"what is a label":                  {"annotations", "skip-pod-identity-webhook", "true", "does not count: it is a label"},
		"a letter missing":                 {"annotations", "skip-container", "app", "annotation eks.amazonaws.com/skip-container of the pod does not count: did you mean eks.amazonaws.com/skip-containers?"},
		"a label that is an annotation":    {"labels", "skip-containers", "app", "label eks.amazonaws.com/skip-containers of the pod does not count: it is an annotation"},
		"a label of the ServiceAccount's":  {"labels", "audience", "x", "it is an annotation of the ServiceAccount"},
		"a label, misspelt":                {"labels", "skip-pod-identity-webhooks", "true", "did you mean eks.amazonaws.com/skip-pod-identity-webhook?"},
		"a label that means something":     {"labels", "fargate-profile", "x", ""},
		"what the webhook writes":          {"annotations", "aws-config", "x", ""},
		"the label that the webhook makes": {"labels", "pod-identity", "enabled", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := fmt.Appendf(nil, `{"metadata":{%q:{"eks.amazonaws.com/%s":%q}},"spec":{"serviceAccountName":"app","initContainers":[{"name":"first"}],"containers":[{"name":"app"}]}}`, test.kind, test.name, test.value)
			pod := must.Get(inject.Read(must.Get(raw.Parse(text))(t)))(t)
			given := optedIn()
			wantSlip(t, test.says, injected(t, given, text).Warnings, given.aws(t).PodSlips(pod))
		})
	}
}

// wantSlip compares warnings and slips with the text that both are to have, or with
// nothing.
func wantSlip(t *testing.T, says string, warned, slips []string) {
	t.Helper()
	for what, texts := range map[string][]string{"warnings": warned, "slips": slips} {
		if says == "" && len(texts) > 0 || says != "" && !strings.Contains(strings.Join(texts, "\n"), says) {
			t.Errorf("the %s are %q, want %q", what, texts, says)
		}
	}
}

// TestManyUnknownNamesAreBounded: whoever writes annotations may write very many.
func TestManyUnknownNamesAreBounded(t *testing.T) {
	t.Parallel()
	var annotations, skipped strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&annotations, `"eks.amazonaws.com/skip-container%d":"x",`, i)
		fmt.Fprintf(&skipped, "c%d,", i)
	}
	text := fmt.Sprintf(`{"metadata":{"annotations":{%s"eks.amazonaws.com/skip-containers":%q}},"spec":{"containers":[{"name":"app"}]}}`, &annotations, &skipped)
	pod := must.Get(inject.Read(must.Get(raw.Parse([]byte(text)))(t)))(t)
	if slips := optedIn().aws(t).PodSlips(pod); len(slips) != 8 || !strings.Contains(slips[7], "and more of the kind") {
		t.Errorf("%d slips: %q", len(slips), slips)
	}
}
