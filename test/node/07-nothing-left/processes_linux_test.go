package nothingleft

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// trace is by what the processes of a lab are known.
type trace struct {
	// dir is the lab's folder, which programs are told by argument or environment.
	dir string
	// group is the control group of its node.
	group string
	// namespaces are those that its node and pods have and the machine has not.
	namespaces map[string]bool
	// known are processes that were of the lab, by ID and start.
	known map[string]bool
}

// identity is what the names of all that the lab makes end with.
func (t *trace) identity() string { return strings.TrimPrefix(t.group, "tabard-lab-") }

// kinds of namespaces that pods and nodes have of their own.
var kinds = []string{"net", "mnt", "pid", "ipc", "uts"}

// follow learns more of the lab's traces while it is up, and says how many processes
// it has.
func (t *trace) follow() int {
	ours := map[string]bool{}
	for _, kind := range kinds {
		if name, err := os.Readlink("/proc/self/ns/" + kind); err == nil {
			ours[name] = true
		}
	}
	found := t.processes()
	for _, folder := range found {
		t.known[started(folder)] = true
		for _, kind := range kinds {
			if name, err := os.Readlink(filepath.Join(folder, "ns", kind)); err == nil && !ours[name] {
				t.namespaces[name] = true
			}
		}
	}
	return len(found)
}

// processes are the folders below /proc of the lab's processes. Zombies are not
// among them: nothing is left of them but what whoever started them, in the end the
// machine's init, has yet to be told.
func (t *trace) processes() (out []string) {
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		panic(err) // the pattern is wrong
	}
	for _, folder := range folders {
		if who := started(folder); who != "" && (t.known[who] || t.belongs(folder)) {
			out = append(out, folder)
		}
	}
	return out
}

// belongs says whether a process is of the lab.
func (t *trace) belongs(folder string) bool {
	// The numbers of namespaces that are gone are given out again, to other labs too.
	groups, err := os.ReadFile(filepath.Join(folder, "cgroup"))
	if err == nil && ofAnother(string(groups), t.identity()) {
		return false
	}
	for file, mark := range map[string]string{"cmdline": t.dir, "environ": t.dir, "cgroup": t.group} {
		if text, err := os.ReadFile(filepath.Join(folder, file)); err == nil && strings.Contains(string(text), mark) {
			return true
		}
	}
	for _, link := range []string{"cwd", "root", "exe"} {
		if target, err := os.Readlink(filepath.Join(folder, link)); err == nil && strings.HasPrefix(target, t.dir) {
			return true
		}
	}
	for _, kind := range kinds {
		if name, err := os.Readlink(filepath.Join(folder, "ns", kind)); err == nil && t.namespaces[name] {
			return true
		}
	}
	return false
}

// started is a process's ID and start; nothing for a zombie and for one that has
// gone.
func started(folder string) string {
	text, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return ""
	}
	// The name, in parentheses, may hold anything (proc(5), stat).
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const state, start = 0, 19
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return ""
	}
	return filepath.Base(folder) + " " + fields[start]
}

// list tells the lab's processes.
func (t *trace) list() (out []string) {
	for _, folder := range t.processes() {
		command, err := os.ReadFile(filepath.Join(folder, "cmdline"))
		out = append(out, fmt.Sprintf("%s %q %v", filepath.Base(folder), command, err))
	}
	return out
}
