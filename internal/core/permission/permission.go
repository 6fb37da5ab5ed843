package permission

import (
	"encoding/json"
	"fmt"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

// The type of a Set in JSON.
const (
	APIVersion = "tabard.dev/v1alpha1"
	Kind       = "OperatorPermissions"
)

// Cloud is a cloud that operators ask for roles.
type Cloud string

// The clouds.
const (
	AWS   Cloud = "aws"
	Azure Cloud = "azure"
	GCP   Cloud = "gcp"
)

// Support says whether an operator takes short-lived tokens of the Set's cloud.
type Support string

// The answers to whether tokens are supported; empty is not known.
const (
	Supported    Support = "yes"
	NotSupported Support = "no"
)

// Subject is the operator of which something is read, and what else its CSV tells.
type Subject struct {
	Package, Version, CSV string
	// Cloud is the one whose requests are read; empty for all.
	Cloud Cloud
	// TokenAuth is what the CSV's annotation token-auth-CLOUD says.
	TokenAuth Support
	// Audiences are those of the tokens that the CSV's pods mount; nil where the CSV is not
	// readable, and DefaultAudience is assumed.
	Audiences []string
	// ServiceAccounts are those of the CSV's Deployments, for requests that name none.
	ServiceAccounts []ServiceAccount
}

// RunAs takes over what is known of the operator's pods.
func (s *Subject) RunAs(w catalogue.Workload) {
	s.Audiences, s.ServiceAccounts = w.Audiences, nil
	for _, name := range w.ServiceAccounts {
		s.ServiceAccounts = append(s.ServiceAccounts, ServiceAccount{Namespace: InstallNamespace, Name: name})
	}
}

// DefaultAudience is the audience of the tokens of OpenShift's operators.
const DefaultAudience = "openshift"

// Set is what one source tells of the permissions of one version of an operator. The zero Set is
// one of which nothing is known.
type Set struct {
	Package, Version, CSV string
	Cloud                 Cloud
	TokenAuth             Support
	Source                Source
	Certainty             Certainty
	// Incomplete says that the source has more than could be read: see Findings.
	Incomplete bool
	Findings   []Finding

	// requests is nil where nothing is known.
	requests *[]Request
}

// Requests are what is asked for. Where known is false nobody says what that is, which is another
// answer than an empty list. The list is shared: it must not be changed.
func (s Set) Requests() (requests []Request, known bool) {
	if s.requests == nil {
		return nil, false
	}
	return *s.requests, true
}

// AsksNothing says that the source declares that the operator asks the cloud for nothing.
func (s Set) AsksNothing() bool {
	requests, known := s.Requests()
	return known && len(requests) == 0 && !s.Incomplete
}

// Finding is one slip of a source.
type Finding struct {
	Code Code `json:"code"`
	// Path is where it is, such as [0].spec.serviceAccountNames; empty for the whole source.
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

// Request is one role that is asked for.
type Request struct {
	Name   string `json:"name"`
	Secret Secret `json:"secret"`
	// TokenPath is where the workload finds its token; empty where the request does not say.
	TokenPath string   `json:"tokenPath,omitempty"`
	Audiences []string `json:"audiences"`
	// AudiencesAssumed says that no source tells the audiences.
	AudiencesAssumed bool             `json:"audiencesAssumed,omitempty"`
	ServiceAccounts  []ServiceAccount `json:"serviceAccounts"`
	AWS              *AWSRequest      `json:"aws,omitempty"`
	Azure            *AzureRequest    `json:"azure,omitempty"`
	GCP              *GCPRequest      `json:"gcp,omitempty"`
}

// Cloud is the cloud that is asked; empty for none.
func (r Request) Cloud() Cloud {
	switch {
	case r.AWS != nil:
		return AWS
	case r.Azure != nil:
		return Azure
	case r.GCP != nil:
		return GCP
	}
	return ""
}

// Secret names the Secret that holds the configuration. Namespace may be InstallNamespace. It is
// empty for a request that is stored in a ServiceAccount.
type Secret struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// ServiceAccount names an account that becomes the role. Namespace may be InstallNamespace.
type ServiceAccount struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// InstallNamespace stands for the namespace that an operator is installed in.
const InstallNamespace = "$(NAMESPACE)"

// AWSRequest is what is asked of AWS.
type AWSRequest struct {
	Statements []Statement `json:"statements"`
}

// Statement is one statement of a permission policy.
type Statement struct {
	// Effect is Allow or Deny.
	Effect    string    `json:"effect"`
	Actions   []string  `json:"actions"`
	Resource  string    `json:"resource"`
	Condition Condition `json:"condition,omitempty"`
}

// AzureRequest is what is asked of Azure: built-in roles, and actions and data actions of a
// role of its own.
type AzureRequest struct {
	Roles           []string `json:"roles,omitempty"`
	Permissions     []string `json:"permissions,omitempty"`
	DataPermissions []string `json:"dataPermissions,omitempty"`
}

// GCPRequest is what is asked of Google Cloud.
type GCPRequest struct {
	PredefinedRoles  []string `json:"predefinedRoles,omitempty"`
	Permissions      []string `json:"permissions,omitempty"`
	SkipServiceCheck bool     `json:"skipServiceCheck,omitempty"`
}

// written is a Set in JSON. Requests is absent where nothing is known, and empty where nothing is
// asked for.
type written struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Package    string     `json:"package,omitempty"`
	Version    string     `json:"version,omitempty"`
	CSV        string     `json:"csv,omitempty"`
	Cloud      Cloud      `json:"cloud,omitempty"`
	TokenAuth  Support    `json:"tokenAuth,omitempty"`
	Source     Source     `json:"source"`
	Certainty  Certainty  `json:"certainty"`
	Incomplete bool       `json:"incomplete,omitempty"`
	Requests   *[]Request `json:"requests,omitempty"`
	Findings   []Finding  `json:"findings"`
}

// MarshalJSON is the set with its apiVersion and kind. Without "requests" nothing is known;
// an empty list declares that nothing is asked for.
func (s Set) MarshalJSON() ([]byte, error) {
	out := written{
		APIVersion, Kind, s.Package, s.Version, s.CSV, s.Cloud, s.TokenAuth, s.Source, s.Certainty,
		s.Incomplete, s.requests, append([]Finding{}, s.Findings...),
	}
	if s.requests == nil {
		out.Certainty = Unknown
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Set) UnmarshalJSON(text []byte) error {
	var in written
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	if in.APIVersion != APIVersion || in.Kind != Kind {
		return fmt.Errorf("it is %.100q of %.100q, expected %s of %s", in.Kind, in.APIVersion, Kind, APIVersion)
	}
	*s = Set{
		Package: in.Package, Version: in.Version, CSV: in.CSV, Cloud: in.Cloud, TokenAuth: in.TokenAuth,
		Source: in.Source, Certainty: in.Certainty, Incomplete: in.Incomplete, Findings: in.Findings, requests: in.Requests,
	}
	if s.requests == nil {
		s.Certainty = Unknown
	}
	return nil
}
