package operator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

const issuer = "https://issuer.example.com"

// asking is what a version declares: actions on all resources. With nil it declares nothing.
func asking(csv string, tokens catalogue.Support, actions []string) permission.Set {
	aws := catalogue.AWS
	b := catalogue.Bundle{Name: csv, Metadata: &catalogue.Metadata{Annotations: map[string]string{}}, Workload: &catalogue.Workload{ServiceAccounts: []string{"p"}, Audiences: []string{"openshift"}}}
	b.Features.Tokens[aws] = tokens
	if actions != nil {
		requests := []string{}
		for i, action := range actions {
			requests = append(requests, fmt.Sprintf(`{"apiVersion":"cloudcredential.openshift.io/v1","kind":"CredentialsRequest","metadata":{"name":"p%d","namespace":"$(NAMESPACE)"},"spec":{"secretRef":{"name":"p%d","namespace":"$(NAMESPACE)"},"serviceAccountNames":["p"],`+
				`"providerSpec":{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec","statementEntries":[{"effect":"Allow","action":[%q],"resource":"*"}]}}}`, i, i, action))
		}
		b.Metadata.Annotations[permission.Annotation] = "[" + strings.Join(requests, ",") + "]"
	}
	return permission.OfBundle("p", b, &aws)
}

// roleOf allows one action to the operator's ServiceAccount.
func roleOf(action string) *sufficiency.Documents {
	return &sufficiency.Documents{
		ARN: arn,
		Trust: sufficiency.Document{Text: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::111122223333:oidc-provider/issuer.example.com"},"Action":"sts:AssumeRoleWithWebIdentity",
			"Condition":{"StringEquals":{"issuer.example.com:sub":"system:serviceaccount:ns:p","issuer.example.com:aud":"openshift"}}}]}`},
		Policies: []sufficiency.Document{{Text: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"` + action + `","Resource":"*"}]}`}},
	}
}

func TestJudge(t *testing.T) {
	get, put := []string{"s3:GetObject"}, []string{"s3:PutObject"}
	for name, c := range map[string]struct {
		change func(*operator.Upgrade)
		want   operator.Verdict
		says   string
	}{
		"the role is enough":     {func(*operator.Upgrade) {}, operator.VerdictSatisfied, "is enough"},
		"the role is not enough": {func(u *operator.Upgrade) { u.Role = roleOf("s3:ListBucket") }, operator.VerdictMissing, "not enough"},
		"a boundary not read": {func(u *operator.Upgrade) {
			u.Role.Boundary = &sufficiency.Document{Name: "the boundary", Unread: "denied"}
		}, operator.VerdictUnknown, "unknown whether"},
		"no documents":        {func(u *operator.Upgrade) { u.Role, u.Unread = nil, "no session" }, operator.VerdictUnknown, "no session"},
		"no issuer":           {func(u *operator.Upgrade) { u.Issuer = "" }, operator.VerdictUnknown, ""},
		"another issuer":      {func(u *operator.Upgrade) { u.Issuer = "https://other.example.com" }, operator.VerdictMissing, ""},
		"another namespace":   {func(u *operator.Upgrade) { u.Namespace = "other" }, operator.VerdictMissing, ""},
		"nothing declared":    {func(u *operator.Upgrade) { u.New = asking(second, catalogue.Yes, nil) }, operator.VerdictUnknown, "unknown what the version asks"},
		"asks for nothing":    {func(u *operator.Upgrade) { u.New, u.Role = asking(second, catalogue.Yes, []string{}), nil }, operator.VerdictSatisfied, "asks the cloud for nothing"},
		"not read":            {func(u *operator.Upgrade) { u.NotRead = "the ConfigMap is forbidden" }, operator.VerdictUnknown, "could not be read: the ConfigMap is forbidden"},
		"not read, no role":   {func(u *operator.Upgrade) { u.NotRead, u.Values = "the ConfigMap is forbidden", nil }, operator.VerdictUnknown, "could not be read"},
		"a part is not read":  {func(u *operator.Upgrade) { u.New.Incomplete = true }, operator.VerdictUnknown, "could not be read"},
		"the support is lost": {func(u *operator.Upgrade) { u.New = asking(second, catalogue.No, put) }, operator.VerdictUnknown, "lose its role"},
		"the same":            {func(u *operator.Upgrade) { u.Old, u.Role = asking(first, catalogue.Yes, put), nil }, operator.VerdictNoChange, "asks for what the installed"},
		"the same, not whole": {func(u *operator.Upgrade) {
			u.Old, u.Role = asking(first, catalogue.Yes, put), nil
			u.Old.Incomplete = true
		}, operator.VerdictUnknown, "not read"},
		"the old is not known": {func(u *operator.Upgrade) { u.Old = asking(first, catalogue.Yes, nil) }, operator.VerdictSatisfied, ""},
		"a first install": {func(u *operator.Upgrade) {
			u.From, u.Old, u.Role = "", asking(first, catalogue.Yes, put), roleOf("s3:ListBucket")
		}, operator.VerdictMissing, ""},
		"no role, no tokens":            {func(u *operator.Upgrade) { u.Values, u.New = nil, asking(second, catalogue.No, nil) }, operator.VerdictNotToken, "takes no role"},
		"without a role":                {func(u *operator.Upgrade) { u.Values = nil }, operator.VerdictNotToken, "without a role"},
		"a role by reference":           {func(u *operator.Upgrade) { u.Values, u.References = nil, true }, operator.VerdictUnknown, "other objects"},
		"no Subscription, and tokens":   {func(u *operator.Upgrade) { u.Values, u.From, u.Orphan, u.TakesTokens = nil, "", true, true }, operator.VerdictUnknown, "no Subscription"},
		"no Subscription, and requests": {func(u *operator.Upgrade) { u.Values, u.From, u.Orphan = nil, "", true }, operator.VerdictUnknown, "no Subscription"},
		"a plain dependency": {func(u *operator.Upgrade) {
			u.Values, u.From, u.Orphan, u.New = nil, "", true, asking(second, catalogue.No, nil)
		}, operator.VerdictNotToken, "takes no role"},
		"a role in Azure": {func(u *operator.Upgrade) { u.Values = map[string]string{"CLIENTID": "x"} }, operator.VerdictUnknown, "AWS only"},
	} {
		t.Run(name, func(t *testing.T) {
			u := operator.Upgrade{
				CSV: second, From: first, Namespace: "ns", Issuer: issuer, Values: map[string]string{"ROLEARN": arn},
				Old: asking(first, catalogue.Yes, get), New: asking(second, catalogue.Yes, put), Role: roleOf("s3:PutObject"),
			}
			c.change(&u)
			got := operator.Judge(u)
			if got.Verdict != c.want || !strings.Contains(got.Why, c.says) {
				t.Errorf("%s: %s, want %s: %s", got.Verdict, got.Why, c.want, c.says)
			}
			// What the annotation takes has a digest wherever it must have one.
			if _, err := operator.ParseChecked(operator.Checked{Verdict: got.Verdict, Digest: got.Digest, At: now}.String()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSum(t *testing.T) {
	one := func(v operator.Verdict, digest string) operator.Judgement {
		return operator.Judgement{Verdict: v, Digest: digest}
	}
	a, b := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	for name, c := range map[string]struct {
		all  []operator.Judgement
		want operator.Verdict
	}{
		"none":              {nil, operator.VerdictNotToken},
		"missing wins":      {[]operator.Judgement{one(operator.VerdictUnknown, a), one(operator.VerdictMissing, b), one(operator.VerdictSatisfied, a)}, operator.VerdictMissing},
		"unknown wins":      {[]operator.Judgement{one(operator.VerdictSatisfied, a), one(operator.VerdictUnknown, "")}, operator.VerdictUnknown},
		"no change is less": {[]operator.Judgement{one(operator.VerdictSatisfied, a), one(operator.VerdictNoChange, b)}, operator.VerdictSatisfied},
		"no token is least": {[]operator.Judgement{one(operator.VerdictNotToken, ""), one(operator.VerdictNoChange, b)}, operator.VerdictNoChange},
	} {
		got, digest := operator.Sum(c.all)
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if _, err := operator.ParseChecked(operator.Checked{Verdict: got, Digest: digest, At: now}.String()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, of := operator.Sum([]operator.Judgement{one(operator.VerdictMissing, a), one(operator.VerdictMissing, b)})
	_, other := operator.Sum([]operator.Judgement{one(operator.VerdictMissing, a), one(operator.VerdictMissing, a)})
	if of == other || of == a {
		t.Errorf("the digests of two are %s and %s", of, other)
	}
}
