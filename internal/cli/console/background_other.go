//go:build !unix

package console

// stayInBackground does nothing where programs in the background are not stopped.
func stayInBackground() {}
