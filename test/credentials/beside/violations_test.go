package beside

import (
	"maps"
	"strings"
	"testing"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/awslocal"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// owned are the fields of one version.
func owned(tabards, ccos string) map[string][]string {
	out := map[string][]string{}
	for by, fields := range map[string]string{tabard: tabards, cco: ccos} {
		if fields != "" {
			out[by] = strings.Split(fields, ",")
		}
	}
	return out
}

var annotated = map[string]string{core.ServiceAccountAnnotation: "shop/app"}

const hold = `f:metadata f:finalizers v:"` + core.Finalizer + `"`

func request(at int64, id string, annotations map[string]string, fields map[string][]string) Version {
	return Version{Revision: at, Kind: kindRequest, ID: id, Name: id, Annotations: maps.Clone(annotations), Fields: fields}
}

func secret(at int64, fields map[string][]string, data ...string) Version {
	return Version{Revision: at, Kind: kindSecret, ID: "s", Name: "s", Fields: fields, Data: data}
}

func mode(at int64, mode string, known bool) Version {
	return Version{Revision: at, Kind: kindMode, Mode: mode, Known: known}
}

// TestEachRuleSeesWhatBreaksIt feeds the rules with recordings that one rule, and no other,
// is to find fault with.
func TestEachRuleSeesWhatBreaksIt(t *testing.T) {
	loop := func(of ...string) (out []Write) {
		for i := range (calm + 1) * len(of) {
			out = append(out, Write{By: of[i%len(of)], Of: "a"})
		}
		return out
	}
	for name, tt := range map[string]struct {
		recording Recording
		broken    string
	}{
		"nothing":          {Recording{}, ""},
		"a finalizer each": {Recording{Versions: []Version{request(1, "a", annotated, owned(hold, "f:status f:provisioned"))}}, ""},
		"a field goes from the operator to Tabard": {Recording{Versions: []Version{secret(1, owned("", "f:data f:credentials")), secret(2, owned("f:data f:credentials", ""))}}, "no field is written by both"},
		"a field goes from Tabard to the operator, told in another order": {
			Recording{Versions: []Version{secret(2, owned("", "f:data f:credentials")), secret(1, owned("f:data f:credentials", ""))}}, "no field is written by both",
		},
		"the operator mints over what Tabard wrote, once a person changed the mode": {Recording{Versions: []Version{
			mode(1, "Manual", false), secret(2, owned("f:data f:credentials", "")), mode(3, "Mint", false), secret(4, owned("", "f:data f:credentials")),
		}}, ""},
		"Tabard writes again what the operator minted over": {Recording{Versions: []Version{
			secret(2, owned("f:data f:credentials", "")), mode(3, "Mint", false), secret(4, owned("", "f:data f:credentials")),
			mode(5, "Manual", false), secret(6, owned("f:data f:credentials", "")),
		}}, "no field is written by both"},
		"the operator takes a label that Tabard wrote, once a person changed the mode": {Recording{Versions: []Version{
			secret(2, owned("f:metadata f:labels f:x", "")), mode(3, "Mint", false), secret(4, owned("", "f:metadata f:labels f:x")),
		}}, "no field is written by both"},
		"a request names a role, whose Secret the operator then writes": {Recording{Versions: []Version{
			secret(1, owned("f:data f:credentials", "")), {Revision: 2, Kind: kindRequest, ID: "a", Secret: "s", Role: true}, secret(3, owned("", "f:data f:credentials")),
		}}, ""},
		"the same field of two objects": {Recording{Versions: []Version{
			secret(1, owned("", "f:type")), {Revision: 2, Kind: kindSecret, ID: "another", Fields: owned("f:type", "")},
		}}, ""},
		"Tabard says that a request is provisioned": {
			Recording{Versions: []Version{request(1, "a", annotated, owned("f:status f:provisioned", ""))}}, "neither spec nor status",
		},
		"Tabard names a user": {
			Recording{Versions: []Version{request(1, "a", annotated, owned("f:status f:providerStatus f:user", ""))}}, "neither spec nor status",
		},
		"Tabard writes a target": {
			Recording{Versions: []Version{request(1, "a", annotated, owned("f:spec f:storage", ""))}}, "neither spec nor status",
		},
		"Tabard writes the operator's label": {
			Recording{Versions: []Version{secret(1, owned("f:metadata f:labels f:"+cloudv1.RequestKey, ""))}}, "no Secret gets the operator's marks",
		},
		"Tabard holds a request for a Secret": {
			Recording{Versions: []Version{request(1, "a", nil, nil), request(2, "a", nil, owned(hold, ""))}}, "a request that is another's",
		},
		"Tabard holds a request that named a ServiceAccount before": {
			Recording{Versions: []Version{request(1, "a", annotated, nil), request(2, "a", nil, owned(hold, ""))}}, "",
		},
		"Tabard makes a grant of a request for a Secret": {
			Recording{Versions: []Version{request(1, "a", nil, nil), {Revision: 2, Kind: kindGrant, Request: "a", Fields: owned("f:spec f:request f:uid", "")}}}, "a request that is another's",
		},
		"Tabard says in an administrator's grant why it does nothing": {
			Recording{Versions: []Version{request(1, "a", nil, nil), {Revision: 2, Kind: kindGrant, Request: "a", Fields: owned("f:status f:conditions", "")}}}, "",
		},
		"Tabard serves what came in the mode Mint": {
			Recording{Versions: []Version{mode(1, "Mint", false), mode(2, "Mint", true), request(3, "a", annotated, nil), request(4, "a", annotated, owned(hold, ""))}}, "while the mode is not Manual",
		},
		"Tabard makes a grant for what came in the mode Passthrough": {
			Recording{Versions: []Version{
				mode(2, "Passthrough", true), request(3, "a", annotated, nil), {Revision: 4, Kind: kindGrant, Request: "a", Fields: owned("f:spec f:request f:uid", "")},
			}}, "while the mode is not Manual",
		},
		"Tabard serves what came before it knew of the mode": {
			Recording{Versions: []Version{mode(1, "Mint", false), request(2, "a", annotated, nil), request(3, "a", annotated, owned(hold, "")), mode(4, "Mint", true)}}, "",
		},
		"Tabard serves what came in the mode Mint once the mode is Manual": {
			Recording{Versions: []Version{mode(1, "Mint", true), request(2, "a", annotated, nil), mode(3, "Manual", false), request(4, "a", annotated, owned(hold, ""))}}, "",
		},
		"Tabard writes a static key":               {Recording{Versions: []Version{secret(1, owned("f:data f:aws_access_key_id", ""), "aws_access_key_id")}}, "static keys"},
		"a static key is taken away":               {Recording{Versions: []Version{secret(1, nil, "aws_secret_access_key"), secret(2, nil)}}, "static keys"},
		"Tabard makes a user":                      {Recording{Calls: []awslocal.Entry{{Operation: "CreateUser"}}}, "never for users and keys"},
		"Tabard lists keys":                        {Recording{Calls: []awslocal.Entry{{Operation: "ListAccessKeys"}}}, "never for users and keys"},
		"Tabard makes a role":                      {Recording{Calls: []awslocal.Entry{{Operation: "CreateRole"}}}, ""},
		"the operator ended itself":                {Recording{Died: true}, "the operator lives"},
		"Tabard edits the operator's webhook":      {Recording{Versions: []Version{{Kind: kindWebhook, Fields: owned("f:webhooks", "")}}}, "webhook is left alone"},
		"Tabard writes without end":                {Recording{Writes: loop(tabard)}, "writes come to an end"},
		"the two write in turns":                   {Recording{Writes: loop(tabard, cco)}, "writes come to an end"},
		"Tabard answers a person each time":        {Recording{Writes: loop(tabard, "kubectl")}, ""},
		"the operator writes without end":          {Recording{Writes: loop(cco)}, ""},
		"a role is left":                           {Recording{After: []Role{{Name: "a"}}}, "all of a deleted request is gone"},
		"a grant is left":                          {Recording{Left: []string{"CredentialsGrant a"}}, "all of a deleted request is gone"},
		"a role of others is gone":                 {Recording{Before: []Role{{Name: "a"}}}, "all of a deleted request is gone"},
		"a role of others has another trust":       {Recording{Before: []Role{{Name: "a", State: "1"}}, After: []Role{{Name: "a", State: "2"}}}, "all of a deleted request is gone"},
		"a role of others is as it was, and alone": {Recording{Before: []Role{{Name: "a", State: "1"}}, After: []Role{{Name: "a", State: "1"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			said := broken(tt.recording)
			if tt.broken == "" && len(said) > 0 {
				t.Errorf("the rules say %q of what breaks none", said)
			}
			if tt.broken != "" && (len(said) != 1 || !strings.Contains(said[0], tt.broken)) {
				t.Errorf("the rules say %q, want once that %q is broken", said, tt.broken)
			}
		})
	}
}
