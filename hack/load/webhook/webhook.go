// Package webhook measures the pod identity webhook as a cluster runs it, a
// process of its own with a certificate from files: from its start to the first
// pod injected with many ServiceAccounts in the cluster, its memory, and what an
// admission costs over HTTPS.
//
// The API server is one of this program's own, which serves the same lists and
// watches; with -localkube it is that of a lab, which the ServiceAccounts are made in.
package webhook

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// restTime is after how long without a question it is at rest.
const restTime = 2 * time.Second

// settings are the flags.
type settings struct {
	tabard, localkube string
	review            string
	accounts, starts  int
	annotation        int
	span              time.Duration
	clients           []int
	listOnly          bool
}

// Run measures what the arguments say.
func Run(ctx context.Context, args []string) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	return run(ctx, s)
}

func parse(args []string) (settings, error) {
	var s settings
	var clients string
	flags := flag.NewFlagSet("webhook", flag.ContinueOnError)
	flags.StringVar(&s.tabard, "tabard", "bin/tabard-webhook", "the program to measure; bin/tabard serves, too")
	flags.StringVar(&s.localkube, "localkube", "", "start a real API server from this program")
	flags.StringVar(&s.review, "review", "internal/webhook/testdata/review.json", "the review to ask with, of ServiceAccount shop/app")
	flags.IntVar(&s.accounts, "accounts", 20_000, "ServiceAccounts in the cluster; one in ten has a role")
	flags.IntVar(&s.annotation, "annotation", 0, "bytes of an annotation of others on each ServiceAccount of this program's API server")
	flags.IntVar(&s.starts, "starts", 3, "how often it is started; the last start is asked")
	flags.DurationVar(&s.span, "for", 5*time.Second, "how long each number of clients asks; 0: not at all")
	flags.StringVar(&clients, "clients", "1,8,32", "how many ask at once")
	flags.BoolVar(&s.listOnly, "list-only", false, "let this program's API server refuse lists by watch, as old ones do")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	for word := range strings.SplitSeq(clients, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return s, fmt.Errorf("-clients has %q, expected numbers from 1 with commas between", word)
		}
		s.clients = append(s.clients, n)
	}
	if s.annotation < 0 {
		return s, fmt.Errorf("-annotation is %d, expected at least 0", s.annotation)
	}
	if s.accounts < 1 || s.starts < 1 {
		return s, fmt.Errorf("-accounts and -starts are %d and %d, expected at least 1", s.accounts, s.starts)
	}
	return s, nil
}

func run(ctx context.Context, s settings) error {
	folder, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // it is only temporary
	open := openFake
	if s.localkube != "" {
		open = openReal
	}
	kubeconfig, closeCluster, err := open(ctx, s, folder)
	if err != nil {
		return err
	}
	defer closeCluster()
	for i := range s.starts {
		if err := report(ctx, s, folder, kubeconfig, i == s.starts-1); err != nil {
			return err
		}
	}
	return nil
}

// report starts the webhook, tells how it came up, and asks it if it is wanted.
func report(ctx context.Context, s settings, folder, kubeconfig string, load bool) error {
	question, err := review(s.review, accountName(0))
	if err != nil {
		return err
	}
	server, err := start(ctx, s, folder, kubeconfig)
	if err != nil {
		return err
	}
	defer server.program.Stop()
	client := server.client(1)
	if err := server.waitInjected(ctx, client, question); err != nil {
		return err
	}
	took := time.Since(server.program.Began)
	used, err := server.program.Usage()
	if err != nil {
		return err
	}
	fmt.Printf("%d ServiceAccounts: listens after %v, injects after %v and %v of CPU, %s\n",
		s.accounts, server.listening.Round(time.Millisecond), took.Round(time.Millisecond), used.CPU, used.Memory())
	<-time.After(restTime)
	if used, err = server.program.Usage(); err != nil {
		return err
	}
	fmt.Println("at rest:", used.Memory())
	if !load || s.span == 0 {
		return nil
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CLIENTS\tREQUESTS/S\tCPU/REQUEST\tALLOCATIONS\tP50\tP99\tFAILED\tQUESTION\tANSWER")
	for _, clients := range s.clients {
		got, err := ask(ctx, server, question, s.span, clients)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%d\t%.0f\t%v\t%.0f\t%v\t%v\t%d\t%d B\t%d B\n", clients, got.Rate, got.cpu, got.allocations, got.P50, got.P99, got.Failed, len(question), got.answer)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if used, err = server.program.Usage(); err != nil {
		return err
	}
	fmt.Println("afterwards:", used.Memory())
	return nil
}
