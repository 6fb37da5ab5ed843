// Package follow keeps up with what an API server holds of one resource: it lists
// all, watches what becomes of it, and begins anew where a watch cannot go on.
//
// A Loop does that with any list and any watch. A Follower is a Loop on a client of
// Kubernetes: it reads page by page, leaves of each object what is wanted, hands it
// to a Sink, and tells by a Health whether what is known still counts. A Store is a
// Sink that keeps objects by a key.
//
// Lists name no resource version: they are as new as the moment, and never older than
// what was seen before. The package needs apimachinery alone, of Kubernetes 1.33 or
// newer.
package follow
