package sdk_test

import (
	"strings"
	"testing"
)

const sessions = "arn:aws:sts::" + account + ":assumed-role/"

// TestSDKsBecomeWhatTheSecretsSay with the Secrets as they are and a token of the API server
// at the path that they name.
func TestSDKsBecomeWhatTheSecretsSay(t *testing.T) {
	for name, tt := range map[string]struct{ sdk, secret, want string }{
		"AWS's, the role that the request names":          {"aws", "given", sessions + "given"},
		"AWS's, the role that was made for the request":   {"aws", "minted", sessions + "lab-minted"},
		"Azure's, the client":                             {"azure", "azure", appID},
		"Google's, the service account":                   {"google", "google", email},
		"Google's of older programs, the service account": {"oauth2", "google", email},
	} {
		t.Run(name, func(t *testing.T) {
			w := in(t)
			w.project(w.Token(team, "app", 0, audience))
			folder, _ := w.mount(tt.secret)
			switch who, err := sdks[tt.sdk](t, w, folder); {
			case err != nil:
				t.Fatal(err)
			case !strings.HasPrefix(who, tt.want):
				t.Errorf("became %q, want %q", who, tt.want)
			}
		})
	}
}
