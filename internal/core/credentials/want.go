package credentials

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// GivenRole is the ARN of a role that somebody else made for the request: what an
// administrator bound it to, else what it names itself; empty if a role is to be made.
func GivenRole(w World) (arn string, bound bool) {
	if w.Grant != nil && w.Request != nil && w.Grant.Spec.Request.UID == w.Request.UID && w.Grant.Spec.Bound != nil && w.Grant.Spec.Bound.RoleARN != "" {
		return w.Grant.Spec.Bound.RoleARN, true
	}
	if w.Provider.AWS != nil {
		return w.Provider.AWS.STSIAMRoleARN, false
	}
	return "", false
}

// requestRef is the request of the world.
func requestRef(w World) v1alpha1.RequestRef {
	return v1alpha1.RequestRef{Namespace: w.Request.Namespace, Name: w.Request.Name, UID: w.Request.UID}
}

// Subjects are who may become the role of a request: its ServiceAccount, or those that it
// names in the namespace of its Secret. While a request moves from one target to
// another, the former's are among them, so that workloads go on. Sorted.
func Subjects(w World) []string {
	targets, invalid := Targets(w.Request)
	if invalid != "" {
		return nil
	}
	names := w.Request.Spec.ServiceAccountNames
	out := subjectsOf(targets[0], names)
	for _, t := range formerTargets(w, targets) {
		if t.Kind == targets[0].Kind && isHeld(w, t) {
			out = append(out, subjectsOf(t, names)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func subjectsOf(target Target, names []string) []string {
	if target.Kind == KindServiceAccount {
		names = []string{target.Name}
	}
	var out []string
	for _, name := range names {
		out = append(out, "system:serviceaccount:"+target.Namespace+":"+name)
	}
	return out
}

// isHeld says that something of the request's may still be at a target.
func isHeld(w World, target Target) bool {
	s := stateOf(w, target)
	return s.Error != "" || s.isOf(RequestName(w.Request.Namespace, w.Request.Name))
}

// formerTargets are those that the grant remembers and the request does not want.
func formerTargets(w World, wanted []Target) []Target {
	var out []Target
	if w.Grant == nil {
		return nil
	}
	for _, t := range w.Grant.Status.Targets {
		if target := (Target{t.Kind, t.Namespace, t.Name}); !slices.Contains(wanted, target) {
			out = append(out, target)
		}
	}
	return out
}

// Audiences are those of the tokens by which workloads become the role.
func Audiences(target Target) []string {
	if target.Kind == KindServiceAccount {
		return []string{audienceSTS}
	}
	return []string{audienceOpenShift, audienceSTS}
}

// Tags are all tags of the role of a request.
func Tags(w World) map[string]string {
	out := map[string]string{}
	maps.Copy(out, w.Settings.Tags)
	maps.Copy(out, w.Platform.ResourceTags)
	out["kubernetes.io/cluster/"+w.Platform.Infrastructure] = "owned"
	out[ClusterTag] = w.Platform.Infrastructure
	out[OwnerTag] = Owner(requestRef(w))
	return out
}

// TrustPolicy is the trust policy of the role to make for a request, or why there can be
// none.
func TrustPolicy(w World) (string, condition.Verdict) {
	targets, invalid := Targets(w.Request)
	if invalid != "" {
		return "", condition.No(ReasonInvalidTarget, "%s", invalid)
	}
	t, v := trustOf(w, targets[0])
	if !v.IsTrue() {
		return "", v
	}
	return trustPolicy(t.issuers, Subjects(w)), v
}

// roleRecord is the role as the grant remembers it, or else as it is to be named.
func roleRecord(w World, path string) v1alpha1.GrantedRole {
	if w.Grant != nil && w.Grant.Status.Role != nil {
		return *w.Grant.Status.Role
	}
	name := RoleNameOf(w)
	arn := identity.ARN{Partition: cmp.Or(w.Settings.Partition, "aws"), Service: "iam", Account: w.Account, Resource: "role" + path + name}
	return v1alpha1.GrantedRole{AccountID: w.Account, Name: name, Path: path, ARN: arn.String(), PolicyName: PolicyName(name)}
}

// RoleNameOf is the name of the role to look at in a pass; empty for none.
func RoleNameOf(w World) string {
	switch {
	case w.Grant != nil && w.Grant.Status.Role != nil:
		return w.Grant.Status.Role.Name
	case w.Request == nil || w.Provider.AWS == nil || w.Platform.Infrastructure == "":
		return ""
	}
	if arn, _ := GivenRole(w); arn != "" {
		return ""
	}
	return RoleName(w.Settings, w.Platform.Infrastructure, w.Request.Namespace, w.Request.Name)
}

// isRoleARN says that a text is the ARN of a role of a partition.
func isRoleARN(text, partition string) bool {
	arn, ok := identity.ParseARN(text)
	name, isRole := strings.CutPrefix(arn.Resource, "role/")
	return ok && isRole && name != "" && !strings.HasSuffix(name, "/") && arn.Partition == cmp.Or(partition, "aws") && arn.Service == "iam" && arn.Region == "" &&
		len(arn.Account) == 12 && strings.Trim(arn.Account, "0123456789") == "" && !strings.ContainsAny(name, " *?\t\n\r$")
}
