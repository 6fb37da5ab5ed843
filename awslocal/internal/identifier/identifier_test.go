package identifier

import (
	"crypto/rand"
	"regexp"
	"testing"
)

func TestIdentifiersLookLikeAWSs(t *testing.T) {
	s := New(rand.Reader)
	for want, got := range map[string]string{
		`^AROA[A-Z2-7]{17}$`:                          s.Unique(Role),
		`^ASIA[A-Z2-7]{16}$`:                          s.Unique(TemporaryKey),
		`^AKIA[A-Z2-7]{16}$`:                          s.Unique(LongLivedKey),
		`^[A-Za-z0-9+/]{40}$`:                         s.Secret(),
		`^[A-Za-z0-9+/]{680}$`:                        s.Token(),
		`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`: s.Request(),
	} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q does not match %s", got, want)
		}
	}
	if first, second := s.Token(), s.Token(); first == second {
		t.Error("two tokens are equal")
	}
}
