package webhook

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
)

// changed is the outcome of a review whose object is changed.
const changed = "changed"

// Review is what a Hook is asked about.
type Review struct {
	// Namespace is the object's, empty for one without.
	Namespace string
	// Object is JSON. It is good until the answer is there.
	Object []byte
}

// Answer is what becomes of a Review. The zero value lets the object pass as it is.
type Answer struct {
	// Patch is a JSON Patch; nil for none.
	Patch []byte
	// Warnings are for whoever made the object.
	Warnings []string
	// Refusal says why the object is refused; empty for not.
	Refusal string
}

// Hook answers the reviews of one path. It may be asked by several at a time.
type Hook struct {
	// Path is such as /pods.
	Path string
	// Answer decides. An error makes the API server apply the hook's failurePolicy: it is for
	// what cannot be known now.
	Answer func(Review) (Answer, error)
}

// HookOptions are how to serve Hooks.
type HookOptions struct {
	// Options say where and with what: of those, what is about clouds, ServiceAccounts and
	// the ConfigMap has no effect.
	Options
	// Prefix is what the names of the metrics begin with.
	Prefix string
	// Hooks are what is served.
	Hooks []Hook
	// Known says what has not been read that answers need; nil for nothing.
	Known func() error
}

// RunHooks serves until ctx ends, as Run does. The context's logger is used.
func RunHooks(ctx context.Context, o HookOptions) error {
	o.InCluster = true // files are named, or there are none
	if err := o.checkServing(); err != nil {
		return err
	}
	served, err := newAPI(o.Config)
	if err != nil {
		return err
	}
	s := newHooks(o, logr.FromContextOrDiscard(ctx))
	s.apply(o.Options)
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	secret, err := s.openCertificate(following, o.Options, served)
	if err != nil {
		return err
	}
	sockets, err := listen(ctx, o.Options)
	if err != nil {
		return err
	}
	if secret != nil {
		go secret.run(following)
	}
	return s.listenWith(ctx, sockets, s.hooksHandler(o), s.hooksObserver())
}

// newHooks is the server of hooks.
func newHooks(o HookOptions, log logr.Logger) *front {
	counted := newMetricsOf(namesWith(o.Prefix), "Reviews answered, by hook and outcome.", "hook", "outcome")
	s := newFront(counted, log)
	if o.Known != nil {
		s.known = o.Known
	}
	counted.gauge(counted.names.synced, "1 if what answers need has been read, else 0.", func() float64 { return oneIf(s.known() == nil) })
	counted.watchCertificate(s.serving)
	return &s
}

func (s *front) hooksHandler(o HookOptions) http.Handler {
	mux := http.NewServeMux()
	for _, each := range o.Hooks {
		mux.Handle(each.Path, hookHandler{Hook: each, front: s})
	}
	mux.Handle(probePath, prober{s.serving, s.intake, s.log})
	s.addProbes(mux)
	return s.polite(mux)
}

func (s *front) hooksObserver() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", s.metrics.handler())
	s.addProbes(mux)
	return mux
}

// hookHandler serves a Hook.
type hookHandler struct {
	Hook
	front *front
}

// outcome counts an answer.
func (h hookHandler) outcome(outcome string, since time.Time) {
	h.front.metrics.admissions.WithLabelValues(strings.TrimPrefix(h.Path, "/"), outcome).Inc()
	h.front.metrics.seconds.Observe(time.Since(since).Seconds())
}

// ServeHTTP answers one review. An answer other than 200 makes the API server apply the hook's
// failurePolicy.
func (h hookHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	if !expectsJSON(w, r) {
		return
	}
	body, leave, heard := h.front.intake.hear(w, r)
	defer leave()
	if !heard {
		h.outcome(failed, start)
		return
	}
	reply, question, err := h.judge(body)
	if err != nil {
		h.front.log.Error(err, "not answered", "path", h.Path, "namespace", question.namespace)
		h.outcome(failed, start)
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	reply.send(w, question, h.front.log)
	h.outcome(reply.outcome(), start)
}

// outcome is the answer in a word.
func (a answer) outcome() string {
	switch {
	case a.refusal != "":
		return refused
	case a.patch != nil:
		return changed
	}
	return unchanged
}

// judge asks the hook.
func (h hookHandler) judge(body []byte) (reply answer, question review, err error) {
	if err := h.front.known(); err != nil {
		return reply, question, fmt.Errorf("%w: ask another replica, or again", err)
	}
	if question, err = readReview(body); err != nil {
		return answer{refusal: err.Error()}, question, nil
	}
	found, err := h.Answer(Review{Namespace: question.namespace, Object: question.object.Bytes()})
	return answer{found.Patch, found.Warnings, found.Refusal}, question, err
}
