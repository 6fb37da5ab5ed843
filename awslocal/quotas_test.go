package awslocal

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestQuotasOfAccountsAreHeld makes as many as there may be, and one more.
func TestQuotasOfAccountsAreHeld(t *testing.T) {
	const policy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}]}`
	trust := fmt.Sprintf(trustText, "root")
	for kind, c := range map[string]struct {
		options  Options
		quota    int
		make     []string
		existing int
		name     string
		delete   []string
		text     string
	}{
		"roles":        {Options{}, 1000, []string{"CreateRole", "AssumeRolePolicyDocument", trust}, 0, "RoleName", []string{"DeleteRole"}, "RolesPerAccount: 1000"},
		"raised roles": {Options{RolesPerAccount: 1100}, 1100, []string{"CreateRole", "AssumeRolePolicyDocument", trust}, 0, "RoleName", []string{"DeleteRole"}, "RolesPerAccount: 1100"},
		"users":        {Options{}, 5000, []string{"CreateUser"}, 1, "UserName", []string{"DeleteUser"}, "UsersPerAccount: 5000"},
		"policies":     {Options{}, 1500, []string{"CreatePolicy", "PolicyDocument", policy}, 0, "PolicyName", []string{"DeletePolicy", "PolicyArn", "arn:aws:iam::" + DefaultAccount + ":policy/n-0"}, "PoliciesPerAccount: 1500"},
	} {
		t.Run(kind, func(t *testing.T) {
			c.options.Accounts = []string{DefaultAccount, "111122223333"}
			server := newServer(t, c.options)
			call := func(account string, parameters ...string) *httptest.ResponseRecorder {
				w := httptest.NewRecorder()
				server.Handler().ServeHTTP(w, signed(server.Administrator(account), "", "iam", "POST", "/", queryBody(iamVersion, parameters[0], parameters[1:]...)))
				return w
			}
			add := func(account string, i int) *httptest.ResponseRecorder {
				return call(account, append(append([]string{}, c.make...), c.name, fmt.Sprintf("n-%d", i))...)
			}
			for i := range c.quota - c.existing {
				if w := add(DefaultAccount, i); w.Code != http.StatusOK {
					t.Fatalf("number %d: %d %s", i, w.Code, w.Body)
				}
			}
			want := "<Code>LimitExceeded</Code><Message>Cannot exceed quota for " + c.text + "</Message>"
			if w := add(DefaultAccount, c.quota); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), want) {
				t.Errorf("one more: %d %s, want %s", w.Code, w.Body, want)
			}
			if w := add(DefaultAccount, 0); !strings.Contains(w.Body.String(), "EntityAlreadyExists") {
				t.Errorf("one that is there: %d %s", w.Code, w.Body)
			}
			if w := add("111122223333", 0); w.Code != http.StatusOK {
				t.Errorf("in another account: %d %s", w.Code, w.Body)
			}
			if w := call(DefaultAccount, append(append([]string{}, c.delete...), c.name, "n-0")...); w.Code != http.StatusOK {
				t.Fatalf("deleting one: %d %s", w.Code, w.Body)
			}
			if w := add(DefaultAccount, c.quota); w.Code != http.StatusOK {
				t.Errorf("in its place: %d %s", w.Code, w.Body)
			}
		})
	}
	if _, err := New(Options{RolesPerAccount: -1}); err == nil {
		t.Error("a negative quota is taken")
	}
}
