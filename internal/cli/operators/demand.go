package operators

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// demand are the flags that say of which version of an operator, and from which source, it is to be
// known what it asks for.
type demand struct {
	source
	versionFlags
	cloud    cloudFlag
	requests string
}

func (d *demand) add(flags *pflag.FlagSet) {
	d.source.add(flags)
	d.versionFlags.add(flags)
	d.cloud.add(flags, "requests to one cloud only")
	flags.StringVar(&d.requests, "requests", "", "the `PATH` of CredentialsRequests: a file, a directory, or - for the standard input")
}

// readsCatalogue says that a catalogue is read: files of requests need none.
func (d *demand) readsCatalogue() bool { return d.isChosen() || d.requests == "" }

func (d *demand) check() error { return d.checkFor(false) }

// checkFor says by asksCluster that the cluster is asked for something else, too.
func (d *demand) checkFor(asksCluster bool) error {
	asksCluster = asksCluster || d.cloud.isClusters()
	if d.requests == "-" && d.path == "-" {
		return fmt.Errorf("--catalogue and --requests are both -: the standard input can be read once")
	}
	if !d.readsCatalogue() && d.channel != "" {
		return fmt.Errorf("--channel is %s, which only a catalogue knows: type --catalogue", catalogue.Quoted(d.channel))
	}
	if err := d.cloud.check(); err != nil {
		return err
	}
	if !d.readsCatalogue() && !asksCluster && d.kubeconfig.IsSet() {
		return fmt.Errorf("a flag names a cluster, and with --requests alone none is asked: type --catalogue cluster, or leave it out")
	}
	if err := d.source.check(asksCluster); err != nil {
		return err
	}
	return d.versionFlags.check()
}

// set is what the operator asks for, and the bundle that was chosen of its package.
func (d *demand) set(ctx context.Context, streams command.Streams, world World, name string) (*catalogue.Package, catalogue.Bundle, permission.Set, error) {
	p, bundle := &catalogue.Package{Name: name}, catalogue.Bundle{Version: d.version}
	cloud, err := d.cloud.named(ctx, streams, world, &d.kubeconfig)
	if err != nil {
		return p, bundle, permission.Set{}, err
	}
	if d.readsCatalogue() {
		read, err := d.read(ctx, streams, world, name)
		if err != nil {
			return p, bundle, permission.Set{}, err
		}
		if p, err = d.find(read, name); err != nil {
			return p, bundle, permission.Set{}, err
		}
		if bundle, err = d.of(p); err != nil {
			return p, bundle, permission.Set{}, err
		}
		d.tellUnread(streams, read, p, bundle)
	}
	set := permission.OfBundle(p.Name, bundle, cloud)
	if d.requests == "" {
		return p, bundle, set, nil
	}
	files, err := given(streams, permission.SubjectOf(p.Name, bundle, nil), d.requests)
	if err != nil {
		return p, bundle, permission.Set{}, err
	}
	if cloud != nil {
		files = files.ForCloud(permission.Cloud(cloud.String()))
	}
	return p, bundle, permission.Choose(permission.SubjectOf(p.Name, bundle, cloud), "", files, set), nil
}
