package operators

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// clouds are those that annotations know.
var clouds = []catalogue.Cloud{catalogue.AWS, catalogue.Azure, catalogue.GCP}

// permissionClouds are the same for permissions.
var permissionClouds = map[catalogue.Cloud]permission.Cloud{
	catalogue.AWS: permission.AWS, catalogue.Azure: permission.Azure, catalogue.GCP: permission.GCP,
}

// clusters is the value of --cloud that stands for the cluster's own.
const clusters = "this"

// cloudFlag are the flag --cloud, and those by which the cluster is found.
type cloudFlag struct {
	value      string
	kubeconfig command.Kubeconfig
}

func (c *cloudFlag) add(f *pflag.FlagSet, what string) {
	f.StringVar(&c.value, "cloud", "", what+": aws, azure, gcp, or this for the `CLOUD` of the cluster")
	c.kubeconfig.AddFlags(f)
}

// check refuses what is no cloud, before anything is read.
func (c *cloudFlag) check() error {
	if _, ok := cloudNamed(c.value); !ok && c.value != "" && c.value != clusters {
		return fmt.Errorf("--cloud is %.80q, expected aws, azure, gcp or this", c.value)
	}
	if c.value != clusters && c.kubeconfig.IsSet() {
		return fmt.Errorf("a flag names a cluster, which is asked with --cloud this only, and --cloud is %.80q: leave one out", c.value)
	}
	return nil
}

// chosen is the cloud that was asked for, nil for none. why says why --cloud this is none: the
// cluster is not in token mode, or nobody knows.
func (c *cloudFlag) chosen(ctx context.Context, world World) (cloud *catalogue.Cloud, why string, err error) {
	if c.value != clusters {
		if named, ok := cloudNamed(c.value); ok {
			return &named, "", nil
		}
		return nil, "", nil
	}
	client, err := world.Connect(&c.kubeconfig)
	if err != nil {
		return nil, "", err
	}
	facts, err := observe(ctx, client)
	if err != nil {
		return nil, "", err
	}
	mode := facts.decide(world.Detect)
	if mode.TokenMode != yes {
		return nil, mode.sentence(), nil
	}
	named, ok := cloudNamed(strings.ToLower(mode.Cloud))
	if !ok {
		return nil, "the cluster's cloud is " + mode.Cloud + ", of which no annotation tells", nil
	}
	return &named, "", nil
}

func cloudNamed(name string) (catalogue.Cloud, bool) {
	for _, c := range clouds {
		if c.String() == name {
			return c, true
		}
	}
	return 0, false
}

// named is chosen for commands that have no answer where "this" names no cloud.
func (c *cloudFlag) named(ctx context.Context, streams command.Streams, world World) (*catalogue.Cloud, error) {
	cloud, why, err := c.chosen(ctx, world)
	if err == nil && why != "" {
		err = streams.Refuse(command.Found, fmt.Errorf("--cloud this names no cloud: %s; leave it out for all clouds", why))
	}
	return cloud, err
}
