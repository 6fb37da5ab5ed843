// Package ekscase is tokens of EKS clusters that a verifier takes, and those that it must
// refuse, for all verifiers to agree on.
package ekscase

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Region is that of the cluster that is asked.
const Region = "us-west-2"

// The caller in answers of STS.
const (
	ARN       = "arn:aws:sts::111111111111:assumed-role/ocm-hub/agent"
	Canonical = "arn:aws:iam::111111111111:role/ocm-hub"
	Account   = "111111111111"
	ID        = "AROAEXAMPLE"
	Session   = "agent"
	Key       = "ASIAIOSFODNN7EXAMPLE"
)

// Case is a token, and what STS answers to it if it is asked.
type Case struct {
	Token  string
	Status int
	Body   string
}

// Answer is what STS answers of a caller.
func Answer(account, arn, id string) string {
	text, err := json.Marshal(map[string]any{"GetCallerIdentityResponse": map[string]any{
		"GetCallerIdentityResult": map[string]any{"Account": account, "Arn": arn, "UserId": id},
	}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// URL is that of a token at a host, signed at a time, with parameters in the place of its
// own; an empty value leaves one out. The signature is none.
func URL(host string, at time.Time, change map[string]string) string {
	query := map[string]string{
		"Action": "GetCallerIdentity", "Version": "2011-06-15", "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
		"X-Amz-Credential": Key + "/20250101/us-west-2/sts/aws4_request", "X-Amz-Date": at.UTC().Format("20060102T150405Z"),
		"X-Amz-Expires": "60", "X-Amz-Security-Token": "token", "X-Amz-SignedHeaders": "host;x-k8s-aws-id", "X-Amz-Signature": "00",
	}
	maps.Copy(query, change)
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if query[name] != "" {
			pairs = append(pairs, name+"="+url.QueryEscape(query[name]))
		}
	}
	return "https://" + host + "/?" + strings.Join(pairs, "&")
}

// Token is the token of a URL.
func Token(text string) string {
	return "k8s-aws-v1." + base64.RawURLEncoding.EncodeToString([]byte(text))
}

const ownHost = "sts.us-west-2.amazonaws.com"

// Good are tokens that a cluster in Region takes.
func Good(now time.Time) map[string]Case {
	out := map[string]Case{}
	fine := Answer(Account, ARN, ID+":"+Session)
	for _, host := range []string{
		ownHost, "sts-fips.us-west-2.amazonaws.com", "sts.us-west-2.api.aws", "sts-fips.us-west-2.api.aws",
		"sts.amazonaws.com", "sts.eu-central-1.amazonaws.com", "sts.xx-new-1.amazonaws.com",
	} {
		out["at "+host] = Case{Token(URL(host, now, nil)), 200, fine}
	}
	for name, change := range map[string]map[string]string{
		"names in lower case":    {"Action": "", "action": "GetCallerIdentity"},
		"no session token":       {"X-Amz-Security-Token": ""},
		"to be used for long":    {"X-Amz-Expires": "900"},
		"the header alone":       {"X-Amz-SignedHeaders": "x-k8s-aws-id"},
		"the header in capitals": {"X-Amz-SignedHeaders": "host;X-K8s-Aws-Id"},
	} {
		out[name] = Case{Token(URL(ownHost, now, change)), 200, fine}
	}
	out["signed 14 minutes ago"] = Case{Token(URL(ownHost, now.Add(-14*time.Minute), nil)), 200, fine}
	return out
}
