package bundle

import (
	"encoding/json"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// csv is what is looked at of a ClusterServiceVersion.
type csv struct {
	Metadata struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Version string `json:"version"`
		Install struct {
			Spec struct {
				Deployments        catalogue.Deployments `json:"deployments"`
				Permissions        []rights              `json:"permissions"`
				ClusterPermissions []rights              `json:"clusterPermissions"`
			} `json:"spec"`
		} `json:"install"`
	} `json:"spec"`
}

type rights struct {
	ServiceAccountName string   `json:"serviceAccountName"`
	Rules              []policy `json:"rules"`
}

// policy is a rule of RBAC.
type policy struct {
	APIGroups []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	Verbs     []string `json:"verbs"`
}

// workload is as what the Deployments run.
func (c *csv) workload() catalogue.Workload { return c.Spec.Install.Spec.Deployments.Workload() }

// accounts are the ServiceAccounts that the Deployments run as.
func (c *csv) accounts() []string { return c.workload().ServiceAccounts }

// subject is the operator, for the readers of requests.
func (c *csv) subject() permission.Subject {
	out := permission.Subject{CSV: c.Metadata.Name, Version: c.Spec.Version}
	out.RunAs(c.workload())
	return out
}

// missingVerbs are the verbs on CredentialsRequests that no ServiceAccount of a Deployment has by
// the ClusterServiceVersion, nor anybody by a role among the manifests.
func (c *csv) missingVerbs(manifests []File) []string {
	var rules []policy
	accounts := c.accounts()
	for _, r := range slices.Concat(c.Spec.Install.Spec.Permissions, c.Spec.Install.Spec.ClusterPermissions) {
		if slices.Contains(accounts, r.ServiceAccountName) {
			rules = append(rules, r.Rules...)
		}
	}
	for _, f := range manifests {
		for _, d := range f.Documents {
			var role struct {
				Rules []policy `json:"rules"`
			}
			if (d.Kind == "Role" || d.Kind == "ClusterRole") && json.Unmarshal(d.JSON, &role) == nil {
				rules = append(rules, role.Rules...)
			}
		}
	}
	allow := func(verb string) bool {
		return slices.ContainsFunc(rules, func(p policy) bool {
			return has(p.APIGroups, group) && has(p.Resources, "credentialsrequests") && has(p.Verbs, verb)
		})
	}
	var out []string
	if !allow("create") {
		out = append(out, "create")
	}
	if !allow("update") && !allow("patch") {
		out = append(out, "update")
	}
	return out
}

func has(all []string, one string) bool {
	return slices.Contains(all, one) || slices.Contains(all, "*")
}

// size is what the API server counts of annotations, in bytes
// (k8s.io/apimachinery/pkg/api/validation.ValidateAnnotationsSize).
func size(annotations map[string]string) int {
	total := 0
	for key, value := range annotations {
		total += len(key) + len(value)
	}
	return total
}
