package query

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/iampolicy"
)

func TestListsEndAtTheFirstGap(t *testing.T) {
	f := NewForm(url.Values{
		"L.member.1": {"a"}, "L.member.2": {"b"}, "L.member.4": {"d"},
		"T.member.1.Key": {"k"}, "T.member.1.Value": {"v"}, "T.member.2.Value": {"lost"},
	})
	if got := f.List("L"); !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Errorf("the list is %v", got)
	}
	if got := f.Tags("T"); !reflect.DeepEqual(got, []Tag{{"k", "v"}}) {
		t.Errorf("the tags are %v", got)
	}
	if !f.Has("L") || !f.Has("T") || f.Has("M") {
		t.Error("Has does not see lists and structures")
	}
}

func TestValidationTextsAreAWSs(t *testing.T) {
	const start = "1 validation error detected: "
	pattern := pattern.New(`^[\w]*$`)
	cases := map[string]struct {
		check func(*Validation, Form)
		want  string
	}{
		"missing":     {func(v *Validation, f Form) { v.Text(f, "RoleArn", 1, 2, nil) }, start + "Value at 'roleArn' failed to satisfy constraint: Member must not be null"},
		"too long":    {func(v *Validation, f Form) { v.Text(f, "Long", 1, 2, nil) }, start + "Value 'abc' at 'long' failed to satisfy constraint: Member must have length less than or equal to 2"},
		"a pattern":   {func(v *Validation, f Form) { v.Text(f, "Odd", 1, 9, pattern) }, start + `Value 'a b' at 'odd' failed to satisfy constraint: Member must satisfy regular expression pattern: [\w]*`},
		"a number":    {func(v *Validation, _ Form) { v.Number("Size", 9, 1, 5) }, start + "Value '9' at 'size' failed to satisfy constraint: Member must have value less than or equal to 5"},
		"a secret":    {func(v *Validation, f Form) { v.Secret(f, "Long", 4, 9) }, start + "Value at 'long' failed to satisfy constraint: Member must have length greater than or equal to 4"},
		"two at once": {func(v *Validation, _ Form) { v.Number("A", 0, 1, 5); v.Count("B", 2, 1) }, "2 validation errors detected: Value '0' at 'a' failed to satisfy constraint: Member must have value greater than or equal to 1; Value at 'b' failed to satisfy constraint: Member must have length less than or equal to 1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var v Validation
			c.check(&v, NewForm(url.Values{"Long": {"abc"}, "Odd": {"a b"}}))
			fault := v.Fault()
			if fault == nil || fault.Code != "ValidationError" || fault.Message != c.want {
				t.Errorf("fault %v, want %q", fault, c.want)
			}
		})
	}
	var none Validation
	if fault := none.Fault(); fault != nil {
		t.Errorf("nothing wrong gives %v", fault)
	}
}

func answer(accept string, write func(*httptest.ResponseRecorder, *call.Call)) (string, *call.Call) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(""))
	r.Header.Set("Accept", accept)
	c := &call.Call{HTTP: r, ID: "id-1", Entry: &call.Entry{}}
	w := httptest.NewRecorder()
	write(w, c)
	return w.Body.String(), c
}

func TestAnswersHaveTheirWireForm(t *testing.T) {
	type result struct{ Arn string }
	cases := map[string]struct {
		accept string
		write  func(*httptest.ResponseRecorder, *call.Call)
		want   string
	}{
		"success in XML":         {"", func(w *httptest.ResponseRecorder, c *call.Call) { Result(w, c, "ns", "Op", result{"a<b"}) }, `<OpResponse xmlns="ns"><OpResult><Arn>a&lt;b</Arn></OpResult><ResponseMetadata><RequestId>id-1</RequestId></ResponseMetadata></OpResponse>`},
		"success without output": {"", func(w *httptest.ResponseRecorder, c *call.Call) { Result(w, c, "ns", "Op", nil) }, `<OpResponse xmlns="ns"><ResponseMetadata><RequestId>id-1</RequestId></ResponseMetadata></OpResponse>`},
		"success in JSON":        {"application/json", func(w *httptest.ResponseRecorder, c *call.Call) { Result(w, c, "ns", "Op", result{"a"}) }, `{"OpResponse":{"OpResult":{"Arn":"a"},"ResponseMetadata":{"RequestId":"id-1"}}}` + "\n"},
		"a refusal in XML":       {"", func(w *httptest.ResponseRecorder, c *call.Call) { Refuse(w, c, "ns", UnknownOperation("X", "v")) }, `<ErrorResponse xmlns="ns"><Error><Type>Sender</Type><Code>InvalidAction</Code><Message>Could not find operation X for version v</Message></Error><RequestId>id-1</RequestId></ErrorResponse>`},
		"a refusal in JSON":      {"application/json", func(w *httptest.ResponseRecorder, c *call.Call) { Refuse(w, c, "ns", AccessDenied("no")) }, `{"Error":{"Code":"AccessDenied","Message":"no","Type":"Sender"},"RequestId":"id-1"}` + "\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, _ := answer(c.accept, c.write)
			if got != c.want {
				t.Errorf("answer\n %s\nwant\n %s", got, c.want)
			}
		})
	}
	if _, c := answer("", func(w *httptest.ResponseRecorder, c *call.Call) { Refuse(w, c, "ns", AccessDenied("no")) }); c.Entry.Error != "AccessDenied" {
		t.Errorf("the journal's entry has the error %q", c.Entry.Error)
	}
}

func TestDenialsNameTheKindOfPolicy(t *testing.T) {
	const start = "User: me is not authorized to perform: a:B on resource: r"
	for want, decision := range map[string]iampolicy.Decision{
		" because no identity-based policy allows the a:B action": {Effect: iampolicy.ImplicitDeny, Kind: iampolicy.IdentityPolicy},
		" because no session policy allows the a:B action":        {Effect: iampolicy.ImplicitDeny, Kind: iampolicy.SessionPolicy},
		" with an explicit deny in an identity-based policy":      {Effect: iampolicy.ExplicitDeny, Kind: iampolicy.IdentityPolicy},
		" with an explicit deny in a resource-based policy":       {Effect: iampolicy.ExplicitDeny, Kind: iampolicy.ResourcePolicy},
		"": {Effect: iampolicy.ImplicitDeny},
	} {
		if got := Denied("me", "a:B", "r", decision); got.Message != start+want || got.Status != 403 {
			t.Errorf("%+v gives %q", decision, got.Message)
		}
	}
}
