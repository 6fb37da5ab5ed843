package issuer

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestVerifyEndsWithOneUnlessEveryCheckIsOK: a check that could not be done is no proof.
func TestVerifyEndsWithOneUnlessEveryCheckIsOK(t *testing.T) {
	const url = "https://issuer.example.com"
	public := core.Public{
		Discovery: core.Fetch{Status: 200, Body: core.Discovery(url, []string{"ES256"})},
		Keys:      core.Fetch{Status: 200, Body: []byte(keySet)},
	}
	token := func(token core.Token) *core.Cluster {
		return &core.Cluster{APIServers: []core.APIServer{{Address: "10.0.0.1:6443", Token: token}}}
	}
	cases := map[string]struct {
		public  core.Public
		cluster *core.Cluster
		fine    bool
		says    string
	}{
		"documents alone":             {public, nil, true, "OK      https://issuer.example.com/keys.json"},
		"documents and a token":       {public, token(core.Token{Issuer: url, KeyID: "a"}), true, "10.0.0.1:6443"},
		"a token that does not fit":   {public, token(core.Token{Issuer: url, PublicError: "another key"}), false, "another key"},
		"a token that nobody can get": {public, token(core.Token{Error: "forbidden"}), false, "Unknown"},
		"no documents":                {core.Public{Keys: public.Keys}, nil, false, "no answer"},
		"an answer with control characters": {
			core.Public{Keys: public.Keys, Discovery: core.Fetch{Error: "\x1b[2J"}}, nil, false, "�[2J"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, output := range []string{"table", "json"} {
				var out bytes.Buffer
				err := Verify(command.Streams{Out: &out}, url, tc.public, tc.cluster, command.Output{Format: output})
				if exit, is := errors.AsType[*command.Exit](err); tc.fine && err != nil || !tc.fine && (!is || exit.Code != command.Found) {
					t.Errorf("-o %s ended with %v, want fine %t", output, err, tc.fine)
				}
				if output == "table" && !strings.Contains(out.String(), tc.says) {
					t.Errorf("it does not say %q:\n%s", tc.says, &out)
				}
				if output == "json" {
					var got Verification
					must.Do(t, json.Unmarshal(out.Bytes(), &got))
					if got.Verified != tc.fine || got.URL != url {
						t.Errorf("-o json says %+v", got)
					}
				}
			}
		})
	}
}
