// Package overview judges a cluster as a whole: the links of its chain from the issuer to the webhook, and
// the one thing to do next. It takes what the console has read, which is plain data, and does no I/O.
package overview

import (
	"iter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/credentials"
)

// Workload is a pod or a ServiceAccount, as a list has it.
type Workload struct {
	Subject chain.Subject
	// Account is the ServiceAccount of a pod.
	Account string
	chain.Identity
}

// Chain is what was read of the workload by which the links L0, L1, L2 and L4 are judged.
type Chain struct {
	Subject chain.Subject
	// Report is what chain.Explain says of it; nil where nothing of it was read.
	Report *chain.Report
	// Issuer is the URL that the API server signs as, and Provider the ARN of the OIDC provider that AWS looks
	// for; each is empty where it is not known.
	Issuer, Provider string
	// Unread says why the workload itself was not read, and Needs names the right; both are empty where it was.
	Unread, Needs string
}

// Accounts are the ServiceAccounts that were read.
type Accounts struct {
	Total int
	// Named counts those that name a role.
	Named int
	// Slip is the first that names one in a way which does not count; nil for none. SlipFinding is what is to be
	// done about it, nil where that was not read.
	Slip        *Workload
	SlipFinding *chain.Finding
	// Unknown says why there may be others, and Needs is the right that is missing.
	Unknown, Needs string
}

// Pods are those that were read.
type Pods struct {
	Total, Given, Without int
	// Unjudged counts those of which it is not known whether they have their identity.
	Unjudged int
	// First is the first without its identity; nil for none. Finding is what is wrong with it, nil where that was
	// not read.
	First   *Workload
	Finding *chain.Finding
	// Unknown says why there may be others.
	Unknown string
}

// Requests are the CredentialsRequests that were read.
type Requests struct {
	Total, Waiting int
	// First is the first that waits; nil for none.
	First *credentials.Row
	// Unknown says why there may be others. A cluster without the kind has none, and that is known.
	Unknown string
}

// Seen is all that was read of a cluster.
type Seen struct {
	Chain    Chain
	Accounts Accounts
	Pods     Pods
	Requests Requests
	// Issuers are the OIDCIssuers of the cluster, and Webhook the conditions of the Deployment behind Tabard's
	// hook; what was not read is not there.
	Issuers []Issuer
	Webhook []metav1.Condition
}

// State is one link, of the cluster as a whole.
type State struct {
	Link  chain.Link
	State chain.State
	Text  string
	// Needs is the right that is missing where the state is unseen.
	Needs string
	// Since is when it came to be so, by what Tabard's objects have recorded; nil where they do not tell.
	Since *time.Time
	// By is the workload that it was judged by; nil where it was by none, or by all.
	By *chain.Subject
	// Finding is what is wrong with it. It is nil where nothing is, or where it is not known how that is mended.
	Finding *chain.Finding
}

// Todo is the one thing to do next. What Finding does not say is asked for by a command about Subject or about
// Request, of which one is not nil where there is no Finding.
type Todo struct {
	Title   string
	Finding *chain.Finding
	Subject *chain.Subject
	Request *credentials.Row
	// Remedy is what is to be done about the reason for which a request waits.
	Remedy string
}

// Overview is a cluster at a glance.
type Overview struct {
	Links []State
	// Todo is nil where nothing is to be done, as far as was seen.
	Todo     *Todo
	Sentence string
}

// Judge judges a cluster.
func Judge(s Seen) Overview {
	out := Overview{Links: s.states()}
	out.Todo = s.todo(out.Links)
	out.Sentence = s.sentence(out)
	return out
}

// Links are those that a cluster has as a whole.
func Links() []chain.Link {
	return []chain.Link{chain.Issuer, chain.Publication, chain.Provider, chain.Binding, chain.Webhook}
}

// CountPods counts pods, and finds the first that lacks its identity.
func CountPods(pods iter.Seq[Workload]) (out Pods) {
	for pod := range pods {
		out.Total++
		switch pod.Standing {
		case chain.Given:
			out.Given++
		case chain.Without:
			out.Without++
			if out.First == nil {
				out.First = new(pod)
			}
		case chain.Unknown:
			out.Unjudged++
		case chain.Nobody:
		}
	}
	return out
}

// CountAccounts counts ServiceAccounts, and finds the first that names its role in a way which does not count.
func CountAccounts(accounts iter.Seq[Workload]) (out Accounts) {
	for account := range accounts {
		out.Total++
		switch {
		case account.Standing == chain.Without:
			if out.Slip == nil {
				out.Slip = new(account)
			}
		case account.Role != "":
			out.Named++
		}
	}
	return out
}

// Candidates are the workloads by which the cluster may be judged, the best first, at most one of each sort: a
// pod that the webhook seems to have passed by, a pod with the role that its ServiceAccount names, such a
// ServiceAccount, and the ServiceAccount default of a namespace, by which little more than the issuer is
// judged.
func Candidates(pods, accounts iter.Seq[Workload], namespace string) (out []chain.Subject) {
	type name struct{ namespace, account string }
	named := map[name]string{}
	var first *chain.Subject
	for account := range accounts {
		if account.Role == "" || account.Standing != chain.Given {
			continue
		}
		named[name{account.Subject.Namespace, account.Subject.Account}] = account.Role
		if first == nil {
			first = new(account.Subject)
		}
	}
	var passed, given *chain.Subject
	for pod := range pods {
		switch {
		case passed == nil && pod.Standing == chain.Without && pod.Code == chain.CodeNotInjected:
			passed = new(pod.Subject)
		case given == nil && pod.Standing == chain.Given && pod.Role != "" && named[name{pod.Subject.Namespace, pod.Account}] == pod.Role:
			given = new(pod.Subject)
		}
	}
	for _, subject := range []*chain.Subject{passed, given, first, {Namespace: namespace, Account: "default"}} {
		if subject != nil {
			out = append(out, *subject)
		}
	}
	return out
}
