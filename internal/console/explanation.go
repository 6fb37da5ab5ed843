package console

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// How many explanations are read at once, how long another one waits for a place, how long the cluster is waited
// for in one, how many pods of a
// ServiceAccount are told, and how long they are waited for.
const (
	mostExplained     = 4
	placeWithin       = 15 * time.Second
	clusterWithin     = 20 * time.Second
	mostPodsOfAccount = 100
	podsWithin        = 10 * time.Second
)

// pod is the chain of a pod.
func (s *Server) pod(r *http.Request) (any, error) {
	subject, err := subjectOf(r, chain.Subject{Namespace: r.PathValue("namespace"), Pod: r.PathValue("name")})
	if err != nil {
		return nil, err
	}
	return s.explained(r.Context(), subject)
}

// serviceAccount is the chain of a ServiceAccount, with the pods that run as it.
func (s *Server) serviceAccount(r *http.Request) (any, error) {
	subject, err := subjectOf(r, chain.Subject{Namespace: r.PathValue("namespace"), Account: r.PathValue("name")})
	if err != nil {
		return nil, err
	}
	out, err := s.explained(r.Context(), subject)
	if err != nil {
		return nil, err
	}
	s.addPods(r.Context(), out)
	return out, nil
}

// subjectOf is a subject with the calls that a request asks about.
func subjectOf(r *http.Request, subject chain.Subject) (chain.Subject, error) {
	q := queryOf(r, "action", "resource")
	actions, resource := q.values["action"], q.text("resource")
	if err := q.err(); err != nil {
		return subject, err
	}
	if err := checkSubject(subject); err != nil {
		return subject, err
	}
	err := subject.Ask(actions, resource)
	if wrong, ok := errors.AsType[*chain.CallError](err); ok {
		return subject, &Problem{Status: http.StatusBadRequest, Code: "field", Field: wrong.Of, Title: "The request cannot be read", Detail: "the field " + wrong.Of + " " + wrong.Wrong}
	}
	return subject, err
}

// checkSubject refuses what is no name of Kubernetes, before it is part of a path.
func checkSubject(subject chain.Subject) error {
	if wrong := validation.IsDNS1123Label(subject.Namespace); len(wrong) > 0 {
		return wrongField("namespace", subject.Namespace, "the name of a namespace: "+wrong[0])
	}
	name := cmp.Or(subject.Pod, subject.Account)
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
		return wrongField("name", name, "the name of a pod or a ServiceAccount: "+wrong[0])
	}
	return nil
}

// explained reads and judges the chain of a subject. That asks the API server for a pod by dry run, and may
// request a token that lives for ten minutes and that no service accepts: neither is stored, so that a console
// that is started with --read-only explains too.
func (s *Server) explained(ctx context.Context, subject chain.Subject) (*api.Explanation, error) {
	if !s.World.HasCluster() {
		return nil, noCluster()
	}
	leave, err := place(ctx, s.explaining, "Too many explanations are being read")
	if err != nil {
		return nil, err
	}
	defer leave()
	// The version is read before the evidence: what changes in between is a newer version, and is told.
	version, err := s.versionOf(ctx, subject)
	if err != nil {
		return nil, s.notThere(err, subject)
	}
	sources := s.World.Explain
	sources.Patience = clusterWithin
	evidence, err := sources.Read(ctx, subject)
	if err != nil {
		return nil, err
	}
	report := chain.Explain(evidence)
	report.OnCluster(s.World.ClusterFlags)
	return &api.Explanation{
		Report: report, Sentence: sentenceOf(&report), Others: append([]chain.Finding{}, report.Others()...), Pods: []api.PodRow{},
		Version: version, ReadAt: time.Now(), Command: subject.Command(s.World.ClusterFlags),
	}, nil
}

// place waits for one of the places of what is done at the same time, and leaves it by the function. Who gets
// none in time is told: they see that the console has not hung.
func place(ctx context.Context, places chan struct{}, title string) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, placeWithin)
	defer cancel()
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, &Problem{Status: http.StatusServiceUnavailable, Code: "busy", Title: title, Detail: fmt.Sprintf("%d are at work at once, and none of them has ended in time: try again.", cap(places))}
	}
}

// sentenceOf is the answer as a whole.
func sentenceOf(r *chain.Report) string {
	switch r.Verdict {
	case chain.Healthy:
		return "Every link that is looked at is sound."
	case chain.Unhealthy:
		return "The first broken link is " + string(r.First.Link) + " " + r.First.Link.Name() + "."
	case chain.Undetermined:
	}
	return "Nothing broken was seen, and not everything could be."
}

// notThere is the problem of a subject that could not be read.
func (s *Server) notThere(err error, subject chain.Subject) error {
	if !apierrors.IsNotFound(err) {
		return err
	}
	kind, resource := "ServiceAccount", "serviceaccounts"
	if subject.Pod != "" {
		kind, resource = "pod", "pods"
	}
	return &Problem{Status: http.StatusNotFound, Code: "workload", Title: "There is no such " + kind, Detail: "there is no " + subject.String() + "; it may have been deleted",
		Next: []string{"kubectl -n " + line.Word(subject.Namespace) + " get " + resource + s.World.ClusterFlags}}
}

// gone is the version of what is not there any more.
const gone = "gone"

// versionOf changes with a pod and its ServiceAccount. One that may not be read has one version.
func (s *Server) versionOf(ctx context.Context, subject chain.Subject) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, clusterWithin)
	defer cancel()
	pod, account := "", subject.Account
	if subject.Pod != "" {
		found, err := s.World.Explain.Kube.CoreV1().Pods(subject.Namespace).Get(ctx, subject.Pod, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		pod, account = found.ResourceVersion, cmp.Or(found.Spec.ServiceAccountName, "default")
	}
	of := ""
	found, err := s.World.OLM.Metadata.Resource(corev1.SchemeGroupVersion.WithResource("serviceaccounts")).Namespace(subject.Namespace).Get(ctx, account, metav1.GetOptions{})
	switch {
	case err == nil:
		of = found.ResourceVersion
	case subject.Pod == "" || ctx.Err() != nil:
		return "", err
	case apierrors.IsNotFound(err):
		of = gone
	case !apierrors.IsForbidden(err):
		return "", err
	}
	digest := sha256.Sum256([]byte(pod + "\n" + of))
	return versionBy(digest[:]), nil
}

// addPods adds the pods that run as a ServiceAccount, of those that are kept.
func (s *Server) addPods(ctx context.Context, to *api.Explanation) {
	ctx, cancel := context.WithTimeout(ctx, podsWithin)
	defer cancel()
	read, _, err := s.workloads.get(ctx)
	switch {
	case ctx.Err() != nil:
		to.PodsUnknown = "the pods of the cluster are still being read"
		return
	case err == nil && read.podsErr != nil:
		err = read.podsErr
	}
	if err != nil {
		to.PodsUnknown = line.Of(err.Error())
		return
	}
	for i := range read.pods {
		pod := &read.pods[i]
		if pod.Namespace != to.Subject.Namespace || pod.ServiceAccount != to.Subject.Account {
			continue
		}
		if to.PodsTotal++; len(to.Pods) < mostPodsOfAccount {
			to.Pods = append(to.Pods, *pod)
		}
	}
	to.PodsUnknown = read.ofPods.lacks(to.Subject.Namespace)
}
