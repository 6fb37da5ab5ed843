// Package iampolicy parses, checks and evaluates AWS IAM policies: identity,
// resource, trust, boundary and session policies, combined as AWS combines
// them. It needs nothing but the standard library, does no I/O, and is safe for
// concurrent use: a parsed Policy is never changed.
//
// What it does not know is never a match: an unknown operator or element is an
// error when a document is parsed for writing, and makes a statement not apply
// when it is evaluated all the same.
package iampolicy
