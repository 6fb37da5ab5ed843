package awsauth_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// crowd is an STS that believes everything, in this process, and an Observer: it
// counts exchanges, and credentials that were displaced. Its sessions end at Ends.
type crowd struct {
	awsauth.Observer
	ends time.Time

	mu        sync.Mutex
	exchanges map[string]int
	displaced int
}

func (c *crowd) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	action, _, _ := strings.Cut(strings.TrimPrefix(string(body), "Action="), "&")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exchanges[action]++
	// As long as AWS's are: what is kept is measured.
	text := fmt.Sprintf(`<%[1]sResponse><%[1]sResult><Credentials><AccessKeyId>%[2]s</AccessKeyId><SecretAccessKey>%[3]s</SecretAccessKey>
<SessionToken>%[4]s</SessionToken><Expiration>%[5]s</Expiration></Credentials></%[1]sResult></%[1]sResponse>`,
		action, fmt.Sprintf("ASIA%016d", c.exchanges[action]), strings.Repeat("s", 40), strings.Repeat("t", 800), c.ends.Format(time.RFC3339))
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text)), Request: request}, nil
}

func (c *crowd) Built(string, error)                          {}
func (c *crowd) Cached(int)                                   {}
func (c *crowd) Refreshed(string, string, time.Time)          {}
func (c *crowd) Called(string, string, string, time.Duration) {}
func (c *crowd) Displaced()                                   { c.displaced++ }

func newCrowd(t *testing.T, w *world, change ...func(*awsauth.Options)) (*crowd, *awsauth.Auth) {
	t.Helper()
	c := &crowd{ends: w.time.Add(time.Hour), exchanges: map[string]int{}}
	options := w.options()
	options.HTTPClient, options.Observer = c, c
	for _, one := range change {
		one(&options)
	}
	auth, err := awsauth.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return c, auth
}

func webWorld() *world {
	return newWorld(map[string]string{"AWS_ROLE_ARN": testRole, "AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile, "AWS_REGION": "us-west-2"})
}

// team is one of many identities: a session of a role, as a selector's template makes it.
func team(n int) identity.Identity {
	return web.Via(identity.Role{
		ARN: otherRole, SessionName: fmt.Sprintf("team-%d", n), ExternalID: "cluster/prod",
		Tags: map[string]string{"ack-namespace": fmt.Sprintf("team-%d", n), "ack-service": "s3"},
	})
}

// TestASessionOfEachOfManyIsMadeOnce: a selector may have 1,000, and several as many as
// their programs say.
func TestASessionOfEachOfManyIsMadeOnce(t *testing.T) {
	for name, c := range map[string]struct{ identities, inUse int }{
		"one selector's":        {1000, 0},
		"those of three, known": {3000, 3000},
	} {
		t.Run(name, func(t *testing.T) {
			sts, auth := newCrowd(t, webWorld(), func(o *awsauth.Options) { o.InUse = func() int { return c.inUse } })
			for range 2 {
				for n := range c.identities {
					mustRetrieve(t, auth, team(n))
				}
			}
			if got := sts.exchanges["AssumeRole"]; got != c.identities || sts.exchanges["AssumeRoleWithWebIdentity"] != 1 || sts.displaced != 0 {
				t.Errorf("exchanges are %v, and %d were displaced; want %d of AssumeRole, one of the token, none displaced", sts.exchanges, sts.displaced, c.identities)
			}
		})
	}
}

// TestMoreThanThereIsRoomForIsTold by the metric each time and by the log once an hour,
// unless there are sessions that have ended.
func TestMoreThanThereIsRoomForIsTold(t *testing.T) {
	w, log := webWorld(), &bytes.Buffer{}
	sts, auth := newCrowd(t, w, func(o *awsauth.Options) {
		o.Cached, o.Logger = 10, slog.New(slog.NewTextHandler(log, nil))
	})
	for n := range 12 { // and the web identity's
		mustRetrieve(t, auth, team(n))
	}
	const warning = "more AWS identities in use than sessions are kept"
	if sts.displaced != 3 || strings.Count(log.String(), warning) != 1 {
		t.Errorf("%d were displaced, want 3, and the log once:\n%s", sts.displaced, log)
	}
	w.advance(59 * time.Minute)
	for n := range 12 {
		mustRetrieve(t, auth, team(n))
	}
	if strings.Count(log.String(), warning) != 1 {
		t.Errorf("the log was told again within an hour:\n%s", log)
	}
	w.advance(time.Minute) // all but those that were just made anew have ended
	before := sts.displaced
	sts.ends = w.now().Add(time.Hour)
	mustRetrieve(t, auth, team(100))
	if sts.displaced != before {
		t.Error("a good session went although others have ended")
	}
	for n := range 30 {
		mustRetrieve(t, auth, team(200+n))
	}
	if sts.displaced == before || strings.Count(log.String(), warning) != 2 {
		t.Errorf("%d were displaced, and the log says, want a second warning:\n%s", sts.displaced-before, log)
	}
}

// TestASessionTakesLittle measures what Options.Cached says.
func TestASessionTakesLittle(t *testing.T) {
	const many, most = 1000, 12_000
	_, auth := newCrowd(t, webWorld())
	mustRetrieve(t, auth, web)
	before := heap()
	for n := range many {
		mustRetrieve(t, auth, team(n))
	}
	each := (heap() - before) / many
	t.Logf("a session takes %d bytes", each)
	if each > most {
		t.Errorf("a session takes %d bytes, want at most %d", each, most)
	}
	runtime.KeepAlive(auth)
}

func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
