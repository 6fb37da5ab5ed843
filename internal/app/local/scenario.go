package local

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	cli "github.com/tabard-dev/tabard/internal/cli/lab"
	"github.com/tabard-dev/tabard/internal/lab"
	"github.com/tabard-dev/tabard/internal/lab/scenario"
)

// scenes plays scenarios.
type scenes struct{}

// List implements lab.Scenes.
func (scenes) List() (out []cli.Scene) {
	for _, each := range scenario.All() {
		out = append(out, sceneOf(each))
	}
	return out
}

func sceneOf(s scenario.Scenario) cli.Scene {
	return cli.Scene{Name: s.Name, Title: s.Title, Explain: s.Flags}
}

// Play implements lab.Scenes.
func (scenes) Play(ctx context.Context, in lab.Lab, name string, say func(string, ...any)) (cli.Scene, cli.Seen, error) {
	at, err := stage(in, say)
	if err != nil {
		return cli.Scene{}, cli.Seen{}, err
	}
	played, answer, err := at.Play(ctx, name)
	return sceneOf(played), seenOf(answer), err
}

// Call implements lab.Scenes.
func (scenes) Call(ctx context.Context, in lab.Lab) (cli.Seen, error) {
	at, err := stage(in, func(string, ...any) {})
	if err != nil {
		return cli.Seen{}, err
	}
	answer, err := at.Call(ctx)
	return seenOf(answer), err
}

// End implements lab.Scenes.
func (scenes) End(ctx context.Context, in lab.Lab) error {
	at, err := stage(in, func(string, ...any) {})
	if err != nil {
		return err
	}
	return at.End(ctx)
}

func seenOf(a scenario.Answer) cli.Seen {
	return cli.Seen{Namespace: scenario.Namespace, Pod: a.Pod, Text: a.Text, Well: a.Well}
}

func stage(in lab.Lab, say func(string, ...any)) (scenario.Stage, error) {
	self, err := os.Executable()
	if err != nil {
		return scenario.Stage{}, fmt.Errorf("find this program's own file: %w", err)
	}
	return scenario.Stage{Lab: in, Self: self, Say: say}, nil
}

// scenarioCall is the program of a scenario's workload. It takes whatever identity the SDK finds by its
// default chain, and asks AWS who it is.
func scenarioCall() *cobra.Command {
	var metadata, object string
	var hidden bool
	streams := program.StandardStreams()
	out := &cobra.Command{
		Use: scenario.CallCommand, Hidden: true, Args: cobra.NoArgs, Short: "The program of a scenario's workload",
		RunE: func(c *cobra.Command, _ []string) error {
			text, err := callAWS(c.Context(), metadata, object, hidden)
			if err != nil {
				text = strings.TrimSpace(text + "\n" + err.Error())
			}
			if _, lost := fmt.Fprintln(streams.Out, text); lost != nil || err == nil {
				return lost
			}
			return &command.Exit{Code: command.Found, What: err.Error()}
		},
	}
	out.Flags().StringVar(&metadata, "metadata", "", "where the node's metadata service is")
	out.Flags().StringVar(&object, "get", "", "an object to read, as s3://BUCKET/KEY")
	out.Flags().BoolVar(&hidden, "other-user", false, "the container's user does not own the files of its volumes")
	return out
}

func callAWS(ctx context.Context, metadata, object string, hidden bool) (string, error) {
	file := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE")
	if info, err := os.Stat(file); hidden && err == nil && info.Mode()&0o044 == 0 {
		// The files are of whoever runs the lab, and not of the pod's users: what the kernel would say.
		return "", &fs.PathError{Op: "open", Path: file, Err: fs.ErrPermission}
	}
	for name, value := range map[string]string{"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata} {
		if err := os.Setenv(name, value); err != nil {
			return "", err
		}
	}
	settings, err := config.LoadDefaultConfig(ctx, config.WithDefaultRegion(lab.Region))
	if err != nil {
		return "", err
	}
	caller, err := sts.NewFromConfig(settings).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", err
	}
	text := "caller: " + aws.ToString(caller.Arn)
	bucket, key, found := strings.Cut(strings.TrimPrefix(object, "s3://"), "/")
	if !found {
		return text, nil
	}
	_, err = s3.NewFromConfig(settings).GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return text, err
	}
	return text + "\nread:   " + object, nil
}
