package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// counts are what it has done so far.
type counts struct {
	// open is how many connections there are, opened how many there were, and most
	// how many at a time.
	open, opened, most atomic.Int64
	answered, failed   atomic.Int64
	mu                 sync.Mutex
	times              []time.Duration
}

// said is counts as they are printed.
type said struct {
	Open     int64 `json:"open"`
	Opened   int64 `json:"opened"`
	Most     int64 `json:"most"`
	Answered int64 `json:"answered"`
	Failed   int64 `json:"failed"`
	// P99 is of the answers, in milliseconds.
	P99 int64 `json:"p99"`
}

func (c *counts) now() said {
	c.mu.Lock()
	defer c.mu.Unlock()
	return said{c.open.Load(), c.opened.Load(), c.most.Load(), c.answered.Load(), c.failed.Load(), percentile(c.times, 99).Milliseconds()}
}

// dial connects from one of the addresses of this machine after another, from 127.1.0.1 on, if
// there are to be several.
func (f *flood) dial(ctx context.Context) (net.Conn, error) {
	dialer := &net.Dialer{}
	if f.sources > 0 {
		number := int(f.dialed.Add(1)) % f.sources
		dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 1, byte(number>>8), byte(number)+1)}
	}
	return dialer.DialContext(ctx, "tcp", f.address)
}

// arrive opens connections at a rate, and holds as many as it may have: the oldest goes for
// a new one.
func (f *flood) arrive(ctx context.Context) {
	var group sync.WaitGroup
	places := make(chan context.CancelFunc, f.connections)
	ticker := time.NewTicker(time.Second / time.Duration(f.rate))
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
		within, end := context.WithCancel(ctx)
		for full := true; full; {
			select {
			case places <- end:
				full = false
			default:
				(<-places)()
			}
		}
		group.Go(func() {
			defer end()
			if err := f.holdOne(within); err != nil && within.Err() == nil {
				f.counted.failed.Add(1)
			}
		})
	}
	group.Wait()
}

// hold keeps connections open, each of which has begun to ask.
func (f *flood) hold(ctx context.Context) {
	if f.arriving {
		f.arrive(ctx)
		return
	}
	var group sync.WaitGroup
	for range f.connections {
		group.Go(func() {
			for ctx.Err() == nil {
				if err := f.holdOne(ctx); err != nil {
					f.counted.failed.Add(1)
				}
				// Who is turned away comes back, as fast as a program may.
				pause(ctx, 100*time.Millisecond)
			}
		})
	}
	group.Wait()
}

// holdOne opens one connection and stays until it is ended.
func (f *flood) holdOne(ctx context.Context) error {
	raw, err := f.dial(ctx)
	if err != nil {
		return err
	}
	f.counted.opened.Add(1)
	open := f.counted.open.Add(1)
	defer f.counted.open.Add(-1)
	for most := f.counted.most.Load(); open > most && !f.counted.most.CompareAndSwap(most, open); {
		most = f.counted.most.Load()
	}
	ended := context.AfterFunc(ctx, func() { _ = raw.Close() }) // it ends what is read below
	defer ended()
	defer raw.Close() //nolint:errcheck // nothing was promised
	if f.kind == "silent" {
		_, err := raw.Read(make([]byte, 1))
		return err
	}
	secure := tls.Client(raw, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}) //nolint:gosec // an attacker does not care
	if err := secure.HandshakeContext(ctx); err != nil {
		return err
	}
	if _, err := io.WriteString(secure, f.beginning()); err != nil {
		return err
	}
	// Nothing comes while it is slow; an answer is read, and the next is waited for.
	reader := bufio.NewReaderSize(secure, 16)
	for {
		answer, err := http.ReadResponse(reader, nil)
		if err != nil {
			return nil // it was ended
		}
		f.counted.answered.Add(1)
		_, err = io.Copy(io.Discard, answer.Body)
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			return err
		}
	}
}

// beginning is a question, whole or only begun.
func (f *flood) beginning() string {
	body := strings.Repeat(" ", f.send)
	length := f.announce
	if f.kind == "idle" {
		body = question("default", "default")
		length = len(body)
	}
	return fmt.Sprintf("POST /mutate HTTP/1.1\r\nHost: webhook\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, body)
}

func pause(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
}
