// Package credentials decides what a CredentialsRequest needs: who fulfils it, what it
// may get, the role in AWS, the Secret or ServiceAccount by which workloads find it, and
// what to tell of it. It reads a World and returns a Plan; it does no I/O and asks no
// clock.
//
// All that Tabard knows of a request is in its CredentialsGrant: no decision reads the
// request's status, which others may write. Only OwnRow does, by which nothing is decided.
package credentials
