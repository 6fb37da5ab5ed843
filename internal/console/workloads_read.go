package console

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// How long a list of workloads is kept at least, how many times as long as its reading took, and how many
// objects are read at once.
const (
	workloadsFor   = 5 * time.Second
	workloadsRests = 10
	objectsAtOnce  = 500
)

// workloads are the pods and ServiceAccounts of the namespaces that the person may read, as rows: thousands of
// objects would take hundreds of megabytes.
type workloads struct {
	pods     []api.PodRow
	accounts []api.AccountRow
	// partlyPods and partlyAccounts say what could not be read.
	partlyPods, partlyAccounts []string
	// podsErr and accountsErr say that none could be.
	podsErr, accountsErr error
	ofPods               reach
	version              string
}

// listed is what is known of a list before anything is asked of it.
func (w *workloads) listed(at time.Time, partly []string) api.Listed {
	return api.Listed{Partly: append([]string{}, partly...), Version: w.version, ReadAt: at}
}

// workloadsReader reads them once.
type workloadsReader struct {
	*Server
	// accounts are those that were listed, by namespace and name, and looked for those that a pod names and no
	// list has.
	accounts, looked   map[string]chain.Seen[metav1.PartialObjectMetadata]
	ofAccounts, ofPods reach
	// again are the namespaces of which the ServiceAccounts were listed a second time, with why one was not; an
	// empty name is all of them.
	again map[string]chain.Seen[metav1.PartialObjectMetadata]
	// podsOf is the namespace of the pods that are listed; empty for all.
	podsOf string
	// failed is an error that no right would mend: what was read beside it is no good answer.
	failed error
}

func (s *Server) workloadsReader() *workloadsReader {
	type seen = chain.Seen[metav1.PartialObjectMetadata]
	return &workloadsReader{Server: s, accounts: map[string]seen{}, looked: map[string]seen{}, again: map[string]seen{}}
}

// readAllWorkloads reads the ServiceAccounts and then the pods, of which each is judged at once.
func (s *Server) readAllWorkloads(ctx context.Context) (*workloads, error) {
	r := s.workloadsReader()
	out := &workloads{}
	var accounts []*metav1.PartialObjectMetadata
	accounts, out.partlyAccounts, out.accountsErr = ofNamespaces(ctx, s, "ServiceAccounts", r.listAccounts)
	for _, one := range accounts {
		r.accounts[one.Namespace+"/"+one.Name] = chain.Seen[metav1.PartialObjectMetadata]{Value: one}
	}
	out.pods, out.partlyPods, out.podsErr = ofNamespaces(ctx, s, "pods", r.listPods)
	r.fails(out.accountsErr)
	r.fails(out.podsErr)
	if err := cmp.Or(ctx.Err(), r.failed); err != nil {
		return nil, err
	}
	if out.accountsErr != nil {
		out.partlyAccounts = []string{"ServiceAccounts: " + line.Of(out.accountsErr.Error())}
	}
	out.ofPods = r.ofPods
	out.accounts = r.accountRows(accounts, out.pods)
	out.version = versionOfRows(out)
	return out, nil
}

// versionOfRows is a digest of all that the lists say.
func versionOfRows(w *workloads) string {
	digest := sha256.New()
	to := json.NewEncoder(digest)
	for i := range w.pods {
		_ = to.Encode(&w.pods[i]) // a row can be written, and a digest takes everything
	}
	for i := range w.accounts {
		_ = to.Encode(&w.accounts[i])
	}
	_ = to.Encode([][]string{w.partlyPods, w.partlyAccounts})
	return versionBy(digest.Sum(nil))
}

// reach is where something could be listed.
type reach struct {
	all  bool
	read []string
	why  string
}

// whyOf is what an error says. One without a text is an error too.
func whyOf(err error) string { return cmp.Or(line.Of(err.Error()), "the cluster does not say why") }

// saw notes what came of a list.
func (r *reach) saw(namespace string, err error) {
	switch {
	case err != nil && namespace == "":
		r.why = whyOf(err)
	case err == nil && namespace == "":
		r.all = true
	case err == nil:
		r.read = append(r.read, namespace)
	}
}

// noted is a list of which it is noted what came of it.
func noted[T any](in *reach, list func(context.Context, string) ([]T, error)) func(context.Context, string) ([]T, error) {
	return func(ctx context.Context, namespace string) ([]T, error) {
		found, err := list(ctx, namespace)
		in.saw(namespace, err)
		return found, err
	}
}

// lacks says why what is in a namespace is not known; empty where it is.
func (r *reach) lacks(namespace string) string {
	if r.all || slices.Contains(r.read, namespace) {
		return ""
	}
	return r.why
}

// fails notes an error of a list that is not the lack of a right.
func (r *workloadsReader) fails(err error) {
	if err != nil && !apierrors.IsForbidden(err) {
		r.failed = cmp.Or(r.failed, err)
	}
}

// listAccounts lists the metadata of ServiceAccounts, and keeps of it what counts here.
func (r *workloadsReader) listAccounts(ctx context.Context, namespace string) ([]*metav1.PartialObjectMetadata, error) {
	out, err := r.accountsIn(ctx, namespace)
	r.ofAccounts.saw(namespace, err)
	r.fails(err)
	return out, err
}

func (r *workloadsReader) accountsIn(ctx context.Context, namespace string) ([]*metav1.PartialObjectMetadata, error) {
	resource := corev1.SchemeGroupVersion.WithResource("serviceaccounts")
	return pages(func(options metav1.ListOptions) (out []*metav1.PartialObjectMetadata, next string, err error) {
		page, err := r.World.OLM.Metadata.Resource(resource).Namespace(namespace).List(ctx, options)
		if err != nil {
			return nil, "", err
		}
		for i := range page.Items {
			out = append(out, chain.PruneAccount(&page.Items[i]))
		}
		return out, page.Continue, nil
	})
}

// listPods lists pods as rows.
func (r *workloadsReader) listPods(ctx context.Context, namespace string) ([]api.PodRow, error) {
	r.podsOf = namespace
	begun := false
	out, err := pages(func(options metav1.ListOptions) (out []api.PodRow, next string, err error) {
		if begun && options.Continue == "" { // the pods that come now are newer than what was looked for
			clear(r.looked)
			clear(r.again)
		}
		begun = true
		page, err := r.World.Explain.Kube.CoreV1().Pods(namespace).List(ctx, options)
		if err != nil {
			return nil, "", err
		}
		for i := range page.Items {
			pod := &page.Items[i]
			out = append(out, podRow(pod, r.accountOf(ctx, pod.Namespace, cmp.Or(pod.Spec.ServiceAccountName, "default"))))
		}
		return out, page.Continue, nil
	})
	r.ofPods.saw(namespace, err)
	r.fails(err)
	return out, err
}

// pages are all pages of a list. The API server forgets after some minutes what a page goes on from: such a list
// is begun anew, once.
func pages[T any](read func(metav1.ListOptions) (page []T, next string, err error)) (out []T, err error) {
	options, anew := metav1.ListOptions{Limit: objectsAtOnce}, false
	for {
		page, next, err := read(options)
		switch {
		case err != nil && (anew || options.Continue == "" || !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err)):
			return nil, err
		case err != nil:
			out, next, anew = nil, "", true
		default:
			if out = append(out, page...); next == "" {
				return out, nil
			}
		}
		options.Continue = next
	}
}

// podRow is a pod with its ServiceAccount, as a list has it.
func podRow(pod *corev1.Pod, account chain.Seen[metav1.PartialObjectMetadata]) api.PodRow {
	return api.PodRow{
		Namespace: pod.Namespace, Name: pod.Name, ServiceAccount: cmp.Or(pod.Spec.ServiceAccountName, "default"), Phase: string(pod.Status.Phase), Created: pod.CreationTimestamp.Time,
		Identity: chain.Identify(chain.Evidence{
			Subject: chain.Subject{Namespace: pod.Namespace, Pod: pod.Name}, Pod: chain.Seen[corev1.Pod]{Value: chain.Prune(pod)}, Account: account,
		}),
	}
}

// mostLooked bounds how many ServiceAccounts are asked for one by one that no list has. Where there are more,
// they are listed again.
const mostLooked = 20

// accountOf is a pod's ServiceAccount. One that was not in the list may have come after it: it is looked for once
// more before it is said to be missing.
func (r *workloadsReader) accountOf(ctx context.Context, namespace, name string) (out chain.Seen[metav1.PartialObjectMetadata]) {
	at := namespace + "/" + name
	if found, ok := r.accounts[at]; ok {
		return found
	}
	if found, ok := r.looked[at]; ok {
		return found
	}
	if why := r.ofAccounts.lacks(namespace); why != "" {
		return chain.Seen[metav1.PartialObjectMetadata]{Unread: why, Needs: "list serviceaccounts in the namespace " + namespace}
	}
	if len(r.looked) >= mostLooked {
		return r.listedAgain(ctx, namespace, name)
	}
	found, err := r.World.OLM.Metadata.Resource(corev1.SchemeGroupVersion.WithResource("serviceaccounts")).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case err == nil:
		out.Value = chain.PruneAccount(found)
	case !apierrors.IsNotFound(err):
		r.fails(err)
		out.Unread, out.Needs = whyOf(err), "get serviceaccounts in the namespace "+namespace
	}
	r.looked[at] = out
	return out
}

// listedAgain is a ServiceAccount as a second list has it, of all namespaces where both the pods and the
// ServiceAccounts are listed at once. It is read after the first page of the pods, which all pages are as old as:
// a ServiceAccount that it does not have is missing.
func (r *workloadsReader) listedAgain(ctx context.Context, namespace, name string) chain.Seen[metav1.PartialObjectMetadata] {
	of := namespace
	if r.ofAccounts.all && r.podsOf == "" {
		of = ""
	}
	why, listed := r.again[of]
	if !listed {
		found, err := r.accountsIn(ctx, of)
		if r.fails(err); err != nil {
			why.Unread, why.Needs = whyOf(err), "list serviceaccounts in the namespace "+namespace
		}
		r.again[of] = why
		for _, one := range found {
			r.looked[one.Namespace+"/"+one.Name] = chain.Seen[metav1.PartialObjectMetadata]{Value: one}
		}
	}
	if found, ok := r.looked[namespace+"/"+name]; ok {
		return found
	}
	return why
}

// accountRows are the rows of ServiceAccounts, with their pods counted.
func (r *workloadsReader) accountRows(accounts []*metav1.PartialObjectMetadata, pods []api.PodRow) []api.AccountRow {
	out := make([]api.AccountRow, 0, len(accounts))
	at := map[string]int{}
	for _, one := range accounts {
		at[one.Namespace+"/"+one.Name] = len(out)
		out = append(out, api.AccountRow{
			Namespace: one.Namespace, Name: one.Name, PodsUnknown: r.ofPods.lacks(one.Namespace),
			Identity: chain.Identify(chain.Evidence{
				Subject: chain.Subject{Namespace: one.Namespace, Account: one.Name}, Account: chain.Seen[metav1.PartialObjectMetadata]{Value: one},
			}),
		})
	}
	for i := range pods {
		if row, ok := at[pods[i].Namespace+"/"+pods[i].ServiceAccount]; ok {
			out[row].Pods++
			if pods[i].Standing == chain.Without {
				out[row].Without++
			}
		}
	}
	return out
}
