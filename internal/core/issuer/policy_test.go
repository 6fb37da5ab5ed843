package issuer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// ownStatement is our statement in the bytes in which it is written.
func ownStatement(t testing.TB) string {
	t.Helper()
	policy := must.Get(issuer.MergePolicy(nil, testIssuer().Spec))(t)
	return strings.TrimSuffix(strings.TrimPrefix(policy, `{"Version":"2012-10-17","Statement":[`), `]}`)
}

func TestMergePolicy(t *testing.T) {
	ours := ownStatement(t)
	narrowed := strings.Replace(ours, "keys.json", "other.json", 1)
	asAWS := strings.Replace(strings.Replace(ours, `["s3:GetObject"]`, `"s3:GetObject"`, 1), `"Principal":"*"`, `"Principal":{"AWS":"*"}`, 1)
	theirs := `{ "Sid":"a<b>&c" , "Effect":"Deny", "Principal":"*","Action":"s3:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}}`
	other := strings.Replace(ours, "TabardPublicRead09a86e15bb", "TabardPublicRead0000000000", 1)
	wrap := func(list string) string { return `{"Version":"2012-10-17","Statement":[` + list + `]}` }
	tests := map[string]struct{ before, merged, unmerged, fails string }{
		"no policy":                         {"", wrap(ours), "", ""},
		"blanks are no policy":              {" \n", wrap(ours), " \n", ""},
		"our statement is there already":    {wrap(ours), wrap(ours), "", ""},
		"as AWS may give it back":           {wrap(asAWS), wrap(asAWS), "", ""},
		"blanks around it are kept":         {" " + wrap(theirs+" , "+ours) + "\n", " " + wrap(theirs+" , "+ours) + "\n", wrap(theirs), ""},
		"theirs keeps its bytes":            {wrap(theirs), wrap(theirs + "," + ours), wrap(theirs), ""},
		"ours is mended in its place":       {wrap(narrowed + "," + theirs), wrap(ours + "," + theirs), wrap(theirs), ""},
		"a condition on ours is taken off":  {wrap(strings.TrimSuffix(ours, "}") + `,"Condition":{}}`), wrap(ours), "", ""},
		"ours twice becomes ours once":      {wrap(ours + "," + theirs + "," + ours), wrap(ours + "," + theirs), wrap(theirs), ""},
		"another issuer's statement stays":  {wrap(other), wrap(other + "," + ours), wrap(other), ""},
		"a single statement is a list":      {`{"Statement":` + theirs + `}`, `{"Statement":[` + theirs + "," + ours + `]}`, `{"Statement":` + theirs + `}`, ""},
		"an old version and an ID are kept": {`{"Version":"2008-10-17","Id":"x","Statement":[]}`, `{"Version":"2008-10-17","Id":"x","Statement":[` + ours + `]}`, `{"Version":"2008-10-17","Id":"x","Statement":[]}`, ""},
		"a list is no policy":               {`[]`, "", "", "no JSON object"},
		"half a policy is none":             {`{"Statement":[`, "", "", "no JSON object"},
		"null is no policy":                 {`null`, "", "", "no JSON object"},
		"statements are needed":             {`{"Version":"2012-10-17"}`, "", "", "no Statement"},
		"a statement is an object":          {wrap(`"x"`), "", "", "no object"},
		"statements are no number":          {`{"Statement":7}`, "", "", "neither an object nor a list"},
		"one member twice is not guessed":   {`{"Statement":[],"Statement":[]}`, "", "", "twice"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			merged, err := issuer.MergePolicy([]byte(test.before), testIssuer().Spec)
			wantError(t, err, test.fails)
			if diff := cmp.Diff(test.merged, merged); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			unmerged, err := issuer.UnmergePolicy([]byte(test.before), testIssuer().Spec)
			wantError(t, err, test.fails)
			if diff := cmp.Diff(test.unmerged, unmerged); diff != "" {
				t.Errorf("unmerged (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzMergePolicy(f *testing.F) {
	f.Add("")
	f.Add(`{"Version":"2012-10-17","Statement":[` + ownStatement(f) + `]}`)
	f.Add(`{"Statement":[{"Sid":"TabardPublicRead09a86e15bb"},{"Sid":7},{"sid":"x"}],"Id":null}`)
	f.Add(`{"Statement":{"Sid":"a"},"\u0000":"\ud800"}`)
	f.Fuzz(func(t *testing.T, before string) {
		spec := testIssuer().Spec
		merged, err := issuer.MergePolicy([]byte(before), spec)
		if err != nil {
			return
		}
		if !json.Valid([]byte(merged)) {
			t.Fatalf("merged is no JSON: %q", merged)
		}
		again, err := issuer.MergePolicy([]byte(merged), spec)
		if err != nil || again != merged {
			t.Fatalf("merging again gives %q (%v), want %q", again, err, merged)
		}
		a, errA := issuer.UnmergePolicy([]byte(merged), spec)
		b, errB := issuer.UnmergePolicy([]byte(before), spec)
		if errA != nil || errB != nil {
			t.Fatalf("what was merged cannot be taken out: %v, %v", errA, errB)
		}
		if diff := cmp.Diff(foreign(t, b), foreign(t, a)); diff != "" {
			t.Fatalf("statements of others changed (-before +after):\n%s", diff)
		}
	})
}

// foreign are the statements of a policy, as bytes in their order.
func foreign(t *testing.T, policy string) []string {
	t.Helper()
	if strings.TrimSpace(policy) == "" {
		return nil
	}
	var members map[string]json.RawMessage
	must.Do(t, json.Unmarshal([]byte(policy), &members))
	var list []json.RawMessage
	if json.Unmarshal(members["Statement"], &list) != nil {
		list = []json.RawMessage{members["Statement"]}
	}
	var out []string
	for _, raw := range list {
		out = append(out, string(raw))
	}
	return out
}
