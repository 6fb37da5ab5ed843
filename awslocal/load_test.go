package awslocal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// smallState is a document with one of everything, as JSON that tests can change.
func smallState(tb testing.TB) (*Server, string) {
	tb.Helper()
	w := newWorld(tb)
	w.iam(tb, "CreatePolicy", "PolicyName", "limit", "PolicyDocument", fmt.Sprintf(inlineText, "x"))
	w.iam(tb, "AttachRolePolicy", "RoleName", "app", "PolicyArn", "arn:aws:iam::123456789012:policy/limit")
	w.iam(tb, "PutRolePermissionsBoundary", "RoleName", "app", "PermissionsBoundary", "arn:aws:iam::123456789012:policy/limit")
	sessionKey(tb, w.server, w.key, "app")
	do(tb, w.server, signed(w.key, "", "s3", "PUT", "/bucket", ""))
	do(tb, w.server, signed(w.key, "", "s3", "PUT", "/bucket/object", "body"))
	if err := w.server.Admin().AddCluster(Cluster{Name: "lab", Issuer: "https://lab.example"}); err != nil {
		tb.Fatal(err)
	}
	do(tb, w.server, signed(w.key, "", "eks", "POST", "/clusters/lab/access-entries", `{"principalArn":"`+arn("app")+`"}`))
	do(tb, w.server, signed(w.key, "", "eks", "POST", "/clusters/lab/pod-identity-associations", `{"namespace":"n","serviceAccount":"sa","roleArn":"`+arn("app")+`"}`))
	if err := w.server.Admin().DisableRegion(DefaultAccount, "af-south-1"); err != nil {
		tb.Fatal(err)
	}
	return w.server, string(dump(tb, w.server))
}

func TestBrokenStatesAreRefusedAndChangeNothing(t *testing.T) {
	server, good := smallState(t)
	if !json.Valid([]byte(good)) {
		t.Fatalf("the state is no JSON: %s", good)
	}
	cases := map[string]struct{ old, replacement, want string }{
		"half a document":              {good[len(good)/2:], "", "no JSON document of a state"},
		"two documents":                {good, good + good, "no JSON document of a state"},
		"another version":              {`"version":1`, `"version":2`, "its version is not 1"},
		"an unknown member":            {`"eks":{`, `"eks":{"nodes":[],`, `unknown field "nodes"`},
		"another partition":            {`"partition":"aws"`, `"partition":"aws-cn"`, `it belongs to the partition "aws-cn", and this server is in "aws"`},
		"other accounts":               {`"accounts":[{"id":"123456789012"`, `"accounts":[{"id":"210987654321"`, "it belongs to the accounts [210987654321], and this server has the accounts [123456789012]"},
		"no administrator":             {`"administrator":{"accessKeyID":"` + server.Administrator(DefaultAccount).AccessKeyID, `"administrator":{"accessKeyID":"`, "its administrator has no key"},
		"a policy that is gone":        {`"attachedPolicies":["arn:aws:iam::123456789012:policy/limit"]`, `"attachedPolicies":["arn:aws:iam::123456789012:policy/other"]`, "the policy arn:aws:iam::123456789012:policy/other that is attached to it does not exist"},
		"a boundary that is gone":      {`"permissionsBoundary":"arn:aws:iam::123456789012:policy/limit"`, `"permissionsBoundary":"arn:aws:iam::aws:policy/None"`, "that is its permissions boundary does not exist"},
		"an unknown policy of AWS's":   {`"awsPolicyIDs":{`, `"awsPolicyIDs":{"None":"ANPA1",`, `AWS's own policy "None" is not here`},
		"no default version":           {`"defaultVersion":1`, `"defaultVersion":2`, "its default version 2 does not exist"},
		"a version after the last":     {`"lastVersion":1`, `"lastVersion":0`, "version 1 is there twice, or after the last, 0"},
		"a policy that is none":        {`\"Action\":[\"s3:GetObject\",`, `\"Action\":[\"nonsense\",`, "Actions/Conditions must be prefaced by a vendor"},
		"a trust without its ID":       {`"trustedIDs":{"arn:aws:iam::123456789012:user/administrator"`, `"trustedIDs":{"arn:aws:iam::123456789012:user/other"`, "the unique ID of arn:aws:iam::123456789012:user/administrator is missing"},
		"a name that is none":          {`"name":"app","path":"/"`, `"name":"a p","path":"/"`, "its name or its path"},
		"two of a name":                {`"name":"app","path":"/"`, `"name":"POD","path":"/"`, `role "pod": it is there twice`},
		"a long session":               {`"maxSessionSeconds":3600`, `"maxSessionSeconds":1`, "its sessions may last 1 seconds"},
		"a session of another account": {`"account":"123456789012","role":"app"`, `"account":"210987654321","role":"app"`, `is one of account "210987654321", which does not exist`},
		"a session without its role":   {`"role":"app","roleID":"`, `"role":"app","roleID":"","name":"`, "or the ID of its role"},
		"a bucket of another account":  {`"name":"bucket","account":"123456789012"`, `"name":"bucket","account":"210987654321"`, `the bucket "bucket": its account "210987654321" does not exist`},
		"a checksum that is unknown":   {`"key":"object",`, `"key":"object","checksumAlgorithm":"md4",`, `its checksum's algorithm "md4" is unknown`},
		"an object without a key":      {`"key":"object"`, `"key":""`, "its key is empty or there twice"},
		"a body that is no base64":     {`"body":"`, `"body":"?`, "illegal base64 data"},
		"a cluster elsewhere":          {`"region":"us-east-1","name":"lab"`, `"region":"cn-north-1","name":"lab"`, "is not in the partition aws"},
		"an entry without its ID":      {`"principalID":"`, `"principalID":"","username":"`, "the principal's unique ID is missing"},
		"a role of another account":    {`"roleArn":"` + arn("app"), `"roleArn":"arn:aws:iam::210987654321:role/app`, "pod identity association"},
		"a duration that is none":      {`"clock":{`, `"clock":{"advanced":"soon"`, `"soon" is no duration`},
		"a region of another account":  {`"region":"af-south-1"`, `"region":"af-south-1","account":"210987654321"`, `disabled in account "210987654321", which does not exist`},
		"a region that all have":       {`"region":"af-south-1"`, `"region":"us-east-1"`, "the region us-east-1 needs no opt-in"},
		"a time that is none":          {`"created":"2`, `"created":"x2`, "reading the state"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(good, c.old, c.replacement, 1)
			if bad == good {
				t.Fatalf("the document has no %s:\n%s", c.old, good)
			}
			err := server.Admin().Load([]byte(bad))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if after := dump(t, server); !bytes.Equal(after, []byte(good)) {
				t.Errorf("the state has changed to\n%s", after)
			}
		})
	}
}

// FuzzLoad loads texts, by themselves and in place of a part of a good document.
func FuzzLoad(f *testing.F) {
	server, good := smallState(f)
	f.Add("", uint16(0), uint16(0))
	f.Add(good, uint16(0), uint16(0))
	f.Add(`{"version":1,"partition":"aws","iam":{"accounts":[{"id":"123456789012","administrator":{"accessKeyID":"AKIA","secretAccessKey":"s"}}]}}`, uint16(0), uint16(0))
	for i := range len(good) / 50 {
		f.Add(`null`, uint16(50*i+1), uint16(4))
		f.Add(`"x"`, uint16(50*i+1), uint16(3))
	}
	f.Fuzz(func(t *testing.T, replacement string, at, length uint16) {
		text := []byte(replacement)
		if at > 0 {
			begin := min(int(at), len(good))
			text = []byte(good[:begin] + replacement + good[min(begin+int(length), len(good)):])
		}
		before := dump(t, server)
		if err := server.Admin().Load(text); err != nil {
			if after := dump(t, server); !bytes.Equal(before, after) {
				t.Fatalf("refused with %v, and yet the state has changed to\n%s", err, after)
			}
			return
		}
		loaded := dump(t, server)
		if err := server.Admin().Load(loaded); err != nil {
			t.Fatalf("what was dumped is refused with %v:\n%s", err, loaded)
		}
		if again := dump(t, server); !bytes.Equal(loaded, again) {
			t.Fatalf("the state came back as\n%s\nwant\n%s", again, loaded)
		}
	})
}
