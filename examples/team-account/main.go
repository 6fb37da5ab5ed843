// Command team-account does what the administrators of AWS accounts do for a
// controller that uses IAM role selectors, with the official AWS SDK and nothing of
// Tabard:
//
//	team-account controller -issuer URL -namespace NS -service-account SA -role NAME
//	team-account team -controller ARN -role NAME -buckets PREFIX
//	team-account buckets
//
// The first makes the role of the controller itself, in its own account; the second,
// in the account of a team, the role that the controller assumes there. Both print
// the role's ARN. The third prints the account and the names of all its buckets. It
// runs with the AWS session that the SDK finds. In a real account this is the part
// that Terraform, CloudFormation or a person does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "team-account:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New("what is to be done: controller, team or buckets?")
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	answer, err := do(ctx, cfg, args[0], args[1:])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, answer)
	return err
}

// do returns what is to be printed.
func do(ctx context.Context, cfg aws.Config, what string, args []string) (string, error) {
	caller, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", err
	}
	account := aws.ToString(caller.Account)
	switch what {
	case "controller":
		var w workload
		if err := parse(what, args, map[string]*string{
			"issuer": &w.issuer, "namespace": &w.namespace, "service-account": &w.serviceAccount, "role": &w.role,
		}); err != nil {
			return "", err
		}
		return w.makeRole(ctx, cfg, account)
	case "team":
		var t team
		if err := parse(what, args, map[string]*string{"controller": &t.controller, "role": &t.role, "buckets": &t.buckets}); err != nil {
			return "", err
		}
		return t.makeRole(ctx, cfg)
	case "buckets":
		return list(ctx, cfg, account)
	}
	return "", fmt.Errorf("%q is neither controller, team nor buckets", what)
}

// parse reads flags, all of which are needed.
func parse(what string, args []string, values map[string]*string) error {
	set := flag.NewFlagSet("team-account "+what, flag.ContinueOnError)
	for name, value := range values {
		set.StringVar(value, name, "", "see the comment of the program")
	}
	if err := set.Parse(args); err != nil {
		return err
	}
	for name, value := range values {
		if *value == "" {
			return fmt.Errorf("%s: -%s is missing", what, name)
		}
	}
	return nil
}

// list is the account and all its buckets' names, in one line.
func list(ctx context.Context, cfg aws.Config, account string) (string, error) {
	line := []string{account + ":"}
	pages := s3.NewListBucketsPaginator(s3.NewFromConfig(cfg), &s3.ListBucketsInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", err
		}
		for _, bucket := range page.Buckets {
			line = append(line, aws.ToString(bucket.Name))
		}
	}
	return strings.Join(line, " "), nil
}
