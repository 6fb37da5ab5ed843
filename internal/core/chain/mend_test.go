package chain_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// What random trust policies are made of, and whom they are asked about.
var (
	someSubjects  = []string{subject, "system:serviceaccount:shop:check-out", "system:serviceaccount:shop:other", "system:serviceaccount:other:checkout"}
	someAudiences = []string{audience, "openshift", "sts.amazon.com"}
	somePatterns  = []string{"system:serviceaccount:shop:*", "system:serviceaccount:*:checkout", "system:serviceaccount:other:*", "*"}
)

// randomTrust is a trust policy of one to three statements as people write them, well or badly.
func randomTrust(r *rand.Rand) string {
	pick := func(of []string) string { return of[r.IntN(len(of))] }
	some := func(of []string) any {
		if r.IntN(2) == 0 {
			return pick(of)
		}
		return []string{pick(of), pick(of)}
	}
	var statements []any
	for range 1 + r.IntN(3) {
		conditions := map[string]map[string]any{}
		for range r.IntN(4) {
			operator := pick([]string{"StringEquals", "StringEquals", "StringEquals", "StringLike", "StringNotEquals", "ForAnyValue:StringEquals", "StringEqualsIfExists"})
			key := pick([]string{bare, bare, bare, bare, provider, "oidc.eks.eu-central-1.amazonaws.com/id/OLD"}) + pick([]string{":sub", ":sub", ":aud"})
			if conditions[operator] == nil {
				conditions[operator] = map[string]any{}
			}
			conditions[operator][key] = some(slices.Concat(someSubjects, someAudiences, somePatterns))
			if strings.HasSuffix(key, ":sub") && r.IntN(4) > 0 {
				conditions[operator][key] = some(slices.Concat(someSubjects, somePatterns))
			} else if r.IntN(4) > 0 {
				conditions[operator][key] = some(someAudiences)
			}
		}
		statement := map[string]any{
			"Effect":    pick([]string{"Allow", "Allow", "Allow", "Allow", "Deny"}),
			"Principal": map[string]any{"Federated": pick([]string{provider, provider, provider, strings.Replace(provider, bare, "oidc.example.com/old", 1)})},
			"Action":    pick([]string{"sts:AssumeRoleWithWebIdentity", "sts:AssumeRoleWithWebIdentity", "sts:*", "sts:AssumeRole"}),
		}
		if len(conditions) > 0 {
			statement["Condition"] = conditions
		}
		statements = append(statements, statement)
	}
	return string(must.Get(json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": statements}))(&testing.T{}))
}

// admitted are the pairs of subject and audience that a trust policy admits.
func admitted(t *testing.T, document string) map[[2]string]bool {
	t.Helper()
	policy := must.Get(iampolicy.Parse([]byte(document)))(t)
	out := map[[2]string]bool{}
	for _, sub := range someSubjects {
		for _, aud := range someAudiences {
			context := iampolicy.NewContext()
			context.Set(bare+":sub", sub)
			context.Set(bare+":aud", aud)
			request := &iampolicy.Request{
				Principal: iampolicy.Principal{Kind: iampolicy.Federated, ARN: provider, AccountID: account},
				Action:    "sts:AssumeRoleWithWebIdentity", Resource: roleARN, ResourceAccountID: account, Context: context,
			}
			if iampolicy.Evaluate(request, &iampolicy.Policies{Resource: policy}).Allowed() {
				out[[2]string{sub, aud}] = true
			}
		}
	}
	return out
}

// TestAMendAdmitsTheTokenAndTakesNobodyOut, nor lets anybody in whom the trust policy does not name.
func TestAMendAdmitsTheTokenAndTakesNobodyOut(t *testing.T) {
	counts := map[chain.Code]int{}
	for seed := range uint64(5_000) {
		document := randomTrust(rand.New(rand.NewPCG(seed, 38))) //nolint:gosec // it shall be the same each time
		e := copyOf(t, world())
		e.Role.Value.Trust = document
		r := chain.Explain(e)
		before := admitted(t, document)
		if token := [2]string{subject, audience}; r.Verdict == chain.Healthy && !before[token] || r.Verdict == chain.Unhealthy && before[token] {
			t.Fatalf("seed %d: %s, and the token is admitted: %t\n%s", seed, r.Verdict, before[token], document)
		}
		if r.First == nil {
			continue
		}
		counts[r.First.Code]++
		mended, is := strings.CutPrefix(r.First.Mend[0], updates)
		if !is {
			continue
		}
		after := admitted(t, strings.TrimSuffix(mended, "'"))
		if !after[[2]string{subject, audience}] {
			t.Fatalf("seed %d: %s does not admit the token\nwas %s", seed, mended, document)
		}
		for pair := range before {
			if !after[pair] {
				t.Fatalf("seed %d: %s takes %v out\nwas %s", seed, mended, pair, document)
			}
		}
		for pair := range after {
			if !before[pair] && pair[0] != subject && !strings.Contains(document, `"`+pair[0]+`"`) {
				t.Fatalf("seed %d: %s lets %v in\nwas %s", seed, mended, pair, document)
			}
		}
	}
	t.Log(counts)
	for _, code := range []chain.Code{chain.CodeSubject, chain.CodeSubjectOperator, chain.CodeTrustAudience, chain.CodeKeyIssuer, chain.CodeKeysSwapped, chain.CodeTrustAction, chain.CodeWrongProvider, chain.CodeTrustDenies} {
		if counts[code] < 50 {
			t.Errorf("%s was found %d times: the test sees too few", code, counts[code])
		}
	}
}
