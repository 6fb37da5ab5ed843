//go:build unix

package webhook

import "syscall"

func peek(socket int) bool {
	var one [1]byte
	count, _, err := syscall.Recvfrom(socket, one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return err == nil && count > 0
}
