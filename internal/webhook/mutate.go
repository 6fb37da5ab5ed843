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
	busy         inject.Reason = "Busy"
)

// mutator answers the reviews that one cloud's hook asks.
type mutator struct {
	// cloud is the name of the cloud.
	cloud string
	// required refuses pods that should have an identity and cannot get it.
	required bool
	injector injector
	known    knowledge
	metrics  *metrics
	log      logr.Logger
	buffers  *sync.Pool
	room     room
}

// strict is the same, but that it refuses pods that should have an identity and
// cannot get it.
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

// verdict is what becomes of a review.
type verdict struct {
	inject.Result
	// refusal says why the pod is refused; empty lets it pass.
	refusal string
	// status is other than 0 if there is no answer, and problem says why.
	status  int
	problem string
}

func refuse(reason inject.Reason, why string) verdict {
	return verdict{Result: inject.Result{Reason: reason}, refusal: why}
}

func fail(status int, reason inject.Reason, why string) verdict {
	return verdict{Result: inject.Result{Reason: reason}, status: status, problem: why}
}

// outcome is the verdict in a word.
func (v verdict) outcome() string {
	switch {
	case v.status != 0:
		return failed
	case v.refusal != "":
		return refused
	case v.Patch != nil:
		return injected
	}
	return unchanged
}

// ServeHTTP answers one review. An answer other than 200 makes the API server
// apply the hook's failurePolicy: it is given when the server cannot know.
func (m *mutator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	memory, _ := m.buffers.Get().(*exchange)
	defer m.keep(memory)
	var question review
	found := fail(http.StatusServiceUnavailable, busy, "too many large reviews at once: ask another replica, or again")
	if leave, ok := m.room.enter(r); ok {
		defer leave()
		question, found = m.judge(w, r, &memory.question)
	}
	if found.status != 0 {
		http.Error(w, found.problem, found.status)
	} else {
		memory.answer = answer{found.Patch, found.Warnings, found.refusal}.appendTo(memory.answer[:0], question)
		w.Header()["Content-Type"] = jsonType
		if _, err := w.Write(memory.answer); err != nil {
			m.log.V(1).Info("the API server hung up", "error", err.Error())
		}
	}
	m.metrics.admission(m.cloud, found, time.Since(start))
}

// keep keeps memory for the next review, unless it is much.
func (m *mutator) keep(memory *exchange) {
	if memory.question.Cap()+cap(memory.answer) <= 4*smallReview {
		m.buffers.Put(memory)
	}
}

// jsonType is shared by all answers; nobody changes it.
var jsonType = []string{"application/json"}

// judge reads a question and decides about its pod.
func (m *mutator) judge(w http.ResponseWriter, r *http.Request, body *bytes.Buffer) (review, verdict) {
	if contentType := r.Header.Get("Content-Type"); !isJSON(contentType) {
		return review{}, fail(http.StatusUnsupportedMediaType, badReview, fmt.Sprintf("Content-Type is %.100q, expected application/json", contentType))
	}
	body.Reset()
	if size := r.ContentLength; size > 0 && size <= maxReview {
		body.Grow(int(size) + bytes.MinRead) // or it would grow by doubling
	}
	if _, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxReview)); err != nil {
		status, message := explainBody(err)
		return review{}, fail(status, badReview, message)
	}
	if !m.known.synced() {
		return review{}, fail(http.StatusInternalServerError, notSynced, "the ServiceAccounts and the configuration have not been read yet: ask another replica, or again")
	}
	question, err := readReview(body.Bytes())
	if err != nil {
		return question, refuse(badReview, err.Error())
	}
	pod, err := inject.Read(question.object)
	if err != nil {
		return question, refuse(badPod, err.Error())
	}
	return question, m.decide(r.Context(), question.namespace, pod)
}

// decide decides about a pod by what is known in this moment.
func (m *mutator) decide(ctx context.Context, namespace string, pod inject.Pod) verdict {
	account := types.NamespacedName{Namespace: namespace, Name: m.injector.AccountName(pod)}
	subject, err := m.known.subject(ctx, account, pod)
	if err != nil {
		m.log.Error(err, "lookup failed", "cloud", m.cloud, "namespace", namespace, "serviceAccount", account.Name)
		return fail(http.StatusInternalServerError, lookupFailed, "what is said of the ServiceAccount could not be read: see the webhook's log")
	}
	result, err := m.injector.Inject(pod, subject)
	if err != nil {
		if refusal, ok := errors.AsType[*inject.Refusal](err); ok {
			return refuse(refusal.Reason, refusal.Message)
		}
		return refuse(badPod, err.Error())
	}
	if result.Reason == inject.Undecided {
		return fail(http.StatusInternalServerError, result.Reason, "the configuration could not be read, and may name a role for this pod: see the webhook's log")
	}
	if why := m.refusal(account, result); why != "" {
		return refuse(result.Reason, why)
	}
	m.adviseSkipping(pod, namespace, &result)
	return verdict{Result: result}
}

// refusal says why a pod must not start without the identity that it should have;
// empty if it may start.
func (m *mutator) refusal(account types.NamespacedName, result inject.Result) string {
	if !m.required || account.Name == "" {
		return ""
	}
	switch result.Reason {
	case inject.UnknownServiceAccount:
		return fmt.Sprintf("ServiceAccount %s does not exist, so it is not known which identity the pod should have", account)
	case inject.MalformedRoleARN, inject.BadMapping, inject.BadAnnotation:
		return "the pod must not start without its identity: " + strings.Join(result.Warnings, "; ")
	}
	return ""
}

// readBody reads a review, or answers why it cannot.
func readBody(w http.ResponseWriter, r *http.Request, body *bytes.Buffer) bool {
	if _, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxReview)); err != nil {
		status, message := explainBody(err)
		http.Error(w, message, status)
		return false
	}
	return true
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
