package app

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/catalogue"
	"github.com/tabard-dev/tabard/internal/catalogue/cluster"
	"github.com/tabard-dev/tabard/internal/catalogue/image"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/operators"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

func operatorsCommand() *cobra.Command {
	return operators.New(program.StandardStreams(), operators.World{Read: readCatalogue, Connect: connectDynamic, JSON: catalogue.JSON})
}

func connectDynamic(kubeconfig *command.Kubeconfig) (dynamic.Interface, error) {
	config, err := program.KubeConfigOf(kubeconfig)
	if err != nil {
		return nil, err
	}
	return dynamic.NewForConfig(config)
}

func readCatalogue(ctx context.Context, from operators.Origin, in io.Reader, slow func(string)) (model.Catalogue, error) {
	switch from.Kind {
	case operators.File:
		return catalogue.Reader{Stdin: in, Slow: slow}.Read(ctx, from.Path)
	case operators.Layout:
		return image.Reader{Slow: slow}.Layout(ctx, from.Path)
	case operators.Archive:
		return image.Reader{Slow: slow}.Archive(ctx, from.Path)
	case operators.Image:
		return image.Reader{Slow: slow}.Remote(ctx, from.Path)
	case operators.Cluster:
	}
	config, err := program.KubeConfigOf(from.Kubeconfig)
	if err != nil {
		return model.Catalogue{}, err
	}
	if config.Timeout > 0 {
		// The client has no time-out: that of --request-timeout is for the whole answer.
		bounded, cancel := context.WithTimeoutCause(ctx, config.Timeout, fmt.Errorf("--request-timeout of %s is over", config.Timeout))
		defer cancel()
		ctx = bounded
	}
	client, err := cluster.NewClient(config)
	if err != nil {
		return model.Catalogue{}, err
	}
	return cluster.NewReader(client, 0).Read(ctx, cluster.Query{
		Namespace: from.Namespace,
		Wanted:    catalogue.Wanted{Package: from.Package, CatalogueNamespace: from.CatalogueNamespace, Catalogue: from.Catalogue},
	})
}
