//go:build !linux

package workload

import "syscall"

// dieWithParent does nothing: only Linux knows such a thing.
func dieWithParent(*syscall.SysProcAttr) {}

// lastOfGroup does nothing: there is no way here to see the end of a process
// and keep its ID.
func (job *job) lastOfGroup(int) {}
