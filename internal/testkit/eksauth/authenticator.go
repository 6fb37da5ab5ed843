// Package eksauth is the webhook by which an API server lets in the holders of EKS tokens, as the
// one in EKS does (aws-iam-authenticator 0.7.18). It is for clusters that stand in for EKS beside
// the local AWS. It asks STS who signed a token, and the cluster's access entries who that is.
package eksauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/internal/core/ekstoken"
)

const (
	// asks is how long STS may take for an answer.
	asks = 10 * time.Second
	// longestAnswer is more than STS ever says.
	longestAnswer = 64 << 10
	// atOnce is how many tokens are judged at the same time, and atMost how many are judged or
	// wait. More are told to come again.
	atOnce = 64
	atMost = 1024
	// fresh is how long the access entries are used that were read before.
	fresh = time.Second
)

// Authenticator judges tokens for one cluster. It is safe for concurrent use.
type Authenticator struct {
	// Cluster is whose tokens are taken.
	Cluster ekstoken.Cluster
	// Entries reads the cluster's access entries.
	Entries func(context.Context) ([]ekstoken.Entry, error)
	// Client asks STS; it must follow no redirect. Nil is one that trusts the system's roots.
	Client *http.Client
	// Now is the clock; nil is the real one.
	Now func() time.Time
	// Log tells why a token is refused, and nothing of the token itself. Nil is silence.
	Log *slog.Logger

	once        sync.Once
	line, slots chan struct{}

	mu      sync.Mutex
	entries []ekstoken.Entry
	read    time.Time
}

func (a *Authenticator) prepare() {
	a.once.Do(func() {
		a.line, a.slots = make(chan struct{}, atMost), make(chan struct{}, atOnce)
		if a.Client == nil {
			a.Client = &http.Client{}
		}
		client := *a.Client
		client.Timeout = asks
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		a.Client = &client
		if a.Now == nil {
			a.Now = time.Now
		}
		if a.Log == nil {
			a.Log = slog.New(slog.DiscardHandler)
		}
	})
}

// errBusy is of a token for which there is no room, or whose turn has not come in time.
var errBusy = fmt.Errorf("too many tokens are judged at the same time: %w", ekstoken.ErrThrottled)

// Judge says who the holder of a token is in the cluster. An error that is
// ekstoken.ErrThrottled says that the same token may be good later; every other refuses it.
func (a *Authenticator) Judge(ctx context.Context, token string) (ekstoken.User, error) {
	a.prepare()
	question, err := ekstoken.Check(token, a.Cluster, a.Now())
	if err != nil {
		return ekstoken.User{}, err
	}
	select {
	case a.line <- struct{}{}:
		defer func() { <-a.line }()
	default:
		return ekstoken.User{}, errBusy
	}
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		return ekstoken.User{}, errBusy
	}
	caller, err := a.ask(ctx, question)
	if err != nil {
		return ekstoken.User{}, err
	}
	entries, err := a.current(ctx)
	if err != nil {
		return ekstoken.User{}, fmt.Errorf("the access entries of %s cannot be read: %w", a.Cluster.Name, err)
	}
	return ekstoken.UserOf(caller, question.AccessKeyID, entries)
}

// ask asks STS who signed. The URL holds a signature, so no error of the client is shown whole.
func (a *Authenticator) ask(ctx context.Context, question ekstoken.Question) (ekstoken.Caller, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, question.URL, http.NoBody)
	if err != nil {
		return ekstoken.Caller{}, errors.New("the token's URL cannot be asked")
	}
	request.Header.Set(ekstoken.ClusterHeader, a.Cluster.Name)
	request.Header.Set("Accept", "application/json")
	response, err := a.Client.Do(request)
	if err != nil {
		return ekstoken.Caller{}, errors.New("STS at " + request.URL.Host + " did not answer")
	}
	defer response.Body.Close() //nolint:errcheck // nothing was written
	body, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	if err != nil {
		return ekstoken.Caller{}, errors.New("the answer of STS at " + request.URL.Host + " ended early")
	}
	return ekstoken.Read(response.StatusCode, body)
}

// current are the access entries, read at most once a second. While one pass reads them the
// others wait for it.
func (a *Authenticator) current(ctx context.Context) ([]ekstoken.Entry, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := a.Now(); a.read.IsZero() || now.Sub(a.read) >= fresh || now.Before(a.read) {
		entries, err := a.Entries(ctx)
		if err != nil {
			return nil, err
		}
		a.entries, a.read = entries, now
	}
	return a.entries, nil
}
