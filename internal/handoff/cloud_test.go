package handoff_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/handoff"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// stubHead writes a call down, its words end with zero bytes and it with one more, and reads its options.
// named makes $thing the file of a name, without a process: one is started at each call already. fresh
// makes a thing, which is an error where it is there.
const stubHead = `#!/bin/sh
words() { for word; do printf '%s\0' "$word"; done; }
words NAME "$@" >>"$CALLS"; printf '\0' >>"$CALLS"
name= role= scope= query= tags= member= format=
for word; do
  case $word in
  --name=*) name=${word#*=};; --role=*) role=${word#*=};; --scope=*) scope=${word#*=};; --query=*) query=${word#*=};;
  --tags=*) tags=${word#*=};; --member=*) member=${word#*=};; --format=*) format=${word#*=};;
  esac
done
named() {
  rest=$1 thing=$STATE/
  while :; do
    case $rest in */*) thing=$thing${rest%%/*}[slash] rest=${rest#*/};; *) break;; esac
  done
  thing=$thing$rest
}
keep() { shift 3; words "$@" >"$thing"; }
fresh() { test ! -e "$thing" || exit 1; keep "$@"; }
`

// cloud is a stand-in for a cloud's command line: a script that writes down its calls and keeps what
// they make in files.
type cloud struct {
	folder, command string
	// parsed is the script that is one of a POSIX shell.
	parsed string
}

func newCloud(t *testing.T, command, stub string, owner handoff.Tag) *cloud {
	t.Helper()
	c := &cloud{folder: t.TempDir(), command: filepath.Join(t.TempDir(), command)}
	must.Do(t, os.Mkdir(filepath.Join(c.folder, "state"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(c.folder, "mark"), []byte(owner.Key+"="+owner.Value), 0o600))
	writeProgram(t, c.command, strings.ReplaceAll(stubHead, "NAME", command)+stub)
	return c
}

// writeProgram writes a file that can be run at once. A process that another test forks meanwhile would
// have the file open for writing until it is a program itself, and Linux runs no file that is (ETXTBSY).
func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	must.Do(t, os.WriteFile(path, []byte(text), 0o700))
}

// run runs a script, which has to be one of a POSIX shell, and is what it said.
func (c *cloud) run(t *testing.T, script string) (string, error) {
	t.Helper()
	file := filepath.Join(c.folder, "script")
	must.Do(t, os.WriteFile(file, []byte(script), 0o600))
	if script != c.parsed {
		if out, err := exec.CommandContext(t.Context(), "/bin/sh", "-n", file).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, script)
		}
		c.parsed = script
	}
	command := exec.CommandContext(t.Context(), "/bin/sh", file)
	command.Dir = t.TempDir()
	command.Env = []string{
		"PATH=" + filepath.Dir(c.command) + ":/usr/bin:/bin", "CALLS=" + filepath.Join(c.folder, "calls"), "STATE=" + filepath.Join(c.folder, "state"),
		"MARK=" + string(must.Get(os.ReadFile(filepath.Join(c.folder, "mark")))(t)),
	}
	out, err := command.CombinedOutput()
	if left := must.Get(os.ReadDir(command.Dir))(t); len(left) > 0 {
		t.Errorf("the script left %v: a text of it was run\n%s", left, script)
	}
	return string(out), err
}

// calls are those with one of the words, all for none.
func (c *cloud) calls(t *testing.T, words ...string) (out [][]string) {
	t.Helper()
	said := string(must.Get(os.ReadFile(filepath.Join(c.folder, "calls")))(t))
	for call := range strings.SplitSeq(strings.TrimSuffix(said, "\x00\x00"), "\x00\x00") {
		all := strings.Split(call, "\x00")
		if len(words) == 0 || slices.ContainsFunc(words, func(word string) bool { return slices.Contains(all, word) }) {
			out = append(out, all)
		}
	}
	return out
}

func (c *cloud) forget(t *testing.T) {
	t.Helper()
	must.Do(t, os.Remove(filepath.Join(c.folder, "calls")))
}

// state is what the cloud holds, by name.
func (c *cloud) state(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, entry := range must.Get(os.ReadDir(filepath.Join(c.folder, "state")))(t) {
		out[entry.Name()] = string(must.Get(os.ReadFile(filepath.Join(c.folder, "state", entry.Name())))(t))
	}
	return out
}

// wantTheSame demands that a second run of a script changes nothing.
func (c *cloud) wantTheSame(t *testing.T, script string) {
	t.Helper()
	before := c.state(t)
	if out, err := c.run(t, script); err != nil {
		t.Fatalf("the second run: %v: %s", err, out)
	}
	if diff := cmp.Diff(before, c.state(t)); diff != "" {
		t.Errorf("the second run changed (-before +after):\n%s", diff)
	}
}

// disown gives what matches to somebody else.
func (c *cloud) disown(t *testing.T, pattern string) {
	t.Helper()
	found := must.Get(filepath.Glob(filepath.Join(c.folder, "state", pattern+".owner")))(t)
	if len(found) != 1 {
		t.Fatalf("%s are %v, want one", pattern, found)
	}
	must.Do(t, os.WriteFile(found[0], []byte("somebody else\n"), 0o600))
}

// replace makes the command another one.
func (c *cloud) replace(t *testing.T, old, new string) {
	t.Helper()
	text := string(must.Get(os.ReadFile(c.command))(t))
	if !strings.Contains(text, old) {
		t.Fatalf("%s holds no %q", text, old)
	}
	writeProgram(t, c.command, strings.ReplaceAll(text, old, new))
}
