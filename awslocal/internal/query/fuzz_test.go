package query

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// FuzzForm reads parameters of every shape out of a body.
func FuzzForm(f *testing.F) {
	f.Add("Action=ListRoles&MaxItems=3&Marker=czE")
	f.Add("L.member.1=a&L.member.2.Key=b&L.member.2.Value=c&L.member.x=%")
	f.Add("L.member.1.Key=a;b&L=&=&L.member.01=x")
	f.Fuzz(func(t *testing.T, body string) {
		c := &call.Call{HTTP: httptest.NewRequest(http.MethodPost, "/", nil), Payload: []byte(body)}
		form, fault := Read(c)
		if fault != nil {
			if fault.Status != http.StatusBadRequest {
				t.Errorf("a bad form answers %v", fault)
			}
			return
		}
		for _, name := range []string{"L", "Action", ""} {
			if list := form.List(name); len(list) > maxMembers || len(list) > len(body) {
				t.Errorf("%d bytes hold a list of %d", len(body), len(list))
			}
			if tags := form.Tags(name); len(tags) > maxMembers || len(tags) > len(body) {
				t.Errorf("%d bytes hold %d tags", len(body), len(tags))
			}
		}
		page, fault := ReadPage(form, nil)
		if fault != nil {
			return
		}
		items := []string{"a", "b", "c"}
		shown, end := Cut(page, items, func(name string) string { return name })
		if end.IsTruncated && len(shown) == 0 {
			t.Errorf("a page of %q shows nothing and has no end", body)
		}
	})
}
