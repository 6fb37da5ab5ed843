package iampolicy_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
)

// A role's trust policy is written, and read back without a mistake.
func ExampleDocument() {
	const provider = "arn:aws:iam::123456789012:oidc-provider/issuer.example.com"
	statement := iampolicy.WebIdentity(provider, "sts.amazonaws.com", "system:serviceaccount:shop:app")
	statement.Sid = "App"
	fmt.Println(iampolicy.Document{statement})
	// Output:
	// {
	//   "Version": "2012-10-17",
	//   "Statement": [
	//     {
	//       "Sid": "App",
	//       "Effect": "Allow",
	//       "Principal": {
	//         "Federated": "arn:aws:iam::123456789012:oidc-provider/issuer.example.com"
	//       },
	//       "Action": [
	//         "sts:AssumeRoleWithWebIdentity"
	//       ],
	//       "Condition": {
	//         "StringEquals": {
	//           "issuer.example.com:aud": "sts.amazonaws.com",
	//           "issuer.example.com:sub": "system:serviceaccount:shop:app"
	//         }
	//       }
	//     }
	//   ]
	// }
}

func TestDocumentsAreWrittenAsAWSReadsThem(t *testing.T) {
	const read, all = "s3:GetObject", "*"
	for name, test := range map[string]struct {
		document iampolicy.Document
		want     string
		kind     iampolicy.Kind
	}{
		"the rights of an identity, with a variable": {
			iampolicy.Document{{Sid: "Own", Actions: []string{read}, Resources: []string{"arn:aws:s3:::b/${aws:username}/<&>"}}},
			`{"Version":"2012-10-17","Statement":[{"Sid":"Own","Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::b/${aws:username}/<&>"]}]}`,
			iampolicy.IdentityPolicy,
		},
		"one that denies beside one that allows": {
			iampolicy.Document{{Actions: []string{all}, Resources: []string{all}}, {Deny: true, Actions: []string{"iam:*"}, Resources: []string{all}}},
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["*"],"Resource":["*"]},{"Effect":"Deny","Action":["iam:*"],"Resource":["*"]}]}`,
			iampolicy.IdentityPolicy,
		},
		"anybody": {
			iampolicy.Document{{Principals: map[iampolicy.PrincipalType][]string{iampolicy.TypeAny: nil}, Actions: []string{read}, Resources: []string{"arn:aws:s3:::b/*"}}},
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::b/*"]}]}`,
			iampolicy.ResourcePolicy,
		},
		"several subjects": {
			iampolicy.Document{iampolicy.WebIdentity("arn:aws:iam::123456789012:oidc-provider/i.example/a", "aud", "x", "y")},
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/i.example/a"},` +
				`"Action":["sts:AssumeRoleWithWebIdentity"],"Condition":{"StringEquals":{"i.example/a:aud":"aud","i.example/a:sub":["x","y"]}}}]}`,
			iampolicy.TrustPolicy,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.document.MarshalJSON()
			if err != nil || string(got) != test.want {
				t.Errorf("%v, written\n%s, want\n%s", err, got, test.want)
			}
			parsed, err := iampolicy.Parse([]byte(test.document.String()))
			if err != nil {
				t.Fatal(err)
			}
			if err := parsed.Validate(test.kind); err != nil {
				t.Errorf("AWS would refuse it: %v", err)
			}
		})
	}
}

// FuzzDocument demands that no value of a statement becomes anything else.
func FuzzDocument(f *testing.F) {
	for _, seed := range []string{"", `"`, "\n", `\`, "${aws:username}", "é\u2028", `","Effect":"Deny`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		statement := iampolicy.WebIdentity("arn:aws:iam::1:oidc-provider/"+text, text, text)
		statement.Sid, statement.Resources = text, []string{text}
		var got struct {
			Statement []struct {
				Sid       string
				Resource  []string
				Condition map[string]map[string]string
			}
		}
		valid, _ := json.Marshal(text) // which makes text valid UTF-8
		var want string
		if err := json.Unmarshal(valid, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(iampolicy.Document{statement}.String()), &got); err != nil || len(got.Statement) != 1 {
			t.Fatalf("%v: %s", err, iampolicy.Document{statement})
		}
		read := got.Statement[0]
		if read.Sid != want || read.Resource[0] != want || read.Condition["StringEquals"][want+":sub"] != want {
			t.Errorf("%q became %+v", text, read)
		}
	})
}
