// Package chaos lets the bucket controller of the examples work while
// selectors, choices and namespaces change, it is killed, cut off, left in silence
// and denied, and then holds each of its calls to AWS against what the API server
// had stored.
package chaos
