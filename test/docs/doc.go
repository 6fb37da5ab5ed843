// Package docs tests that no command of the pages and help texts is without a test that
// types it, or a reason why there is none.
package docs
