package console

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/chain"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/overview"
	"github.com/tabard-dev/tabard/internal/credentials"
	"github.com/tabard-dev/tabard/internal/platform/together"
)

// How long the cluster is waited for while one workload is read, or what is recorded beside it, and how many
// OIDCIssuers are asked: a cluster has one.
const (
	workloadWithin = 10 * time.Second
	recordedWithin = 5 * time.Second
	mostIssuers    = 100
)

// clusterRead is what an overview is made of.
type clusterRead struct {
	overview.Seen
	lacking []api.PodRow
	waiting []core.Row
	// podsUnknown and requestsUnknown say why none is known, partlyPods what else is not of pods and
	// ServiceAccounts, and partlyRequests what is not of requests.
	podsUnknown, requestsUnknown string
	partlyPods, partlyRequests   []string
	// requestsOf are the namespaces of the requests that were read; none for all.
	requestsOf []string
	// listedAt is when the workloads were listed, which is before all else was read.
	listedAt time.Time
}

// readCluster reads all that an overview is made of. The workloads are those of the lists.
func (s *Server) readCluster(ctx context.Context) (*clusterRead, error) {
	out := &clusterRead{lacking: []api.PodRow{}, partlyPods: []string{}, partlyRequests: []string{}}
	var ofRequests requestsRead
	var all together.Group
	all.Go(func() { ofRequests = s.readRequests(ctx) })
	listed, at, err := s.workloads.get(ctx)
	if err == nil {
		out.listedAt = at
		out.count(listed)
		s.readChain(ctx, out, overview.Candidates(podsOf(listed), accountsOf(listed), s.World.Namespace))
	}
	all.Wait()
	out.Requests, out.waiting, out.requestsUnknown = ofRequests.Requests, ofRequests.waiting, ofRequests.none
	out.requestsOf = ofRequests.namespaces
	out.partlyRequests = append(out.partlyRequests, ofRequests.partly...)
	return out, cmp.Or(err, ctx.Err())
}

// podsOf are the pods of a list, as the core counts them.
func podsOf(listed *workloads) iter.Seq[overview.Workload] {
	return func(yield func(overview.Workload) bool) {
		for i := range listed.pods {
			pod := &listed.pods[i]
			if !yield(overview.Workload{Subject: chain.Subject{Namespace: pod.Namespace, Pod: pod.Name}, Account: pod.ServiceAccount, Identity: pod.Identity}) {
				return
			}
		}
	}
}

func accountsOf(listed *workloads) iter.Seq[overview.Workload] {
	return func(yield func(overview.Workload) bool) {
		for i := range listed.accounts {
			account := &listed.accounts[i]
			if !yield(overview.Workload{Subject: chain.Subject{Namespace: account.Namespace, Account: account.Name}, Identity: account.Identity}) {
				return
			}
		}
	}
}

// count counts what the lists have.
func (c *clusterRead) count(listed *workloads) {
	c.Pods, c.Accounts = overview.CountPods(podsOf(listed)), overview.CountAccounts(accountsOf(listed))
	for i := range listed.pods {
		if listed.pods[i].Standing == chain.Without && len(c.lacking) < mostNamed {
			c.lacking = append(c.lacking, listed.pods[i])
		}
	}
	if listed.podsErr != nil {
		c.podsUnknown = line.Of(listed.podsErr.Error())
	}
	c.Pods.Unknown = cmp.Or(c.podsUnknown, first(listed.partlyPods))
	// Other reasons than the right to list all are no lists at all.
	if c.Accounts.Unknown = first(listed.partlyAccounts); c.Accounts.Unknown != "" {
		c.Accounts.Needs = "list serviceaccounts in the cluster"
	}
	c.partlyPods = append(append(c.partlyPods, listed.partlyPods...), listed.partlyAccounts...)
}

func first(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}

// readChain reads the workload by which the cluster is judged, which is the first candidate that can be read,
// and then what is recorded beside it. It waits for no place among the explanations, as overviews are read one
// after the other.
func (s *Server) readChain(ctx context.Context, to *clusterRead, candidates []chain.Subject) {
	sources := s.World.Explain
	sources.Patience = workloadWithin
	var seen chain.Evidence
	var err error
	for _, subject := range candidates {
		if seen, err = sources.Read(ctx, subject); err == nil || ctx.Err() != nil {
			break
		}
	}
	report := chain.Explain(seen)
	report.OnCluster(s.World.ClusterFlags)
	to.Chain = overview.Chain{Subject: seen.Subject, Report: &report, Provider: chain.WantedProvider(seen)}
	if seen.Issuer.Value != nil {
		to.Chain.Issuer = *seen.Issuer.Value
	}
	if err != nil {
		to.Chain.Unread = line.Of(err.Error())
		if apierrors.IsForbidden(err) {
			to.Chain.Needs = "get serviceaccounts in the namespace " + seen.Subject.Namespace
		}
	}
	s.readRecorded(ctx, to, seen)
}

// readRecorded reads what tells since when things are so, and what is wrong with the workloads that are named.
// What may not be read is not told: the state of a link does not depend on it.
func (s *Server) readRecorded(ctx context.Context, to *clusterRead, seen chain.Evidence) {
	ctx, cancel := context.WithTimeout(ctx, recordedWithin)
	defer cancel()
	var all together.Group
	all.Go(func() { to.Issuers = s.readIssuers(ctx) })
	if namespace, name := chain.TabardWebhook(seen); name != "" {
		all.Go(func() { to.Webhook = s.available(ctx, namespace, name) })
	}
	if pod := to.Pods.First; pod != nil {
		all.Go(func() { to.Pods.Finding = s.findingOf(ctx, pod) })
	}
	if account := to.Accounts.Slip; account != nil {
		all.Go(func() { to.Accounts.SlipFinding = s.findingOf(ctx, account) })
	}
	all.Wait()
}

// readIssuers are the OIDCIssuers that the person may read.
func (s *Server) readIssuers(ctx context.Context) (out []overview.Issuer) {
	resource := schema.GroupVersionResource{Group: "identity.tabard.dev", Version: "v1alpha1", Resource: "oidcissuers"}
	found, err := s.World.OLM.Objects.Resource(resource).List(ctx, metav1.ListOptions{Limit: mostIssuers})
	if err != nil {
		return nil
	}
	for i := range found.Items {
		if issuer, err := overview.IssuerOf(found.Items[i].Object); err == nil {
			out = append(out, issuer)
		}
	}
	return out
}

// available are the conditions of a Deployment.
func (s *Server) available(ctx context.Context, namespace, name string) (out []metav1.Condition) {
	found, err := s.World.Explain.Kube.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	for _, c := range found.Status.Conditions {
		out = append(out, metav1.Condition{Type: string(c.Type), Status: metav1.ConditionStatus(c.Status), LastTransitionTime: c.LastTransitionTime})
	}
	return out
}

// findingOf is what a list has found of a workload, with what is to be done about it; nil where it is not so any
// more, or was not read.
func (s *Server) findingOf(ctx context.Context, of *overview.Workload) *chain.Finding {
	seen := chain.Evidence{Subject: of.Subject}
	account := of.Subject.Account
	if of.Subject.Pod != "" {
		pod, err := s.World.Explain.Kube.CoreV1().Pods(of.Subject.Namespace).Get(ctx, of.Subject.Pod, metav1.GetOptions{})
		if err != nil {
			return nil
		}
		seen.Pod.Value, account = chain.Prune(pod), cmp.Or(pod.Spec.ServiceAccountName, "default")
	}
	resource := corev1.SchemeGroupVersion.WithResource("serviceaccounts")
	found, err := s.World.OLM.Metadata.Resource(resource).Namespace(of.Subject.Namespace).Get(ctx, account, metav1.GetOptions{})
	switch {
	case err == nil:
		seen.Account.Value = found
	case !apierrors.IsNotFound(err):
		return nil
	}
	report := chain.Explain(seen)
	report.OnCluster(s.World.ClusterFlags)
	return overview.FindingOf(&report, of.Code)
}

// requestsRead are the CredentialsRequests that were read.
type requestsRead struct {
	overview.Requests
	waiting []core.Row
	// none says why none is known, or that there can be none.
	none   string
	partly []string
	// namespaces are those of what was read; none for all.
	namespaces []string
}

// readRequests reads the requests of the namespaces that the person may read.
func (s *Server) readRequests(ctx context.Context) (out requestsRead) {
	var of reach
	found, partly, err := ofNamespaces(ctx, s, credentials.Requests, noted(&of, s.World.Credentials.In))
	var seen *credentials.Seen
	if err == nil {
		seen, err = s.World.Credentials.About(ctx, found, true)
	}
	switch {
	case isNoKind(err):
		out.none = "This cluster has no CredentialsRequests."
		return out
	case err != nil:
		out.none = refusalOf(err)
		out.Unknown = out.none
		return out
	}
	if len(partly) > 0 {
		out.Unknown = "You may not list the CredentialsRequests of all namespaces. " + of.why
		out.partly = append([]string{out.Unknown}, partly...)
	}
	if !of.all {
		for i := range seen.Requests {
			out.namespaces = append(out.namespaces, seen.Requests[i].Namespace)
		}
		// Where there is none, the first one that could be read says so.
		if out.namespaces = slices.Compact(out.namespaces); len(out.namespaces) == 0 {
			out.namespaces = of.read[:1]
		}
	}
	if seen.Unread {
		const why = "You may not read the CredentialsGrants: what requests wait for is told by their own status, which has less of it. " +
			"The right that shows all: list credentialsgrants.identity.tabard.dev in the cluster."
		out.partly = append(out.partly, why)
		if len(seen.Requests) > 0 {
			out.Unknown = cmp.Or(out.Unknown, why)
		}
	}
	for i := range seen.Requests {
		row := seen.Row(seen.World(&seen.Requests[i]))
		out.Total++
		if !row.Waits() {
			continue
		}
		if out.Waiting++; len(out.waiting) < mostNamed {
			out.waiting = append(out.waiting, row)
		}
	}
	if len(out.waiting) > 0 {
		out.First = &out.waiting[0]
	}
	return out
}

// isNoKind says that the cluster does not serve the requests.
func isNoKind(err error) bool {
	unlisted, is := errors.AsType[*credentials.Unlisted](err)
	return is && unlisted.Kind == credentials.Requests && (meta.IsNoMatchError(err) || apierrors.IsNotFound(err))
}

// refusalOf is what the cluster said, with the right that is missing where that is it.
func refusalOf(err error) string { return line.Of(cmp.Or(rightOf(err), err.Error())) }
