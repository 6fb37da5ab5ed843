package eks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/eks"
)

const role = "arn:aws:iam::111111111111:role/ocm-hub-141fc72f17164e5a28c2b4e384694bae"

// answer runs a command and returns what it wrote, and what it asked for.
func answer(command func(eks.World) *cobra.Command, info string, args ...string) (text string, asked *eks.Wish, installed string, err error) {
	var out strings.Builder
	root := command(eks.World{
		Out:    &out,
		Getenv: func(string) string { return info },
		Mint: func(_ context.Context, wish eks.Wish) (string, time.Time, error) {
			asked = &wish
			return "k8s-aws-v1.abc", time.Date(2025, 1, 1, 0, 14, 0, 0, time.UTC), nil
		},
		Install: func(path string) error { installed = path; return nil },
	})
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&out)
	err = root.Execute()
	return out.String(), asked, installed, err
}

func TestTheArgumentsOfOtherProgramsAreTaken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args string
		want eks.Wish
	}{
		"the exec stanza of Open Cluster Management": {
			"--region us-west-2 eks get-token --cluster-name eks-hub --output json --role " + role,
			eks.Wish{Cluster: "eks-hub", Region: "us-west-2", RoleARN: role},
		},
		"aws eks get-token, as aws eks update-kubeconfig writes it": {
			"--region us-west-2 eks get-token --cluster-name eks-hub --output json --role-arn " + role + " --profile one",
			eks.Wish{Cluster: "eks-hub", Region: "us-west-2", RoleARN: role, Profile: "one"},
		},
		"flags behind the command, with equals signs": {
			"eks get-token --cluster-name=eks-hub --region=us-west-2", eks.Wish{Cluster: "eks-hub", Region: "us-west-2"},
		},
		"flags of aws before the command, of which none changes the token": {
			"--debug --no-cli-pager --color off --cli-read-timeout 5 --cli-connect-timeout=5 --no-paginate --region us-west-2 eks get-token --cluster-name eks-hub",
			eks.Wish{Cluster: "eks-hub", Region: "us-west-2"},
		},
		"flags of aws between the commands and behind them": {
			"--v2-debug eks --no-cli-auto-prompt --profile one get-token --cluster-name eks-hub --cli-auto-prompt --cli-binary-format raw-in-base64-out",
			eks.Wish{Cluster: "eks-hub", Profile: "one"},
		},
		"a profile that is called as the command": {"--profile eks --region=us-west-2 eks get-token --cluster-name eks", eks.Wish{Cluster: "eks", Region: "us-west-2", Profile: "eks"}},
		"a local cluster on Outposts":             {"eks get-token --cluster-id eks-hub", eks.Wish{Cluster: "eks-hub"}},
		"aws-iam-authenticator":                   {"token -i eks-hub -r " + role, eks.Wish{Cluster: "eks-hub", RoleARN: role}},
		"aws-iam-authenticator, in full":          {"token --cluster-id eks-hub --role " + role + " --external-id e --session-name s --cache", eks.Wish{Cluster: "eks-hub", RoleARN: role, ExternalID: "e", SessionName: "s"}},
	} {
		text, asked, _, err := answer(eks.Program, "", strings.Fields(c.args)...)
		if diff := cmp.Diff(&c.want, asked); err != nil || diff != "" || !strings.Contains(text, `"token":"k8s-aws-v1.abc"`) {
			t.Errorf("%s: %v, %s (-want +got):\n%s", name, err, text, diff)
		}
	}
}

func TestTheCommandOfTabardIsTheSame(t *testing.T) {
	t.Parallel()
	text, asked, _, err := answer(eks.New, `{"apiVersion":"client.authentication.k8s.io/v1"}`,
		"get-token", "--region=us-west-2", "--cluster-name=eks-hub", "--role-arn="+role)
	want := `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{},"status":{"expirationTimestamp":"2025-01-01T00:14:00Z","token":"k8s-aws-v1.abc"}}` + "\n"
	if diff := cmp.Diff(&eks.Wish{Cluster: "eks-hub", Region: "us-west-2", RoleARN: role}, asked); err != nil || diff != "" || text != want {
		t.Errorf("%v, %s (-want +got):\n%s", err, text, diff)
	}
}

func TestTheCommandOfTabardTakesTheSameFlagsOfAws(t *testing.T) {
	t.Parallel()
	if _, asked, _, err := answer(eks.New, "", "get-token", "--no-cli-pager", "--color", "off", "--cluster-name=a"); err != nil || asked == nil || asked.Cluster != "a" {
		t.Errorf("got %+v, %v", asked, err)
	}
	if _, asked, _, err := answer(eks.New, "", "get-token", "--cluster-name=a", "--endpoint-url", "http://x"); err == nil || asked != nil {
		t.Errorf("another endpoint: got %+v, %v", asked, err)
	}
}

func TestWhatOtherProgramsPrint(t *testing.T) {
	t.Parallel()
	if text, _, _, err := answer(eks.Program, "", "token", "-i", "eks-hub", "--token-only"); err != nil || text != "k8s-aws-v1.abc\n" {
		t.Errorf("got %q, %v", text, err)
	}
	if _, asked, installed, err := answer(eks.Program, "", "install", "/awscli/dist/aws"); err != nil || asked != nil || installed != "/awscli/dist/aws" {
		t.Errorf("got %q, %v", installed, err)
	}
}

func TestArgumentsThatCannotBeMeantAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, info, want string }{
		"another output":                              {"eks get-token --cluster-name a --output text", "", "must be json"},
		"another command of aws":                      {"eks describe-cluster", "", "unknown command"},
		"another flag":                                {"eks get-token --cluster-name a --debug-all", "", "unknown flag"},
		"one word too many":                           {"token -i a b", "", "unknown command"},
		"a flag before the command that aws has not":  {"--debug-all eks get-token --cluster-name a", "", "unknown flag: --debug-all; see tabard-eks-token --help"},
		"a flag of one letter before the command":     {"-x eks get-token --cluster-name a", "", "unknown shorthand flag: 'x'"},
		"a flag before the command without its value": {"eks get-token --cluster-name a --color", "", "flag needs an argument: --color"},
		"no command":                                  {"describe-cluster", "", "unknown command"},
		"another endpoint":                            {"--endpoint-url http://127.0.0.1:4566 eks get-token --cluster-name a", "", "--endpoint-url is not supported; set AWS_ENDPOINT_URL_STS"},
		"another authority":                           {"--ca-bundle /ca.crt eks get-token --cluster-name a", "", "--ca-bundle is not supported; set AWS_CA_BUNDLE"},
		"no check of certificates":                    {"eks get-token --cluster-name a --no-verify-ssl", "", "certificates are always verified"},
		"no signature":                                {"--no-sign-request token -i a", "", "a token is a signed request"},
		"a part of the answer":                        {"--query status.token eks get-token --cluster-name a", "", "--query is not supported"},
		"a client that is too old":                    {"token -i a", `{"apiVersion":"client.authentication.k8s.io/v1alpha1"}`, "set the exec stanza's apiVersion"},
		"a copy to nowhere":                           {"install", "", "accepts 1 arg"},
	} {
		text, _, _, err := answer(eks.Program, c.info, strings.Fields(c.args)...)
		if err == nil {
			err = errors.New(text)
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(text, "k8s-aws") {
			t.Errorf("%s: got %q, %v; want %q", name, text, err, c.want)
		}
	}
}
