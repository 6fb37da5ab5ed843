package ekstoken_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	app "github.com/tabard-dev/tabard/internal/app/ekstoken"
	"github.com/tabard-dev/tabard/internal/cli/eks"
	"github.com/tabard-dev/tabard/internal/core/ekstoken"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// everyday are settings of a person's profile.
const everyday = `output = json
cli_pager =
s3 =
    addressing_style = path
    max_concurrent_requests = 20
defaults_mode = standard
retry_mode = standard
sts_regional_endpoints = regional
`

// named writes files with a profile that becomes the hub's role, and makes the
// environment name them.
func (w *world) named(profile, more string) {
	w.t.Helper()
	w.t.Setenv("AWS_CONFIG_FILE", w.Write("config", "[profile '"+profile+"']\nrole_arn = "+w.hubRole+"\nsource_profile = the base\n"+everyday+more))
	w.t.Setenv("AWS_SHARED_CREDENTIALS_FILE", w.Write("credentials", fmt.Sprintf(
		"[the base]\naws_access_key_id = %s\naws_secret_access_key = %s\n", w.user.AccessKeyID, w.user.SecretAccessKey)))
}

func TestAnEverydayProfileSigns(t *testing.T) {
	w := newWorld(t)
	w.named("the hub", "")
	w.wantMinted(eks.Wish{Profile: "the hub"}, hubSession)
	t.Setenv("AWS_DEFAULT_PROFILE", "the hub")
	w.wantMinted(eks.Wish{}, hubSession)
}

// TestASessionHoldsAsLongAsTheProfileSays: the role grants an hour, so STS says what it was
// asked for.
func TestASessionHoldsAsLongAsTheProfileSays(t *testing.T) {
	w := newWorld(t)
	w.named("hub", "duration_seconds = 900\n")
	w.wantMinted(eks.Wish{Profile: "hub"}, hubSession)
	w.named("hub", "duration_seconds = 7200\n")
	token, _, err := app.Mint(t.Context(), eks.Wish{Cluster: cluster, Region: "us-west-2", Profile: "hub"})
	if err == nil || token != "" || !strings.Contains(err.Error(), "MaxSessionDuration") {
		t.Errorf("got %q, %v; want that the session is longer than the role's MaxSessionDuration", token, err)
	}
}

// TestAProfileMayLeaveTheEndpointsOfTheEnvironmentAside, unless the environment says
// otherwise.
func TestAProfileMayLeaveTheEndpointsOfTheEnvironmentAside(t *testing.T) {
	w := newWorld(t)
	w.as(w.user)
	t.Setenv("AWS_CONFIG_FILE", w.Write("config", "[default]\nignore_configured_endpoint_urls = true\n"))
	at := func() string {
		token, _, err := app.Mint(t.Context(), eks.Wish{Cluster: cluster, Region: "us-west-2"})
		must.Do(t, err)
		address := must.Get(base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, ekstoken.Prefix)))(t)
		return must.Get(url.Parse(string(address)))(t).Host
	}
	if host := at(); host != "sts.us-west-2.amazonaws.com" {
		t.Errorf("STS is at %s", host)
	}
	t.Setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "false")
	if host := at(); !strings.HasSuffix(w.URL(), host) {
		t.Errorf("STS is at %s, want %s", host, w.URL())
	}
}

// TestCommandLineWritesProfilesThatAreFound: the names and the region that aws configure
// writes.
func TestCommandLineWritesProfilesThatAreFound(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	files := []string{"AWS_CONFIG_FILE=" + filepath.Join(folder, "config"), "AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(folder, "credentials")}
	names := []string{"my profile", "bob's box", "größe\t\"#1\""}
	for _, name := range names {
		for key, value := range map[string]string{
			"aws_access_key_id": w.user.AccessKeyID, "aws_secret_access_key": w.user.SecretAccessKey, "region": "eu-west-3",
		} {
			if _, errs, err := w.CommandLine(aws.Credentials{}, files, "configure", "set", key, value, "--profile", name); err != nil {
				t.Fatalf("aws configure of %q: %s", name, errs)
			}
		}
	}
	for _, file := range files {
		name, path, _ := strings.Cut(file, "=")
		t.Setenv(name, path)
	}
	for _, name := range names {
		token, _, err := app.Mint(t.Context(), eks.Wish{Cluster: cluster, Profile: name})
		address, _ := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, ekstoken.Prefix))
		if scope := w.user.AccessKeyID + "%2F"; err != nil || !strings.Contains(string(address), scope) || !strings.Contains(string(address), "%2Feu-west-3%2Fsts") {
			t.Errorf("%q: %v, %s", name, err, address)
		}
	}
}
