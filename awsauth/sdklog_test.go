package awsauth_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// TestWhatTheSDKWarnsOfIsToldToTheLogger where nobody is signed in and something other than
// instance metadata answers.
func TestWhatTheSDKWarnsOfIsToldToTheLogger(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for name, value := range map[string]string{
		"AWS_EC2_METADATA_SERVICE_ENDPOINT": server.URL, "AWS_EC2_METADATA_DISABLED": "", "AWS_REGION": "us-east-1",
		"AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent", "AWS_PROFILE": "", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
		"AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "",
	} {
		t.Setenv(name, value)
	}
	var text bytes.Buffer
	options := newWorld(map[string]string{"AWS_REGION": "us-east-1"}).options()
	options.Logger = slog.New(slog.NewTextHandler(&text, nil))
	auth, err := awsauth.New(options)
	if err != nil {
		t.Fatal(err)
	}
	session, err := auth.Config(t.Context(), identity.Identity{Base: identity.Session})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Credentials.Retrieve(t.Context()); err == nil {
		t.Fatal("somebody is signed in")
	}
	if got := text.String(); !strings.Contains(got, `level=WARN msg="the AWS SDK says: falling back to IMDSv1`) {
		t.Errorf("the log is %q", got)
	}
}
