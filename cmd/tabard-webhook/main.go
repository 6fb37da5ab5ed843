// Command tabard-webhook is the pod identity webhook, and nothing else. See
// tabard-webhook --help.
package main

import (
	"os"

	"github.com/tabard-dev/tabard/internal/app/webhook"
)

func main() { os.Exit(webhook.Main(os.Args[1:])) }
