package chain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// misjudged is evidence that was once judged wrongly.
type misjudged struct {
	plant     func(*chain.Evidence)
	state     chain.State
	code      chain.Code
	certainty chain.Certainty
	// says is in the text, in what is missing, in a command or in the note; no command has spoils.
	says, spoils string
}

// judge compares one link of each with what is right of it.
func judge(t *testing.T, link int, all map[string]misjudged) {
	t.Helper()
	for name, each := range all {
		e := copyOf(t, world())
		each.plant(&e)
		step := chain.Explain(copyOf(t, e)).Links[link]
		f := chain.Finding{}
		if len(step.Findings) > 0 {
			f = step.Findings[0]
		}
		mends := strings.Join(f.Mend, "\n")
		if step.State != each.state || f.Code != each.code || f.Certainty != each.certainty || !strings.Contains(strings.Join([]string{step.Text, step.Needs, f.Observed, f.Required, mends, f.Note}, "\n"), each.says) || each.spoils != "" && strings.Contains(mends, each.spoils) {
			t.Errorf("%s: %+v, want %s %s %s that says %q", name, step, each.state, each.code, each.certainty, each.says)
		}
	}
}

// stripped is a fault of a pod that a webhook let pass without an identity.
func stripped(plant func(*chain.Evidence)) func(*chain.Evidence) {
	return func(e *chain.Evidence) {
		plant(e)
		app(e).Env, e.Pod.Value.Spec.Volumes = nil, nil
	}
}

// vault makes the hook that of another product, which is called under the path of webhooks for identities.
func vault(h *chain.Hook) {
	h.Configuration, h.Name, h.Namespaces = "vault-agent-injector-cfg", "vault.hashicorp.com", &metav1.LabelSelector{MatchLabels: map[string]string{"vault": "enabled"}}
}

// refused is a new pod that the API server refuses with a text.
func refused(text string) func(*chain.Evidence) {
	return func(e *chain.Evidence) { e.NewPod = chain.Seen[corev1.Pod]{Unread: text, Needs: "a new pod"} }
}

// beside adds a hook that is Tabard's but for what is changed.
func beside(e *chain.Evidence, change func(*chain.Hook)) {
	another := hook()
	change(&another)
	*e.Hooks.Value = append(*e.Hooks.Value, another)
}

// TestWhatProvesAFaultOfTheWebhook: hooks of other products, pods that need none, and conditions that
// are not known, are other explanations.
func TestWhatProvesAFaultOfTheWebhook(t *testing.T) {
	const down = `failed calling webhook "pod-identity.tabard.dev": failed to call webhook: no endpoints available`
	judge(t, 4, map[string]misjudged{
		"another product's hook is asked about labels": {stripped(silent(vault)), chain.Broken, chain.CodeNoWebhook, chain.Likely, "vault-agent-injector-cfg", "vault=enabled"},
		"another product's CA has expired": {stripped(silent(func(h *chain.Hook) {
			vault(h)
			h.Namespaces, h.Until, h.Expired = nil, &noon, true
		})), chain.Broken, chain.CodeNoWebhook, chain.Likely, "vault-agent-injector-cfg", "tabard-certificate"},
		"a pod that brings its token": {func(e *chain.Evidence) {
			silent(nil)(e)
			e.Hooks.Value = &[]chain.Hook{}
		}, chain.Broken, chain.CodeNoWebhook, chain.Likely, "The pod has its token: if its template brings it by hand, it needs no webhook.", ""},
		"a pod without one": {func(e *chain.Evidence) {
			stripped(silent(nil))(e)
			e.Hooks.Value = &[]chain.Hook{}
		}, chain.Broken, chain.CodeNoWebhook, chain.Proved, "", ""},
		"conditions": {stripped(silent(func(h *chain.Hook) { h.Conditions = true })), chain.Broken, chain.CodeNoAnswer, chain.Likely, "matchConditions", ""},
		"conditions of a hook whose CA has expired": {stripped(silent(func(h *chain.Hook) { h.Conditions, h.Until, h.Expired = true, &noon, true })),
			chain.Broken, chain.CodeAuthorityExpired, chain.Likely, "matchConditions", ""},
		"conditions of the second hook": {func(e *chain.Evidence) {
			stripped(silent(nil))(e)
			beside(e, func(h *chain.Hook) { h.Configuration, h.Conditions = "pod-identity-webhook", true })
		}, chain.Broken, chain.CodeNoAnswer, chain.Likely, "of pod-identity-webhook may leave the pod out", ""},
		"a hook with conditions that was called": {func(e *chain.Evidence) {
			refused("Internal error occurred: " + down)(e)
			(*e.Hooks.Value)[0].Conditions = true
		}, chain.Broken, chain.CodeNoAnswer, chain.Proved, down, ""},
		"a refusal that begins with the hook":      {refused(down), chain.Broken, chain.CodeNoAnswer, chain.Proved, down, ""},
		"a refusal in which somebody writes of it": {refused(`admission webhook "x" denied the request: ` + down), chain.Unseen, "", "", down, ""},
		"a refusal of a hook that is not there":    {func(e *chain.Evidence) { refused(down)(e); e.Hooks.Value = &[]chain.Hook{} }, chain.Broken, chain.CodeNoAnswer, chain.Likely, down, ""},
		"a refusal where the hooks may not be read": {func(e *chain.Evidence) {
			refused(down)(e)
			e.Hooks = chain.Seen[[]chain.Hook]{Unread: "forbidden", Needs: "list"}
		}, chain.Broken, chain.CodeNoAnswer, chain.Proved, down, ""},
		"the first of two hooks has an expired CA": {func(e *chain.Evidence) {
			stripped(silent(func(h *chain.Hook) { h.Configuration, h.Until, h.Expired = "pod-identity-webhook", &noon, true }))(e)
			beside(e, func(h *chain.Hook) { h.Configuration = "others-pod-identity" })
			beside(e, func(*chain.Hook) {})
		}, chain.Broken, chain.CodeNoAnswer, chain.Proved, "pod-identity-webhook too, whose caBundle has expired: kubectl get mutatingwebhookconfiguration pod-identity-webhook -o yaml", "get mutating"},
		"the second of two hooks is Tabard's": {func(e *chain.Evidence) {
			stripped(silent(func(h *chain.Hook) { h.Configuration = "pod-identity-webhook" }))(e)
			beside(e, func(*chain.Hook) {})
		}, chain.Broken, chain.CodeNoAnswer, chain.Proved, "rollout restart deployment/tabard-webhook", ""},
	})
	for _, name := range silenced {
		e := copyOf(t, world())
		stripped(faults[name].plant)(&e)
		if f := chain.Explain(e).First; f.Code != faults[name].code || f.Certainty != chain.Proved {
			t.Errorf("%s, of a pod without an identity: %+v", name, f)
		}
	}
}

// publishes fetches documents as they are, while the API server signs with some keys.
func publishes(signing chain.Signing, discovery string, keys ...string) func(*chain.Evidence) {
	return func(e *chain.Evidence) {
		e.Signing.Value = &signing
		seen := issuer.Public{Discovery: issuer.Fetch{Status: 200, Body: []byte(discovery)}, Keys: issuer.Fetch{Status: 200, Body: []byte(`{"keys":[` + strings.Join(keys, ",") + `]}`)}}
		seen.KeysAt = issuer.KeysOf(issuerURL, seen.Discovery)
		e.Published.Value = chain.PrunePublished(issuerURL, seen)
	}
}

// many are public keys of one type.
func many(count int, key func(id int) string) (out []string) {
	for id := range count {
		out = append(out, key(id))
	}
	return out
}

// TestWhatProvesAFaultOfThePublication: what is wrong with one key says nothing of another, and a
// document is as good as AWS takes it.
func TestWhatProvesAFaultOfThePublication(t *testing.T) {
	discovery := string(issuer.Discovery(issuerURL, []string{"ES256"}))
	signing := chain.Signing{Keys: issuer.UsableKeys([]byte(`{"keys":[` + jwk("one", "") + `]}`))}
	answers := func(status int) func(*chain.Evidence) {
		return func(e *chain.Evidence) { e.Published.Value.Discovery.Status = status }
	}
	other := issuer.UsableKey{ID: "one", Thumbprint: "of another key"}
	ec := func(id int) string { return jwk(fmt.Sprint("ec", id), "") }
	rsa := func(id int) string {
		return fmt.Sprintf(`{"kty":"RSA","kid":"rsa%d","n":%q,"e":"AQAB"}`, id, strings.Repeat("s", 342))
	}
	cases := map[string]misjudged{
		"a key for encryption beside":                         {publishes(signing, discovery, jwk("one", ""), jwk("enc", `,"use":"enc","alg":"ECDH-ES"`)), chain.Sound, "", "", "API server's keys: one", ""},
		"a key for an algorithm that is not named":            {publishes(signing, discovery, jwk("one", ""), jwk("ps", `,"alg":"PS256"`)), chain.Sound, "", "", "PS256", ""},
		"the key that signs is for such a one":                {publishes(signing, discovery, jwk("one", `,"alg":"PS256"`), jwk("two", "")), chain.Broken, chain.CodeDocument, chain.Likely, "PS256", ""},
		"no key is for one that is named":                     {publishes(signing, discovery, jwk("one", `,"alg":"PS256"`)), chain.Broken, chain.CodeDocument, chain.Likely, "PS256", ""},
		"such a key, and the one that signs is not":           {publishes(signing, discovery, jwk("two", ""), jwk("ps", `,"alg":"PS256"`)), chain.Broken, chain.CodeDocument, chain.Likely, "PS256", ""},
		"a shared secret beside":                              {publishes(signing, discovery, jwk("one", ""), jwk("ps", `,"alg":"PS256"`), `{"kty":"oct","kid":"k","k":"c2VjcmV0"}`), chain.Broken, chain.CodeDocument, chain.Likely, "a private or a shared one", ""},
		"a hundred keys of each type":                         {publishes(signing, discovery, append(append(many(99, ec), many(100, rsa)...), jwk("one", ""))...), chain.Sound, "", "", "one", ""},
		"a key more of one type":                              {publishes(signing, discovery, append(many(100, ec), jwk("one", ""))...), chain.Broken, chain.CodeDocument, chain.Likely, "101 keys of type EC", ""},
		"two keys of the token's ID, the first is published":  {publishes(chain.Signing{Token: "one", Keys: append(slices.Clone(signing.Keys), other)}, discovery, jwk("one", "")), chain.Sound, "", "", "one", ""},
		"two keys of the token's ID, the second is published": {publishes(chain.Signing{Token: "one", Keys: append([]issuer.UsableKey{other}, signing.Keys...)}, discovery, jwk("one", "")), chain.Sound, "", "", "one", ""},
		"two keys of the token's ID, none is published":       {publishes(chain.Signing{Token: "one", Keys: []issuer.UsableKey{other, {ID: "one", Thumbprint: "a third"}}}, discovery, jwk("one", "")), chain.Broken, chain.CodeKeyMissing, chain.Proved, "is another key", ""},
		"a key without an ID":                                 {publishes(signing, discovery, strings.Replace(jwk("two", ""), `"kid":"two",`, "", 1)), chain.Broken, chain.CodeKeyMissing, chain.Proved, "published: (without an ID)", ""},
		"fields that nobody reads are of another type":        {publishes(signing, strings.Replace(discovery, `"claims_supported":[`, `"claims_supported":"sub","x":[`, 1), jwk("one", "")), chain.Sound, "", "", "one", ""},
		"the keys are at a URL with a query":                  {publishes(signing, strings.Replace(discovery, "/keys.json", "/keys?v=1", 1), jwk("one", "")), chain.Sound, "", "", "one", ""},
		"a certificate beside the key cannot be read":         {publishes(signing, discovery, jwk("one", `,"x5c":["AAAA"],"x5t":"AAAA","x5t#S256":"AAAA","x5u":":"`)), chain.Sound, "", "", "one", ""},
	}
	for status, certainty := range map[int]chain.Certainty{404: chain.Proved, 410: chain.Proved, 401: chain.Likely, 403: chain.Likely, 451: chain.Likely} {
		says := fmt.Sprint("answers ", status)
		if certainty == chain.Likely {
			says = "only this machine is refused: curl -s -o /dev/null -w '%{http_code}' " + issuerURL + "/.well-known/openid-configuration"
		}
		cases[fmt.Sprint("an answer of ", status)] = misjudged{answers(status), chain.Broken, chain.CodeNotPublic, certainty, says, ""}
	}
	for _, status := range []int{204, 304, 400, 405, 406, 418, 429, 500, 503, 999} {
		cases[fmt.Sprint("an answer of ", status)] = misjudged{answers(status), chain.Unseen, "", "", fmt.Sprint(status), ""}
	}
	judge(t, 1, cases)
}
