package ekscase

import (
	"encoding/base64"
	"strings"
	"time"
)

// Hostile are tokens that every cluster in Region refuses. STS would tell whoever asks
// that they are fine, but for those whose answer is the fault.
func Hostile(now time.Time) map[string]Case {
	out := map[string]Case{}
	fine := Answer(Account, ARN, ID+":"+Session)
	own := URL(ownHost, now, nil)
	for name, token := range hostileTexts(own, now) {
		out[name] = Case{token, 200, fine}
	}
	for name, text := range hostileURLs(own) {
		out[name] = Case{Token(text), 200, fine}
	}
	for name, host := range hostileHosts {
		out["a host "+name] = Case{Token(URL(host, now, nil)), 200, fine}
	}
	for name, change := range hostileParameters(now) {
		out[name] = Case{Token(URL(ownHost, now, change)), 200, fine}
	}
	for name, answer := range hostileAnswers(fine) {
		out[name] = Case{Token(own), answer.Status, answer.Body}
	}
	return out
}

// hostileTexts are no tokens at all.
func hostileTexts(own string, now time.Time) map[string]string {
	return map[string]string{
		"nothing":                  "",
		"the prefix alone":         "k8s-aws-v1.",
		"no prefix":                strings.TrimPrefix(Token(own), "k8s-aws-v1."),
		"the prefix of another":    "k8s-aws-v2." + strings.TrimPrefix(Token(own), "k8s-aws-v1."),
		"a token of Kubernetes":    "eyJhbGciOiJSUzI1NiJ9.e30.c2ln",
		"with padding":             "k8s-aws-v1." + strings.TrimPrefix(Token(own), "k8s-aws-v1.") + "=",
		"standard base64":          "k8s-aws-v1." + base64.RawStdEncoding.EncodeToString([]byte("https://sts.amazonaws.com/?a=\xff\xfe\xfb")),
		"a blank behind":           Token(own) + " ",
		"longer than 4096 bytes":   Token(URL(ownHost, now, map[string]string{"X-Amz-Security-Token": strings.Repeat("t", 4096)})),
		"no URL":                   Token("%"),
		"a URL with a line break":  Token("https://" + ownHost + "/\n?Action=GetCallerIdentity"),
		"the URL encoded as whole": Token(strings.ReplaceAll(own, "?", "%3F")),
	}
}

// hostileURLs are not where a token's URL is.
func hostileURLs(own string) map[string]string {
	return map[string]string{
		"plain http":               strings.Replace(own, "https:", "http:", 1),
		"no scheme":                strings.TrimPrefix(own, "https:"),
		"a file":                   strings.Replace(own, "https://"+ownHost, "file://", 1),
		"another path":             strings.Replace(own, "/?", "/other?", 1),
		"no path":                  strings.Replace(own, "/?", "?", 1),
		"two slashes":              strings.Replace(own, "/?", "//?", 1),
		"an encoded slash":         strings.Replace(own, "/?", "/%2F?", 1),
		"a parameter twice":        own + "&Action=GetCallerIdentity",
		"twice, in another case":   own + "&action=GetCallerIdentity",
		"another parameter":        own + "&RoleArn=x",
		"a parameter of a header":  own + "&x-k8s-aws-id=eks-hub",
		"a parameter cut by ;":     own + ";Action=AssumeRole",
		"a parameter that is torn": own + "&%zz=1",
	}
}

// hostileHosts are no hosts of STS for the cluster.
var hostileHosts = map[string]string{
	"of somebody":                      "evil.example",
	"of somebody, beginning as STS":    "sts.us-west-2.amazonaws.com.evil.example",
	"of somebody, with STS's label":    "sts.us-west-2.evil.example",
	"of this machine":                  "127.0.0.1",
	"of the metadata service":          "169.254.169.254",
	"that is empty":                    "",
	"with a port":                      ownHost + ":8443",
	"behind a user":                    "sts.us-west-2.amazonaws.com@evil.example",
	"of another service":               "s3.us-west-2.amazonaws.com",
	"of a bucket":                      "sts.s3.us-west-2.amazonaws.com",
	"with a dot behind":                ownHost + ".",
	"in capitals":                      "STS.us-west-2.amazonaws.com",
	"of China":                         "sts.cn-north-1.amazonaws.com.cn",
	"of a region that is none":         "sts.-.amazonaws.com",
	"of all regions together":          "sts.aws-global.amazonaws.com",
	"of STS without a region in China": "sts.amazonaws.com.cn",
}

// hostileParameters are in the place of a token's own.
func hostileParameters(now time.Time) map[string]map[string]string {
	return map[string]map[string]string{
		"another action":              {"Action": "AssumeRole"},
		"no action":                   {"Action": ""},
		"the header is not signed":    {"X-Amz-SignedHeaders": "host"},
		"no signed headers":           {"X-Amz-SignedHeaders": ""},
		"a header that is like it":    {"X-Amz-SignedHeaders": "host;x-k8s-aws-id2"},
		"no expiry":                   {"X-Amz-Expires": ""},
		"an expiry of 16 minutes":     {"X-Amz-Expires": "901"},
		"an expiry below zero":        {"X-Amz-Expires": "-1"},
		"an expiry that is no number": {"X-Amz-Expires": "60s"},
		"no date":                     {"X-Amz-Date": ""},
		"a date that is none":         {"X-Amz-Date": "2025-01-01T00:00:00Z"},
		"signed 16 minutes ago":       {"X-Amz-Date": now.Add(-16 * time.Minute).UTC().Format("20060102T150405Z")},
	}
}

// hostileAnswers are those of STS to a token that looks fine.
func hostileAnswers(fine string) map[string]Case {
	return map[string]Case{
		"STS refuses the signature":        {"", 403, `{"Error":{"Code":"SignatureDoesNotMatch"}}`},
		"STS refuses with a fine answer":   {"", 403, fine},
		"STS has too many requests":        {"", 400, `{"Error":{"Code":"Throttling"}}`},
		"STS sends elsewhere":              {"", 302, fine},
		"an answer in XML":                 {"", 200, "<GetCallerIdentityResponse/>"},
		"an answer of nobody":              {"", 200, "{}"},
		"an answer of a service":           {"", 200, Answer(Account, "arn:aws:s3:::bucket", ID)},
		"a session of no role":             {"", 200, Answer(Account, "arn:aws:sts::111111111111:assumed-role/agent", ID+":"+Session)},
		"a session without a session's ID": {"", 200, Answer(Account, ARN, ID)},
		"an ID of three parts":             {"", 200, Answer(Account, ARN, ID+":a:b")},
		"a partition that there is not":    {"", 200, Answer(Account, "arn:evil:sts::111111111111:assumed-role/ocm-hub/agent", ID+":"+Session)},
	}
}
