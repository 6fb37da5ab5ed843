// Package follow keeps up with what an API server holds of one resource: it lists
// all, watches what becomes of it, and begins anew where a watch cannot go on.
//
// A Loop does that with any list and any watch. A Follower is a Loop on a client of
// Kubernetes: it reads page by page, leaves of each object what is wanted, hands it
// to a Sink, and tells by a Health whether what is known still counts. A Store is a
// Sink that keeps objects by a key.
//
// Whoever may write objects decides how long they are. So what is read at a time is bounded
// by its bytes where the client's transport is Bounded, and what is kept is the user's to
// bound, by Trim.
//
// Lists name no resource version: they are as new as the moment, and never older than
// what was seen before. The package needs apimachinery alone, of Kubernetes 1.33 or
// newer.
package follow
