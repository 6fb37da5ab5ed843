package private

import "golang.org/x/sys/unix"

// isShared says whether a file has an access control list.
func isShared(path string) bool {
	size, err := unix.Lgetxattr(path, "system.posix_acl_access", nil)
	return err == nil && size > 0
}
