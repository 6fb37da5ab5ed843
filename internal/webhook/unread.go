package webhook

import "syscall"

// hasUnread says that a client has sent something that nobody has read yet. It waits for
// nothing, and takes nothing away.
func hasUnread(c *connection) bool {
	socket, is := c.Conn.(syscall.Conn)
	if !is {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false // it is closed
	}
	found := false
	err = raw.Control(func(fd uintptr) { found = peek(int(fd)) })
	return err == nil && found
}
