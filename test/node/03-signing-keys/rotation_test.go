// Package signingkeys proves that the key by which the API server signs tokens can be
// changed under a workload without a refusal, in the order that docs/oidc-issuer.md
// tells, and that the issuer says so when the order is another.
package signingkeys

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestNodeKeysAreRotatedWithoutARefusal(t *testing.T) {
	c := open(t)
	first, second := c.current(), newKeyPair(t)
	c.expectKey("before", first)
	c.awaitAnswers("before")

	// 1. The new key is for verification only.
	c.trust(first, second)
	c.restart("kube-apiserver")
	c.awaitKeys(metav1.ConditionTrue, core.ReasonInSync, first.id+" signs", second.id+" can be read since", "sign with it after")
	c.expectPublished(first, second)
	c.expectKey("added", first)
	c.awaitAnswers("added")

	// 2. AWS has had the time to fetch it.
	c.passKeyCache()
	c.expectRenewal("before", "added")

	// 3. The new key signs. Pods that run have tokens by the old one.
	c.signWith(second)
	c.restart("kube-apiserver", "kube-controller-manager")
	c.expectKey("signing", second)
	c.awaitAnswers("signing")
	c.awaitKeys(metav1.ConditionTrue, core.ReasonInSync, second.id+" signs")
	c.expectRenewal("before", "added", "signing")

	// 4. Whoever talks to the API server has a token by the new key; then it forgets
	// the old one, which stays published: two pods have tokens for AWS by it.
	for _, system := range []string{"tabard-system", "tabard-certificate"} {
		c.Kubectl("rollout", "restart", "-n", system, "deployment")
	}
	c.awaitTabard()
	c.trust(second)
	c.restart("kube-apiserver")
	c.awaitKeys(metav1.ConditionTrue, core.ReasonInSync, second.id+" signs", first.id+" has gone from the API server and is published until")
	c.expectPublished(first, second)
	c.expectKey("dropped", second)
	c.awaitAnswers("dropped")
	c.expectRenewal("before", "added", "signing", "dropped")

	// 5. The last tokens by the old key have expired, and so has the key.
	c.Kubectl("delete", "pod", "-n", namespace, "before", "added")
	c.pretendGone(first, 26*time.Hour)
	c.awaitForgotten(first)
	c.expectPublished(second)
	c.expectKey("after", second)
	c.awaitAnswers("after")
	c.expectRenewal("signing", "dropped")

	c.awaitTabard()
	c.expectNoRefusal(map[string]keyPair{"before": first, "added": first, "signing": second, "dropped": second, "after": second})
}

// expectPublished compares the keys that anybody reads with those that should be there.
func (c *cluster) expectPublished(want ...keyPair) {
	c.t.Helper()
	var ids []string
	for _, pair := range want {
		ids = append(ids, pair.id)
	}
	slices.Sort(ids)
	if got := c.published(); !slices.Equal(got, ids) {
		c.t.Fatalf("the published keys are %q, want %q", got, ids)
	}
}

// awaitTabard waits until all of Tabard's pods are ready.
func (c *cluster) awaitTabard() {
	c.t.Helper()
	for _, name := range []string{"tabard-issuer", "tabard-operator", "tabard-webhook"} {
		c.Kubectl("rollout", "status", "-n", "tabard-system", "deployment/"+name, "--timeout=180s")
	}
	c.Kubectl("rollout", "status", "-n", "tabard-certificate", "deployment/tabard-certificate", "--timeout=180s")
	c.Kubectl("wait", "oidcissuer/lab", "--for=condition=Ready", "--timeout=180s")
}

// pretendGone makes the issuer's memory of a retiring key, and of its own looks, older:
// nobody waits for a day, and the issuer's own clock is the machine's.
func (c *cluster) pretendGone(pair keyPair, ago time.Duration) {
	c.t.Helper()
	issuer := must.Get(c.issuer(c.t.Context()))(c.t)
	at := slices.IndexFunc(issuer.Status.Keys, func(key v1alpha1.SigningKey) bool { return key.KeyID == pair.id })
	if at < 0 || issuer.Status.Keys[at].State != v1alpha1.KeyRetiring {
		c.t.Fatalf("the keys are %+v, want %s to be retiring", issuer.Status.Keys, pair.id)
	}
	path := fmt.Sprintf("/status/keys/%d/", at)
	then := time.Now().Add(-ago).UTC().Format(time.RFC3339)
	patch := must.Get(json.Marshal([]map[string]string{
		{"op": "test", "path": path + "keyID", "value": pair.id},
		{"op": "replace", "path": path + "retiringSince", "value": then},
		{"op": "replace", "path": "/status/keyRecord/since", "value": then},
	}))(c.t)
	c.Kubectl("patch", "oidcissuer", "lab", "--subresource=status", "--type=json", "-p", string(patch))
}

// awaitForgotten waits until the issuer knows a key no more and is ready.
func (c *cluster) awaitForgotten(pair keyPair) {
	c.t.Helper()
	began := time.Now()
	c.Eventually("the retired key is forgotten", func(ctx context.Context) error {
		issuer, err := c.issuer(ctx)
		if err == nil && slices.ContainsFunc(issuer.Status.Keys, func(key v1alpha1.SigningKey) bool { return key.KeyID == pair.id }) {
			err = fmt.Errorf("the keys are %+v", issuer.Status.Keys)
		}
		return err
	})
	c.Since(began, "from the end of its time until the key was forgotten")
	c.awaitKeys(metav1.ConditionTrue, core.ReasonInSync)
}

// expectNoRefusal looks at every call of the workload from the first to the last.
func (c *cluster) expectNoRefusal(pods map[string]keyPair) {
	c.t.Helper()
	granted, refused := c.exchanges()
	for _, call := range refused {
		c.t.Errorf("an exchange was refused: %+v", call)
	}
	calls := c.Calls(c.role)
	for _, call := range calls {
		if call.Status != http.StatusOK {
			c.t.Errorf("a call was refused: %+v", call)
		}
	}
	for _, call := range c.journal() {
		// A program that is killed while it sends, as in a pod that is deleted, leaves a
		// request without its end. Nobody is left to be refused.
		cutOff := call.Error == "IncompleteBody"
		if !cutOff && (call.Status == http.StatusForbidden || call.Status == http.StatusBadRequest) {
			c.t.Errorf("somebody was refused: %+v", call)
		}
	}
	byKey := map[string]int{}
	for pod, pair := range pods {
		byKey[pair.id] += c.credentials(pod)
	}
	c.t.Logf("%d exchanges and %d other calls of the workload, none refused; credentials used by the key of their token: %v", len(granted), len(calls), byKey)
	for id, count := range byKey {
		if count < 10 {
			c.t.Errorf("%d credentials were had by tokens of key %s, want many", count, id)
		}
	}
}
