package iamname

import (
	"strings"
	"testing"
)

func TestForms(t *testing.T) {
	cases := map[string]struct {
		is   func(string) bool
		good []string
		bad  []string
	}{
		"names of roles": {IsRole, []string{"a", "tabard-issuer-main-1a2b3c4d", "a_b+c=d,e.f@g-h", strings.Repeat("a", 64)},
			[]string{"", "a/b", "a b", "ä", strings.Repeat("a", 65), "a\n"}},
		"paths": {IsPath, []string{"/", "/tabard/", "/a/b/", "/" + strings.Repeat("a", 510) + "/"},
			[]string{"", "tabard", "/tabard", "tabard/", "//", "/a//b/", "/a b/", "/ä/", "/*/", "/a?/", "/${aws:username}/", "/" + strings.Repeat("a", 511) + "/", "/a/\n"}},
		"ARNs of policies": {IsPolicyARN, []string{"arn:aws:iam::123456789012:policy/boundary", "arn:aws-cn:iam::123456789012:policy/a/b", "arn:aws:iam::aws:policy/ReadOnlyAccess"},
			[]string{"", "boundary", "arn:aws:iam::123456789012:role/boundary", "arn:aws:iam::1234:policy/a", "arn:aws:iam::123456789012:policy/", "arn:aws:iam::123456789012:policy/a/", "arn:aws:iam::123456789012:policy/*", "arn:aws:iam:eu-west-1:123456789012:policy/a"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, text := range c.good {
				if !c.is(text) {
					t.Errorf("%q is refused", text)
				}
			}
			for _, text := range c.bad {
				if c.is(text) {
					t.Errorf("%q is taken", text)
				}
			}
		})
	}
}
