package decode

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// claims are what is shown of a token. What else it has is not.
type claims struct {
	Issuer     string      `json:"iss"`
	Subject    string      `json:"sub"`
	Audience   audiences   `json:"aud"`
	Expiry     json.Number `json:"exp"`
	IssuedAt   json.Number `json:"iat"`
	Kubernetes struct {
		Namespace string `json:"namespace"`
		Pod       struct {
			Name string `json:"name"`
		} `json:"pod"`
	} `json:"kubernetes.io"`
}

// audiences are one text or several.
type audiences []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audiences) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*a = audiences{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// decodeToken shows the claims of a token that matter to AWS. Its signature is not looked at.
func decodeToken(raw string, now time.Time) (Result, bool) {
	parts := strings.Split(raw, ".")
	var header struct {
		KeyID     string `json:"kid"`
		Algorithm string `json:"alg"`
	}
	var c claims
	if !decodePart(parts[0], &header) || !decodePart(parts[1], &c) {
		return Result{}, false
	}
	out := Result{Kind: AToken, Link: chain.Token, Links: []chain.Link{chain.Token}, Means: "a token; its signature is not shown, and was not verified"}
	add := func(name, value string) {
		if value != "" {
			out.Facts = append(out.Facts, Detail{name, line.Of(value)})
		}
	}
	add("iss", c.Issuer)
	add("sub", c.Subject)
	add("aud", strings.Join(c.Audience, ", "))
	add("kid", header.KeyID)
	add("alg", header.Algorithm)
	add("iat", instant(c.IssuedAt))
	add("exp", instant(c.Expiry))
	add("pod", c.Kubernetes.Pod.Name)
	if seconds, err := c.Expiry.Int64(); err == nil && now.Unix() >= seconds {
		out.Causes = append(out.Causes, "it has expired")
	}
	if len(c.Audience) == 0 {
		out.Causes = append(out.Causes, "it has no audience, which AWS demands")
	}
	if namespace, account, is := workload(c.Subject); is {
		out.Next = []string{"tabard explain serviceaccount " + line.Word(account) + " -n " + line.Word(namespace)}
	}
	return out, true
}

// workload is the ServiceAccount of a subject.
func workload(subject string) (namespace, account string, is bool) {
	rest, is := strings.CutPrefix(subject, "system:serviceaccount:")
	namespace, account, cut := strings.Cut(rest, ":")
	return namespace, account, is && cut && namespace != "" && account != ""
}

func decodePart(part string, into any) bool {
	text, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(text, into) == nil
}

// instant is a time of a token, empty for none.
func instant(seconds json.Number) string {
	at, err := seconds.Int64()
	if err != nil || at <= 0 || at > 253402300799 { // the year 9999
		return ""
	}
	return time.Unix(at, 0).UTC().Format(time.RFC3339)
}
