package s3

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

const blockPath = "/v20180820/configuration/publicAccessBlock"

// account is a request to S3 Control for an account, named in the header.
func account(id, body string) ask {
	return ask{header: map[string]string{"x-amz-account-id": id}, body: body}
}

func TestAccountPublicAccessBlock(t *testing.T) {
	const put = "PUT " + blockPath
	const missing = "NoSuchPublicAccessBlockConfiguration"
	denied := account(ours, openAll)
	denied.decide = deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:PutAccountPublicAccessBlock")
	unread := account(ours, "")
	unread.decide = deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:GetAccountPublicAccessBlock")
	unknown := account(ours, "")
	unknown.caller = &anonymous
	byHost := ask{host: ours + ".s3-control.us-east-1.amazonaws.com", body: openAll}
	china := ask{host: ours + ".s3-control.cn-north-1.amazonaws.com.cn:443", body: openAll}
	both := account(theirs, openAll)
	both.host = byHost.host
	for name, tt := range map[string]row{
		"an account begins without one":             {line: "GET " + blockPath, ask: account(ours, ""), status: 404, code: missing},
		"it is put":                                 {line: put, ask: account(ours, openAll), status: 200},
		"it is put by the host":                     {line: put, ask: byHost, status: 200},
		"it is put by the host in China":            {line: put, ask: china, status: 200},
		"it is deleted, were it there or not":       {line: "DELETE " + blockPath, ask: account(ours, ""), status: 204},
		"another account's is not for the caller":   {line: put, ask: account(theirs, openAll), status: 403, code: "AccessDenied"},
		"a host of no account wants the header":     {line: put, ask: ask{host: "s3-control.us-east-1.amazonaws.com", body: openAll}, status: 400, code: "InvalidRequest"},
		"host and header must agree":                {line: put, ask: both, status: 400, code: "InvalidRequest"},
		"a switch that there is not":                {line: put, ask: account(ours, "<PublicAccessBlockConfiguration><Block/></PublicAccessBlockConfiguration>"), status: 400, code: "MalformedXML"},
		"without s3:PutAccountPublicAccessBlock":    {line: put, ask: denied, status: 403, code: "AccessDenied", message: `User: arn:aws:iam::123456789012:user/alice is not authorized to perform: s3:PutAccountPublicAccessBlock on resource: "*" because no identity-based policy allows the s3:PutAccountPublicAccessBlock action`},
		"deleting is that action too":               {line: "DELETE " + blockPath, ask: denied, status: 403, code: "AccessDenied"},
		"without s3:GetAccountPublicAccessBlock":    {line: "GET " + blockPath, ask: unread, status: 403, code: "AccessDenied"},
		"an anonymous caller":                       {line: "GET " + blockPath, ask: unknown, status: 403, code: "AccessDenied", message: "Access Denied"},
		"another operation is refused by name":      {line: "GET /v20180820/accesspoint", ask: account(ours, ""), status: 501, code: "NotImplemented"},
		"a bucket of the path's name is none of it": {line: "GET /v20180820/x", status: 404, code: "NoSuchBucket"},
		"another method on it is refused by name":   {line: "POST " + blockPath, ask: account(ours, ""), status: 501, code: "NotImplemented"},
	} {
		t.Run(name, func(t *testing.T) {
			got := do(t, stocked(t), tt.line, tt.ask)
			text := got.text()
			if strings.Contains(text, "<ErrorResponse>") != (isControlled(tt) && got.Code >= 300) {
				t.Errorf("errors of S3 Control, and no others, are wrapped: %s", text)
			}
			text = strings.NewReplacer("<ErrorResponse>", "", "</ErrorResponse>", "", "</Error><RequestId>", "<RequestId>").Replace(text)
			if isControlled(tt) && got.Code >= 300 {
				text += "</Error>"
			}
			got.Body.Reset()
			got.Body.WriteString(text)
			tt.compare(t, got)
		})
	}
}

func isControlled(tt row) bool { return tt.ask.header["x-amz-account-id"] != "" || tt.ask.host != "" }

// TestEachSwitchOfTheAccountWorksAlone sets one switch at a time and looks at
// what it does to a bucket that has none.
func TestEachSwitchOfTheAccountWorksAlone(t *testing.T) {
	s := stocked(t)
	must(t, s, "DELETE /docs?publicAccessBlock", ask{})
	must(t, s, "PUT /docs?policy", ask{body: publicRead})
	read := ask{caller: &anonymous, decide: judged(t, anonymous)}
	for name, want := range map[string]struct{ put, read int }{
		"BlockPublicAcls": {204, 200}, "IgnorePublicAcls": {204, 200}, "BlockPublicPolicy": {403, 200}, "RestrictPublicBuckets": {204, 403},
	} {
		t.Run(name, func(t *testing.T) {
			one := "<" + name + ">true</" + name + ">"
			must(t, s, "PUT "+blockPath, account(ours, "<PublicAccessBlockConfiguration>"+one+"</PublicAccessBlockConfiguration>"))
			if got := must(t, s, "GET "+blockPath, account(ours, "")).text(); !strings.Contains(got, one) || strings.Count(got, "true") != 1 {
				t.Errorf("the block is %s, want only %s", got, name)
			}
			if got := do(t, s, "PUT /docs?policy", ask{body: publicRead}); got.Code != want.put {
				t.Errorf("putting a public policy: status %d, want %d", got.Code, want.put)
			}
			if got := do(t, s, "GET /docs/a.txt", read); got.Code != want.read {
				t.Errorf("an anonymous read: status %d, want %d", got.Code, want.read)
			}
		})
	}
	must(t, s, "DELETE "+blockPath, account(ours, ""))
	must(t, s, "GET /docs/a.txt", read)
}

// TestEveryOperationCanBeThrottled asks each operation of the tables once.
func TestEveryOperationCanBeThrottled(t *testing.T) {
	names := map[string]string{}
	for selected, op := range operations {
		line := selected.method + map[string]string{onAccount: " /", onBucket: " /docs", onObject: " /docs/a.txt"}[selected.scope]
		switch selected.subresource {
		case "", copySource:
		case "list-type":
			line += "?list-type=2"
		default:
			line += "?" + selected.subresource
		}
		names[op.name] = line
	}
	for method, op := range controlOperations {
		names[op.name] = method + " " + blockPath
	}
	for name, line := range names {
		t.Run(name, func(t *testing.T) {
			asked := ask{trouble: func(operation string) *call.Fault {
				if operation != name {
					t.Errorf("the operation is %s, want %s", operation, name)
				}
				return &call.Fault{Code: "SlowDown", Message: "Please reduce your request rate.", Status: 503}
			}}
			switch {
			case strings.Contains(line, blockPath):
				asked.header = map[string]string{"x-amz-account-id": ours}
			case name == "CopyObject":
				asked.header = map[string]string{"x-amz-copy-source": "docs/a.txt"}
			}
			if got := do(t, stocked(t), line, asked); got.Code != 503 || got.entry.Error != "SlowDown" {
				t.Errorf("status %d, error %q, want 503 SlowDown", got.Code, got.entry.Error)
			}
		})
	}
}
