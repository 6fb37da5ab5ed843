package eks

import (
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// nodeTypes are the types of access entries of nodes, with the username and the
// groups that each has (EKS: "Create access entries").
var nodeTypes = map[string]struct {
	username string
	groups   []string
}{
	"EC2_LINUX":      {"system:node:{{EC2PrivateDNSName}}", []string{"system:nodes"}},
	"EC2_WINDOWS":    {"system:node:{{EC2PrivateDNSName}}", []string{"system:nodes", "eks:kube-proxy-windows"}},
	"EC2":            {"system:node:{{EC2PrivateDNSName}}", []string{"system:nodes"}},
	"FARGATE_LINUX":  {"system:node:{{SessionName}}", []string{"system:bootstrappers", "system:nodes", "system:node-proxier"}},
	"HYBRID_LINUX":   {"system:node:{{SessionName}}", []string{"system:nodes"}},
	"HYPERPOD_LINUX": {"system:node:{{SessionName}}", []string{"system:nodes"}},
}

// reservedPrefixes are those that neither a username nor a group may have.
var reservedPrefixes = []string{"system:", "eks:", "aws:", "amazon:", "iam:"}

// username is the one that a principal has where it is given none.
func (h home) username(p principal) string {
	if p.kind == "user" {
		return p.arn
	}
	return h.partition.ARN("sts", "", p.account, "assumed-role/"+p.name+"/{{SessionName}}")
}

// names fills in username and groups, and checks those that were given.
func (h home) names(in *entryInput, e *entry, p principal) *call.Fault {
	node, isNode := nodeTypes[e.kind]
	given := in.Groups != nil || in.Username != nil
	switch {
	case !isNode && e.kind != standard:
		return invalidParameter(textEntryType, e.kind, strings.Join(append(slices.Sorted(maps.Keys(nodeTypes)), standard), ", "))
	case isNode && p.kind != "role":
		return invalidParameter(textNodeRole, e.kind)
	case isNode && given:
		return invalidParameter(textNodeNames, e.kind)
	case isNode:
		e.username, e.groups = node.username, node.groups
		return nil
	}
	if in.Groups != nil {
		e.groups = slices.Clone(*in.Groups)
	}
	if in.Username != nil && *in.Username != "" {
		e.username = *in.Username
	}
	for _, group := range e.groups {
		if group == "" || isReserved(group) {
			return invalidParameter(textGroup, group, strings.Join(reservedPrefixes, ", "))
		}
	}
	if e.username == "" {
		e.username = h.username(p)
		return nil
	}
	return checkUsername(e.username, h.username(p))
}

// checkUsername checks a username; the one that EKS itself gives is good.
func checkUsername(username, own string) *call.Fault {
	before, _, variable := strings.Cut(username, "{{SessionName")
	switch {
	case username == own:
		return nil
	case isReserved(username):
		return invalidParameter(textUsername, username, strings.Join(reservedPrefixes, ", "))
	case variable && !strings.Contains(before, ":"):
		return invalidParameter(textSessionName, username)
	}
	return nil
}

func isReserved(name string) bool {
	return slices.ContainsFunc(reservedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
