package kube

import "github.com/tabard-dev/tabard/roleselector"

// Chosen is the selector whose role a course says to use: the one decided on, or
// for a deletion, also before a move, the one on record. Nil is the controller's own role, or none at
// all where the course is blocked. Its AssumeRole makes the whole input.
func Chosen(s roleselector.Situation, c roleselector.Course) *roleselector.Selector {
	switch used := s.Decision.Used(); {
	case c.Selector == (roleselector.Reference{}):
		return nil
	case s.LastUsed != nil && s.LastUsed.Reference() == c.Selector:
		return s.LastUsed
	case used != nil && used.Reference() == c.Selector:
		return used
	}
	return nil
}
