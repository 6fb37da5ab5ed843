package permission_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/permission"
)

func TestTheJSONOfASet(t *testing.T) {
	set := declared("[" + request(accounts, strings.Replace(entry(objects, "s3:GetObject", "x y"), "{", `{"policyCondition":{"Bool":{"aws:SecureTransport":true}},`, 1)) + "]").In("team")
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	want := `{
  "apiVersion": "tabard.dev/v1alpha1",
  "kind": "OperatorPermissions",
  "package": "p",
  "version": "1.1.0",
  "csv": "p.v1.1.0",
  "cloud": "aws",
  "source": {
    "kind": "annotation",
    "ref": "p.v1.1.0",
    "digest": "` + set.Digest() + `"
  },
  "certainty": "declared",
  "incomplete": true,
  "requests": [
    {
      "name": "p",
      "secret": {
        "namespace": "team",
        "name": "creds"
      },
      "audiences": [
        "openshift"
      ],
      "audiencesAssumed": true,
      "serviceAccounts": [
        {
          "namespace": "team",
          "name": "operator"
        }
      ],
      "aws": {
        "statements": [
          {
            "effect": "Allow",
            "actions": [
              "s3:GetObject"
            ],
            "resource": "arn:aws:s3:::b/*",
            "condition": {
              "Bool": {
                "aws:SecureTransport": [
                  "true"
                ]
              }
            }
          }
        ]
      }
    }
  ],
  "findings": [
    {
      "code": "InvalidAction",
      "path": "[0].spec.providerSpec.statementEntries[0].action[1]",
      "message": "the action is \"x y\", expected SERVICE:ACTION: it is left out"
    }
  ]
}`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
	var read permission.Set
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(read)
	if err != nil || string(again) != string(text) {
		t.Errorf("%v\n%s", err, again)
	}
	if err := json.Unmarshal([]byte(`{"apiVersion":"v1","kind":"Secret"}`), &read); err == nil || !strings.Contains(err.Error(), "expected OperatorPermissions of tabard.dev/v1alpha1") {
		t.Error(err)
	}
}

func TestFindingsSayWhatWasSeenAndWhatIsExpected(t *testing.T) {
	statement := func(text string) permission.Set { return declared("[" + request(accounts, text) + "]") }
	for want, set := range map[string]permission.Set{
		`the effect is "allow", expected Allow or Deny: it is left out`:                                                                                                       statement(strings.Replace(entry(objects, "s3:GetObject"), "Allow", "allow", 1)),
		`the resource is "arn:aws:s3", expected * or an ARN of six parts: arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE: it is left out`:                                      statement(entry("arn:aws:s3", "s3:GetObject")),
		`the action is "GetObject", expected SERVICE:ACTION: it is left out`:                                                                                                  statement(entry(objects, "GetObject")),
		`the annotation operators.tabard.dev/credentials-requests is no JSON list of CredentialsRequests: it is null, expected a list: [] declares that nothing is asked for`: declared("null"),
		`it is empty, expected the ServiceAccounts that become the role: AWS and Google Cloud trust nobody without`:                                                           declared("[" + request(`"cloudTokenPath":"/t"`, entry(objects, "s3:GetObject")) + "]"),
	} {
		if len(set.Findings) == 0 || set.Findings[0].Message != want {
			t.Errorf("%+v, want %q", set.Findings, want)
		}
	}
}
