package api

import (
	"time"

	"github.com/tabard-dev/tabard/internal/core/operator"
)

// Role is one of a cloud: exactly one of its fields is set.
type Role struct {
	ARN   string     `json:"arn,omitempty"`
	Azure *AzureRole `json:"azure,omitempty"`
	GCP   *GCPRole   `json:"gcp,omitempty"`
}

// AzureRole is an identity of Azure. The resource group and the region are for operators that need them.
type AzureRole struct {
	Client        string `json:"client"`
	Tenant        string `json:"tenant"`
	Subscription  string `json:"subscription"`
	ResourceGroup string `json:"resourceGroup,omitempty"`
	Region        string `json:"region,omitempty"`
}

// GCPRole is a service account of Google Cloud, and the audience of the provider that vouches for it.
type GCPRole struct {
	Audience       string `json:"audience"`
	ServiceAccount string `json:"serviceAccount"`
}

// HandoffQuestion is what the owner of a cloud account is asked for.
type HandoffQuestion struct {
	// Operator is the ID of a package. Without a version the head of its default channel is meant.
	Operator  string `json:"operator"`
	Version   string `json:"version,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Account is the role's in AWS, twelve digits; without it there is no script.
	Account string `json:"account,omitempty"`
	// ClusterName and Issuer are the cluster's without them.
	ClusterName string `json:"clusterName,omitempty"`
	Issuer      string `json:"issuer,omitempty"`
	RoleName    string `json:"roleName,omitempty"`
	Path        string `json:"path,omitempty"`
	Boundary    string `json:"boundary,omitempty"`
}

// HandoffFile is one file of a hand-off.
type HandoffFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Handoff is what is sent to the owner of a cloud account.
type Handoff struct {
	Files    []HandoffFile `json:"files"`
	RoleName string        `json:"roleName"`
	// Missing says what is not known, and what is not written for want of it.
	Missing []string `json:"missing"`
	Command string   `json:"command"`
}

// CheckQuestion is whether a role is enough for an operator.
type CheckQuestion struct {
	Operator  string `json:"operator"`
	Version   string `json:"version,omitempty"`
	Namespace string `json:"namespace"`
	Role      Role   `json:"role"`
	// Documents are what the AWS command line printed of the role; without them it is read from AWS.
	Documents string `json:"documents,omitempty"`
}

// CheckRow is one thing that a role has to allow.
type CheckRow struct {
	// Result is one word, such as granted or missing.
	Result string `json:"result"`
	Good   bool   `json:"good"`
	What   string `json:"what"`
	// Why names the statement that decides.
	Why string `json:"why,omitempty"`
}

// Judgement is whether a role is enough for a version.
type Judgement struct {
	CSV  string `json:"csv"`
	From string `json:"from,omitempty"`
	// Verdict is NoChange, Satisfied, NotToken, Missing, Unknown or Overridden.
	Verdict string `json:"verdict"`
	Digest  string `json:"digest,omitempty"`
	Why     string `json:"why"`
	// Changes are between the installed version and this one.
	Changes     []DifferenceRow `json:"changes"`
	Trust       []CheckRow      `json:"trust"`
	Permissions []CheckRow      `json:"permissions"`
	Warnings    []string        `json:"warnings"`
	// Broader is what the role allows beyond what is asked for.
	Broader []string `json:"broader"`
	// NotSeen are kinds of policies that nobody looked at.
	NotSeen []string `json:"notSeen"`
}

// Check is the answer to a CheckQuestion.
type Check struct {
	Judgement Judgement `json:"judgement"`
	// Enough says that the role may be given to the operator.
	Enough  bool   `json:"enough"`
	Command string `json:"command"`
}

// ReasonQuestion is whether a text may be recorded as why a person takes a risk.
type ReasonQuestion struct {
	Text string `json:"text"`
}

// Reason is a text that may be recorded. Flag is how a command says it, with a blank before.
type Reason struct {
	Text string `json:"text"`
	Flag string `json:"flag"`
}

// InstallQuestion is an install that a person wants.
type InstallQuestion struct {
	Operator  string `json:"operator"`
	Version   string `json:"version,omitempty"`
	Channel   string `json:"channel,omitempty"`
	Namespace string `json:"namespace"`
	// Mode is all, own or single; without it as the OperatorGroup that is there, else own or all.
	Mode string `json:"mode,omitempty"`
	// Watched is the namespace of the mode single.
	Watched string `json:"watched,omitempty"`
	// Approval of upgrades is manual or automatic.
	Approval    string `json:"approval"`
	Role        *Role  `json:"role,omitempty"`
	WithoutRole bool   `json:"withoutRole,omitempty"`
	// Force goes on where the cluster is not in token mode, or the operator does not say that it takes
	// tokens of its cloud.
	Force     bool   `json:"force,omitempty"`
	Documents string `json:"documents,omitempty"`
	// Accept is a verdict that a person takes the risk of, as InstallPlan.Accept says it.
	Accept string `json:"accept,omitempty"`
	// Reason is why. A risk that is taken requires one.
	Reason string `json:"reason,omitempty"`
	// Digest is that of the plan that a person has seen. It is needed to install.
	Digest string `json:"digest,omitempty"`
}

// Change is one object of a plan.
type Change struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Exists   bool   `json:"exists"`
	Sentence string `json:"sentence"`
}

// InstallPlan is what an install would do. Nothing was written.
type InstallPlan struct {
	Digest  string   `json:"digest"`
	Changes []Change `json:"changes"`
	// Manifests are the objects that would be made, as YAML.
	Manifests string    `json:"manifests"`
	Judgement Judgement `json:"judgement"`
	// MayPass says that nothing speaks against it. If not, Accept is what takes the risk.
	MayPass bool   `json:"mayPass"`
	Accept  string `json:"accept,omitempty"`
	// Neighbours are other Subscriptions of the namespace, which OLM upgrades together with this one.
	Neighbours []string `json:"neighbours"`
	Warnings   []string `json:"warnings"`
	Command    string   `json:"command"`
}

// Written is what a request has changed.
type Written struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Said are sentences of what was done.
	Said []string `json:"said"`
}

// InstallRow is one install, by its Subscription.
type InstallRow struct {
	Namespace    string `json:"namespace"`
	Subscription string `json:"subscription"`
	Package      string `json:"package"`
	CSV          string `json:"csv,omitempty"`
	Installed    bool   `json:"installed"`
	// Next is the version to which an upgrade waits.
	Next string `json:"next,omitempty"`
	Role string `json:"role,omitempty"`
	// Stage is the first that is not done, or the last; Of is how many there are.
	Stage operator.Stage `json:"stage"`
	Of    int            `json:"of"`
	// NeedsYou says that it waits for a person, or has failed.
	NeedsYou bool `json:"needsYou"`
}

// Installs are those of the namespaces that the person may read.
type Installs struct {
	Items []InstallRow `json:"items"`
	// Partly says what could not be read.
	Partly  []string  `json:"partly"`
	ReadAt  time.Time `json:"readAt"`
	Command string    `json:"command"`
}

// InstallDetail is one install with all that is seen of it.
type InstallDetail struct {
	InstallRow
	Channel string `json:"channel"`
	// Source is the CatalogSource, as namespace/name.
	Source   string `json:"source"`
	Approval string `json:"approval"`
	// Stages are up to the first that is not done; StageNames are those of all.
	Stages     []operator.Stage  `json:"stages"`
	StageNames []string          `json:"stageNames"`
	Values     map[string]string `json:"values"`
	Neighbours []string          `json:"neighbours"`
	// Waiting is the name of the InstallPlan that waits for an approval.
	Waiting string    `json:"waiting,omitempty"`
	ReadAt  time.Time `json:"readAt"`
	Command string    `json:"command"`
}

// Upgrade is an InstallPlan that waits for an approval.
type Upgrade struct {
	Plan string `json:"plan"`
	// Judgements are one of each operator that the plan installs.
	Judgements []Judgement `json:"judgements"`
	Warnings   []string    `json:"warnings"`
	// Verdict and Digest are those of all operators of the plan together.
	Verdict string `json:"verdict"`
	Digest  string `json:"digest"`
	MayPass bool   `json:"mayPass"`
	Accept  string `json:"accept,omitempty"`
	// Annotation is what the plan gets where the risk is taken: the key and the text, without the time.
	Annotation string `json:"annotation,omitempty"`
	Command    string `json:"command"`
}

// ApproveQuestion approves a plan that a person has seen.
type ApproveQuestion struct {
	Plan    string `json:"plan"`
	Verdict string `json:"verdict"`
	Digest  string `json:"digest"`
	Accept  string `json:"accept,omitempty"`
	// Reason is why a person takes the risk. A risk that is taken requires one.
	Reason string `json:"reason,omitempty"`
}

// RoleQuestion gives an installed operator another role.
type RoleQuestion struct {
	Role      Role   `json:"role"`
	Documents string `json:"documents,omitempty"`
	Accept    string `json:"accept,omitempty"`
	// Reason is why a person takes the risk. A risk that is taken requires one.
	Reason string `json:"reason,omitempty"`
	// Digest is that of the answer to the same question without one, which writes nothing.
	Digest string `json:"digest,omitempty"`
}

// RolePlan is what another role would change. Nothing was written.
type RolePlan struct {
	Digest    string    `json:"digest"`
	Changes   []string  `json:"changes"`
	Judgement Judgement `json:"judgement"`
	MayPass   bool      `json:"mayPass"`
	Accept    string    `json:"accept,omitempty"`
	Command   string    `json:"command"`
}
