// Command load measures the programs as their users run them, as processes: time,
// calls, memory.
//
//	make build localkube && go run ./hack/load           # all parts, as they come
//	go run ./hack/load awslocal -roles 10000 -objects 100000
//	go run ./hack/load webhook -accounts 200000
//	go run ./hack/load webhook -localkube bin/localkube
//	go run ./hack/load capacity -crowd 20000
//	go run ./hack/load credentials -requests 10000 -writes-per-second 200
//	go run ./hack/load credentials -requests 10000 -writes-per-second 200 -apart
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/tabard-dev/tabard/hack/load/awslocal"
	"github.com/tabard-dev/tabard/hack/load/capacity"
	"github.com/tabard-dev/tabard/hack/load/credentials"
	"github.com/tabard-dev/tabard/hack/load/webhook"
)

// parts are what can be measured, in their order.
var parts = []struct {
	name string
	run  func(ctx context.Context, args []string) error
}{{"awslocal", awslocal.Run}, {"webhook", webhook.Run}, {"capacity", capacity.Run}, {"credentials", credentials.Run}}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	wanted := ""
	if len(args) > 0 {
		wanted, args = args[0], args[1:]
	}
	found := false
	for _, part := range parts {
		if wanted != "" && wanted != part.name {
			continue
		}
		found = true
		if err := part.run(ctx, args); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if !found {
		return fmt.Errorf("there is no part %q: expected awslocal, webhook, capacity or credentials, or none for all", wanted)
	}
	return nil
}
