// Package operator says how far the install of an operator by the Operator Lifecycle Manager (OLM,
// version 0) has come: ten stages, from the catalogue to the credentials that the operator gets. It
// looks at objects that were read, and does no I/O. What OLM means by its fields and reasons was
// compared with OLM v0.46.
package operator

import (
	"fmt"
	"time"
)

// Wanted is the install that is followed.
type Wanted struct {
	// Subscription is its name, in Namespace.
	Subscription, Namespace string
	// Package, Source and SourceNamespace are what the Subscription shall have. Channel is empty for
	// any.
	Package, Channel, Source, SourceNamespace string
	// CSV is the version that shall be installed; empty for the one that OLM chooses.
	CSV string
	// Values are the environment variables that lead the operator to its role, by name. Without any
	// there are seven stages.
	Values map[string]string
	// Identity is the value by which the operator's CredentialsRequest names its role, such as the
	// ARN of the role.
	Identity string
}

// Condition is one of an object's. Since is zero where it is not known.
type Condition struct {
	Type, Status, Reason, Message string
	Since                         time.Time
}

// Objects are what was read of a cluster. What does not exist is nil or absent.
type Objects struct {
	Wanted
	// Unread are the errors by which objects of a kind could not be read, by kind.
	Unread map[Kind]error
	// Catalogue is the CatalogSource.
	Catalogue *Catalogue
	// NamespaceExists says that Namespace is there.
	NamespaceExists bool
	// Groups, Subscriptions and Plans are those of the namespace.
	Groups        []Group
	Subscriptions []Subscription
	Plans         []Plan
	// InstallModes are those that the version supports; nil where that is not known.
	InstallModes []string
	// CSV is the ClusterServiceVersion that is wanted, and no copy of one.
	CSV         *ClusterServiceVersion
	Deployments []Deployment
	// Requests are the CredentialsRequests of the operator.
	Requests []Request
}

// UnreadError says that objects of a kind could not be read.
type UnreadError struct {
	Kind Kind
	Err  error
}

func (e *UnreadError) Error() string {
	return fmt.Sprintf("the %s could not be read: %v", e.Kind, e.Err)
}

// Unwrap is why not.
func (e *UnreadError) Unwrap() error { return e.Err }

// FirstUnread is about the first of some kinds that could not be read; nil where all could.
func (o *Objects) FirstUnread(kinds ...Kind) *UnreadError {
	for _, kind := range kinds {
		if err := o.Unread[kind]; err != nil {
			return &UnreadError{kind, err}
		}
	}
	return nil
}

// Kind is a kind of objects.
type Kind string

// The kinds.
const (
	KindCatalogue    Kind = "CatalogSource"
	KindNamespace    Kind = "Namespace"
	KindGroup        Kind = "OperatorGroup"
	KindSubscription Kind = "Subscription"
	KindPlan         Kind = "InstallPlan"
	KindCSV          Kind = "ClusterServiceVersion"
	KindDeployment   Kind = "Deployment"
	KindRequest      Kind = "CredentialsRequest"
	KindSecret       Kind = "Secret"
)

// Catalogue is a CatalogSource. State is its connection's, such as READY; empty where it has none.
type Catalogue struct{ State, Message string }

// Group is an OperatorGroup. Namespaces are those that it watches, with one empty text for all.
type Group struct {
	Name       string
	Namespaces []string
	Conditions []Condition
}

// Subscription is one.
type Subscription struct {
	Namespace, Name, UID     string
	Package, Channel         string
	Source, SourceNamespace  string
	StartingCSV, Approval    string
	CurrentCSV, InstalledCSV string
	// Generation counts the changes of the spec.
	Generation int64
	// Env are the variables with a value that OLM gives to each container.
	Env map[string]string
	// References says that more variables come from other objects, so that a role may be among them.
	References bool
	// Plan is the InstallPlan that it refers to.
	Plan       string
	Conditions []Condition
}

// Plan is an InstallPlan.
type Plan struct {
	Name, UID, ResourceVersion, Phase, Message string
	Approved                                   bool
	// Generation counts the plans of a namespace.
	Generation int64
	// CSVs are all that it will install.
	CSVs       []string
	Conditions []Condition
	// Checked is the text of its CheckedAnnotation; empty for none.
	Checked string
	// Created is when it was made.
	Created time.Time
}

// Waits says that the plan waits for an approval.
func (p Plan) Waits() bool { return !p.Approved && p.Phase == "RequiresApproval" }

// ClusterServiceVersion is one.
type ClusterServiceVersion struct {
	Name, Phase, Reason, Message string
	// Since is when it came to its phase.
	Since time.Time
	// Unmet are the requirements that are not present, as in "CustomResourceDefinition x".
	Unmet []string
}

// Deployment is one of the operator's. Env is the environment of each container, by its name.
type Deployment struct {
	Name string
	Env  map[string]map[string]string
}

// Request is a CredentialsRequest.
type Request struct {
	Namespace, Name string
	// Identity is the role that it names.
	Identity string
	// Secret is the one that it asks for, NAMESPACE/NAME, and SecretExists says that it is there.
	Secret       string
	SecretExists bool
	Provisioned  bool
	// Beyond are sentences about what it asks for, and its version does not declare.
	Beyond     []string
	Conditions []Condition
}
