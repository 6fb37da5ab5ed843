package eks

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/sts"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	// maxClusters is how many clusters an account may have in a region (EKS:
	// "Service quotas").
	maxClusters = 100
	// defaultVersion is that of clusters for which none is asked.
	defaultVersion = "1.34"

	active   = "ACTIVE"
	deleting = "DELETING"
)

var clusterPattern = pattern.New(`^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$`)

// cluster authorises the caller for the cluster that the path names, then finds
// it.
func (r *request) cluster(extra iampolicy.Context) *cluster {
	name := r.path["name"]
	found := r.clusters[r.home][name]
	context := iampolicy.Context{}
	if found != nil {
		context = found.tags.context()
	}
	r.authorize(r.arn("cluster/"+name), merge(context, extra))
	if found == nil {
		call.Refuse(noCluster(name))
	}
	return found
}

func (r *request) listClusters() any {
	r.authorize("*", nil)
	if include := r.query.Get("include"); include != "" && include != "all" {
		call.Refuse(invalidParameter(textBadInclude, include))
	}
	names := slices.Collect(maps.Keys(r.clusters[r.home]))
	shown, next := page(r, names, func(name string) string { return name })
	return clustersAnswer{append([]string{}, shown...), next}
}

func (r *request) describeCluster() any {
	return r.cluster(nil).answer(active)
}

// deleteCluster takes the access entries and associations along.
func (r *request) deleteCluster() any {
	found := r.cluster(nil)
	delete(r.clusters[r.home], found.name)
	return found.answer(deleting)
}

type createClusterInput struct {
	Name    string            `json:"name"`
	Version string            `json:"version"`
	RoleARN string            `json:"roleArn"`
	Network *vpcConfig        `json:"resourcesVpcConfig"`
	Access  accessConfig      `json:"accessConfig"`
	Tags    map[string]string `json:"tags"`
	Request string            `json:"clientRequestToken"`
}

func (in *createClusterInput) check() {
	switch {
	case in.Name == "":
		call.Refuse(invalidParameter(textRequired, "name"))
	case !clusterPattern.MatchString(in.Name):
		call.Refuse(invalidParameter(textClusterName))
	case in.RoleARN == "":
		call.Refuse(invalidParameter(textRequired, "roleArn"))
	case in.Network == nil:
		call.Refuse(invalidParameter(textRequired, "resourcesVpcConfig"))
	}
	if in.Access.Mode == "" {
		in.Access.Mode = modeConfigMap
	}
	if !isMode(in.Access.Mode) {
		call.Refuse(invalidParameter(textBadMode, in.Access.Mode))
	}
	checkTags(in.Tags, invalidParameter)
}

func isMode(mode string) bool { return mode == modeAPI || mode == modeBoth || mode == modeConfigMap }

// context has the condition keys of what a call says; check fills in the rest.
func (a *accessConfig) context() iampolicy.Context {
	context := iampolicy.Context{}
	if a.Mode != "" {
		context.Set("eks:authenticationMode", a.Mode)
	}
	if a.Bootstrap != nil {
		context.Set("eks:bootstrapClusterCreatorAdminPermissions", strconv.FormatBool(*a.Bootstrap))
	}
	return context
}

// createCluster makes a cluster that is there at once. Nothing answers at its
// endpoint, and no token of its issuer verifies until it is registered.
func (r *request) createCluster() any {
	in := input[createClusterInput](r)
	context := merge(in.Access.context(), tags(in.Tags).request())
	in.check()
	bootstrap := in.Access.Bootstrap == nil || *in.Access.Bootstrap
	resource := r.arn("cluster/" + in.Name)
	r.authorize(resource, context)
	r.authorizeTags(resource, in.Tags)
	r.authorizePass(in.RoleARN, clusterService)
	if found := r.clusters[r.home][in.Name]; found != nil {
		if found.request != "" && found.request == in.Request {
			return found.answer(active)
		}
		call.Refuse(clusterExists(in.Name))
	}
	if !r.options.Sessions.TrustsService(r.call, sts.ServiceRequest{Service: clusterService, RoleARN: in.RoleARN, SourceARN: resource, SourceAccount: r.account}) {
		call.Refuse(invalidParameter(textClusterRole, in.RoleARN))
	}
	if len(r.clusters[r.home]) >= maxClusters {
		call.Refuse(limitExceeded(textTooManyClusters, maxClusters))
	}
	made := r.newCluster(r.home, in.Name, in.Version)
	made.roleARN, made.mode, made.bootstrap, made.request, made.tags = in.RoleARN, in.Access.Mode, bootstrap, in.Request, newTags(in.Tags)
	made.network = in.Network.filled()
	r.add(made)
	if bootstrap && made.mode != modeConfigMap {
		r.admitCreator(made)
	}
	return made.answer(active)
}

// newCluster is a cluster as AWS makes one, with an issuer of its own.
func (s *Service) newCluster(home home, name, version string) *cluster {
	if version == "" {
		version = defaultVersion
	}
	hexadecimal := strings.ToUpper(strings.ReplaceAll(s.options.Identifiers.Request(), "-", ""))
	domain := home.partition.Domain()
	return &cluster{
		home: home, name: name, version: version, created: s.options.Now(),
		issuer:   "https://oidc.eks." + home.region + "." + domain + "/id/" + hexadecimal,
		endpoint: "https://" + hexadecimal + ".gr7." + home.region + ".eks." + domain,
		mode:     modeAPI, network: (&vpcConfig{}).filled(), tags: tags{},
		entries: map[string]*entry{}, associations: map[string]*association{},
	}
}

func (s *Service) add(made *cluster) {
	if s.clusters[made.home] == nil {
		s.clusters[made.home] = map[string]*cluster{}
	}
	s.clusters[made.home][made.name] = made
}

// filled is the network with AWS's defaults.
func (v *vpcConfig) filled() vpcConfig {
	out, yes, no := *v, true, false
	if out.EndpointPublicAccess == nil {
		out.EndpointPublicAccess = &yes
	}
	if out.EndpointPrivateAccess == nil {
		out.EndpointPrivateAccess = &no
	}
	if out.PublicAccessCIDRs == nil {
		out.PublicAccessCIDRs = []string{"0.0.0.0/0"}
	}
	return out
}
