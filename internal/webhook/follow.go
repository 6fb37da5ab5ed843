package webhook

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-logr/logr"
)

// Times of following.
const (
	listTimeout = 2 * time.Minute
	// watchTime is how long a watch lasts before it is begun anew, half as much
	// again at most, so that not all replicas do it at the same time.
	watchTime = 5 * time.Minute
	// watchGrace is how much later the client ends a watch by itself: then the
	// connection is dead and the server's end was lost.
	watchGrace = 30 * time.Second
	// The first and the longest wait after a failure.
	firstWait, longestWait = 100 * time.Millisecond, 5 * time.Second
)

// maxFailures is after how many failures in a row all is read anew: the version
// to go on from may be one that the server will never know, after etcd has been
// restored from a backup.
const maxFailures = 5

// sink takes what a follower sees. It is called by one goroutine. The bytes of
// an object are good only for the call.
type sink interface {
	// begin comes before the objects of a list.
	begin()
	put(seen object) error
	remove(seen object) error
	// listed comes when all objects of a list were put: there are no others.
	listed(version string)
	// reached says that all up to that version was seen.
	reached(version string)
	// watching says whether there is a watch now.
	watching(now bool)
}

// follower keeps a sink up to date with the objects of a path.
//
//	list ──► watch ──► watch from the version reached ──► …
//	  ▲        │ the version is too old for the server
//	  └────────┘
//
// A list names no version: it is as new as the moment, also when the API server
// answers it from its cache, and is never older than what was seen before. It is
// in one piece, because in pieces it is read from etcd; it is taken apart as it
// arrives.
type follower struct {
	api   *api
	path  string
	query url.Values
	sink  sink
	log   logr.Logger
	// again has a token if all is to be listed again.
	again chan struct{}
	// forbidden is told that listing is not allowed; nil if nobody minds. It is
	// tried again all the same.
	forbidden func(error)
}

func newFollower(from *api, path string, into sink, log logr.Logger) *follower {
	return &follower{api: from, path: path, sink: into, log: log, again: make(chan struct{}, 1)}
}

// relist makes the follower list all again, soon.
func (f *follower) relist() {
	select {
	case f.again <- struct{}{}:
	default: // it will anyway
	}
}

// run follows until ctx ends. It tries again whatever fails.
func (f *follower) run(ctx context.Context) {
	version, failures := "", 0
	for ctx.Err() == nil {
		began := time.Now()
		reached, err := f.step(ctx, version)
		listed := version == "" && err == nil
		version = reached
		switch {
		case ctx.Err() != nil || listed || errors.Is(err, errAgain):
			continue
		case err == nil || time.Since(began) > longestWait:
			failures = 0
		default:
			failures++
		}
		if err != nil {
			f.log.Error(err, "following the API server failed, trying again", "path", f.path)
		}
		if f.forbidden != nil && version == "" && hasCode(err, http.StatusForbidden) {
			f.forbidden(err)
		}
		if isLost(err) || failures >= maxFailures {
			version = ""
		}
		wait := min(firstWait<<min(failures, 16), longestWait)
		pause(ctx, wait/2+rand.N(wait)/2) //nolint:gosec // it only spreads the replicas
	}
}

// isLost says that a watch cannot go on from where it was.
func isLost(err error) bool {
	return hasCode(err, http.StatusGone) || errors.Is(err, errNotProtobuf)
}

// errAgain ends a step because all is to be listed again.
var errAgain = errors.New("all is listed again")

// step lists if there is no version to go on from, else watches. It returns the
// version reached, none if all is to be listed again. A list is not interrupted:
// however often another is asked for, each comes to its end.
func (f *follower) step(ctx context.Context, version string) (reached string, err error) {
	if version == "" {
		return f.list(ctx)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-f.again:
			end(errAgain)
		case <-done:
		}
	}()
	reached, err = f.watch(ctx, version)
	if errors.Is(context.Cause(ctx), errAgain) {
		return "", errAgain
	}
	return reached, err
}

// every calls again and again, first after one interval, until ctx ends.
func every(ctx context.Context, interval time.Duration, call func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			call()
		}
	}
}

func pause(ctx context.Context, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (f *follower) list(ctx context.Context) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	body, err := f.api.get(ctx, f.path, f.query)
	if err != nil {
		return "", fmt.Errorf("list: %w", err)
	}
	defer body.Close() //nolint:errcheck // it is only read
	f.sink.begin()
	version, err = readList(body, f.sink.put)
	if err == nil && version == "" {
		err = errors.New("the list has no version")
	}
	if err != nil {
		return "", fmt.Errorf("list: %w", err)
	}
	f.sink.listed(version)
	return version, nil
}

func (f *follower) watch(ctx context.Context, version string) (string, error) {
	length := watchTime + rand.N(watchTime/2) //nolint:gosec // it only spreads the replicas
	ctx, cancel := context.WithTimeout(ctx, length+watchGrace)
	defer cancel()
	query := url.Values{
		"watch": {"1"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {version},
		"timeoutSeconds": {strconv.Itoa(int(length.Seconds()))},
	}
	for name, values := range f.query {
		query[name] = values
	}
	body, err := f.api.get(ctx, f.path, query)
	if err != nil {
		return version, fmt.Errorf("watch: %w", err)
	}
	defer body.Close() //nolint:errcheck // it is only read
	f.sink.watching(true)
	defer f.sink.watching(false)
	err = readEvents(body, func(kind string, message []byte) error {
		reached, err := f.event(kind, message)
		if err == nil {
			version = reached
		}
		return err
	})
	if err != nil {
		return version, fmt.Errorf("watch: %w", err)
	}
	return version, nil
}

// event hands one event on and returns its version.
func (f *follower) event(kind string, message []byte) (version string, err error) {
	if kind == "ERROR" {
		return "", readStatus(message, http.StatusInternalServerError)
	}
	seen, err := readObject(message)
	if err != nil {
		return "", err
	}
	switch kind {
	case "ADDED", "MODIFIED":
		err = f.sink.put(seen)
	case "DELETED":
		err = f.sink.remove(seen)
	case "BOOKMARK": // only says how far all has been seen
	default:
		err = fmt.Errorf("an event of type %.20q", kind)
	}
	if err != nil {
		return "", err
	}
	version = string(seen.version)
	f.sink.reached(version)
	return version, nil
}
