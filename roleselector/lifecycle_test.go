package roleselector

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

const (
	accountA, accountB = "111122223333", "222233334444"
	region             = "eu-central-1"
)

// using is a decision for a selector in an account.
func using(name, account string) Decision {
	return Decision{Outcome: Use, Reason: ReasonSelected, Selector: Reference{Name: name, UID: "uid-1", Account: account, ARN: "arn:aws:iam::" + account + ":role/" + name}, OnAccountChange: v1alpha1.Refuse}
}

func recreating(d Decision) Decision {
	d.OnAccountChange = v1alpha1.Recreate
	return d
}

func blockedBy(outcome Outcome, reason Reason) Decision {
	return Decision{Outcome: outcome, Reason: reason}
}

// recorded is a resource that a selector has managed in an account.
func recorded(selector, account string) Recorded {
	r := Recorded{Account: account, Region: region, Selector: selector}
	if selector != "" {
		r.SelectorUID, r.RoleARN = "uid-1", "arn:aws:iam::"+account+":role/"+selector
	}
	return r
}

// remade is a resource whose selector was another object, with the role of using.
func remade(selector string) Recorded {
	r := recorded(selector, accountA)
	r.SelectorUID = "uid-0"
	return r
}

func TestAResourceStaysWhereItIs(t *testing.T) {
	none := blockedBy(NoSelector, ReasonNoSelector)
	conflict := blockedBy(Conflict, ReasonConflict)
	last := Compile(made("a", nil)) // in accountA
	moved := Compile(made("a", func(s *spec) { s.ARN = "arn:aws:iam::" + accountB + ":role/r" }))
	toB, inA := recreating(using("b", accountB)), recorded("a", accountA)
	announcement := Proceed(Situation{Decision: toB, Recorded: inA, LastUsed: last, Region: region}).Message
	for name, c := range map[string]struct {
		situation Situation
		step      Step
		reason    Reason
		selector  string
		trust     bool
	}{
		"a new resource":                              {Situation{Decision: using("a", accountA)}, GoOn, ReasonSelected, "a", true},
		"a new resource with the default role":        {Situation{Decision: none, DefaultAccount: accountB}, GoOn, ReasonNoSelector, "", true},
		"a new resource in a conflict":                {Situation{Decision: conflict}, Blocked, ReasonConflict, "", false},
		"a new resource too early":                    {Situation{Decision: blockedBy(NotYetKnown, ReasonNotSynced)}, Blocked, ReasonNotSynced, "", false},
		"the same selector":                           {Situation{Decision: using("a", accountA), Recorded: recorded("a", accountA)}, GoOn, ReasonSelected, "a", true},
		"another selector of the account":             {Situation{Decision: using("b", accountA), Recorded: recorded("a", accountA)}, GoOn, ReasonSelected, "b", false},
		"a selector of another account":               {Situation{Decision: using("b", accountB), Recorded: recorded("a", accountA)}, Blocked, ReasonAccountMismatch, "", false},
		"it may recreate":                             {Situation{Decision: toB, Recorded: inA, LastUsed: last}, AccountChangePending, ReasonAccountChangePending, "", false},
		"it may recreate and has been announced":      {Situation{Decision: toB, Recorded: inA, LastUsed: last, Announced: announcement}, DeleteBeforeMove, ReasonAccountChangePending, "a", true},
		"another change has been announced":           {Situation{Decision: toB, Recorded: inA, LastUsed: last, Announced: "The resource moves to 333344445555."}, AccountChangePending, ReasonAccountChangePending, "", false},
		"it may recreate and is retained":             {Situation{Decision: toB, Recorded: inA, LastUsed: last, Announced: announcement, Retain: true}, Blocked, ReasonAccountMismatch, "", false},
		"it may recreate, the old selector is gone":   {Situation{Decision: toB, Recorded: inA, Announced: announcement}, Blocked, ReasonAccountMismatch, "", false},
		"it may recreate, the old one is elsewhere":   {Situation{Decision: toB, Recorded: inA, LastUsed: moved, Announced: announcement}, Blocked, ReasonAccountMismatch, "", false},
		"it may recreate what the own role made":      {Situation{Decision: toB, Recorded: recorded("", accountA), DefaultAccount: accountA, Announced: announcement}, Blocked, ReasonAccountMismatch, "", false},
		"it may recreate, in a conflict":              {Situation{Decision: recreating(conflict), Recorded: inA, LastUsed: last, Announced: announcement}, Blocked, ReasonConflict, "", false},
		"announced, but it may not":                   {Situation{Decision: using("b", accountB), Recorded: inA, LastUsed: last, Announced: announcement}, Blocked, ReasonAccountMismatch, "", false},
		"announced, and wanted back where it is":      {Situation{Decision: recreating(using("a", accountA)), Recorded: inA, LastUsed: last, Announced: announcement}, GoOn, ReasonSelected, "a", true},
		"the selector has gone":                       {Situation{Decision: none, DefaultAccount: accountB, Recorded: inA, Announced: announcement}, Blocked, ReasonAccountMismatch, "", false},
		"another region and account":                  {Situation{Decision: toB, Recorded: Recorded{Account: accountA, Region: "us-east-1", Selector: "a", SelectorUID: "uid-1"}, LastUsed: last, Announced: announcement}, Blocked, ReasonRegionMismatch, "", false},
		"deleted, it might be recreated":              {Situation{Decision: toB, Recorded: recorded("", accountA), Deleting: true, Announced: announcement}, Blocked, ReasonAccountMismatch, "", false},
		"deleted while it is being recreated":         {Situation{Decision: toB, Recorded: inA, LastUsed: last, Deleting: true, Announced: announcement}, GoOn, ReasonSelected, "a", true},
		"the default role in its account":             {Situation{Decision: none, DefaultAccount: accountA, Recorded: recorded("", accountA)}, GoOn, ReasonNoSelector, "", true},
		"the default role of an account not known":    {Situation{Decision: none, Recorded: recorded("", accountA)}, Blocked, ReasonAccountMismatch, "", false},
		"another region":                              {Situation{Decision: using("a", accountA), Recorded: Recorded{Account: accountA, Region: "us-east-1", Selector: "a", SelectorUID: "uid-1"}}, Blocked, ReasonRegionMismatch, "", false},
		"deleted with its selector":                   {Situation{Decision: using("a", accountA), Recorded: recorded("a", accountA), Deleting: true, LastUsed: last}, GoOn, ReasonSelected, "a", true},
		"deleted, another is chosen now":              {Situation{Decision: using("b", accountB), Recorded: recorded("a", accountA), Deleting: true, LastUsed: last}, GoOn, ReasonSelected, "a", true},
		"deleted in a conflict":                       {Situation{Decision: conflict, Recorded: recorded("a", accountA), Deleting: true, LastUsed: last}, GoOn, ReasonSelected, "a", true},
		"deleted with one that was made anew":         {Situation{Decision: using("a", accountA), Recorded: remade("a"), Deleting: true, LastUsed: last}, GoOn, ReasonSelected, "a", true},
		"deleted with another of the role":            {Situation{Decision: conflict, Recorded: remade("z"), Deleting: true, LastUsed: last}, GoOn, ReasonSelected, "a", true},
		"one that was made anew, not found is gone":   {Situation{Decision: using("a", accountA), Recorded: remade("a")}, GoOn, ReasonSelected, "a", true},
		"one made anew with another role":             {Situation{Decision: using("a", accountA), Recorded: Recorded{Account: accountA, Region: region, Selector: "a", SelectorUID: "uid-0", RoleARN: someARN}}, GoOn, ReasonSelected, "a", false},
		"one made anew, the role is not on record":    {Situation{Decision: using("a", accountA), Recorded: Recorded{Account: accountA, Region: region, Selector: "a", SelectorUID: "uid-0"}}, GoOn, ReasonSelected, "a", false},
		"deleted, the selector is gone":               {Situation{Decision: none, DefaultAccount: accountA, Recorded: recorded("a", accountA), Deleting: true}, Blocked, ReasonSelectorGone, "", false},
		"deleted, and denied":                         {Situation{Decision: blockedBy(Denied, ReasonDenied), Recorded: recorded("a", accountA), Deleting: true, LastUsed: last}, Blocked, ReasonDenied, "", false},
		"deleted, and another is invalid":             {Situation{Decision: blockedBy(Invalid, ReasonSelectorInvalid), Recorded: recorded("a", accountA), Deleting: true, LastUsed: last}, Blocked, ReasonSelectorInvalid, "", false},
		"deleted too early":                           {Situation{Decision: blockedBy(NotYetKnown, ReasonNotSynced), Recorded: recorded("a", accountA), Deleting: true, LastUsed: last}, Blocked, ReasonNotSynced, "", false},
		"deleted, the selector is of another account": {Situation{Decision: using("a", accountB), Recorded: recorded("a", accountA), Deleting: true, LastUsed: moved}, Blocked, ReasonAccountMismatch, "", false},
		"deleted in another region":                   {Situation{Decision: using("a", accountA), Recorded: Recorded{Account: accountA, Region: "us-east-1", Selector: "a", SelectorUID: "uid-1"}, Deleting: true, LastUsed: last}, Blocked, ReasonRegionMismatch, "", false},
		"deleted, never made":                         {Situation{Decision: using("a", accountA), Deleting: true}, GoOn, ReasonSelected, "a", true},
		"deleted, made with the default role":         {Situation{Decision: none, DefaultAccount: accountA, Recorded: recorded("", accountA), Deleting: true}, GoOn, ReasonNoSelector, "", true},
		"deleted, made with the default role before":  {Situation{Decision: using("a", accountA), Recorded: recorded("", accountA), Deleting: true}, GoOn, ReasonSelected, "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			c.situation.Region = region
			got := Proceed(c.situation)
			if got.Step != c.step || got.Reason != c.reason || got.Selector.Name != c.selector || got.TrustNotFound != c.trust {
				t.Errorf("Proceed() = %s %s with %q, not found is gone: %t (%s), want %s %s with %q, %t",
					got.Step, got.Reason, got.Selector.Name, got.TrustNotFound, got.Message, c.step, c.reason, c.selector, c.trust)
			}
			if got.Message == "" {
				t.Error("there is no message")
			}
		})
	}
}

// TestWhyAResourceIsNotRecreatedIsTold: it is not enough that the selector allows it.
func TestWhyAResourceIsNotRecreatedIsTold(t *testing.T) {
	toB := recreating(using("b", accountB))
	for name, c := range map[string]struct {
		situation Situation
		want      string
	}{
		"refused":               {Situation{Decision: using("b", accountB), Recorded: recorded("a", accountA)}, "is in the account " + accountB + "."},
		"retained":              {Situation{Decision: toB, Recorded: recorded("a", accountA), Retain: true}, "its deletion policy is to retain it."},
		"the selector is gone":  {Situation{Decision: toB, Recorded: recorded("a", accountA)}, "the IAMRoleSelector a (UID uid-1), which does not select it any longer" + whoMoves},
		"the own role made it":  {Situation{Decision: toB, Recorded: recorded("", accountA)}, "the controller's own role, which is not its role any longer" + whoMoves},
		"it is deleted instead": {Situation{Decision: toB, Recorded: recorded("", accountA), Deleting: true}, "is in the account " + accountB + "."},
	} {
		if got := Proceed(func() Situation { c.situation.Region = region; return c.situation }()).Message; !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: it says %q, want the end %q", name, got, c.want)
		}
	}
}

func TestOnlyCallsThatGoWellAreRecorded(t *testing.T) {
	before := recorded("a", accountA)
	b := Reference{Name: "b", UID: "uid-1", Account: accountB}
	if got := before.After(false, b, accountB, region); got != before {
		t.Errorf("a call that failed records %+v, want %+v", got, before)
	}
	if got := (Recorded{}).After(false, b, accountB, region); got != (Recorded{}) {
		t.Errorf("a first call that failed records %+v, want nothing", got)
	}
	b.ARN = "arn:aws:iam::" + accountB + ":role/b"
	if got, want := before.After(true, b, accountB, region), recorded("b", accountB); got != want {
		t.Errorf("a call that went well records %+v, want %+v", got, want)
	}
	if got, want := before.After(true, Reference{}, accountA, region), recorded("", accountA); got != want {
		t.Errorf("a call with the default role records %+v, want %+v", got, want)
	}
}

func TestTheLastUsedSelectorMustStillBeWhatItWas(t *testing.T) {
	const other = "arn:aws:iam::111122223333:role/other"
	inDev := func(s *spec) { s.NamespaceSelector = names("dev") }
	withOther := func(s *spec) { s.ARN = other }
	for name, c := range map[string]struct {
		change   func(*spec) // of the selector a, which has someARN and the UID uid-1
		recorded Recorded
		want     string
	}{
		"it is there":                          {recorded: Recorded{Selector: "a", SelectorUID: "uid-1"}, want: "a"},
		"it is another":                        {recorded: Recorded{Selector: "a", SelectorUID: "uid-2"}},
		"it is another with its role":          {recorded: Recorded{Selector: "a", SelectorUID: "uid-2", RoleARN: someARN}, want: "a"},
		"it is another with another role":      {recorded: Recorded{Selector: "a", SelectorUID: "uid-2", RoleARN: other}, want: "b"},
		"it is gone":                           {recorded: Recorded{Selector: "c", SelectorUID: "uid-1"}},
		"it is gone, and another has its role": {recorded: Recorded{Selector: "c", SelectorUID: "uid-1", RoleARN: someARN}, want: "a"},
		"it selects no more":                   {inDev, Recorded{Selector: "a", SelectorUID: "uid-1", RoleARN: someARN}, ""},
		"it denies":                            {func(s *spec) { s.Effect = v1alpha1.Deny }, Recorded{Selector: "a", SelectorUID: "uid-1", RoleARN: someARN}, ""},
		"it is broken":                         {func(s *spec) { s.ARN = "foo" }, Recorded{Selector: "a", SelectorUID: "uid-1"}, ""},
		"a broken one has its role":            {func(s *spec) { s.Effect = "Use!" }, Recorded{Selector: "c", SelectorUID: "uid-1", RoleARN: someARN}, ""},
		"it names nothing":                     {func(s *spec) { s.NamespaceSelector = namesAndLabels(nil, nil) }, Recorded{Selector: "a", SelectorUID: "uid-1", RoleARN: someARN}, ""},
		"it is for the group":                  {typed(v1alpha1.ResourceType{Group: s3}), Recorded{Selector: "a", SelectorUID: "uid-1"}, "a"},
		"two have its role":                    {withOther, Recorded{Selector: "c", SelectorUID: "uid-1", RoleARN: other}, "a"},
		"two have its role, and one is it":     {withOther, Recorded{Selector: "b", SelectorUID: "uid-1", RoleARN: other}, "b"},
		"the controller's own role":            {recorded: Recorded{RoleARN: someARN}},
	} {
		index := fullIndex(Options{}, Compile(made("b", withOther)), Compile(made("a", c.change)))
		got := ""
		if s := index.LastUsed(bucketInProd(), c.recorded); s != nil {
			got = s.Reference().Name
		}
		if got != c.want {
			t.Errorf("%s: LastUsed() = %q, want %q", name, got, c.want)
		}
	}
}
