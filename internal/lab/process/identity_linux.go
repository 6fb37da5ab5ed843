package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// errGone says that no such process runs.
var errGone = errors.New("the process does not run")

// Identify returns the identity of the process with an ID. It is an error if
// none runs, or only its zombie is left, with no thread that is still ending.
func Identify(pid int) (Identity, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Identity{}, fmt.Errorf("read the system's boot ID: %w", err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", errGone, err)
	}
	start, err := parseStat(stat)
	if err != nil {
		return Identity{}, err
	}
	return Identity{PID: pid, Start: start, Boot: strings.TrimSpace(string(boot))}, nil
}

// parseStat returns the 22nd field of /proc/PID/stat, the start in clock ticks
// since boot. The second field is the program's name in parentheses and may
// hold anything, so the fields are counted from the last parenthesis.
func parseStat(stat []byte) (start string, err error) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return "", fmt.Errorf("unexpected /proc/PID/stat: no name in parentheses")
	}
	const firstAfterName, threadsField, startField = 3, 20, 22
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) <= startField-firstAfterName {
		return "", fmt.Errorf("unexpected /proc/PID/stat: %d fields after the name, want at least %d", len(fields), startField-firstAfterName+1)
	}
	// Of one that was killed the first thread may be gone while others are still
	// ending; until the last has gone, it has its ports and files.
	threads := fields[threadsField-firstAfterName]
	if (fields[0] == "Z" || fields[0] == "X") && (threads == "0" || threads == "1") {
		return "", errGone
	}
	return fields[startField-firstAfterName], nil
}

// Memory is what a process holds in main memory, in bytes.
type Memory struct {
	Resident, Peak int64
}

// MemoryOf returns the memory of a process, zero if it does not run.
func MemoryOf(pid int) Memory {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}
	}
	var memory Memory
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(line, ":")
		number, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
		if err != nil {
			continue
		}
		switch key {
		case "VmRSS":
			memory.Resident = number << 10
		case "VmHWM":
			memory.Peak = number << 10
		}
	}
	return memory
}
