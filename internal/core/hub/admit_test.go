package hub_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const spokesOfOneAccount = `arn:aws:eks:us-east-1:222222222222:cluster/.*`

func candidate(t *testing.T) hub.Candidate {
	t.Helper()
	return hub.Candidate{
		Name: "cluster1", Annotations: map[string]string{hub.ARNAnnotation: spokeARN, hub.SuffixAnnotation: suffixA}, Hub: arn(t, hubARN),
		Patterns: must.Get(hub.CompilePatterns([]string{spokesOfOneAccount}))(t), Role: hub.Free, Entry: hub.Free,
	}
}

// TestAdmit is table 2.2 as the hub without the driver awsirsa has it, and the attacks of
// a holder of the bootstrap token.
func TestAdmit(t *testing.T) {
	annotate := func(arn, suffix string) func(*hub.Candidate) {
		return func(c *hub.Candidate) {
			c.Annotations = map[string]string{hub.ARNAnnotation: arn, hub.SuffixAnnotation: suffix}
		}
	}
	patterns := func(texts ...string) func(*hub.Candidate) {
		return func(c *hub.Candidate) { c.Patterns = must.Get(hub.CompilePatterns(texts))(t) }
	}
	other := func(o hub.Other) func(*hub.Candidate) {
		return func(c *hub.Candidate) { c.Others = append(c.Others, o) }
	}
	far := arn(t, strings.Replace(spokeARN, "us-east-1", "eu-west-1", 1))
	tests := map[string]struct {
		change func(*hub.Candidate)
		want   bool
		why    string
	}{
		"both annotations and a pattern that matches":    {func(*hub.Candidate) {}, true, "matches a pattern"},
		"neither annotation":                             {func(c *hub.Candidate) { c.Annotations = nil }, false, "no annotations"},
		"no pattern matches":                             {patterns("arn:aws:eks:us-east-1:333333333333:cluster/.*"), false, "no pattern matches"},
		"a pattern matches the beginning only":           {patterns("arn:aws:eks:us-east-1:222222222222:cluster/spoke"), false, "no pattern matches"},
		"a pattern matches the middle only":              {patterns("222222222222"), false, "no pattern matches"},
		"a shorter alternative comes first":              {patterns("arn:aws:eks:us-east-1:222222222222:cluster/spoke|" + spokeARN), true, "matches"},
		"the second of two patterns matches":             {patterns("x", spokesOfOneAccount), true, "matches"},
		"an empty pattern":                               {patterns(""), false, "no pattern matches"},
		"there are no patterns":                          {patterns(), false, "no patterns"},
		"the ARN is empty":                               {annotate("", suffixA), false, "no ARN"},
		"a spoke without an ARN":                         {annotate("", suffixB), false, "no ARN"},
		"an ARN without a suffix":                        {annotate(spokeARN, ""), false, "without"},
		"an ARN and the suffix of another":               {annotate(spokeARN, suffixB), false, "must be " + suffixA},
		"an ARN with a line behind it":                   {annotate(spokeARN+"\n", suffixA), false, "not the ARN"},
		"the hub is not known":                           {func(c *hub.Candidate) { c.Hub = hub.ARN{} }, false, "not known"},
		"it is accepted":                                 {func(c *hub.Candidate) { c.Accepted = true }, false, "accepted already"},
		"it is being deleted":                            {func(c *hub.Candidate) { c.Deleting = true }, false, "being deleted"},
		"it was accepted before and denied since":        {func(c *hub.Candidate) { c.Annotations[hub.AutoAcceptedAnnotation] = "2026-05-01T12:00:00Z" }, false, "denied"},
		"the gate of OCM accepts everyone":               {func(c *hub.Candidate) { c.OCMApproves = true }, false, "ManagedClusterAutoApproval"},
		"certificates are approved for everyone":         {func(c *hub.Candidate) { c.CSRsApproved = true }, false, "autoApproveUsers"},
		"another cluster says the same ARN":              {other(hub.Other{Name: "evil", Spoke: arn(t, spokeARN), Suffix: suffixB}), false, "ManagedCluster evil"},
		"another cluster says the same suffix":           {other(hub.Other{Name: "evil", Suffix: suffixA}), false, "ManagedCluster evil"},
		"a record of another region has the same suffix": {other(hub.Other{Name: "first", Spoke: far, Suffix: suffixA}), false, "ManagedCluster first"},
		"other clusters say other things":                {other(hub.Other{Name: "other", Spoke: arn(t, hubARN), Suffix: suffixB}), true, "matches"},
		"the cluster itself is in the list":              {other(hub.Other{Name: "cluster1", Spoke: arn(t, spokeARN), Suffix: suffixA}), true, "matches"},
		"there is a role of the name":                    {func(c *hub.Candidate) { c.Role = hub.Taken }, false, "is there already"},
		"there is an access entry":                       {func(c *hub.Candidate) { c.Entry = hub.Taken }, false, "is there already"},
		"nothing in AWS was looked at":                   {func(c *hub.Candidate) { c.Role, c.Entry = hub.NotLooked, hub.NotLooked }, false, "could not be looked at"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := candidate(t)
			test.change(&c)
			if got, why := hub.Admit(c); got != test.want || !strings.Contains(why, test.why) {
				t.Errorf("it is accepted: %t: %s; want %t, %q", got, why, test.want, test.why)
			}
		})
	}
}

func TestPatternsThatDoNotCompileAcceptNothing(t *testing.T) {
	for _, text := range []string{"(", "a)(b", "[", `\`, "*"} {
		got, err := hub.CompilePatterns([]string{".*", text})
		if err == nil || !strings.Contains(err.Error(), "no regular expressions") || !got.IsEmpty() {
			t.Errorf("%q: %v", text, err)
		}
		c := candidate(t)
		c.Patterns = got
		if accepted, _ := hub.Admit(c); accepted {
			t.Errorf("%q: a cluster is accepted", text)
		}
	}
	for _, text := range []string{"(?i)X", "x|", "x$|^y"} { // valid ones stay whole
		if got := must.Get(hub.CompilePatterns([]string{text}))(t); got.Match(arn(t, spokeARN)) {
			t.Errorf("%q matches", text)
		}
	}
	if must.Get(hub.CompilePatterns([]string{".*"}))(t).Match(hub.ARN{}) {
		t.Error("no ARN is matched")
	}
}
