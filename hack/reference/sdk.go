package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

const sdkService = "github.com/aws/aws-sdk-go-v2/service/"

// sdkOperations are all operations that AWS has in a service, as the AWS SDK for
// Go knows them, sorted. The SDK has one generated file for each, and their
// names are enough: to compile EC2's client takes minutes.
func sdkOperations(ctx context.Context, service string) ([]string, error) {
	const files = `{{range .GoFiles}}{{.}}{{"\n"}}{{end}}`
	out, err := exec.CommandContext(ctx, "go", "list", "-f", files, sdkService+service).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go list: %w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list: %w", err)
	}
	var names []string
	for file := range strings.Lines(string(out)) {
		name, isOperation := strings.CutPrefix(strings.TrimSpace(file), "api_op_")
		if isOperation {
			names = append(names, strings.TrimSuffix(name, ".go"))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the SDK's package for %s has no file of an operation", service)
	}
	return names, nil
}
