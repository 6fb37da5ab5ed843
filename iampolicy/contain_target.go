package iampolicy

import (
	"strings"
	"unicode/utf8"
)

// Target is what one entry of Action and one of Resource of a statement are about, each a
// text as in a policy of version 2012-10-17, with "*", "?" and variables.
type Target struct{ Action, Resource string }

// Contains says whether every request whose action and resource fit the patterns of inner
// fits those of the target, too. Actions compare without regard to case.
//
// True is certain, by the rules of Contains for policies: a variable fits only itself, and an
// ARN with parts missing is taken for more in inner and for less in the target. False may be
// wrong there, where a text is not UTF-8, and where patterns are so intricate that
// the work would exceed a bound, which takes some milliseconds for texts of 2,048
// characters. It may be called by any number of goroutines at once.
func (t Target) Contains(inner Target) bool {
	for _, text := range []string{t.Action, t.Resource, inner.Action, inner.Resource} {
		if !utf8.ValidString(text) {
			return false
		}
	}
	c := newChecker()
	return c.covers(c.actionOf(t.Action), c.actionOf(inner.Action)) &&
		c.covers(c.placeOf(t.Resource, readLeast), c.placeOf(inner.Resource, readMost))
}

// actionOf is the pattern of an action that stands in no policy.
func (c *checker) actionOf(written string) *pattern {
	name := newGlob(activate.Replace(strings.ToLower(written)))
	return c.action(&name, written)
}

// placeOf is the pattern of a resource that stands in no policy.
func (c *checker) placeOf(written string, as reading) *pattern {
	place := compileResource(written, true)
	return c.resource(&place, written, true, as)
}
