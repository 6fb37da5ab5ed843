package lab

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// ofSomebody is what a person's shell may have from other work.
var ofSomebody = []string{
	"AWS_PROFILE=work", "AWS_DEFAULT_PROFILE=work", "AWS_SESSION_TOKEN=theirs", "AWS_SECURITY_TOKEN=theirs",
	"AWS_WEB_IDENTITY_TOKEN_FILE=/nowhere", "AWS_ROLE_ARN=arn:aws:iam::999999999999:role/work", "AWS_ROLE_SESSION_NAME=me",
	"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1:1/", "AWS_CONTAINER_AUTHORIZATION_TOKEN=theirs",
	"AWS_ENDPOINT_URL_S3=https://s3.example.com", "AWS_ENDPOINT_URL_STS=https://sts.example.com",
	"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true", "AWS_USE_FIPS_ENDPOINT=true",
}

var environmentForTest = Environment{
	Set: []Variable{
		{"KUBECONFIG", "/a b/it's $HOME `x` \"y\" \\z"}, {"AWS_REGION", "us-west-2"}, {"AWS_ACCESS_KEY_ID", "AKIALAB"},
		{"AWS_SECRET_ACCESS_KEY", "secret+/="}, {"AWS_ENDPOINT_URL", "https://127.0.0.1:20005"},
	},
	Unset: Outranking(ofSomebody),
	Bin:   "/lab's/bin",
}

// evaluated is the environment of a shell that had other variables and evaluates an
// environment's text twice.
func evaluated(t *testing.T) []string {
	t.Helper()
	var script bytes.Buffer
	must.Do(t, environmentForTest.Write(&script, "shell"))
	command := exec.CommandContext(t.Context(), "/bin/sh", "-euc", script.String()+script.String()+"exec /usr/bin/env -0")
	command.Env = append([]string{"PATH=/bin"}, ofSomebody...)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return strings.Split(strings.TrimSuffix(string(output), "\x00"), "\x00")
}

// A shell is the judge of what is printed for a shell.
func TestAShellThatEvaluatesAnEnvironmentHasItAndNothingThatOutranksIt(t *testing.T) {
	got := slices.DeleteFunc(evaluated(t), func(v string) bool { return strings.HasPrefix(v, "PWD=") || strings.HasPrefix(v, "_=") })
	slices.Sort(got)
	want := []string{
		"AWS_ACCESS_KEY_ID=AKIALAB", "AWS_ENDPOINT_URL=https://127.0.0.1:20005", "AWS_REGION=us-west-2", "AWS_SECRET_ACCESS_KEY=secret+/=",
		"KUBECONFIG=/a b/it's $HOME `x` \"y\" \\z", "PATH=/lab's/bin:/bin",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// setEnvironment gives the test an environment that has nothing else of AWS's.
func setEnvironment(t *testing.T, environ []string) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "") // restored by the test's end
			must.Do(t, os.Unsetenv(name))
		}
	}
	for _, variable := range environ {
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, value)
		}
	}
	t.Setenv("AWS_CONFIG_FILE", "/nowhere")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
}

// The SDK is the judge of what takes precedence.
func TestTheSDKUsesTheKeyAndEndpointOfAnEvaluatedEnvironment(t *testing.T) {
	setEnvironment(t, evaluated(t))
	loaded := must.Get(config.LoadDefaultConfig(t.Context()))(t)
	key := must.Get(loaded.Credentials.Retrieve(t.Context()))(t)
	if key.AccessKeyID != "AKIALAB" || key.SessionToken != "" || *loaded.BaseEndpoint != "https://127.0.0.1:20005" {
		t.Errorf("the SDK uses %s with the session token %q at %s", key.AccessKeyID, key.SessionToken, *loaded.BaseEndpoint)
	}
}

func TestOutrankingAddsTheServiceEndpointsThatAreSetAndNoOtherText(t *testing.T) {
	always := Outranking(nil)
	got := Outranking([]string{"AWS_ENDPOINT_URL=x", "AWS_ENDPOINT_URL_S3=x", "AWS_ENDPOINT_URL_$(reboot)=x", "AWS_ENDPOINT_URL_A;B=x", "HOME=x"})
	if extra := slices.DeleteFunc(got, func(name string) bool { return slices.Contains(always, name) }); !slices.Equal(extra, []string{"AWS_ENDPOINT_URL_S3"}) {
		t.Errorf("beside what is always unset: %v", extra)
	}
	for _, variable := range environmentForTest.Set {
		if slices.Contains(always, variable.Name) {
			t.Errorf("%s is set and unset", variable.Name)
		}
	}
}

func TestAnEnvironmentInFormatsWhoseReadersAreNotHere(t *testing.T) {
	environment := Environment{Set: []Variable{{"A", `it's \ $x ’`}, {"B", "plain/1"}}, Unset: []string{"C", "D"}, Bin: "/o'b"}
	for format, want := range map[string]string{
		"fish": `set -e C;
set -e D;
set -gx A 'it\'s \\ $x ’';
set -gx B 'plain/1';
contains -- '/o\'b' $PATH; or set -gx PATH '/o\'b' $PATH;
`,
		"powershell": `Remove-Item Env:C -ErrorAction SilentlyContinue
Remove-Item Env:D -ErrorAction SilentlyContinue
$Env:A = 'it''s \ $x ’’'
$Env:B = 'plain/1'
if (($Env:PATH -split [IO.Path]::PathSeparator) -notcontains '/o''b') { $Env:PATH = '/o''b' + [IO.Path]::PathSeparator + $Env:PATH }
`,
		"dotenv": `# A file cannot unset variables. These must not be set beside it:
# C D
A="it's \\ \$x ’"
B=plain/1
`,
		"json": `{
  "apiVersion": "lab.tabard.dev/v1",
  "kind": "Environment",
  "set": {
    "A": "it's \\ $x ’",
    "B": "plain/1"
  },
  "unset": [
    "C",
    "D"
  ],
  "bin": "/o'b"
}
`,
	} {
		t.Run(format, func(t *testing.T) {
			var got bytes.Buffer
			must.Do(t, environment.Write(&got, format))
			if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
