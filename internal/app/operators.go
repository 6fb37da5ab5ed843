package app

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/catalogue"
	"github.com/tabard-dev/tabard/internal/catalogue/catalogd"
	"github.com/tabard-dev/tabard/internal/catalogue/cluster"
	"github.com/tabard-dev/tabard/internal/catalogue/image"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/operators"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/olm"
)

func operatorsCommand() *cobra.Command {
	return operators.New(program.StandardStreams(), operators.World{Read: readCatalogue, Connect: connectDynamic, JSON: catalogue.JSON, RoleDocuments: sessionRoleDocuments, OLM: connectOLM})
}

func connectDynamic(kubeconfig *command.Kubeconfig) (dynamic.Interface, error) {
	config, err := program.KubeConfigOf(kubeconfig)
	if err != nil {
		return nil, err
	}
	return dynamic.NewForConfig(config)
}

func connectOLM(kubeconfig *command.Kubeconfig) (out olm.Client, err error) {
	config, err := program.KubeConfigOf(kubeconfig)
	if err != nil {
		return out, err
	}
	if out.Objects, err = dynamic.NewForConfig(config); err != nil {
		return out, err
	}
	out.Discovered = (&issuer.Cluster{Config: config}).IssuerName
	out.Metadata, err = metadata.NewForConfig(config)
	return out, err
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
	case operators.Catalogd:
		return readCatalogd(ctx, from)
	case operators.Cluster:
	}
	return readCluster(ctx, from)
}

func readCatalogd(ctx context.Context, from operators.Origin) (model.Catalogue, error) {
	client, err := catalogd.NewClient(from.CertificateAuthority)
	if err != nil {
		return model.Catalogue{}, fmt.Errorf("--certificate-authority: %w", err)
	}
	reader, err := catalogd.New(from.Path, client)
	if err != nil {
		return model.Catalogue{}, err
	}
	return reader.Read(ctx, from.Package)
}

// readCluster reads the catalogues of OLM v0 and of OLM v1, of which a cluster may have either.
func readCluster(ctx context.Context, from operators.Origin) (model.Catalogue, error) {
	config, err := program.KubeConfigOf(from.Kubeconfig)
	if err != nil {
		return model.Catalogue{}, err
	}
	if config.Timeout > 0 {
		// The clients have no time-out: that of --request-timeout is for the whole answer.
		bounded, cancel := context.WithTimeoutCause(ctx, config.Timeout, fmt.Errorf("--request-timeout of %s is over", config.Timeout))
		defer cancel()
		ctx = bounded
	}
	packages, err := cluster.NewClient(config)
	if err != nil {
		return model.Catalogue{}, err
	}
	catalogs, err := catalogd.NewCluster(config)
	if err != nil {
		return model.Catalogue{}, err
	}
	old, err := cluster.NewReader(packages, 0).Read(ctx, cluster.Query{
		Namespace: from.Namespace,
		Wanted:    catalogue.Wanted{Package: from.Package, CatalogueNamespace: from.CatalogueNamespace, Catalogue: from.Catalogue},
	})
	if from.CatalogueNamespace != "" || ctx.Err() != nil {
		return old, err // A ClusterCatalog has no namespace.
	}
	read, errOfV1 := catalogs.Read(ctx, from.Catalogue, from.Package)
	return bothOLMs(old, err, read, errOfV1)
}

// bothOLMs is what is known of both: what cannot be read of one is a finding beside the other.
func bothOLMs(old model.Catalogue, oldErr error, read model.Catalogue, err error) (model.Catalogue, error) {
	switch {
	case errors.Is(err, catalogd.ErrNoClusterCatalogs):
		return old, oldErr
	case err == nil && errors.Is(oldErr, cluster.ErrNoOLM):
		return read, nil
	case err != nil && oldErr != nil:
		return model.Catalogue{}, errors.Join(oldErr, err)
	case oldErr != nil:
		read.Findings = append(read.Findings, notRead("the PackageManifests of OLM v0", oldErr))
		return read, nil
	case err != nil:
		old.Findings = append(old.Findings, notRead("the ClusterCatalogs of OLM v1", err))
		return old, nil
	}
	return model.Merge(old, read), nil
}

func notRead(what string, err error) model.Finding {
	return model.Finding{Code: model.SourceNotRead, Message: what + " were not read: " + line.Of(err.Error())}
}
