// Package permission says what an operator asks of a cloud, in one model for the command line,
// the controllers and the console: it reads CredentialsRequests that authors publish, compares
// what several sources tell, puts it in sentences, compares two versions, and writes the policy
// that a role needs.
//
// Two answers are never taken for each other: that an operator declares to ask for nothing, and
// that nobody says what it asks for.
package permission
