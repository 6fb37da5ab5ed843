//go:build !linux

package process

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// Identify returns the identity of the process with an ID, as ps tells it. It
// is an error if none runs, or only its zombie is left.
func Identify(pid int) (Identity, error) {
	output, err := exec.Command("ps", "-o", "state=,lstart=", "-p", strconv.Itoa(pid)).Output()
	state, start, _ := strings.Cut(strings.TrimSpace(string(output)), " ")
	if err != nil || start == "" || strings.HasPrefix(state, "Z") {
		return Identity{}, fmt.Errorf("the process %d does not run", pid)
	}
	return Identity{PID: pid, Start: strings.TrimSpace(start)}, nil
}

// Memory is what a process holds in main memory, in bytes.
type Memory struct {
	Resident, Peak int64
}

// MemoryOf returns the memory of a process, zero if it does not run. The peak
// is not known here.
func MemoryOf(pid int) Memory {
	output, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return Memory{}
	}
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(string(output)), 10, 64)
	if err != nil {
		return Memory{}
	}
	return Memory{Resident: kilobytes << 10}
}
