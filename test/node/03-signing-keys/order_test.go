package signingkeys

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestNodeKeysInTheWrongOrderAreTold(t *testing.T) {
	c := open(t)
	first, second, third := c.current(), newKeyPair(t), newKeyPair(t)
	c.expectKey("before", first)
	c.awaitAnswers("before")

	// The new key signs, and nobody was told of it.
	c.signWith(second)
	c.restart("kube-apiserver")
	c.expectKey("unknown", second)
	c.expectRefusal("unknown")
	c.awaitKeys(metav1.ConditionFalse, core.ReasonSigningKeyUnknown, "signs tokens with key "+second.id, "no cloud can verify", "--service-account-key-file")
	c.expectRenewal("before")
	// What the message says puts it right. The pod goes on by itself.
	c.trust(first, second)
	c.restart("kube-apiserver")
	c.awaitKeys(metav1.ConditionTrue, core.ReasonInSync, second.id+" signs, although it can be read only since")
	c.passKeyCache()
	c.awaitAnswers("unknown")

	// The new key is told, and signs without a wait for its publication, which S3
	// holds up.
	fault := map[string]any{"service": "s3", "operation": "PutObject", "code": "SlowDown", "count": 1000}
	must.Do(t, c.Control(t.Context(), http.MethodPost, "faults", fault, nil))
	c.trust(first, second, third)
	c.signWith(third)
	c.restart("kube-apiserver")
	c.awaitKeys(metav1.ConditionFalse, core.ReasonKeyNotPublished, "signs tokens with "+third.id, "clouds refuse these tokens", "sign with ", second.id, "--service-account-signing-key-file")
	c.expectKey("hasty", third)
	c.expectRefusal("hasty")
	c.expectRenewal("before", "unknown")
	// The old key signs again, and all is well for new pods, before anything is
	// published.
	c.signWith(second)
	c.restart("kube-apiserver")
	c.awaitKeys(metav1.ConditionFalse, core.ReasonKeyNotPublished, third.id, "do not sign with it before it is published")
	c.expectKey("again", second)
	c.awaitAnswer("again", "GetCallerIdentity")
	must.Do(t, c.Control(t.Context(), http.MethodDelete, "faults", nil, nil))
	c.awaitKeys(metav1.ConditionTrue, core.ReasonInSync, second.id+" signs", third.id+" can be read since")
	c.passKeyCache()
	for _, pod := range []string{"hasty", "again"} {
		c.awaitAnswers(pod)
	}
}

// expectRefusal waits until AWS has refused a pod's token, and for nothing else.
func (c *cluster) expectRefusal(pod string) {
	c.t.Helper()
	line := c.AwaitLine(namespace, pod, "whoami", "InvalidIdentityToken")
	c.t.Logf("pod %s: %s", pod, line)
	if granted := c.credentials(pod); granted != 0 {
		c.t.Errorf("pod %s has had %d credentials, want none", pod, granted)
	}
}
