package measure

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticks is how many parts of a second /proc counts processor time in: USER_HZ,
// which is 100 on every machine that Go runs on.
const ticks = 100

// Process is what a process has taken so far. Memory is in bytes.
type Process struct {
	CPU time.Duration
	// Anonymous is memory of its own, Resident includes the program's file; Peak
	// is the largest Resident so far.
	Anonymous, Resident, Peak int64
}

// Memory is the memory for people, in MiB.
func (p Process) Memory() string {
	const mega = 1 << 20
	return fmt.Sprintf("RssAnon %.1f MiB, RSS %.1f MiB, peak RSS %.1f MiB", float64(p.Anonymous)/mega, float64(p.Resident)/mega, float64(p.Peak)/mega)
}

// Of reads what a process has taken.
func Of(pid int) (Process, error) {
	cpu, err := processorTime(pid)
	if err != nil {
		return Process{}, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Process{}, err
	}
	used := Process{CPU: cpu}
	fields := map[string]*int64{"RssAnon": &used.Anonymous, "VmRSS": &used.Resident, "VmHWM": &used.Peak}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		field, wanted := fields[name]
		if !wanted {
			continue
		}
		kibi, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return Process{}, err
		}
		*field = kibi << 10
		delete(fields, name)
	}
	if len(fields) > 0 {
		return Process{}, fmt.Errorf("/proc/%d/status does not tell all of RssAnon, VmRSS and VmHWM", pid)
	}
	return used, nil
}

func processorTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name of the program, in parentheses, may hold spaces.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	const user, system = 11, 12
	if len(fields) <= system {
		return 0, fmt.Errorf("%s has too few fields", text)
	}
	var total int64
	for _, field := range []string{fields[user], fields[system]} {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return time.Duration(total) * time.Second / ticks, nil
}
