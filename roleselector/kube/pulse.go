package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// beat is how often the API server is asked whether it is there, unless it is told.
	beat                      = 500 * time.Millisecond
	shortestBeat, longestBeat = 100 * time.Millisecond, time.Minute
	// answerTime is how late an answer may be.
	answerTime = time.Second
)

// errUnanswered is what is wrong while the question is still open.
var errUnanswered = errors.New("it has been asked")

// pulse asks the API server at even intervals for something small. A watch on which
// nothing arrives says that nothing changes, or that nothing comes through: only an
// answer tells which. The read is one of the API server's storage and not of its
// memory, so that an API server that is cut off from there does not count as there.
type pulse struct {
	selectors *Selectors
	reader    client.Reader
	beat      time.Duration
	// fresh is how long an answer vouches for what is known, counted from the question:
	// a beat, and as long as the next answer may take. Where each call asks a Guard, none
	// begins half a second later than that after its role was taken away.
	fresh time.Duration

	mu     sync.Mutex
	silent bool
	// err is why the last question has no answer, nil if it has.
	err error
}

// run asks until the context ends.
func (p *pulse) run(ctx context.Context) {
	// An alarm that comes with the answer is taken back by the next one.
	alarm := time.AfterFunc(p.fresh, p.fellSilent)
	defer alarm.Stop()
	for ctx.Err() == nil {
		asked := time.Now()
		err := p.ask(ctx)
		if err == nil {
			alarm.Reset(time.Until(asked.Add(p.fresh)))
		}
		p.heard(err)
		select {
		case <-time.After(time.Until(asked.Add(p.beat))):
		case <-ctx.Done():
		}
	}
}

func (p *pulse) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return p.reader.List(ctx, namespaceList(), &client.ListOptions{Limit: 1})
}

// fellSilent is told that the last answer is too old: nothing that is known counts.
func (p *pulse) fellSilent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = true
	if p.err == nil {
		p.err = errUnanswered
	}
	for _, f := range p.selectors.followers {
		f.following.SetSilent(true)
	}
	p.selectors.log.info("the API server is silent; nothing is decided until it answers")
}

// heard is told of each question's end.
func (p *pulse) heard(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
	if err != nil || !p.silent {
		return
	}
	p.silent = false
	for _, f := range p.selectors.followers {
		f.following.SetSilent(false)
	}
	p.selectors.log.info("the API server answers again")
	p.selectors.lookAtAll()
}

// missing is an error while the API server is silent.
func (p *pulse) missing() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.silent {
		return nil
	}
	return fmt.Errorf("the API server has not answered for %v: %w", p.fresh, p.err)
}
