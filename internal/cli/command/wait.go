package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A person wonders after a while what a command does.
const (
	silence = 2 * time.Second
	between = 10 * time.Second
)

// Waiting says on a stream what is waited for, in a line after two seconds and then in one every
// ten seconds, until the function that it returns is called.
func Waiting(to io.Writer, what string) (done func()) {
	began, stop, stopped := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		timer := time.NewTimer(silence)
		defer timer.Stop()
		for {
			select {
			case <-stop:
				return
			case <-timer.C:
				// With the stream gone there is nobody to tell.
				_, _ = fmt.Fprintf(to, "tabard: waiting for %s (%s)\n", Plain(what), time.Since(began).Round(time.Second))
				timer.Reset(between)
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-stopped
	})
}

// SayWaits makes a client of the API server say while a request is not answered. Of requests
// at the same time it says so of one.
func SayWaits(to io.Writer) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper { return &patient{next: next, to: to} }
}

type patient struct {
	next http.RoundTripper
	to   io.Writer
	says atomic.Bool
}

// RoundTrip implements http.RoundTripper.
func (p *patient) RoundTrip(request *http.Request) (*http.Response, error) {
	if p.says.CompareAndSwap(false, true) {
		done := Waiting(p.to, "the API server at "+request.URL.Scheme+"://"+request.URL.Host)
		defer func() {
			done()
			p.says.Store(false)
		}()
	}
	response, err := p.next.RoundTrip(request)
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "dial" {
		return nil, &Unreachable{Server: request.URL.Scheme + "://" + request.URL.Host, err: failed}
	}
	return response, err
}

// Unreachable is the error of a cluster to which there is no connection.
type Unreachable struct {
	Server string
	err    error
}

// Error implements error.
func (u *Unreachable) Error() string {
	return fmt.Sprintf("the API server at %s cannot be reached: %v; --context or --kubeconfig names another cluster", u.Server, u.err)
}

// Unwrap gives the error of the connection.
func (u *Unreachable) Unwrap() error { return u.err }

// Shown is an error as a person is told of it: of a cluster that cannot be reached, without
// the names of the requests that failed for it, and of an interrupted command first that it was.
func Shown(err error) error {
	switch {
	case err == context.Canceled: //nolint:errorlint // there is nothing else to say
		return errors.New("interrupted")
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted: %w", err)
	}
	if away, ok := errors.AsType[*Unreachable](err); ok {
		return away
	}
	return err
}
