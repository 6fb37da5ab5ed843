package contract_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/tabard-dev/tabard/awslocal"
)

// TestBreachesOfTheContractAreFound plants them one by one.
func TestBreachesOfTheContractAreFound(t *testing.T) {
	s := newSuite(t)
	w, r := s.world(t), s.rows["iam/GetRole"]
	refused := r.call(w)
	entry := w.server.Admin().Journal()[0]
	good := entry
	good.Error, good.Status = "", 200
	if found := judge(r, entry, w.caller, refused, "NoSuchEntity"); len(found) > 0 {
		t.Fatalf("a refusal as it should be: %v", found)
	}
	if found := judge(r, good, w.caller, nil, ""); len(found) > 0 {
		t.Fatalf("a success as it should be: %v", found)
	}
	changed := func(change func(*awslocal.Entry)) awslocal.Entry {
		other := entry
		change(&other)
		return other
	}
	cases := map[string]struct {
		entry  awslocal.Entry
		caller string
		err    error
		code   string
	}{
		"another code":                      {entry, w.caller, refused, "AccessDenied"},
		"a refusal instead of success":      {entry, w.caller, refused, ""},
		"success instead of a refusal":      {good, w.caller, nil, "NoSuchEntity"},
		"an error that is no answer":        {entry, w.caller, errors.New("no connection"), "NoSuchEntity"},
		"success that the client could not": {good, w.caller, errors.New("no XML"), ""},
		"another caller":                    {entry, userARN("nobody"), refused, "NoSuchEntity"},
		"another operation in the journal":  {changed(func(e *awslocal.Entry) { e.Operation = "GetUser" }), w.caller, refused, "NoSuchEntity"},
		"another status in the journal":     {changed(func(e *awslocal.Entry) { e.Status = 403 }), w.caller, refused, "NoSuchEntity"},
		"another code in the journal":       {changed(func(e *awslocal.Entry) { e.Error = "" }), w.caller, refused, "NoSuchEntity"},
		"another request ID":                {changed(func(e *awslocal.Entry) { e.RequestID = "other" }), w.caller, refused, "NoSuchEntity"},
		"a code without a status":           {changed(func(e *awslocal.Entry) { e.Error = "New" }), w.caller, refused, "New"},
	}
	for name, c := range cases {
		if found := judge(r, c.entry, c.caller, c.err, c.code); len(found) == 0 {
			t.Errorf("%s passes", name)
		}
	}
}

func TestBreachesInPagesAreFound(t *testing.T) {
	want := []string{"a", "b"}
	if found := judgePages([]string{"a", "b", "other"}, want, 2); len(found) > 0 {
		t.Errorf("good pages: %v", found)
	}
	for name, found := range map[string][]string{
		"an item twice":   judgePages([]string{"a", "b", "a"}, want, 2),
		"an item missing": judgePages([]string{"a"}, want, 2),
		"one page":        judgePages(want, want, 1),
	} {
		if len(found) == 0 {
			t.Errorf("%s passes", name)
		}
	}
}

func TestLeavingOutARowLeavesOutWhatNeedsIt(t *testing.T) {
	rows := allRows()
	needs, err := rows.before(rows["iam/DetachRolePolicy"])
	if want := []string{"iam/CreateRole", "iam/CreatePolicy", "iam/AttachRolePolicy"}; err != nil || !slices.Equal(needs, want) {
		t.Fatalf("needs %v, error %v, want %v", needs, err, want)
	}
	if got, want := rows.allBut("iam/CreateRole", needs), []string{"iam/CreatePolicy"}; !slices.Equal(got, want) {
		t.Errorf("without the role there is %v, want %v", got, want)
	}
}
