package console

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// running is a console that listens.
func running(t *testing.T, read ReadCatalogue) (l *Listening, stop context.CancelFunc, ended chan error) {
	t.Helper()
	l = must.Get(Listen(t.Context(), Options{World: World{Files: "x", Read: read}}, 0))(t)
	ctx, stop := context.WithCancel(t.Context())
	ended = make(chan error, 1)
	go func() { ended <- l.Serve(ctx) }()
	return l, stop, ended
}

// A request that has begun when the console ends is answered.
func TestTheLastRequestIsAnswered(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	l, stop, ended := running(t, func(context.Context) (catalogue.Catalogue, error) {
		close(begun)
		<-goOn
		return catalogue.Catalogue{}, nil
	})
	b := open(t, l.server)
	answered := make(chan int, 1)
	go func() {
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/api/v1/operators", l.server.port), nil))(t)
		request.Header.Set(tokenHeader, b.token)
		request.AddCookie(&http.Cookie{Name: l.server.cookie(), Value: b.cookie})
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			answered <- 0
			return
		}
		_ = response.Body.Close()
		answered <- response.StatusCode
	}()
	<-begun
	stop()
	close(goOn)
	if code := <-answered; code != http.StatusOK && code != 0 {
		t.Errorf("the answer is %d", code)
	}
	must.Do(t, <-ended)
}

// Two thousand connections that say nothing keep nobody out.
func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	l, stop, ended := running(t, func(context.Context) (catalogue.Catalogue, error) { return catalogue.Catalogue{}, nil })
	address := fmt.Sprintf("127.0.0.1:%d", l.server.port)
	for range 2000 {
		silent, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		must.Do(t, err)
		t.Cleanup(func() { _ = silent.Close() })
	}
	b := open(t, l.server)
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/api/v1/session", nil))(t)
	request.Header.Set(tokenHeader, b.token)
	request.AddCookie(&http.Cookie{Name: l.server.cookie(), Value: b.cookie})
	response, err := http.DefaultClient.Do(request)
	must.Do(t, err)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the answer is %d", response.StatusCode)
	}
	stop()
	must.Do(t, <-ended)
}

// The install that was asked for last is followed, and no other of the name.
func TestAnInstallIsFollowedOnce(t *testing.T) {
	var f following
	first, _ := f.begin(t.Context(), "a/b")
	other, cancelOther := f.begin(t.Context(), "a/c")
	second, cancel := f.begin(t.Context(), "a/b")
	if first.Err() == nil || second.Err() != nil || other.Err() != nil {
		t.Errorf("the first is followed %v, the second %v, the other %v", first.Err() == nil, second.Err() == nil, other.Err() == nil)
	}
	cancel()
	cancelOther()
	if until, ok := second.Deadline(); !ok || time.Until(until) > followFor {
		t.Error("it is followed for ever")
	}
}

// The address has the code where a browser tells it to nobody.
func TestTheCodeIsInTheFragment(t *testing.T) {
	l, stop, ended := running(t, func(context.Context) (catalogue.Catalogue, error) { return catalogue.Catalogue{}, nil })
	address := l.Address()
	if !strings.HasPrefix(address, fmt.Sprintf("http://127.0.0.1:%d/#code=", l.server.port)) || l.Address() == address || l.HasPages() {
		t.Errorf("the address is %q", address)
	}
	stop()
	must.Do(t, <-ended)
}
