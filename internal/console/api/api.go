// Package api has the documents of the console's API. The front end's types are made of them, by
// hack/consoletypes.
package api

import (
	"time"

	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/platform/tokenfacts"
)

// Code is what a browser exchanges for a session.
type Code struct {
	Code string `json:"code"`
}

// Opened is a new session. Its other secret is in a cookie.
type Opened struct {
	// CSRF is what each request has to bring in the header X-Tabard-CSRF.
	CSRF string `json:"csrf"`
}

// Session is who looks at what.
type Session struct {
	// User is who reads and writes the cluster; empty where the cluster does not say.
	User string `json:"user"`
	// Cluster is its name in the kubeconfig.
	Cluster    string `json:"cluster"`
	HasCluster bool   `json:"hasCluster"`
	ReadOnly   bool   `json:"readOnly"`
	// Catalogue is the path of one in files; empty for those of the cluster.
	Catalogue string `json:"catalogue"`
	Version   string `json:"version"`
}

// Problem is an answer that is an error (https://www.rfc-editor.org/rfc/rfc9457).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Code is one word for programs.
	Code string `json:"code"`
	// Field is the field or the parameter that is wrong, where one is.
	Field string `json:"field,omitempty"`
	// Instance is the number of the request.
	Instance string `json:"instance"`
	// Next is what to type or do.
	Next []string `json:"next,omitempty"`
	// MissingRight is the right that the person lacks, in the words of the API server.
	MissingRight string `json:"missingRight,omitempty"`
}

// Cluster is whether the cluster gives operators short-lived tokens.
type Cluster struct {
	tokenfacts.Mode
	Sentence string `json:"sentence"`
	// Follows says what a person does with it.
	Follows string `json:"follows"`
	// Command shows the same.
	Command string `json:"command"`
}

// Row is a package with the version that a new install takes.
type Row struct {
	// ID is the package in addresses.
	ID string `json:"id"`
	listing.Row
	// Asks is what it asks the cloud for, in words.
	Asks string `json:"asks"`
}

// FacetValue is one value of a filter, and how many packages of the catalogue have it.
type FacetValue struct {
	Value string `json:"value"`
	Label string `json:"label"`
	Count int    `json:"count"`
}

// Facet is a filter with its values.
type Facet struct {
	Name   string       `json:"name"`
	Label  string       `json:"label"`
	Values []FacetValue `json:"values"`
}

// Operators is a page of the catalogue.
type Operators struct {
	Items []Row `json:"items"`
	// Matching counts the packages that match, of Total. Of Unknown ones it is not known.
	Matching int `json:"matching"`
	Total    int `json:"total"`
	Unknown  int `json:"unknown"`
	// NotStandalone counts those that match and are not shown because they do not stand alone.
	NotStandalone int     `json:"notStandalone"`
	Page          int     `json:"page"`
	Limit         int     `json:"limit"`
	Facets        []Facet `json:"facets"`
	// Findings are the first of FindingsTotal.
	Findings      []listing.CatalogueFinding `json:"findings"`
	FindingsTotal int                        `json:"findingsTotal"`
	// ReadAt is when the catalogue was read.
	ReadAt time.Time `json:"readAt"`
	// InstalledUnknown says why it is not known what else is installed.
	InstalledUnknown string `json:"installedUnknown,omitempty"`
	// Cloud is the cluster's, in token mode.
	Cloud   string `json:"cloud,omitempty"`
	Command string `json:"command"`
}

// Sentence is one thing that an operator asks for.
type Sentence struct {
	Text string `json:"text"`
	// Marks say why it is sensitive.
	Marks []string `json:"marks"`
}

// PermissionRequest is one role that an operator asks for.
type PermissionRequest struct {
	Name            string     `json:"name"`
	Secret          string     `json:"secret,omitempty"`
	Audiences       []string   `json:"audiences"`
	ServiceAccounts []string   `json:"serviceAccounts"`
	Sentences       []Sentence `json:"sentences"`
}

// Permissions are what a version asks the cloud for.
type Permissions struct {
	Known bool `json:"known"`
	// Why says why it is unknown.
	Why         string `json:"why,omitempty"`
	Source      string `json:"source,omitempty"`
	Certainty   string `json:"certainty,omitempty"`
	AsksNothing bool   `json:"asksNothing,omitempty"`
	Incomplete  bool   `json:"incomplete,omitempty"`
	Digest      string `json:"digest,omitempty"`

	Requests []PermissionRequest `json:"requests"`
	// Policy is the policy for AWS that grants it, as JSON.
	Policy   string                     `json:"policy,omitempty"`
	Findings []listing.CatalogueFinding `json:"findings"`
	// Instructions are blocks of code that the author wrote for people. Nothing evaluates them.
	Instructions []string `json:"instructions"`
}

// Chosen is one version of an operator.
type Chosen struct {
	Version       string            `json:"version,omitempty"`
	CSV           string            `json:"csv"`
	DisplayName   string            `json:"displayName,omitempty"`
	Provider      string            `json:"provider,omitempty"`
	Description   string            `json:"description,omitempty"`
	Capabilities  string            `json:"capabilities,omitempty"`
	Categories    []string          `json:"categories"`
	InstallModes  []string          `json:"installModes"`
	Repository    string            `json:"repository,omitempty"`
	MetadataKnown bool              `json:"metadataKnown"`
	Features      []listing.Feature `json:"features"`
	Values        []string          `json:"values"`
	Permissions   Permissions       `json:"permissions"`
}

// Channel is a channel of a package, with a drawing of its upgrades.
type Channel struct {
	listing.ChannelDetail
	// Graph is nil where the catalogue does not tell which version upgrades from which.
	Graph *listing.Graph `json:"graph,omitempty"`
}

// Operator is one package.
type Operator struct {
	ID             string                     `json:"id"`
	Source         listing.Place              `json:"source"`
	Package        string                     `json:"package"`
	DefaultChannel string                     `json:"defaultChannel,omitempty"`
	Deprecated     string                     `json:"deprecated,omitempty"`
	Channels       []Channel                  `json:"channels"`
	Versions       []listing.VersionDetail    `json:"versions"`
	Chosen         *Chosen                    `json:"chosen,omitempty"`
	Findings       []listing.CatalogueFinding `json:"findings"`
	Installed      []listing.Install          `json:"installed,omitempty"`
	// CannotInstall says why the console does not install it.
	CannotInstall      string `json:"cannotInstall,omitempty"`
	SuggestedNamespace string `json:"suggestedNamespace,omitempty"`
	Command            string `json:"command"`
}

// DifferenceRow is one thing that one version asks for and another does not, or otherwise.
type DifferenceRow struct {
	// Class says what became of it, such as added.
	Class     string   `json:"class"`
	Sensitive bool     `json:"sensitive"`
	Marks     []string `json:"marks"`
	// Text is the change as a sentence.
	Text string `json:"text"`
}

// Difference is what another version asks for more or less.
type Difference struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Known is whether both sides are known; Why says what is not.
	Known bool            `json:"known"`
	Why   string          `json:"why,omitempty"`
	Rows  []DifferenceRow `json:"rows"`
	// TrustMustChange says that the role's trust policy has to change, too.
	TrustMustChange bool   `json:"trustMustChange"`
	Command         string `json:"command"`
}

// Documents are one of each type that an endpoint reads or answers with.
func Documents() []any {
	return []any{
		Code{}, Opened{}, Session{}, Problem{}, Cluster{}, Operators{}, Operator{}, Difference{},
		HandoffQuestion{}, Handoff{}, CheckQuestion{}, Check{}, ReasonQuestion{}, Reason{}, InstallQuestion{}, InstallPlan{}, Written{},
		Installs{}, InstallDetail{}, Upgrade{}, ApproveQuestion{}, RoleQuestion{}, RolePlan{},
		Pods{}, Accounts{}, Explanation{}, Changed{}, DecodeQuestion{}, Decoded{}, PolicyQuestion{}, PolicyCheck{}, Overview{},
	}
}
