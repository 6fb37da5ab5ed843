package workload

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent makes the system kill the command when this process goes, even
// by a kill that it cannot see.
func dieWithParent(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }

// lastOfGroup waits until the command has ended and then ends what it left
// behind in its process group. The command is not waited for in the full sense
// yet, so its ID, which is the group's, cannot be anybody else's.
func (job *job) lastOfGroup(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if job.options.Record != "" {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // an error: nothing was left
	}
}
