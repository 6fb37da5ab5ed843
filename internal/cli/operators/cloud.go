package operators

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/platform/tokenfacts"
)

// clusters is the value of --cloud that stands for the cluster's own.
const clusters = "this"

// cloudFlag is the flag --cloud.
type cloudFlag struct{ value string }

// isClusters says that the cluster is asked for its cloud.
func (c *cloudFlag) isClusters() bool { return c.value == clusters }

func (c *cloudFlag) add(f *pflag.FlagSet, what string) {
	f.StringVar(&c.value, "cloud", "", what+": aws, azure, gcp, or this for the `CLOUD` of the cluster")
}

// check refuses what is no cloud, before anything is read.
func (c *cloudFlag) check() error {
	if _, ok := listing.CloudNamed(c.value); !ok && c.value != "" && !c.isClusters() {
		return fmt.Errorf("--cloud is %.80q, expected aws, azure, gcp or this", c.value)
	}
	return nil
}

// chosen is the cloud that was asked for, nil for none. why says why --cloud this is none: the
// cluster is not in token mode, or nobody knows.
func (c *cloudFlag) chosen(ctx context.Context, world World, kubeconfig *command.Kubeconfig) (cloud *catalogue.Cloud, why string, err error) {
	if !c.isClusters() {
		if named, ok := listing.CloudNamed(c.value); ok {
			return &named, "", nil
		}
		return nil, "", nil
	}
	client, err := world.Connect(kubeconfig)
	if err != nil {
		return nil, "", err
	}
	facts, err := tokenfacts.Observe(ctx, client)
	if err != nil {
		return nil, "", err
	}
	mode := facts.Decide()
	if mode.TokenMode != listing.Yes {
		return nil, mode.Sentence(), nil
	}
	named, ok := listing.CloudNamed(strings.ToLower(mode.Cloud))
	if !ok {
		return nil, "the cluster's cloud is " + mode.Cloud + ", of which no annotation tells", nil
	}
	return &named, "", nil
}

// named is chosen for commands that have no answer where "this" names no cloud.
func (c *cloudFlag) named(ctx context.Context, streams command.Streams, world World, kubeconfig *command.Kubeconfig) (*catalogue.Cloud, error) {
	cloud, why, err := c.chosen(ctx, world, kubeconfig)
	if err == nil && why != "" {
		err = streams.Refuse(command.Found, fmt.Errorf("--cloud this names no cloud: %s; leave it out for all clouds", why))
	}
	return cloud, err
}
