package eks

import (
	"maps"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/iampolicy"
)

// home is an account in a region, which has clusters of its own.
type home struct {
	partition       partition.Partition
	account, region string
}

func (h home) arn(resource string) string {
	return h.partition.ARN("eks", h.region, h.account, resource)
}

// The ways in which a cluster finds out who a caller is.
const (
	modeAPI       = "API"
	modeBoth      = "API_AND_CONFIG_MAP"
	modeConfigMap = "CONFIG_MAP"
)

type cluster struct {
	home
	name, version, roleARN string
	endpoint, authority    string
	// issuer is the claim iss of the tokens of its pods.
	issuer string
	// keys verify these tokens. Where there are none, fetched says that they
	// are to be had from the issuer; else no token verifies.
	keys    []jose.JSONWebKey
	fetched bool
	mode    string
	// bootstrap says that whoever made the cluster became its administrator.
	bootstrap bool
	network   vpcConfig
	created   time.Time
	// request is the caller's token of the request that made it.
	request string
	tags    tags
	// entries have the ARNs of their principals as keys.
	entries map[string]*entry
	// associations have their IDs as keys.
	associations map[string]*association
}

func (c *cluster) arn() string { return c.home.arn("cluster/" + c.name) }

// entry is an access entry.
type entry struct {
	arn string
	// principal is the ARN of a role or user, principalID the unique ID that it
	// had when the entry was made: whoever comes later under the same name has
	// no access (EKS: "Create access entries"). Nobody is shown the ID.
	principal, principalID string
	kind, username         string
	groups                 []string
	created, modified      time.Time
	request                string
	tags                   tags
	// policies have their ARNs as keys.
	policies map[string]*grant
}

// grant is an access policy that is associated with an access entry.
type grant struct {
	arn               string
	scope             accessScope
	created, modified time.Time
}

// association gives the pods of a service account a role.
type association struct {
	arn, id                   string
	namespace, serviceAccount string
	role, target, externalID  string
	// untagged says that sessions get no tags.
	untagged bool
	// policy is a session policy, empty for none.
	policy            string
	created, modified time.Time
	request           string
	tags              tags
}

// find returns the association of a service account, nil for none.
func (c *cluster) find(namespace, serviceAccount string) *association {
	for _, one := range c.associations {
		if one.namespace == namespace && one.serviceAccount == serviceAccount {
			return one
		}
	}
	return nil
}

// tags are a resource's. Keys differ by case. They are replaced and never
// changed: answers hold them.
type tags map[string]string

func newTags(given map[string]string) tags {
	out := tags{}
	maps.Copy(out, given)
	return out
}

// context has the tags as condition keys of their resource.
func (t tags) context() iampolicy.Context {
	context := iampolicy.Context{}
	for key, value := range t {
		context.Set("aws:ResourceTag/"+key, value)
	}
	return context
}

// request has the tags as condition keys of a call that writes them.
func (t tags) request() iampolicy.Context {
	context := iampolicy.Context{}
	for key, value := range t {
		context.Set("aws:RequestTag/"+key, value)
	}
	if len(t) > 0 {
		context.Set("aws:TagKeys", slices.Sorted(maps.Keys(t))...)
	}
	return context
}

func merge(contexts ...iampolicy.Context) iampolicy.Context {
	out := iampolicy.Context{}
	for _, one := range contexts {
		maps.Copy(out, one)
	}
	return out
}
