package app

import (
	"context"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	cli "github.com/tabard-dev/tabard/internal/cli/console"
	"github.com/tabard-dev/tabard/internal/cli/operators"
	"github.com/tabard-dev/tabard/internal/console"
	"github.com/tabard-dev/tabard/internal/console/web"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/credentials"
	"github.com/tabard-dev/tabard/internal/evidence"
	"github.com/tabard-dev/tabard/internal/olm"
)

func consoleCommand() *cobra.Command {
	return cli.New(program.StandardStreams(), cli.World{Start: startConsole, Browse: browse})
}

// startConsole makes the clients of what the person asked for, and listens.
func startConsole(ctx context.Context, asked cli.Asked) (cli.Server, error) {
	world, err := consoleWorld(ctx, asked.Catalogue)
	if err != nil {
		return nil, err
	}
	pages, err := web.Pages()
	if err != nil {
		return nil, err
	}
	return console.Listen(ctx, console.Options{World: world, Pages: pages, ReadOnly: asked.ReadOnly, Version: program.Version}, asked.Port)
}

// consoleWorld is with a cluster where there is one; a catalogue in files needs none. Either is asked
// for once, so that a person who cannot have it is told at once.
func consoleWorld(ctx context.Context, of *operators.Source) (console.World, error) {
	origin, err := of.Origin()
	if err != nil {
		return console.World{}, err
	}
	out := console.World{CatalogueFlags: of.CatalogueFlags(), ClusterFlags: of.ClusterFlags(), RoleDocuments: sessionRoleDocuments}
	out.Read = func(ctx context.Context) (model.Catalogue, error) { return readCatalogue(ctx, origin, nil, nil) }
	inFiles := origin.Kind != operators.Cluster
	if inFiles {
		out.Files = of.Path()
		if _, err := out.Read(ctx); err != nil {
			return out, of.Refuse(program.StandardStreams(), err)
		}
	}
	err = addCluster(ctx, &out, origin.Kubeconfig)
	if err != nil && inFiles && !origin.Kubeconfig.IsSet() {
		out.OLM, out.Explain, out.Credentials, out.Cluster, err = olm.Client{}, evidence.Sources{}, credentials.Cluster{}, "", nil
	}
	return out, err
}

// addCluster adds a cluster to what the console shows.
func addCluster(ctx context.Context, to *console.World, kubeconfig *command.Kubeconfig) (err error) {
	if to.OLM, err = connectOLM(kubeconfig); err != nil {
		return err
	}
	if to.Explain, to.Namespace, err = connectExplain(kubeconfig); err != nil {
		return err
	}
	if to.Credentials, err = connectCredentials(kubeconfig); err != nil {
		return err
	}
	if to.Cluster, err = kubeconfig.ClusterName(); err != nil {
		return err
	}
	if to.User, err = console.User(ctx, to.OLM.Objects); err != nil {
		return err
	}
	to.ClusterFlags, err = kubeconfig.Pinned()
	return err
}

// connectCredentials makes the clients by which CredentialsRequests are read.
func connectCredentials(kubeconfig *command.Kubeconfig) (credentials.Cluster, error) {
	config, err := program.KubeConfigOf(kubeconfig)
	if err != nil {
		return credentials.Cluster{}, err
	}
	cluster, err := credentialsCluster(config, "", platform.Override{})
	return credentials.Cluster{Reader: cluster.Client, Facts: cluster.Facts, Now: cluster.Now}, err
}

// browse opens an address as the system opens addresses, and does not wait for the browser. Other users
// of the machine see what programs are started with, so that the browser gets the name of a file that
// only this user may read, which leads to the address.
func browse(ctx context.Context, address string) error {
	folder, err := os.MkdirTemp("", "tabard-console-")
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = os.RemoveAll(folder) }) // nothing is in it but an address that is used
	page := filepath.Join(folder, "open.html")
	text := `<!doctype html><meta charset="utf-8"><title>Tabard</title><meta http-equiv="refresh" content="0;url=` + html.EscapeString(address) + `">`
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		return err
	}
	opens := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		opens = []string{"open"}
	case "windows":
		opens = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	opener := exec.CommandContext(context.WithoutCancel(ctx), opens[0], append(opens[1:], page)...)
	if err := opener.Start(); err != nil {
		return err
	}
	go func() { _ = opener.Wait() }() // a browser that was closed is no news
	return nil
}
