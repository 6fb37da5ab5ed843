package iamname

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// OwnTags begins the keys of the tags by which things are known as Tabard's.
const OwnTags = "tabard.dev/"

// tag is what keys and values may be made of (IAM User Guide, "Tags for IAM resources").
var tag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`) })

// The most that AWS allows of a tag (IAM and EKS: "Tag naming limits").
const (
	longestKey   = 128
	longestValue = 256
	mostTags     = 40 // of 50, so that there is room for Tabard's own and for those of others
)

// ParseTags reads tags that are written KEY=VALUE, each split at its first "=". A key
// that is given twice has to have the same value.
func ParseTags(texts []string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		was, twice := out[key]
		lower := strings.ToLower(key)
		switch {
		case !ok:
			return nil, fmt.Errorf("the tag %s has no \"=\"; write KEY=VALUE", quoted(text))
		case key == "":
			return nil, fmt.Errorf("the tag %s has no key; write KEY=VALUE", quoted(text))
		case strings.HasPrefix(lower, "aws:"):
			return nil, fmt.Errorf("the tag %s begins with aws:, which only AWS may use; choose another key", quoted(text))
		case strings.HasPrefix(lower, OwnTags):
			return nil, fmt.Errorf("the tag %s begins with %s, by which Tabard knows what it made; choose another key", quoted(text), OwnTags)
		case !tag().MatchString(text):
			return nil, fmt.Errorf("the tag %s has a character that AWS refuses; letters, digits, spaces and _.:/=+-@ are allowed", quoted(text))
		case utf8.RuneCountInString(key) > longestKey || utf8.RuneCountInString(value) > longestValue:
			return nil, fmt.Errorf("the tag %s is too long; AWS allows %d characters for the key and %d for the value", quoted(text), longestKey, longestValue)
		case twice && was != value:
			return nil, fmt.Errorf("the tag %s is given twice, with the values %s and %s; leave one out", quoted(key), quoted(was), quoted(value))
		}
		out[key] = value
	}
	if len(out) > mostTags {
		return nil, fmt.Errorf("%d tags are given, and there is room for %d; leave some out", len(out), mostTags)
	}
	return out, nil
}

// quoted is a text of others in quotes, cut where it is too long for a message.
func quoted(text string) string {
	const longest = 200
	if len(text) > longest {
		return fmt.Sprintf("%q and %d more bytes", text[:longest], len(text)-longest)
	}
	return fmt.Sprintf("%q", text)
}
