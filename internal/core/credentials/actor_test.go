package credentials_test

import (
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
)

const (
	tabard = credentials.ActorTabard
	cco    = credentials.ActorCCO
	nobody = credentials.ActorNobody
	aws    = "AWSProviderSpec"
	azure  = "AzureProviderSpec"
)

// TestAct is the table of who acts of docs/credentials.md.
func TestAct(t *testing.T) {
	const secret, account = credentials.KindSecret, credentials.KindServiceAccount
	unknown := platform.Facts{Missing: []string{"Infrastructure could not be read"}}
	absent := openshift(platform.Manual)
	absent.Operator = platform.Operator{Why: "there is no Cloud Credential Operator"}
	ask := func(p platform.Facts, provider, target string) credentials.Asked {
		return credentials.Asked{Platform: p, Provider: provider, Target: target, NamesSecret: target == secret}
	}
	with := func(a credentials.Asked, change func(*credentials.Asked)) credentials.Asked {
		change(&a)
		return a
	}
	none := func(a *credentials.Asked) { a.NoProvider, a.Provider = true, "" }
	invalid := func(names bool) func(*credentials.Asked) {
		return func(a *credentials.Asked) { a.Target, a.Invalid, a.NamesSecret = "", "two", names }
	}
	theirs := func(adopted bool) func(*credentials.Asked) {
		return func(a *credentials.Asked) { a.CCOFinalizer, a.Adopted = true, adopted }
	}
	tests := map[string]struct {
		asked  credentials.Asked
		actor  credentials.Actor
		reason credentials.Reason
	}{
		"another cloud's, an operator is live":               {ask(openshift(platform.Manual), azure, secret), nobody, credentials.ReasonIgnored},
		"another cloud's, none is live":                      {ask(absent, azure, secret), nobody, credentials.ReasonIgnored},
		"an unknown kind on plain Kubernetes":                {ask(kubernetes(), "NutanixProviderSpec", secret), nobody, credentials.ReasonIgnored},
		"no kind":                                            {ask(kubernetes(), "", secret), nobody, credentials.ReasonIgnored},
		"it is not known what cluster this is":               {ask(unknown, aws, secret), nobody, credentials.ReasonPlatformUnknown},
		"no providerSpec, an operator is live":               {with(ask(openshift(platform.Manual), aws, secret), none), cco, credentials.ReasonCCOLive},
		"no providerSpec, none is live":                      {with(ask(kubernetes(), aws, secret), none), tabard, credentials.ReasonProviderSpecMissing},
		"a Secret, an operator is live":                      {ask(openshift(platform.Manual), aws, secret), cco, credentials.ReasonCCOLive},
		"a ServiceAccount, an operator mints":                {ask(openshift(platform.Mint), aws, account), nobody, credentials.ReasonCCOWouldMint},
		"a ServiceAccount, an operator has its default mode": {ask(openshift(platform.Default), aws, account), nobody, credentials.ReasonCCOWouldMint},
		"a ServiceAccount, an operator passes keys through":  {ask(openshift(platform.Passthrough), aws, account), nobody, credentials.ReasonCCOPassthrough},
		"a ServiceAccount, the mode contradicts itself":      {ask(openshift(platform.Conflict), aws, account), nobody, credentials.ReasonCCOModeUnknown},
		"a ServiceAccount, the mode is unreadable":           {ask(openshift(platform.Unknown), aws, account), nobody, credentials.ReasonCCOModeUnknown},
		"a ServiceAccount, the mode is a new one":            {ask(openshift("Later"), aws, account), nobody, credentials.ReasonCCOModeUnknown},
		"a ServiceAccount, the mode is Manual":               {ask(openshift(platform.Manual), aws, account), tabard, credentials.ReasonAccepted},
		"a ServiceAccount with the operator's finalizer":     {with(ask(openshift(platform.Manual), aws, account), theirs(false)), tabard, credentials.ReasonAccepted},
		"an operator had it and is gone":                     {with(ask(absent, aws, secret), theirs(false)), nobody, credentials.ReasonNotAdopted},
		"an operator had it, and it is adopted":              {with(ask(absent, aws, secret), theirs(true)), tabard, credentials.ReasonAccepted},
		"adopted, and the operator is back":                  {with(ask(openshift(platform.Manual), aws, secret), theirs(true)), cco, credentials.ReasonCCOLive},
		"a Secret on plain Kubernetes":                       {ask(kubernetes(), aws, secret), tabard, credentials.ReasonAccepted},
		"Azure on plain Kubernetes":                          {ask(kubernetes(), azure, secret), tabard, credentials.ReasonAccepted},
		"a ServiceAccount on plain Kubernetes":               {ask(kubernetes(), aws, account), tabard, credentials.ReasonAccepted},
		"an invalid target with a Secret, one is live":       {with(ask(openshift(platform.Manual), aws, ""), invalid(true)), cco, credentials.ReasonCCOLive},
		"an invalid target without, one is live":             {with(ask(openshift(platform.Manual), aws, ""), invalid(false)), nobody, credentials.ReasonInvalidTarget},
		"an invalid target, none is live":                    {with(ask(kubernetes(), aws, ""), invalid(false)), tabard, credentials.ReasonInvalidTarget},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := credentials.Act(test.asked)
			if got.Actor != test.actor || got.Reason != test.reason || got.Text == "" {
				t.Errorf("%+v acts, want %s for %s and a text", got, test.actor, test.reason)
			}
		})
	}
}

func TestNothingIsWrittenToWhatIsAnothers(t *testing.T) {
	tests := map[string]struct {
		platform platform.Facts
		shape    byte
		events   int
	}{
		"a Secret beside an operator":                       {openshift(platform.Manual), 2, 0},
		"a ServiceAccount beside one that mints":            {openshift(platform.Mint), 0, 1},
		"a request without providerSpec beside an operator": {openshift(platform.Manual), 7, 0},
		"a cluster of which nothing is known":               {platform.Facts{Missing: []string{"x"}}, 0, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(test.shape)
			m.platform = test.platform
			plan := credentials.Decide(m.Observe())
			if len(plan.Steps) != 0 || plan.Project != nil || len(plan.Events) != test.events {
				t.Errorf("the plan is %+v, want %d events and nothing else", plan, test.events)
			}
		})
	}
}

func TestAnOperatorThatOnlyItsLeaseShowsIsLookedAtWhenItEnds(t *testing.T) {
	m := newModel(2)
	m.platform = openshift(platform.Manual)
	m.platform.Operator.Until = noon.Add(2 * time.Minute)
	if again := credentials.Decide(m.Observe()).Again; again != 2*time.Minute+time.Second {
		t.Errorf("the next look is in %s, want a second after the Lease ends", again)
	}
}
