// Command keyless-pod is a workload that uses AWS without any key: it takes
// whatever identity the official AWS SDK finds by its default credential chain.
// There is nothing of Tabard in it.
//
//	keyless-pod whoami
//	keyless-pod put s3://BUCKET/KEY TEXT
//	keyless-pod get s3://BUCKET/KEY
//	keyless-pod repeat INTERVAL COMMAND…
//
// It prints one line of JSON. When AWS refuses, it prints AWS's own error and
// exits with 1. With repeat it does the same again and again, as a service would,
// with one SDK configuration, and goes on when AWS refuses.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
)

const usage = "usage: keyless-pod whoami | put s3://BUCKET/KEY TEXT | get s3://BUCKET/KEY | repeat INTERVAL COMMAND…"

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, explain(err))
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	if len(args) < 3 || args[0] != "repeat" {
		return tell(ctx, cfg, args)
	}
	interval, err := time.ParseDuration(args[1])
	if err != nil || interval <= 0 {
		return fmt.Errorf("%q is no interval such as 2s", args[1])
	}
	for tick := time.Tick(interval); ; <-tick {
		if err := tell(ctx, cfg, args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, explain(err))
		}
	}
}

// tell does one command and prints its answer.
func tell(ctx context.Context, cfg aws.Config, args []string) error {
	answer, err := do(ctx, cfg, args)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(answer)
}

func do(ctx context.Context, cfg aws.Config, args []string) (map[string]string, error) {
	switch {
	case len(args) == 0:
		return nil, errors.New(usage)
	case args[0] == "whoami" && len(args) == 1:
		return whoami(ctx, cfg)
	case args[0] == "put" && len(args) == 3:
		return put(ctx, cfg, args[1], args[2])
	case args[0] == "get" && len(args) == 2:
		return get(ctx, cfg, args[1])
	}
	return nil, errors.New(usage)
}

func whoami(ctx context.Context, cfg aws.Config) (map[string]string, error) {
	caller, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return nil, err
	}
	return map[string]string{"arn": *caller.Arn, "account": *caller.Account, "userID": *caller.UserId}, nil
}

func put(ctx context.Context, cfg aws.Config, url, text string) (map[string]string, error) {
	bucket, key, err := split(url)
	if err != nil {
		return nil, err
	}
	_, err = s3.NewFromConfig(cfg).PutObject(ctx, &s3.PutObjectInput{
		Bucket: &bucket, Key: &key, Body: strings.NewReader(text),
	})
	if err != nil {
		return nil, err
	}
	return map[string]string{"wrote": url}, nil
}

func get(ctx context.Context, cfg aws.Config, url string) (map[string]string, error) {
	bucket, key, err := split(url)
	if err != nil {
		return nil, err
	}
	object, err := s3.NewFromConfig(cfg).GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, err
	}
	defer object.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(object.Body)
	if err != nil {
		return nil, err
	}
	return map[string]string{"read": url, "text": string(text)}, nil
}

func split(url string) (bucket, key string, err error) {
	rest, ok := strings.CutPrefix(url, "s3://")
	bucket, key, found := strings.Cut(rest, "/")
	if !ok || !found || bucket == "" || key == "" {
		return "", "", fmt.Errorf("%q is not s3://BUCKET/KEY", url)
	}
	return bucket, key, nil
}

// explain is AWS's own code and text, without the SDK's wrapping.
func explain(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode() + ": " + api.ErrorMessage()
	}
	return err.Error()
}
