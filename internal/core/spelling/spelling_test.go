package spelling

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"role", "role", 0}, {"role", "rule", 1}, {"rolearn", "role-arn", 1}, {"roel", "role", 2},
		{"kitten", "sitting", 3}, {"audience", "region", 6},
	} {
		if got, back := Distance(c.a, c.b), Distance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q and %q are %d and back %d apart, want %d", c.a, c.b, got, back, c.want)
		}
	}
}

// The distance of three texts is never longer by the third.
func FuzzDistance(f *testing.F) {
	f.Add("role-arn", "rolearn", "region")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if max(len(a), len(b), len(c)) > 100 {
			return
		}
		ab, bc, ac := Distance(a, b), Distance(b, c), Distance(a, c)
		if ac > ab+bc || ab < max(len(a), len(b))-min(len(a), len(b)) || ab > max(len(a), len(b)) || (ab == 0) != (a == b) {
			t.Errorf("%q %q %q: %d %d %d", a, b, c, ab, bc, ac)
		}
	})
}
