package app

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	cli "github.com/tabard-dev/tabard/internal/cli/credentials"
	coreplatform "github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/platform"
)

func credentialsCommand() *cobra.Command {
	return cli.New(program.StandardStreams(), credentialsWorld())
}

// credentialsWorld is the world of the process.
func credentialsWorld() cli.World {
	return cli.World{
		Place: func() cli.Place { return &credentialsPlace{} },
		AWS:   newCredentialsSession,
		ReadFile: func(path string) ([]byte, error) {
			return command.File{By: "-f", Path: path, Expected: "an OIDCIssuer in YAML or JSON, or - for the standard input"}.Read(os.Stdin)
		},
	}
}

// credentialsPlace finds a cluster by the flags of the kubeconfig and of the platform.
type credentialsPlace struct {
	kubeconfig command.Kubeconfig
	platform   platform.Flags
}

// AddFlags adds the flags.
func (p *credentialsPlace) AddFlags(f *pflag.FlagSet) {
	p.kubeconfig.AddFlags(f)
	p.platform.Add(f)
}

// Override is what the flags say.
func (p *credentialsPlace) Override() (coreplatform.Override, error) { return p.platform.Override() }

// Cluster makes the clients.
func (p *credentialsPlace) Cluster() (cli.Cluster, error) {
	override, err := p.platform.Override()
	if err != nil {
		return cli.Cluster{}, err
	}
	config, err := program.KubeConfigOf(&p.kubeconfig)
	if err != nil {
		return cli.Cluster{}, err
	}
	namespace, err := p.kubeconfig.Namespace()
	if err != nil {
		return cli.Cluster{}, err
	}
	return credentialsCluster(config, namespace, override)
}

func credentialsCluster(config *rest.Config, namespace string, override coreplatform.Override) (cli.Cluster, error) {
	scheme, err := newScheme()
	if err != nil {
		return cli.Cluster{}, err
	}
	served, err := rest.HTTPClientFor(config)
	if err != nil {
		return cli.Cluster{}, err
	}
	live, err := client.New(config, client.Options{Scheme: scheme, HTTPClient: served})
	if err != nil {
		return cli.Cluster{}, err
	}
	reader, err := platform.New(config, served, override)
	if err != nil {
		return cli.Cluster{}, err
	}
	facts := func(ctx context.Context) (coreplatform.Facts, error) { return reader.Look(ctx) }
	return cli.Cluster{Client: live, Namespace: namespace, Facts: facts, Now: time.Now}, nil
}
