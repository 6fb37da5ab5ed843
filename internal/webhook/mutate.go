package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// maxReview bounds a review in bytes: the API server's own bound for an object.
const maxReview = 3 << 20

// Reasons of the server itself, beside those of core/inject.
const (
	badReview    inject.Reason = "BadReview"
	badPod       inject.Reason = "BadPod"
	notSynced    inject.Reason = "NotSynced"
	lookupFailed inject.Reason = "LookupFailed"
)

// mutator answers /mutate.
type mutator struct {
	// required refuses pods that should have an identity and cannot get it.
	required bool
	injector *inject.Injector
	accounts accounts
	config   *configuration
	// timeout bounds a look at the configuration in this moment.
	timeout time.Duration
	metrics *metrics
	log     logr.Logger
	buffers *sync.Pool
}

func newMutator(injector *inject.Injector, known accounts, config *configuration, counted *metrics, log logr.Logger) *mutator {
	return &mutator{
		injector: injector, accounts: known, config: config, timeout: defaultLookupTimeout, metrics: counted, log: log,
		buffers: &sync.Pool{New: func() any { return new(exchange) }},
	}
}

// strict answers /mutate/required: the same, but that it refuses pods that should
// have an identity and cannot get it.
func (m *mutator) strict() *mutator {
	strict := *m
	strict.required = true
	return &strict
}

// exchange is the memory of one question and its answer. Nothing that outlives
// the request may share it.
type exchange struct {
	question bytes.Buffer
	answer   []byte
}

// ServeHTTP answers one review. An answer other than 200 makes the API server
// apply the hook's failurePolicy: it is given when the server cannot know.
func (m *mutator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	if !isJSON(r.Header.Get("Content-Type")) {
		m.fail(w, start, http.StatusUnsupportedMediaType, badReview,
			fmt.Sprintf("Content-Type is %.100q, expected application/json", r.Header.Get("Content-Type")))
		return
	}
	memory, _ := m.buffers.Get().(*exchange)
	defer m.buffers.Put(memory)
	memory.question.Reset()
	if _, err := memory.question.ReadFrom(http.MaxBytesReader(w, r.Body, maxReview)); err != nil {
		status, message := explainBody(err)
		m.fail(w, start, status, badReview, message)
		return
	}
	if !m.accounts.synced() || !m.config.looked() {
		m.fail(w, start, http.StatusInternalServerError, notSynced, "the ServiceAccounts and the configuration have not been read yet: ask another replica, or again")
		return
	}
	question, err := readReview(memory.question.Bytes())
	if err != nil {
		m.write(w, start, memory, question, answer{refusal: err.Error()}, badReview)
		return
	}
	pod, err := inject.Read(question.object)
	if err != nil {
		m.write(w, start, memory, question, answer{refusal: err.Error()}, badPod)
		return
	}
	subject, err := m.subject(r.Context(), question.namespace, pod)
	if err != nil {
		m.log.Error(err, "lookup failed", "namespace", question.namespace, "serviceAccount", pod.ServiceAccountName)
	}
	if err != nil && (subject.Account == nil || !m.injector.Grants(pod, subject)) {
		m.fail(w, start, http.StatusInternalServerError, lookupFailed, "what is said of the ServiceAccount could not be read: see the webhook's log")
		return
	}
	result, err := m.injector.Inject(pod, subject)
	if err != nil {
		m.write(w, start, memory, question, answer{refusal: err.Error()}, badPod)
		return
	}
	if result.Reason == inject.Undecided {
		m.fail(w, start, http.StatusInternalServerError, result.Reason, "the configuration could not be read, and may name a role for this pod: see the webhook's log")
		return
	}
	if refusal := m.refusal(question.namespace, pod, result); refusal != "" {
		m.write(w, start, memory, question, answer{refusal: refusal}, result.Reason)
		return
	}
	if result.Patch != nil {
		m.metrics.reference.pods.WithLabelValues(string(result.Method)).Inc()
	}
	m.write(w, start, memory, question, answer{patch: result.Patch, warnings: result.Warnings}, result.Reason)
}

// refusal says why a pod must not start without the identity that it should have;
// empty if it may start.
func (m *mutator) refusal(namespace string, pod inject.Pod, result inject.Result) string {
	switch {
	case !m.required || pod.ServiceAccountName == "":
		return ""
	case result.Reason == inject.UnknownServiceAccount:
		return fmt.Sprintf("ServiceAccount %s/%s does not exist, so it is not known which identity the pod should have", namespace, pod.ServiceAccountName)
	case result.Reason == inject.MalformedRoleARN, result.Reason == inject.BadMapping:
		return "the pod must not start without its identity: " + strings.Join(result.Warnings, "; ")
	}
	return ""
}

// subject is all that is said of the pod's ServiceAccount. The mapping is taken
// before the labels that it asks for, so that none is missing. Where the
// ServiceAccount is so new that it was looked at live, its roles in the
// configuration may be as new, and are looked at, too. With an error it is what was
// heard of last, which may have changed since.
func (m *mutator) subject(ctx context.Context, namespace string, pod inject.Pod) (inject.Subject, error) {
	found := inject.Subject{Namespace: namespace}
	m.config.fill(&found)
	// A pod without one has none: the API server fills in "default" before,
	// unless that admission is switched off.
	if pod.ServiceAccountName == "" {
		return found, nil
	}
	account, live, err := m.accounts.find(ctx, types.NamespacedName{Namespace: namespace, Name: pod.ServiceAccountName})
	found.Account = account
	if live && err == nil {
		err = m.renew(ctx, pod, &found)
	}
	if len(found.Mapping.NamespaceLabels()) == 0 || m.injector.Named(pod, found) {
		return found, err
	}
	labelled, _, unread := m.config.namespaces.find(ctx, types.NamespacedName{Name: namespace})
	if labelled != nil {
		found.NamespaceLabels = labelled.Labels
	}
	return found, errors.Join(err, unread)
}

// renew looks at the configuration in this moment: at the file always, and at
// the config map if nothing goes before it.
func (m *mutator) renew(ctx context.Context, pod inject.Pod, found *inject.Subject) error {
	err := m.config.identities.renew(ctx, m.timeout)
	m.config.fill(found)
	if err != nil || m.injector.Named(pod, *found) {
		return err
	}
	err = m.config.mapping.renew(ctx, m.timeout)
	m.config.fill(found)
	return err
}

func (m *mutator) write(w http.ResponseWriter, start time.Time, memory *exchange, question review, a answer, reason inject.Reason) {
	memory.answer = a.appendTo(memory.answer[:0], question)
	w.Header()["Content-Type"] = jsonType
	if _, err := w.Write(memory.answer); err != nil {
		m.log.V(1).Info("the API server hung up", "error", err.Error())
	}
	outcome := unchanged
	switch {
	case a.refusal != "":
		outcome = refused
	case a.patch != nil:
		outcome = injected
	}
	m.metrics.admission(outcome, reason, time.Since(start))
}

// jsonType is shared by all answers; nobody changes it.
var jsonType = []string{"application/json"}

// fail answers so that the API server applies the hook's failurePolicy.
func (m *mutator) fail(w http.ResponseWriter, start time.Time, status int, reason inject.Reason, message string) {
	http.Error(w, message, status)
	m.metrics.admission(failed, reason, time.Since(start))
}

// explainBody says why a body could not be read to its end.
func explainBody(err error) (status int, message string) {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge, fmt.Sprintf("the review is larger than %d bytes", tooLarge.Limit)
	}
	return http.StatusBadRequest, "the review could not be read to its end"
}

// isJSON says that a Content-Type is JSON, with or without a charset.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/json"
}
