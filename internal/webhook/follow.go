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

	"github.com/tabard-dev/tabard/awsauth/kube/follow"
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

// follower keeps a sink up to date with the objects of a path, by a follow.Loop.
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
	loop  follow.Loop
	// forbidden is told that listing is not allowed; nil if nobody minds. It is
	// tried again all the same.
	forbidden func(error)
}

func newFollower(from *api, path string, into sink, log logr.Logger) *follower {
	f := &follower{api: from, path: path, sink: into, log: log}
	f.loop.List, f.loop.Watch, f.loop.Failed = f.list, f.watch, f.failed
	f.loop.Pause = follow.Doubling(firstWait, longestWait)
	return f
}

// relist makes the follower list all again, soon.
func (f *follower) relist() { f.loop.Relist() }

// run follows until ctx ends. It tries again whatever fails.
func (f *follower) run(ctx context.Context) { f.loop.Run(ctx) }

func (f *follower) failed(err error) {
	f.log.Error(err, "following the API server failed, trying again", "path", f.path)
}

// lost marks the errors after which a watch cannot go on from where it was.
func (f *follower) lost(err error) error {
	if hasCode(err, http.StatusGone) || errors.Is(err, errNotProtobuf) {
		f.failed(err)
		return fmt.Errorf("watch: %w: %w", follow.ErrLost, err)
	}
	return fmt.Errorf("watch: %w", err)
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

func (f *follower) list(ctx context.Context) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	body, err := f.api.get(ctx, f.path, f.query)
	if f.forbidden != nil && hasCode(err, http.StatusForbidden) {
		f.forbidden(err)
	}
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
		return version, f.lost(err)
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
		return version, f.lost(err)
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
