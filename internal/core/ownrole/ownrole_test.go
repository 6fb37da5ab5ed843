package ownrole_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/ownrole"
)

const boundary = "arn:aws:iam::123456789012:policy/platform"

func TestTheRolesFlagsAreChecked(t *testing.T) {
	cases := map[string]struct {
		wish ownrole.Wish
		says string
	}{
		"nothing":                        {ownrole.Wish{}, ""},
		"all":                            {ownrole.Wish{Name: "publisher", Path: "/platform/", Boundary: boundary}, ""},
		"a name with a slash":            {ownrole.Wish{Name: "platform/publisher"}, "--role-name"},
		"a name of 65 characters":        {ownrole.Wish{Name: strings.Repeat("a", 65)}, "--role-name"},
		"a path without a slash":         {ownrole.Wish{Path: "platform"}, "--role-path"},
		"a path with a wildcard":         {ownrole.Wish{Path: "/*/"}, "--role-path"},
		"the path of CredentialsRequest": {ownrole.Wish{Path: "/tabard/"}, "CredentialsRequests"},
		"a path below that":              {ownrole.Wish{Path: "/tabard/issuer/"}, "CredentialsRequests"},
		"the root":                       {ownrole.Wish{Path: "/"}, ""},
		"a boundary that is a role":      {ownrole.Wish{Boundary: "arn:aws:iam::123456789012:role/platform"}, "--permissions-boundary"},
	}
	for name, c := range cases {
		err := c.wish.Check()
		if (err != nil) != (c.says != "") || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v, expected %q", name, err, c.says)
		}
	}
}

func TestARoleIsDescribedWithAllThatWasChosen(t *testing.T) {
	if got := (ownrole.Wish{}).Describe("a"); got != "role a" {
		t.Error(got)
	}
	wish := ownrole.Wish{Path: "/platform/", Boundary: boundary, Tags: map[string]string{"team": "a", "cost-center": "42"}}
	if got, want := wish.Describe("a"), "role a at the path /platform/ with the permissions boundary "+boundary+" with the tags cost-center, team"; got != want {
		t.Errorf("it is %q, expected %q", got, want)
	}
	if got, want := wish.Flags(), " --role-path /platform/ --permissions-boundary "+boundary+" --tag 'cost-center=42' --tag 'team=a'"; got != want {
		t.Errorf("its flags are %q, expected %q", got, want)
	}
	if got := (ownrole.Wish{Path: "/"}).Flags(); got != "" {
		t.Errorf("of a role that is as by default, the flags are %q", got)
	}
}
