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
	cloud    string
	demand   demand
	injector injector
	known    knowledge
	metrics  *metrics
	log      logr.Logger
	buffers  *sync.Pool
	intake   *intake
}

// with is the same for another demand.
func (m *mutator) with(its demand) *mutator {
	other := *m
	other.demand = its
	return &other
}

// exchange is the memory of one question and its answer. Nothing that outlives
// the request may share it.
type exchange struct {
	question bytes.Buffer
	answer   []byte
}

// newExchange has memory for a usual question: no less, so that it need not grow,
// and no more before anything has arrived.
func newExchange() *exchange {
	made := new(exchange)
	made.question.Grow(usualReview)
	return made
}

// verdict is what becomes of a review.
type verdict struct {
	inject.Result
	// refusal says why the pod is refused; empty lets it pass.
	refusal string
	// status is other than 0 if there is no answer, and problem says why.
	status  int
	problem string
	// leave is called when it is answered; nil for nothing.
	leave func()
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
	question, found, leave := m.judge(r, &memory.question)
	defer leave()
	if found.leave != nil {
		defer found.leave()
	}
	if connectionOf(r).isCrowded() {
		// Hung up on later, while it is idle, the API server could be about to ask.
		w.Header().Set("Connection", "close")
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

// keep keeps memory for the next review, unless it is much: the next may be one
// that never arrives.
func (m *mutator) keep(memory *exchange) {
	if memory.question.Cap()+cap(memory.answer) <= smallReview/2 {
		m.buffers.Put(memory)
	}
}

// jsonType is shared by all answers; nobody changes it.
var jsonType = []string{"application/json"}

// judge reads a question and decides about its pod. When that is answered, the
// caller calls leave.
func (m *mutator) judge(r *http.Request, body *bytes.Buffer) (question review, found verdict, leave func()) {
	if contentType := r.Header.Get("Content-Type"); !isJSON(contentType) {
		return question, fail(http.StatusUnsupportedMediaType, badReview, fmt.Sprintf("Content-Type is %.100q, expected application/json", contentType)), nothing
	}
	leave, problem := m.intake.read(r, body)
	if problem != nil {
		reason := badReview
		if problem.busy {
			reason = busy
		}
		return question, fail(problem.status, reason, problem.problem), leave
	}
	question, found = m.answer(r.Context(), body.Bytes())
	return question, found, leave
}

// answer decides about the pod of a question.
func (m *mutator) answer(ctx context.Context, body []byte) (review, verdict) {
	if !m.known.synced() {
		return review{}, fail(http.StatusInternalServerError, notSynced, "the ServiceAccounts and the configuration have not been read yet: ask another replica, or again")
	}
	question, err := readReview(body)
	if err != nil {
		return question, refuse(badReview, err.Error())
	}
	pod, err := inject.Read(question.object)
	if err != nil {
		return question, refuse(badPod, err.Error())
	}
	found := m.decide(ctx, question.namespace, pod)
	m.tell(question.namespace, m.injector.AccountName(pod), pod, found)
	return question, found
}

// decide decides about a pod by what is known in this moment.
func (m *mutator) decide(ctx context.Context, namespace string, pod inject.Pod) verdict {
	account := types.NamespacedName{Namespace: namespace, Name: m.injector.AccountName(pod)}
	subject, err := m.known.subject(ctx, account, pod)
	if err != nil {
		m.log.Error(err, "lookup failed", "cloud", m.cloud, "namespace", namespace, "serviceAccount", account.Name)
		return fail(http.StatusInternalServerError, lookupFailed, "what is said of the ServiceAccount could not be read: see the webhook's log")
	}
	leave, in := m.intake.answer(ctx, pod.Containers())
	if !in {
		return fail(http.StatusServiceUnavailable, busy, "too many large answers at once: ask another replica, or again")
	}
	found := m.inject(account, pod, subject)
	found.leave = leave
	return found
}

// inject makes the verdict.
func (m *mutator) inject(account types.NamespacedName, pod inject.Pod, subject inject.Subject) verdict {
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
	if m.demand == required && result.Declined != "" {
		return refuse(inject.Declined, fmt.Sprintf("the pod must not start without its identity: %s. Change that, or an administrator lets it count: "+
			"kubectl label namespace %.63s tabard.dev/injection-skip=allowed", result.Declined, account.Namespace))
	}
	m.adviseSkipping(pod, account.Namespace, &result)
	return verdict{Result: result}
}

// refusal says why a pod must not start without the identity that it should have;
// empty if it may start.
func (m *mutator) refusal(account types.NamespacedName, result inject.Result) string {
	if m.demand == optional || account.Name == "" {
		return ""
	}
	switch result.Reason {
	case inject.UnknownServiceAccount:
		return fmt.Sprintf("ServiceAccount %s does not exist, so it is not known which identity the pod should have", account)
	case inject.MalformedRoleARN, inject.BadMapping, inject.BadAnnotation, inject.AnnotationsTooLong, inject.TokenNotMounted:
		return "the pod must not start without its identity: " + strings.Join(result.Warnings, "; ")
	}
	return ""
}

// isJSON says that a Content-Type is JSON, with or without a charset.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/json"
}
