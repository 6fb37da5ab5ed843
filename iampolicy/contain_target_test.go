package iampolicy

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestATargetContainsAnother(t *testing.T) {
	for name, row := range map[string]struct {
		outer, inner Target
		want         bool
	}{
		"itself":                            {Target{"s3:GetObject", keys}, Target{"s3:GetObject", keys}, true},
		"an action in other case":           {Target{"S3:getobject", keys}, Target{"s3:GetObject", keys}, true},
		"a resource in other case":          {Target{"s3:*", "arn:aws:s3:::B"}, Target{"s3:*", "arn:aws:s3:::b"}, false},
		"a longer star":                     {Target{"s3:*", keys}, Target{"s3:Get*", keys}, true},
		"a shorter star":                    {Target{"s3:Get*", keys}, Target{"s3:*", keys}, false},
		"everything":                        {Target{"*", "*"}, Target{"s3:GetObject", "arn:aws:s3:::b/*"}, true},
		"a part of a bucket":                {Target{"s3:*", "arn:aws:s3:::b/*"}, Target{"s3:*", "arn:aws:s3:::b/data/*"}, true},
		"an action that is not":             {Target{"s3:PutObject", "*"}, Target{"s3:GetObject", keys}, false},
		"a resource that is not":            {Target{"*", "arn:aws:s3:::a"}, Target{"s3:GetObject", "arn:aws:s3:::b"}, false},
		"a star does not pass a colon":      {Target{"*", "arn:aws:s3:*:b:c"}, Target{"s3:GetObject", "arn:aws:s3:x:y:b:c"}, false},
		"a variable is itself":              {Target{"*", "arn:aws:s3:::b/${aws:username}"}, Target{"*", "arn:aws:s3:::b/${aws:username}"}, true},
		"a variable is not a text":          {Target{"*", "arn:aws:s3:::b/${aws:username}"}, Target{"*", "arn:aws:s3:::b/x"}, false},
		"a star takes a variable in":        {Target{"*", "arn:aws:s3:::b/*"}, Target{"*", "arn:aws:s3:::b/${aws:username}"}, true},
		"an incomplete ARN is not sure":     {Target{"*", "arn:aws:s3"}, Target{"*", "arn:aws:s3:::b"}, false},
		"one character is in any text":      {Target{"s3:*", keys}, Target{"s3:?", keys}, true},
		"any text is not in one character":  {Target{"s3:?", keys}, Target{"s3:*", keys}, false},
		"two stars that move":               {Target{"s3:*?", keys}, Target{"s3:?*", keys}, true},
		"what is not UTF-8 is not compared": {Target{"\xff", "*"}, Target{"\xff", "*"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.outer.Contains(row.inner); got != row.want {
				t.Errorf("%v contains %v: %v, want %v", row.outer, row.inner, got, row.want)
			}
		})
	}
}

// smallPattern is a pattern over two letters. Its texts are those of smallTexts.
func smallPattern(random *rand.Rand) string {
	var out strings.Builder
	for range random.IntN(6) {
		out.WriteByte("aabb*?"[random.IntN(6)])
	}
	return out.String()
}

// smallTexts are all texts over three letters, one of which no pattern has, that are long enough
// to tell patterns of five places apart.
var smallTexts = func() []string {
	all, last := []string{""}, []string{""}
	for range 7 {
		var next []string
		for _, text := range last {
			for _, letter := range []string{"a", "b", "c"} {
				next = append(next, text+letter)
			}
		}
		all, last = append(all, next...), next
	}
	return all
}()

// bruteContains tries all texts. Each letter of outer can be missed by one that no pattern
// has, so that texts a little longer than both patterns show every difference.
func bruteContains(outer, inner string) bool {
	outer, inner = activate.Replace(outer), activate.Replace(inner)
	for _, text := range smallTexts {
		if matchGlob(inner, text) && !matchGlob(outer, text) {
			return false
		}
	}
	return true
}

// checkTarget compares with the brute force, for the action and for the last part of an ARN.
func checkTarget(t *testing.T, seed uint64) bool {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	outer, inner := smallPattern(random), smallPattern(random)
	want := bruteContains(outer, inner)
	if got := (Target{"s:" + outer, "*"}).Contains(Target{"s:" + inner, "*"}); got != want {
		t.Fatalf("the action %q contains %q: %v, want %v", outer, inner, got, want)
	}
	const arn = "arn:aws:s3:::"
	if got := (Target{"*", arn + outer}).Contains(Target{"*", arn + inner}); got != want {
		t.Fatalf("the resource %q contains %q: %v, want %v", outer, inner, got, want)
	}
	return want
}

func FuzzTargetContains(f *testing.F) {
	for seed := range uint64(2000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { checkTarget(t, seed) })
}

func TestTheFuzzOfTargetsSeesBothAnswers(t *testing.T) {
	yes := 0
	for seed := range uint64(3000) {
		if checkTarget(t, seed) {
			yes++
		}
	}
	if t.Logf("%d of 3000 are contained", yes); yes < 150 || yes > 2850 {
		t.Errorf("%d of 3000 are contained: the fuzz says little", yes)
	}
}

func TestATargetThatIsMadeToTakeLongDoesNot(t *testing.T) {
	outer := Target{"*", "arn:aws:s3:::" + strings.Repeat("*a??????????????????????", 80)}
	inner := Target{"*", "arn:aws:s3:::" + strings.Repeat("*a", 1000)}
	began := time.Now() //nolint:forbidigo // the time is what is tested
	for range 100 {
		outer.Contains(inner)
		inner.Contains(outer)
	}
	if took := time.Since(began); took > 10*time.Second { //nolint:forbidigo // the time is what is tested
		t.Errorf("200 comparisons took %s", took)
	} else {
		t.Log(took)
	}
}
