// Package program_test runs "tabard awslocal" and its commands as a person does, with a
// shell and the AWS CLI.
package program_test

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// somebody is what a person's shell has from other work.
var somebody = []string{
	"AWS_PROFILE=work", "AWS_DEFAULT_PROFILE=work", "AWS_SESSION_TOKEN=theirs", "AWS_SECURITY_TOKEN=theirs",
	"AWS_ENDPOINT_URL_STS=http://127.0.0.1:1", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true", "AWS_USE_FIPS_ENDPOINT=true",
	"AWS_WEB_IDENTITY_TOKEN_FILE=/nowhere", "AWS_ROLE_ARN=arn:aws:iam::999999999999:role/work",
}

// start runs a local AWS in a new folder and returns the folder when it serves.
func start(t *testing.T, arguments ...string) string {
	t.Helper()
	dir := t.TempDir()
	process := testkit.StartTabard(t, nil, append([]string{"awslocal", "--listen", "127.0.0.1:0", "--dir", dir}, arguments...)...)
	testkit.Await(t, func() error {
		_, err := tabard(t, "awslocal", "env", "--dir", dir)
		if process.Ended() {
			t.Fatal("the local AWS has ended")
		}
		return err
	})
	return dir
}

// tabard runs the program to its end.
func tabard(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	return run(t, exec.CommandContext(t.Context(), testkit.Tabard(t), arguments...))
}

func run(t *testing.T, command *exec.Cmd) (string, error) {
	t.Helper()
	command.Env = append(append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "AWS_PAGER="}, command.Env...), somebody...)
	output, err := command.CombinedOutput()
	return string(output), err
}

func TestAwslocalEnvRefusesWhatItCannotUse(t *testing.T) {
	dir := start(t, "--account", "111111111111,222222222222")
	for name, test := range map[string]struct {
		arguments []string
		said      string
	}{
		"no folder":                        {nil, "--dir is required"},
		"a folder that none serves from":   {[]string{"--dir", t.TempDir()}, "start it with"},
		"an account that it does not have": {[]string{"--dir", dir, "--account", "333333333333"}, "[111111111111 222222222222]"},
		"a format that is not one":         {[]string{"--dir", dir, "-o", "yaml"}, "shell, fish, powershell, dotenv, json"},
	} {
		t.Run(name, func(t *testing.T) {
			said, err := tabard(t, append([]string{"awslocal", "env"}, test.arguments...)...)
			if err == nil || err.Error() != "exit status 2" || !strings.Contains(said, test.said) {
				t.Errorf("said %s, %v; want %s and exit code 2", said, err, test.said)
			}
		})
	}
}

// The AWS CLI is the judge of what takes precedence.
func TestCommandLineUsesTheKeyOfAnEvaluatedEnvironment(t *testing.T) {
	dir := start(t, "--account", "111111111111,222222222222")
	for account, want := range map[string]string{"111111111111": "arn:aws:iam::111111111111:user/administrator", "222222222222": "arn:aws:iam::222222222222:user/administrator"} {
		command := exec.CommandContext(t.Context(), "sh", "-euc", must.Get(tabard(t, "awslocal", "env", "--dir", dir, "--account", account))(t)+"aws sts get-caller-identity")
		if said, err := run(t, command); err != nil || !strings.Contains(said, want) {
			t.Errorf("the AWS CLI says %s, %v; want %s", said, err, want)
		}
	}
}

// These variables really are in the way: otherwise the test above could not fail.
func TestCommandLineFailsWithVariablesThatTakePrecedence(t *testing.T) {
	dir := start(t)
	environment := must.Get(tabard(t, "awslocal", "env", "--dir", dir))(t)
	for _, variable := range []string{"AWS_PROFILE=work", "AWS_SESSION_TOKEN=theirs", "AWS_SECURITY_TOKEN=theirs", "AWS_ENDPOINT_URL_STS=http://127.0.0.1:1"} {
		t.Run(variable, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), "sh", "-euc", environment+"export "+variable+" AWS_MAX_ATTEMPTS=1\naws sts get-caller-identity")
			if said, err := run(t, command); err == nil {
				t.Errorf("it changes nothing: %s", said)
			}
		})
	}
}

func TestAwslocalJournalSaysWhoWasRefused(t *testing.T) {
	dir := start(t)
	folder := must.Get(awslocal.ReadFolder(t.Context(), dir))(t)
	client := must.Get(folder.Client())(t)
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, folder.URL+"?Version=2010-05-08&Action=ListUsers", nil))(t)
	answer, err := client.Do(request)
	must.Do(t, err)
	must.Do(t, answer.Body.Close())
	for _, flags := range [][]string{nil, {"--refused"}, {"-o", "json"}} {
		said := must.Get(tabard(t, append([]string{"awslocal", "journal", "--dir", dir}, flags...)...))(t)
		if !strings.Contains(said, "MissingAuthenticationToken") || !strings.Contains(said, "anonymous") {
			t.Errorf("with %v it says %s", flags, said)
		}
	}
	if said, err := tabard(t, "awslocal", "journal", "--dir", dir, "-o", "table"); err == nil || !strings.Contains(said, "text, json") {
		t.Errorf("a format that is not one: %s, %v", said, err)
	}
}
