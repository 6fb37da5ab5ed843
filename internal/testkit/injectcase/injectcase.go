// Package injectcase reads what the golden pods of core/inject are given: the same
// cases are decided by the core alone, and asked of a server by an API server.
package injectcase

import (
	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/azure"
	"github.com/tabard-dev/tabard/internal/core/inject/gcp"
)

// Case is what a *.binding.yaml file says. Settings left out are the defaults.
type Case struct {
	// Clouds are those whose injectors see the pod, in this order; AWS alone if
	// none is named.
	Clouds []string `json:"clouds"`
	// Settings are those of AWS.
	Settings inject.Settings `json:"settings"`
	Azure    azure.Settings  `json:"azure"`
	Google   gcp.Settings    `json:"gcp"`
	// Jitter is the random number of container credentials, if any.
	Jitter *int64 `json:"jitter"`
	// Namespace is that of the request.
	Namespace string `json:"namespace"`
	// NamespaceLabels, Annotations and Labels are those of the namespace and of
	// the ServiceAccount.
	NamespaceLabels map[string]string `json:"namespaceLabels"`
	Annotations     map[string]string `json:"annotations"`
	Labels          map[string]string `json:"labels"`
	// Unknown says that there is no such ServiceAccount.
	Unknown bool `json:"unknown"`
	// Mapping and Identities are the two documents as they are written.
	Mapping    string `json:"mapping"`
	Identities string `json:"identities"`
	// Problems are those that the documents have.
	Problems []string `json:"problems"`
}

// New is a case of the defaults, in the namespace shop.
func New() Case {
	given := Case{Settings: inject.Defaults(), Azure: azure.Defaults(), Google: gcp.Defaults(), Namespace: "shop"}
	given.Azure.TenantID = "22222222-0000-0000-0000-000000000000"
	return given
}
