package awsauth

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	openshift = "/var/run/secrets/openshift/serviceaccount/token"
	someRole  = "arn:aws:iam::123456789012:role/a"
)

func TestSecretsAreReadByAnAllowList(t *testing.T) {
	pair := secret{accessKeyID: "AKIAHUSH", secretKey: "hush/+="}
	token := secret{role: someRole, tokenFile: openshift}
	const web = "[default]\nrole_arn = " + someRole + "\nweb_identity_token_file = " + openshift + "\n"
	document := func(lines ...string) map[string]string {
		return map[string]string{"credentials": strings.Join(lines, "\n")}
	}
	keyLines := []string{"[default]", "aws_access_key_id = AKIAHUSH", "aws_secret_access_key = hush/+="}
	cases := map[string]struct {
		data map[string]string
		want secret
		fail string
	}{
		"two keys": {data: map[string]string{"aws_access_key_id": "AKIAHUSH", "aws_secret_access_key": "hush/+="}, want: pair},
		"two keys with the spaces of an editor": {
			data: map[string]string{"aws_access_key_id": " AKIAHUSH\r\n", "aws_secret_access_key": "\thush/+=\n"}, want: pair,
		},
		"two keys of a session": {
			data: map[string]string{"aws_access_key_id": "AKIAHUSH", "aws_secret_access_key": "hush/+=", "aws_session_token": "t"},
			want: secret{accessKeyID: "AKIAHUSH", secretKey: "hush/+=", sessionToken: "t"},
		},
		"a document":                       {data: document(keyLines...), want: pair},
		"a document goes before two keys":  {data: map[string]string{"credentials": web, "aws_access_key_id": "x", "aws_secret_access_key": "y"}, want: token},
		"an empty document does not count": {data: map[string]string{"credentials": " \n", "aws_access_key_id": "AKIAHUSH", "aws_secret_access_key": "hush/+="}, want: pair},
		"a token's document":               {data: document(web), want: token},
		"a token's document as OpenShift writes it": {
			data: document("[default]", "sts_regional_endpoints = regional", "role_arn = "+someRole, "web_identity_token_file = "+openshift), want: token,
		},
		"a named session":          {data: document(web + "role_session_name = mine"), want: secret{role: someRole, tokenFile: openshift, session: "mine"}},
		"comments and other cases": {data: document("# a", "; b", "", "[default] ; c", "AWS_Access_Key_ID=AKIAHUSH # d", "aws_secret_access_key=hush/+=\r"), want: pair},
		"other profiles are not looked at": {
			data: document(append([]string{"[other]", "credential_process = evil", "no property"}, keyLines...)...), want: pair,
		},

		"nothing": {fail: "missing or empty: aws_access_key_id, aws_secret_access_key; give it both"},
		"half a pair": {
			data: map[string]string{"aws_access_key_id": "AKIAHUSH"}, fail: "missing or empty: aws_secret_access_key; ",
		},
		"no section default":      {data: document("[prod]", "aws_access_key_id = AKIAHUSH"), fail: "has no section [default]"},
		"an empty section":        {data: document("[default]"), fail: "has neither"},
		"a line before sections":  {data: document("aws_access_key_id = AKIAHUSH"), fail: "line 1 comes before any section"},
		"a line without a value":  {data: document("[default]", "hush"), fail: "line 2 is not NAME = VALUE"},
		"a section left open":     {data: document("[default", "a = b"), fail: "line 1 opens a section"},
		"a property twice":        {data: document(append(keyLines, "aws_access_key_id = AKIAHUSH")...), fail: "line 4: the property aws_access_key_id is there twice"},
		"a process to start":      {data: document(append(keyLines, "credential_process = /bin/hush")...), fail: "line 4 has a property that is not allowed: credential_process"},
		"another profile's keys":  {data: document(web, "source_profile = other"), fail: "not allowed: source_profile"},
		"instance metadata":       {data: document("[default]", "credential_source = Ec2InstanceMetadata"), fail: "not allowed: credential_source"},
		"an endpoint":             {data: document(append(keyLines, "endpoint_url = https://hush.example")...), fail: "not allowed: endpoint_url"},
		"a service section":       {data: document(append(keyLines, "services = hush")...), fail: "not allowed: services"},
		"a CA bundle":             {data: document(append(keyLines, "ca_bundle = /hush")...), fail: "not allowed: ca_bundle"},
		"single sign-on":          {data: document(append(keyLines, "sso_start_url = hush")...), fail: "not allowed: sso_start_url"},
		"nested properties":       {data: document(append(keyLines, "s3 =", "  addressing_style = path")...), fail: "not allowed: s3"},
		"a key in a name's place": {data: document("[default]", "wJalrXUtnFEMIhush = x"), fail: "line 2 has a property that is not allowed"},
		"keys and a role":         {data: document(append(keyLines, "role_arn = "+someRole)...), fail: "both an access key and a role"},
		"a role without a token":  {data: document("[default]", "role_arn = "+someRole), fail: "web_identity_token_file is missing"},
		"a token without a role":  {data: document("[default]", "web_identity_token_file = "+openshift), fail: "role_arn is missing"},
		"a key without its other": {data: document("[default]", "aws_secret_access_key = hush"), fail: "aws_access_key_id is missing"},
		"only a session token":    {data: document("[default]", "aws_session_token = hush"), fail: "aws_access_key_id is missing"},
		"any other file": {
			data: document("[default]", "role_arn = "+someRole, "web_identity_token_file = /etc/passwd"), fail: "none of the token files",
		},
		"a way around to any other file": {
			data: document("[default]", "role_arn = "+someRole, "web_identity_token_file = "+openshift+"/../../../../../etc/passwd"), fail: "none of the token files",
		},
		"a role that is none":    {data: document("[default]", "role_arn = hush", "web_identity_token_file = "+openshift), fail: "role_arn is no ARN"},
		"a session that is none": {data: document(web + "role_session_name = a/b"), fail: "no session name"},
		"a value of two words":   {data: document("[default]", "aws_access_key_id = AKIA HUSH", "aws_secret_access_key = hush"), fail: "the value of aws_access_key_id has spaces"},
		"a value that would break a header": {
			data: map[string]string{"aws_access_key_id": "AKIA", "aws_secret_access_key": "hush\nhush"}, fail: "the value of aws_secret_access_key has spaces",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			data := map[string][]byte{}
			for key, value := range c.data {
				data[key] = []byte(value)
			}
			got, err := parseSecret(data, defaultTokenFiles)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(secret{})); diff != "" {
				t.Errorf("secret (-want +got):\n%s", diff)
			}
			switch {
			case c.fail == "" && err != nil:
				t.Errorf("error %v", err)
			case c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)):
				t.Errorf("error %v, want %q", err, c.fail)
			case err != nil && name != "a key in a name's place" && strings.Contains(strings.ToLower(err.Error()), "hush"):
				t.Errorf("the error holds a value: %v", err)
			}
		})
	}
}

// FuzzSection looks for documents that the reader takes apart differently than a
// second, simpler look at the same lines.
func FuzzSection(f *testing.F) {
	for _, seed := range []string{
		"", "[default]\na=b", "[default]\na = b # c\n[x]\nd=e\n[default]\nf=g", "a=b", "[", "[]", "[default]x", "[default]\r\n=\r\n", "[default]\n a = [b]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, document string) {
		properties, err := readSection(document, "default")
		if err != nil {
			if len(properties) > 0 {
				t.Errorf("%q: properties and an error", document)
			}
			return
		}
		lines := strings.Split(strings.ReplaceAll(document, "\r\n", "\n"), "\n")
		for _, p := range properties {
			if p.line < 1 || p.line > len(lines) {
				t.Fatalf("%q: line %d of %d", document, p.line, len(lines))
			}
			line := lines[p.line-1]
			if p.name == "" || strings.ContainsAny(p.name+p.value, "\n") || p.name != strings.TrimSpace(p.name) || p.value != strings.TrimSpace(p.value) {
				t.Errorf("%q: property %q = %q", document, p.name, p.value)
			}
			if !strings.Contains(strings.ToLower(line), p.name) || !strings.Contains(line, p.value) {
				t.Errorf("line %q became %q = %q", line, p.name, p.value)
			}
		}
		// Written plainly, what was read is read again.
		var plain strings.Builder
		plain.WriteString("[default]\n")
		for _, p := range properties {
			plain.WriteString(p.name + " = " + p.value + "\n")
		}
		again, err := readSection(plain.String(), "default")
		if err != nil && !oddName(properties) {
			t.Errorf("%q is refused when read again: %v", plain.String(), err)
		}
		if err == nil && !oddName(properties) && len(again) != len(properties) {
			t.Errorf("%q: %d properties, then %d", document, len(properties), len(again))
		}
	})
}

// oddName says whether a name, written at the start of a line, would be a
// section or a comment.
func oddName(properties []property) bool {
	for _, p := range properties {
		if strings.ContainsAny(p.name[:1], "[#;") {
			return true
		}
	}
	return false
}

// FuzzSecret looks for Secrets that yield anything but one whole set of
// credentials of the allowed kinds.
func FuzzSecret(f *testing.F) {
	f.Add("[default]\naws_access_key_id = A\naws_secret_access_key = B", "", "")
	f.Add("[default]\nrole_arn = "+someRole+"\nweb_identity_token_file = "+openshift, "", "")
	f.Add("[default]\ncredential_process = x", "a", "b")
	f.Add("", " a\n", "b")
	f.Fuzz(func(t *testing.T, document, id, key string) {
		got, err := parseSecret(map[string][]byte{
			"credentials": []byte(document), "aws_access_key_id": []byte(id), "aws_secret_access_key": []byte(key),
		}, defaultTokenFiles)
		if err != nil {
			if got != (secret{}) || strings.Contains(err.Error(), "\n") {
				t.Errorf("an error with %+v: %q", got, err)
			}
			return
		}
		static := got.accessKeyID != "" && got.secretKey != "" && got.role == "" && got.tokenFile == "" && got.session == ""
		web := got.role != "" && got.tokenFile == openshift || got.tokenFile == defaultTokenFiles[1]
		if static == web || web && got.accessKeyID+got.secretKey+got.sessionToken != "" {
			t.Errorf("%q gives neither keys nor a role, or both", document)
		}
		for _, value := range []string{got.accessKeyID, got.secretKey, got.sessionToken, got.role, got.session, got.tokenFile} {
			if strings.ContainsFunc(value, isUnusable) {
				t.Errorf("the value %q cannot be used", value)
			}
		}
	})
}
