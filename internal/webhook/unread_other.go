//go:build !unix

package webhook

// peek sees nothing: servers of webhooks run on Linux.
func peek(int) bool { return false }
