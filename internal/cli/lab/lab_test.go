package lab

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/lab"
	"github.com/tabard-dev/tabard/internal/lab/process"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// execute runs a command line as the program does, and returns what it said.
func execute(t *testing.T, arguments ...string) (string, string, error) {
	t.Helper()
	var out, err bytes.Buffer
	lab := New(command.Streams{In: strings.NewReader(""), Out: &out, Err: &err}, scenes{})
	lab.SetArgs(arguments)
	failed := lab.ExecuteContext(t.Context())
	return out.String(), err.String(), failed
}

func TestUnusableInputHasExitCode2(t *testing.T) {
	empty := t.TempDir()
	foreign := t.TempDir()
	program := filepath.Join(foreign, "localkube")
	must.Do(t, os.WriteFile(program, nil, 0o755))
	tests := map[string]struct {
		arguments []string
		said      string
	}{
		"no such scenario":                {[]string{"scenario", "p99", "--dir", empty}, "no scenario \"p99\"; there are p01, p02"},
		"a scenario without a lab":        {[]string{"scenario", "p01", "--dir", empty}, "tabard lab up --dir " + empty},
		"a call without a lab":            {[]string{"scenario", "call", "--dir", empty}, "tabard lab up --dir " + empty},
		"status without a lab":            {[]string{"status", "--dir", empty}, "tabard lab up --dir " + empty},
		"status in an unknown format":     {[]string{"status", "-o", "yaml", "--dir", empty}, "json"},
		"env in an unknown format":        {[]string{"env", "-o", "csh", "--dir", empty}, "shell, fish, powershell, dotenv, json"},
		"an empty folder":                 {[]string{"down", "--dir="}, "--dir is empty"},
		"journal in an unknown format":    {[]string{"journal", "-o", "yaml", "--dir", empty}, "text, json"},
		"journal without a lab":           {[]string{"journal", "--dir", empty}, "no lab here"},
		"env without a lab":               {[]string{"env", "--dir", empty}, "no lab here"},
		"run without a lab":               {[]string{"run", "--dir", empty, "pod/x", "--", "true"}, "no lab here"},
		"run without two dashes":          {[]string{"run", "--dir", empty, "pod/x", "true"}, "put -- between"},
		"stop without a lab":              {[]string{"stop", "--dir", empty, "x"}, "no lab here"},
		"up in a folder of somebody else": {[]string{"up", "--dir", foreign, "--localkube", program}, "is not empty"},
		"up with too long a path":         {[]string{"up", "--dir", "/tmp/" + strings.Repeat("x", 90), "--localkube", program}, "socket"},
		"up with an account that is none": {[]string{"up", "--dir", empty, "--account", "111111111111,team-a"}, "12 digits"},
		"up with a program that is none":  {[]string{"up", "--dir", empty, "--localkube", empty}, "make localkube"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, said, err := execute(t, test.arguments...)
			var exit *command.Exit
			if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(said, test.said) {
				t.Errorf("got %v, said %q; want exit code 2 and %q", err, said, test.said)
			}
		})
	}
}

func TestDownWithoutALabIsFine(t *testing.T) {
	dir := t.TempDir()
	out, _, err := execute(t, "down", "--dir", dir)
	if err != nil || !strings.Contains(out, "nothing to take down") {
		t.Errorf("said %q, %v", out, err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("the folder: %v", err)
	}
}

func TestWriteStatus(t *testing.T) {
	code := 3
	status := lab.Status{Processes: []lab.ProcessStatus{
		{Name: "etcd", State: lab.Running, PID: 12, Port: 20002, ResidentBytes: 60 << 20, PeakBytes: 70 << 20},
		{Name: "operator", State: lab.Exited, ExitCode: &code},
		{Name: "awslocal", State: lab.Missing, Port: 20005},
	}}
	var out bytes.Buffer
	must.Do(t, writeStatus(&out, status, ""))
	want := "NAME      STATE       PID  PORT   MEMORY  PEAK\n" +
		"etcd      Running     12   20002  60 MiB  70 MiB\n" +
		"operator  Exited (3)  -    -      -       -\n" +
		"awslocal  Missing     -    20005  -       -\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNamesOfRunsInTheBackground(t *testing.T) {
	loaded := lab.Lab{Dir: t.TempDir()}
	must.Do(t, os.Mkdir(loaded.Path("run"), 0o700))
	self := must.Get(process.Identify(os.Getpid()))(t)
	for name, identity := range map[string]process.Identity{"busy": self, "gone": {PID: self.PID, Start: "0", Boot: self.Boot}} {
		must.Do(t, loaded.Processes().Put(process.Record{Name: name, Identity: identity}))
	}
	tests := map[string]struct{ name, refused string }{
		"a plain name":                    {name: "operator-2"},
		"a name whose process has gone":   {name: "gone"},
		"a name that is taken":            {name: "busy", refused: "runs already"},
		"a part of the lab":               {name: "etcd", refused: "part of the lab"},
		"a path":                          {name: "../x", refused: "is no name"},
		"a name with a dot":               {name: "a.command", refused: "is no name"},
		"a name in capitals":              {name: "Operator", refused: "is no name"},
		"a name that is too long for one": {name: strings.Repeat("x", 43), refused: "is no name"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := checkName(loaded, test.name)
			if (err != nil) != (test.refused != "") || (err != nil && !strings.Contains(err.Error(), test.refused)) {
				t.Errorf("got %v, want %q", err, test.refused)
			}
		})
	}
}
