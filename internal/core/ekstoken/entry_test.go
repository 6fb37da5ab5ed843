package ekstoken

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestACallerIsWhoItsEntrySays(t *testing.T) {
	const role = "arn:aws:iam::111111111111:role/ocm-hub-1"
	caller := Caller{ARN: "arn:aws:sts::111111111111:assumed-role/ocm-hub-1/me@home", Canonical: role, Account: "111111111111", ID: "AROAX", Session: "me@home"}
	entry := func(change func(*Entry)) []Entry {
		e := Entry{PrincipalARN: role, PrincipalID: "AROAX", Username: "cluster1", Groups: []string{"open-cluster-management:cluster1"}}
		change(&e)
		return []Entry{{PrincipalARN: "arn:aws:iam::111111111111:role/other", PrincipalID: "AROAY", Username: "other"}, e}
	}
	cases := map[string]struct {
		entries        []Entry
		caller         Caller
		username, says string
	}{
		"its entry":                           {entry(func(*Entry) {}), caller, "cluster1", ""},
		"letters in another case":             {entry(func(e *Entry) { e.PrincipalARN = strings.ToUpper(role) }), caller, "cluster1", ""},
		"no entries":                          {nil, caller, "", role},
		"a role made anew":                    {entry(func(e *Entry) { e.PrincipalID = "AROAZ" }), caller, "", role},
		"an entry without an ID, no caller's": {entry(func(e *Entry) { e.PrincipalID = "" }), Caller{Canonical: role}, "", role},
		"another role":                        {entry(func(e *Entry) { e.PrincipalARN += "2" }), caller, "", role},
		"the session":                         {entry(func(e *Entry) { e.Username = "arn:{{AccountID}}:{{SessionName}}" }), caller, "arn:111111111111:me-home", ""},
		"the session as it is":                {entry(func(e *Entry) { e.Username = "{{SessionNameRaw}}" }), caller, "me@home", ""},
		"the access key":                      {entry(func(e *Entry) { e.Username = "{{AccessKeyID}}" }), caller, "ASIAX", ""},
		"a node's name, which is not known":   {entry(func(e *Entry) { e.Username = "system:node:{{EC2PrivateDNSName}}" }), caller, "", "cannot be filled in"},
		"a group that is not known":           {entry(func(e *Entry) { e.Groups = []string{"{{Other}}"} }), caller, "", "cannot be filled in"},
		"no name":                             {entry(func(e *Entry) { e.Username = "{{SessionName}}" }), Caller{Canonical: role, ID: "AROAX"}, "", "cannot be filled in"},
	}
	for name, c := range cases {
		user, err := UserOf(c.caller, "ASIAX", c.entries)
		if user.Username != c.username || (err != nil) != (c.says != "") || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %+v, %v", name, user, err)
		}
		if err != nil && strings.Contains(c.says, role) && !errors.Is(err, ErrNoEntry) {
			t.Errorf("%s: %v is another error than of a missing entry", name, err)
		}
	}
	user, _ := UserOf(caller, "ASIAX", entry(func(*Entry) {}))
	want := User{
		Username: "cluster1", UID: "aws-iam-authenticator:111111111111:AROAX", Groups: []string{"open-cluster-management:cluster1"},
		Extra: map[string][]string{
			"arn": {caller.ARN}, "canonicalArn": {role}, "sessionName": {"me@home"}, "accessKeyId": {"ASIAX"}, "principalId": {"AROAX"},
			"sigs.k8s.io/aws-iam-authenticator/principalId": {"AROAX"},
		},
	}
	if diff := cmp.Diff(want, user); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
