package platform

import (
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/spf13/pflag"

	core "github.com/tabard-dev/tabard/internal/core/platform"
)

const (
	infrastructureFlag = "infrastructure-name"
	regionFlag         = "region"
)

var (
	// nameForm is the form of OpenShift's names of clusters: 27 characters, so that half
	// of a role's name is left for what the role is for.
	nameForm   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,25}[a-z0-9])?$`) })
	regionForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{1,31}$`) })
)

// Flags are what an administrator says of the cluster on the command line.
type Flags struct{ platform, operator, infrastructure, region string }

// Add adds the flags.
func (f *Flags) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.platform, core.PlatformFlag, string(core.Auto), "Auto, OpenShift or Kubernetes: what the cluster is; Auto is OpenShift where the API server serves "+core.ConfigGroup)
	flags.StringVar(&f.operator, core.OperatorFlag, string(core.Detect), "auto, present or absent: whether a Cloud Credential Operator serves the cluster's CredentialsRequests; auto looks for its Deployment, its ClusterOperator and its Lease, and takes what it may not read for present")
	flags.StringVar(&f.infrastructure, infrastructureFlag, "", "the cluster's name in the cloud, with which names of roles begin: unique in the account (on OpenShift the Infrastructure has it)")
	flags.StringVar(&f.region, regionFlag, "", "the cluster's region (on OpenShift the Infrastructure has it)")
}

// Override checks what was said.
func (f *Flags) Override() (core.Override, error) {
	out := core.Override{
		Platform: core.Kind(f.platform), Operator: core.Presence(f.operator), Infrastructure: f.infrastructure, Region: f.region,
	}
	switch {
	case !slices.Contains(core.Kinds(), out.Platform):
		return core.Override{}, fmt.Errorf("--%s=%.80s: expected one of %v", core.PlatformFlag, f.platform, core.Kinds())
	case !slices.Contains(core.Presences(), out.Operator):
		return core.Override{}, fmt.Errorf("--%s=%.80s: expected one of %v", core.OperatorFlag, f.operator, core.Presences())
	case f.infrastructure != "" && !nameForm().MatchString(f.infrastructure):
		return core.Override{}, fmt.Errorf("--%s=%.80s: expected at most 27 small letters, digits and hyphens, with a letter or digit at both ends", infrastructureFlag, f.infrastructure)
	case f.region != "" && !regionForm().MatchString(f.region):
		return core.Override{}, fmt.Errorf("--%s=%.80s: expected a region such as eu-central-1", regionFlag, f.region)
	case out.Platform == core.OpenShift && (f.infrastructure != "" || f.region != ""):
		return core.Override{}, fmt.Errorf("--%s and --%s are for plain Kubernetes: on OpenShift the Infrastructure has both", infrastructureFlag, regionFlag)
	}
	return out, nil
}
