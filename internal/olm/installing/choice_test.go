package installing

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/platform/tokenfacts"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// onAWS is a cluster in token mode.
var onAWS = tokenfacts.Mode{TokenMode: listing.Yes, Cloud: "AWS"}

// role are the values of one of AWS.
func role(t *testing.T) map[string]string {
	t.Helper()
	return must.Get(operator.ForAWS("arn:aws:iam::123456789012:role/p", "", ""))(t)
}

// choice is one of a package in two channels, that takes roles of AWS.
func choice(t *testing.T) Choice {
	t.Helper()
	bundle := catalogue.Bundle{Name: "p.v1", Metadata: &catalogue.Metadata{Annotations: map[string]string{catalogue.SuggestedNamespace: "suggested"}}}
	bundle.Features.Tokens[catalogue.AWS] = catalogue.Yes
	var channels []catalogue.Channel
	for name, entry := range map[string]string{"fast": "p.v1", "old": "p.v0", "stable": "p.v1"} {
		channels = append(channels, catalogue.Channel{Name: name, Entries: []catalogue.Entry{{Name: entry}}})
	}
	return Choice{
		Package: &catalogue.Package{Name: "p", DefaultChannel: "stable", Channels: channels, Source: catalogue.Source{Kind: catalogue.CatalogSource, Namespace: "olm", Name: "vendor"}},
		Bundle:  bundle, Approval: operator.Manual, Values: role(t),
	}
}

// isRefused demands a code, or none.
func isRefused(t *testing.T, err error, code Code, text string) {
	t.Helper()
	refusal, is := errors.AsType[*Refusal](err)
	switch {
	case code == "" && err == nil:
	case !is || refusal.Code != code:
		t.Errorf("%v, want the code %q", err, code)
	case !strings.Contains(refusal.Text, text) || strings.Contains(refusal.Text, "--"):
		t.Errorf("%q, want %q and no flag", refusal.Text, text)
	}
}

func TestTheRoleIsOfTheClustersCloud(t *testing.T) {
	aws, azure := catalogue.AWS, catalogue.Azure
	onAzure, other := tokenfacts.Mode{TokenMode: listing.Yes, Cloud: "Azure"}, tokenfacts.Mode{TokenMode: listing.Yes, Cloud: "IBMCloud"}
	no, unknown := tokenfacts.Mode{TokenMode: listing.No, Cloud: "AWS"}, tokenfacts.Mode{TokenMode: listing.Unknown}
	for name, c := range map[string]struct {
		mode          tokenfacts.Mode
		without, save bool
		want          *catalogue.Cloud
		code          Code
		text          string
	}{
		"in token mode":                   {mode: onAWS, want: &aws},
		"not in token mode":               {mode: no, code: NotTokenMode, text: "not in token mode"},
		"unknown":                         {mode: unknown, code: NotTokenMode, text: "it is unknown"},
		"of another cloud":                {mode: onAzure, code: OtherCloud, text: "of AWS, and the cluster is in token mode on Azure"},
		"of a cloud that nobody knows":    {mode: other, code: OtherCloud, text: "IBMCloud"},
		"forced":                          {mode: no, save: true, want: &aws},
		"forced on another cloud":         {mode: onAzure, save: true, want: &aws},
		"no role":                         {mode: onAzure, without: true, want: &azure},
		"no role, and no token mode":      {mode: no, without: true},
		"no role, on a cloud of no name":  {mode: other, without: true},
		"no role, forced, not token mode": {mode: no, without: true, save: true},
	} {
		t.Run(name, func(t *testing.T) {
			chosen := Choice{Values: role(t), Force: c.save}
			if c.without {
				chosen.Values = nil
			}
			got, err := chosen.Cloud(c.mode)
			isRefused(t, err, c.code, c.text)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatDoesNotGoTogetherIsRefused(t *testing.T) {
	no := tokenfacts.Mode{TokenMode: listing.No}
	for name, c := range map[string]struct {
		spoil func(*Choice)
		mode  tokenfacts.Mode
		code  Code
		text  string
	}{
		"nothing":                {func(*Choice) {}, onAWS, "", ""},
		"no role":                {func(c *Choice) { c.Values = nil }, onAWS, RoleMissing, "takes a role by tokens"},
		"no role is needed":      {func(c *Choice) { c.Values, c.Bundle.Features.Tokens = nil, [3]catalogue.Support{} }, onAWS, "", ""},
		"no role, no token mode": {func(c *Choice) { c.Values = nil }, no, "", ""},
		"without a role":         {func(c *Choice) { c.Values, c.WithoutRole = nil, true }, onAWS, "", ""},
		"of no cloud":            {tokens(catalogue.AWS, catalogue.No), onAWS, NotSupported, "of no cloud"},
		"of another cloud":       {func(c *Choice) { tokens(catalogue.AWS, catalogue.No)(c); tokens(catalogue.GCP, catalogue.Yes)(c) }, onAWS, NotSupported, "it says so of GCP"},
		"claims tokens":          {tokens(catalogue.AWS, catalogue.Claimed), onAWS, NotSupported, "not say of which cloud"},
		"no metadata":            {func(c *Choice) { tokens(catalogue.AWS, catalogue.Unknown)(c); c.Bundle.Metadata = nil }, onAWS, NoMetadata, "no metadata"},
		"of no cloud, forced":    {func(c *Choice) { tokens(catalogue.AWS, catalogue.No)(c); c.Force = true }, onAWS, "", ""},
		"of OLM v1":              {func(c *Choice) { c.Package.Source.Kind = catalogue.ClusterCatalog }, onAWS, NotOfCatalogSource, "OLM v1"},
		"of OLM v1, from another": {func(c *Choice) {
			c.Package.Source.Kind = catalogue.ClusterCatalog
			c.SourceNamespace, c.Source = "ns", "other"
		}, onAWS, "", ""},
		"nowhere":                  {func(c *Choice) { c.Bundle.Metadata.Annotations = nil }, onAWS, NoNamespace, "its author suggests none"},
		"where there is no place":  {func(c *Choice) { c.Bundle.Metadata.Annotations[catalogue.SuggestedNamespace] = "A b" }, onAWS, NoNamespace, ""},
		"in a channel":             {func(c *Choice) { c.Channel = "fast" }, onAWS, "", ""},
		"in a channel without it":  {func(c *Choice) { c.Channel = "old" }, onAWS, NoChannel, "p.v1"},
		"in several channels":      {func(c *Choice) { c.Package.DefaultChannel = "old" }, onAWS, NoChannel, "is in the channels"},
		"in one channel":           {func(c *Choice) { c.Package.DefaultChannel, c.Bundle.Name = "stable", "p.v0" }, onAWS, "", ""},
		"in none":                  {func(c *Choice) { c.Bundle.Name = "p.v9" }, onAWS, NoChannel, "none"},
		"the cloud is told first":  {func(c *Choice) { c.Package.Source.Kind = catalogue.ClusterCatalog }, no, NotTokenMode, ""},
		"tokens are told before a": {func(c *Choice) { c.Values, c.Channel = nil, "old" }, onAWS, RoleMissing, ""},
	} {
		t.Run(name, func(t *testing.T) {
			chosen := choice(t)
			c.spoil(&chosen)
			_, _, err := chosen.Install(c.mode)
			isRefused(t, err, c.code, c.text)
		})
	}
}

func tokens(of catalogue.Cloud, support catalogue.Support) func(*Choice) {
	return func(c *Choice) { c.Bundle.Features.Tokens[of] = support }
}

func TestWhatAChoiceComesTo(t *testing.T) {
	chosen := choice(t)
	chosen.InstallMode, chosen.Watched, chosen.Variables = "SingleNamespace", "other", map[string]string{"A": "b"}
	want := operator.Install{
		Wanted: operator.Wanted{
			Subscription: "p", Package: "p", CSV: "p.v1", Namespace: "suggested", Channel: "stable", SourceNamespace: "olm", Source: "vendor",
			Values: role(t), Identity: "arn:aws:iam::123456789012:role/p",
		},
		InstallMode: "SingleNamespace", Watched: "other", Approval: operator.Manual, Variables: map[string]string{"A": "b"},
	}
	got, _, err := chosen.Install(onAWS)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	chosen.SourceNamespace, chosen.Source, chosen.Namespace, chosen.Channel = "ns", "mine", "here", "fast"
	want.SourceNamespace, want.Source, want.Namespace, want.Channel = "ns", "mine", "here", "fast"
	got, _, err = chosen.Install(onAWS)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// TestWithoutARoleIsNotedWhereOneCouldBe: an annotation says that somebody chose it.
func TestWithoutARoleIsNotedWhereOneCouldBe(t *testing.T) {
	for name, c := range map[string]struct {
		mode  tokenfacts.Mode
		value bool
		want  bool
	}{"in token mode": {mode: onAWS, want: true}, "not in token mode": {mode: tokenfacts.Mode{TokenMode: listing.No}}, "with a role": {mode: onAWS, value: true}} {
		t.Run(name, func(t *testing.T) {
			chosen := choice(t)
			chosen.WithoutRole = true
			if !c.value {
				chosen.Values = nil
			}
			if got, _, err := chosen.Install(c.mode); err != nil || got.WithoutRole != c.want {
				t.Error(got.WithoutRole, err)
			}
		})
	}
}

func TestADigestIsOfWhatDecides(t *testing.T) {
	digest := func(change func(*Planned)) string {
		chosen := choice(t)
		install, _, err := chosen.Install(onAWS)
		must.Do(t, err)
		planned := Planned{Install: install, Judged: operator.Judgement{Verdict: operator.VerdictMissing, Digest: "sha256:a", Why: "it is"}}
		planned.Install.Values = maps.Clone(install.Values)
		change(&planned)
		return must.Get(planned.Digest())(t)
	}
	as := digest(func(*Planned) {})
	for name, c := range map[string]struct {
		change func(*Planned)
		same   bool
	}{
		"nothing":             {func(*Planned) {}, true},
		"words of AWS":        {func(p *Planned) { p.Judged.Why = "request 2" }, true},
		"the verdict":         {func(p *Planned) { p.Judged.Verdict = operator.VerdictUnknown }, false},
		"what is asked for":   {func(p *Planned) { p.Judged.Digest = "sha256:b" }, false},
		"the role":            {func(p *Planned) { p.Install.Values["ROLEARN"] = "x" }, false},
		"the version":         {func(p *Planned) { p.Install.CSV = "p.v2" }, false},
		"something got there": {func(p *Planned) { p.Changes = []operator.Change{{Kind: operator.KindNamespace, Exist: true}} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := digest(c.change); (got == as) != c.same {
				t.Error(got)
			}
		})
	}
}
