// Command webhookflood asks a pod identity webhook as an attacker would who has no
// credential and reaches its port. It is for tests: it ends by itself, and it says
// what it has done as one line of JSON.
//
//	webhookflood -address 127.0.0.1:9443 -kind slow -connections 10000 -for 30s
//
// The kinds:
//
//	slow   connections that announce a review of -announce bytes and send -send of
//	       them; each that ends is opened anew
//	idle   connections that ask one review, and stay
//	silent connections that send no byte, and stay
//	names  reviews of pods of ServiceAccounts that do not exist, -rate a second, of
//	       the namespace -namespace; empty: of one that does not exist, either
//
// With -arriving, connections of the first three kinds come -rate a second, and the oldest
// ends where there are -connections. With -sources they come from so many addresses of this
// machine.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// The most that it does, whatever it is told.
const (
	mostConnections = 20_000
	mostRate        = 5_000
	longest         = 5 * time.Minute
)

// flood is what it was told, and counts what it does.
type flood struct {
	address, kind, namespace string
	connections, rate        int
	announce, send           int
	arriving                 bool
	sources                  int
	dialed                   atomic.Int64
	span                     time.Duration
	counted                  counts
}

func main() {
	var f flood
	flag.StringVar(&f.address, "address", "", "host and port of the webhook")
	flag.StringVar(&f.kind, "kind", "slow", "slow, idle, silent or names")
	flag.IntVar(&f.connections, "connections", 100, "connections at a time")
	flag.IntVar(&f.rate, "rate", 1000, "reviews a second")
	flag.IntVar(&f.announce, "announce", 64<<10, "bytes that are announced")
	flag.IntVar(&f.send, "send", 1, "bytes of them that are sent")
	flag.StringVar(&f.namespace, "namespace", "", "namespace of the names")
	flag.BoolVar(&f.arriving, "arriving", false, "connections come at the rate, instead of when another has ended")
	flag.IntVar(&f.sources, "sources", 0, "addresses that they come from; 0 is as the system does")
	flag.DurationVar(&f.span, "for", 10*time.Second, "how long")
	flag.Parse()
	if err := f.run(); err != nil {
		fmt.Fprintln(os.Stderr, "webhookflood:", err)
		os.Exit(1)
	}
}

func (f *flood) run() error {
	attack := map[string]func(context.Context){"slow": f.hold, "idle": f.hold, "silent": f.hold, "names": f.ask}[f.kind]
	switch {
	case attack == nil:
		return fmt.Errorf("-kind is %q, expected slow, idle, silent or names", f.kind)
	case f.address == "":
		return fmt.Errorf("-address is empty, expected host and port")
	case f.connections < 1 || f.connections > mostConnections || f.rate < 1 || f.rate > mostRate || f.span > longest:
		return fmt.Errorf("expected 1 to %d connections, 1 to %d reviews a second, and at most %s", mostConnections, mostRate, longest)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, f.span)
	defer cancel()
	go f.tell(ctx)
	attack(ctx)
	return f.say()
}

// tell says each second what it has done so far.
func (f *flood) tell(ctx context.Context) {
	for ticker := time.NewTicker(time.Second); ; {
		select {
		case <-ctx.Done():
			ticker.Stop()
			return
		case <-ticker.C:
			_ = f.say() // who does not listen does not matter
		}
	}
}

func (f *flood) say() error { return json.NewEncoder(os.Stdout).Encode(f.counted.now()) }

// percentile is the time within which so many of a hundred were answered.
func percentile(times []time.Duration, of int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[(len(times)-1)*of/100]
}
