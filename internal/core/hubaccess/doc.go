// Package hubaccess decides which IAM role and which EKS access entry each accepted
// cluster of a hub gets, when they go, and what is said of them. A role and an entry are
// Tabard's by their tags only; those of others are never changed.
package hubaccess
