package program

import (
	"fmt"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// memoryShare is how many hundredths of its limit the runtime is told to stay below:
// the kernel counts more than the runtime knows of.
const memoryShare = 75

// LimitMemory tells the runtime how much memory there is, so that it collects in time
// what is not needed any more, and returns that in bytes: what a flag says, else the
// limit of the process's control group; 0 if there is none. GOMEMLIMIT, where it is
// set, is what the runtime stays with.
func LimitMemory(flag string) (int64, error) {
	limit := memoryOfGroup()
	if flag != "" {
		quantity, err := resource.ParseQuantity(flag)
		if err != nil || quantity.Value() <= 0 {
			return 0, Unusable(fmt.Errorf("--memory-limit is %.40q, expected a quantity of memory such as 256Mi", flag))
		}
		limit = quantity.Value()
	}
	if limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 100 * memoryShare)
	}
	return limit, nil
}

// memoryOfGroup is the limit of the control group, of version 2 or 1, as a container
// sees its own; 0 if it has none.
func memoryOfGroup() int64 {
	own, _ := os.ReadFile("/proc/self/cgroup") // there is none but on Linux
	files := []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}
	if _, name, is := strings.Cut(string(own), "0::"); is {
		name, _, _ = strings.Cut(name, "\n")
		files = append([]string{path.Join("/sys/fs/cgroup", name, "memory.max")}, files...)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			return memoryIn(string(text))
		}
	}
	return 0
}

// memoryIn reads a limit: "max", or a number that is more than any machine has,
// stands for none.
func memoryIn(text string) int64 {
	limit, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || limit > 1<<50 {
		return 0
	}
	return limit
}
