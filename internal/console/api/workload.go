package api

import (
	"time"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/decode"
)

// PodRow is a pod, as a list has it: by itself and its ServiceAccount, and not by what is in AWS.
type PodRow struct {
	Namespace      string `json:"namespace"`
	Name           string `json:"name"`
	ServiceAccount string `json:"serviceAccount"`
	// Phase is that of Kubernetes, such as Running.
	Phase   string    `json:"phase"`
	Created time.Time `json:"created"`
	chain.Identity
}

// AccountRow is a ServiceAccount, as a list has it.
type AccountRow struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	chain.Identity
	// Pods counts those that run as it, and Without those of them that lack the identity that they should have.
	// PodsUnknown says why neither is known.
	Pods        int    `json:"pods"`
	Without     int    `json:"without"`
	PodsUnknown string `json:"podsUnknown,omitempty"`
}

// Pods is a page of the pods of the namespaces that the person may read.
type Pods struct {
	Items []PodRow `json:"items"`
	Listed
}

// Accounts is a page of the ServiceAccounts of the namespaces that the person may read.
type Accounts struct {
	Items []AccountRow `json:"items"`
	Listed
}

// Listed is what is to be known of one page of a list.
type Listed struct {
	// Matching counts what matches, of Total.
	Matching int     `json:"matching"`
	Total    int     `json:"total"`
	Page     int     `json:"page"`
	Limit    int     `json:"limit"`
	Facets   []Facet `json:"facets"`
	// Partly says what could not be read.
	Partly []string `json:"partly"`
	// Version changes with what was read: an event names the newest.
	Version string    `json:"version"`
	ReadAt  time.Time `json:"readAt"`
	Command string    `json:"command"`
}

// Explanation is the chain of a pod or a ServiceAccount, link by link.
type Explanation struct {
	chain.Report
	// Sentence is the answer as a whole.
	Sentence string `json:"sentence"`
	// Others are the findings besides the first one.
	Others []chain.Finding `json:"others"`
	// Pods are the first of PodsTotal that run as a ServiceAccount; none where a pod is asked about.
	// PodsUnknown says why they are not known.
	Pods        []PodRow `json:"pods"`
	PodsTotal   int      `json:"podsTotal"`
	PodsUnknown string   `json:"podsUnknown,omitempty"`
	// Version changes with the pod and its ServiceAccount: an event names the newest.
	Version string    `json:"version"`
	ReadAt  time.Time `json:"readAt"`
	Command string    `json:"command"`
}

// Changed is an event: what a page shows has another version. A page that has an older one reads again.
type Changed struct {
	Version string `json:"version"`
}

// DecodeQuestion is a text that somebody has pasted. It is neither stored nor logged.
type DecodeQuestion struct {
	Text string `json:"text"`
}

// Decoded is what a text says. It has no token.
type Decoded struct {
	decode.Result
	// LinkName is the word behind the number of the link.
	LinkName string `json:"linkName,omitempty"`
	Command  string `json:"command"`
}

// PolicyQuestion is a policy that somebody has pasted. It is neither stored nor logged.
type PolicyQuestion struct {
	Text string `json:"text"`
	// Kind is that of the policy, such as "trust": one of PolicyKinds.
	Kind string `json:"kind"`
	// RoleARN is of the role that has a trust policy; empty where nobody says.
	RoleARN string `json:"roleARN,omitempty"`
}

// PolicyFinding is one mistake of a policy.
type PolicyFinding struct {
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

// PolicyCheck is what is wrong with a policy.
type PolicyCheck struct {
	// Unusable says why there is no policy to look at.
	Unusable string          `json:"unusable,omitempty"`
	Findings []PolicyFinding `json:"findings"`
	// Sentence is the answer as a whole, and Room how much of AWS's quota the document uses.
	Sentence string `json:"sentence"`
	Room     string `json:"room,omitempty"`
	Command  string `json:"command"`
}
