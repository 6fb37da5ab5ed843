// Package rotation proves that a pod goes on when the kubelet replaces its token:
// nobody tells the SDK, and no call is refused.
package rotation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
	"github.com/tabard-dev/tabard/test/node/bed"
)

const team = "team-r"

// rotationsVariable says how many rotations are waited for, instead of one.
const rotationsVariable = "TABARD_NODE_ROTATIONS"

// back is how far the clock of the local AWS is put back, but for what judges tokens
// and signatures. A session of an hour then ends in a minute by the clock of the SDK,
// which takes a new one as soon as that is over: it needs its token each minute.
const back = 59 * time.Minute

// spare is for how long AWS takes a session after the end that it has told: a call
// may be under way when it comes.
const spare = 20 * time.Second

// grace is for how long AWS takes a token after its expiry.
const grace = 5 * time.Minute

// rotatedWithin is the most that a rotation takes: a kubelet replaces a token of ten
// minutes after eight, at its next look at the pod, of which there is one in each
// minute and a half. What is more is for a loaded machine.
const rotatedWithin = 12 * time.Minute

type rotation struct {
	*bed.Bed
	t    *testing.T
	role bed.Role
	// pod is the UID of the pod.
	pod string
	// refused counts the calls that were refused on purpose.
	refused int
}

func TestNodeTheKubeletRotatesTheToken(t *testing.T) {
	wanted := rotations(t)
	r := open(t)
	token := r.token()
	if life := token.Expires().Sub(token.Issued()); life != 10*time.Minute {
		t.Fatalf("%s lives for %s, want the shortest life of ten minutes", token, life)
	}
	for i := range wanted {
		next := r.awaitRotation(token)
		t.Logf("rotation %d of %d after %.0f s: %s became %s", i+1, wanted, next.Issued().Sub(token.Issued()).Seconds(), token, next)
		r.onlyWith(next, token)
		token = next
	}
	r.nothingWasRefused()
}

func rotations(t *testing.T) int {
	t.Helper()
	text, given := os.LookupEnv(rotationsVariable)
	if !given {
		return 1
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 {
		t.Fatalf("%s is %q, want a count of rotations", rotationsVariable, text)
	}
	return count
}

// open starts the pod under the local AWS's clock.
func open(t *testing.T) *rotation {
	t.Helper()
	b := bed.Open(t)
	b.LoadWorkload()
	r := &rotation{Bed: b, t: t, role: b.Team(team, nil)}
	b.Clock(map[string]string{
		"advance": (-back).String(), "tokenOffset": back.String(), "signatureOffset": back.String(), "credentialOffset": (-spare).String(),
	})
	b.Apply(team, "pod.yaml", r.role)
	b.AwaitLine(team, "app", "app", `"wrote"`)
	pod := must.Get(b.Kube.CoreV1().Pods(team).Get(t.Context(), "app", metav1.GetOptions{}))(t)
	r.pod = string(pod.UID)
	return r
}

func (r *rotation) token() bed.Token {
	r.t.Helper()
	token := must.Get(r.Token(r.pod))(r.t)
	return token
}

// awaitRotation waits until the kubelet has replaced a token, and returns the next.
func (r *rotation) awaitRotation(old bed.Token) (next bed.Token) {
	r.t.Helper()
	must.Do(r.t, onlab.Eventually(r.t.Context(), rotatedWithin, func(context.Context) (err error) {
		if next, err = r.Token(r.pod); err == nil && next.ID == old.ID {
			err = fmt.Errorf("the pod has %s", old)
		}
		return err
	}))
	if next.Expires().Sub(next.Issued()) != 10*time.Minute || !next.Issued().After(old.Issued()) {
		r.t.Errorf("%s became %s, want a later one of ten minutes", old, next)
	}
	return next
}

// onlyWith proves that the pod takes its next session with the new token: the old
// one is made to end, so that it is refused.
func (r *rotation) onlyWith(next, old bed.Token) {
	r.t.Helper()
	r.awaitCall() // what the pod began with the old token is done
	past := time.Until(old.Expires()) + grace + 30*time.Second
	r.Clock(map[string]string{"tokenOffset": (back + past).String()})
	if code, err := r.exchange(old); code != "ExpiredTokenException" {
		r.t.Fatalf("the old token past its end: %v, want ExpiredTokenException", err)
	}
	r.refused++
	began, before := time.Now(), len(r.sessions())
	r.Eventually("the SDK takes a session with "+next.String(), func(context.Context) error {
		if len(r.sessions()) > before {
			return nil
		}
		return errors.New("it has taken none")
	})
	r.awaitCall()
	r.Since(began, "from the end of the old token to a call of a session of the new one")
	r.Clock(map[string]string{"tokenOffset": back.String()})
}

// awaitCall waits for the pod's next call. It makes one after the other.
func (r *rotation) awaitCall() {
	r.t.Helper()
	seen := len(r.Calls(r.role))
	r.Eventually("the pod calls AWS", func(context.Context) error {
		if len(r.Calls(r.role)) > seen {
			return nil
		}
		return errors.New("it has not called")
	})
}

// sessions are the pod's successful exchanges of a token for a session.
func (r *rotation) sessions() []onlab.Call {
	r.t.Helper()
	all := must.Get(r.Journal(r.t.Context()))(r.t)
	return slices.DeleteFunc(all, func(call onlab.Call) bool {
		return call.Operation != "AssumeRoleWithWebIdentity" || call.Resource != r.role.ARN || call.Status >= 400
	})
}

// exchange asks for a session with a token, and returns AWS's error code.
func (r *rotation) exchange(token bed.Token) (code string, err error) {
	config, err := r.Config(aws.AnonymousCredentials{})
	if err != nil {
		return "", err
	}
	_, err = sts.NewFromConfig(config).AssumeRoleWithWebIdentity(r.t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &r.role.ARN, RoleSessionName: aws.String("past-its-end"), WebIdentityToken: &token.Raw,
	})
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode(), err
	}
	return "", err
}

// nothingWasRefused looks at every call of the pod, from its first to its last.
func (r *rotation) nothingWasRefused() {
	r.t.Helper()
	sessions, calls, refused := r.sessions(), r.Calls(r.role), r.Refused(r.role)
	if len(refused) != r.refused {
		r.t.Errorf("%d calls were refused, want the %d with old tokens: %+v", len(refused), r.refused, refused)
	}
	keys := map[string]bool{}
	for _, call := range calls {
		keys[call.AccessKeyID] = true
	}
	if unused := len(sessions) - len(keys); unused < 0 || unused > 1 { // the last may be so new
		r.t.Errorf("the pod called by %d keys, and has taken %d sessions", len(keys), len(sessions))
	}
	r.t.Logf("%d calls of %d sessions", len(calls), len(keys))
	r.SaysNothingBut(team, "app", "app", `"wrote"`)
	pod := must.Get(r.Kube.CoreV1().Pods(team).Get(r.t.Context(), "app", metav1.GetOptions{}))(r.t)
	if got := pod.Status.ContainerStatuses[0].RestartCount; got != 0 {
		r.t.Errorf("the container was started again %d times", got)
	}
}
