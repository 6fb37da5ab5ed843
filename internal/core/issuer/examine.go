package issuer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/condition"
)

// CheckResult is how a check of an issuer ended.
type CheckResult string

// Results of a check. Unknown says that it could not be done.
const (
	CheckOK      CheckResult = "OK"
	CheckFailed  CheckResult = "Failed"
	CheckUnknown CheckResult = "Unknown"
)

// Check is one thing that was looked at to see whether AWS can verify the tokens of an issuer.
// No part of a token is in it but its key ID and issuer.
type Check struct {
	// What was looked at: a URL, or the token of an API server.
	What   string      `json:"what"`
	Result CheckResult `json:"result"`
	// Detail says what was seen, and for a failure what was expected.
	Detail string `json:"detail"`
	// Single says that a failure is about single keys: of others, if there are any, tokens can be verified.
	Single bool `json:"-"`
}

// Examine judges the two documents of an issuer as they were fetched anonymously at its URL, and,
// where the cluster was asked, a fresh token of each API server against them. cluster is nil where
// it was not.
func Examine(url string, public Public, cluster *Cluster) []Check {
	keysAt := cmp.Or(public.KeysAt, DocumentURL(url, KeysPath))
	discovery, allowed := examineDiscovery(url, keysAt, public.Discovery)
	out := []Check{discovery, examineKeys(keysAt, public.Keys, allowed)}
	if cluster == nil {
		return out
	}
	fetched := public.Discovery.Status == statusOK && public.Keys.Status == statusOK
	for _, server := range cluster.APIServers {
		out = append(out, examineToken(url, server, fetched))
	}
	return out
}

// KeysOf is where the discovery document of an issuer of others says that its keys are, as AWS finds
// them. Where it says nothing that can be used, it is where Tabard publishes them.
func KeysOf(url string, f Fetch) string {
	if f.Status != statusOK {
		return DocumentURL(url, KeysPath)
	}
	seen, err := discovered(f.Body)
	if err == nil && ValidateForeignURL(strings.ReplaceAll(seen.KeysURI, "?", "/")) == nil { // it may have a query, which an issuer may not
		return seen.KeysURI
	}
	return DocumentURL(url, KeysPath)
}

// examineDiscovery returns the algorithms that the document names, nil where it cannot be used.
func examineDiscovery(url, keysAt string, f Fetch) (out Check, allowed []string) {
	at := DocumentURL(url, DiscoveryPath)
	if trouble := fetchTrouble(f); trouble != "" {
		return Check{What: at, Result: CheckFailed, Detail: trouble}, nil
	}
	allowed, err := readDiscovery(f.Body, url, keysAt)
	if err != nil {
		return Check{What: at, Result: CheckFailed, Detail: fmt.Sprintf("%.1000s", err)}, nil
	}
	return Check{What: at, Result: CheckOK, Detail: "the discovery document names the issuer and its keys document"}, allowed
}

func examineKeys(at string, f Fetch, allowed []string) Check {
	failed := func(format string, args ...any) Check {
		return Check{What: at, Result: CheckFailed, Detail: fmt.Sprintf(format, args...)}
	}
	if trouble := fetchTrouble(f); trouble != "" {
		return failed("%s", trouble)
	}
	var usable, odd []Key
	var unnamed *Key
	count := map[string]int{}
	for _, key := range publishedKeys(f.Body) {
		count[key.member("kty")]++
		public, err := key.public()
		switch {
		case err == nil && !public.IsPublic():
			return failed("the published key %.80q is no public key but a private or a shared one: everybody can sign tokens with it; take it out of the document, and sign with another key", key.ID)
		case err != nil || !public.Valid():
			odd = append(odd, key)
		case !slices.Contains([]string{"", "sig"}, public.Use): // it is for something else
		case allowed != nil && key.Algorithm != "" && !slices.Contains(allowed, key.Algorithm):
			unnamed = cmp.Or(unnamed, &key)
		default:
			usable = append(usable, key)
		}
	}
	// AWS counts keys of the two types apart
	// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html).
	for _, kind := range []string{"RSA", "EC"} {
		if count[kind] > MaxKeys {
			return failed("the document has %d keys of type %s, AWS accepts at most %d", count[kind], kind, MaxKeys)
		}
	}
	detail := fmt.Sprintf("%d public keys: %s", len(usable), keyNames(usable))
	switch {
	case unnamed != nil:
		out := failed("the published key %.80q is for %.20q, which the discovery document does not name: AWS refuses tokens that it signed", unnamed.ID, unnamed.Algorithm)
		out.Single = true
		return out
	case len(usable) == 0:
		return failed("the document has no public key that can verify a token")
	case len(odd) > 0:
		detail += "; these are no public keys of a known type: " + keyNames(odd)
	}
	return Check{What: at, Result: CheckOK, Detail: detail}
}

// fetchTrouble says why an answer is no document, as AWS would see it; empty for none.
func fetchTrouble(f Fetch) string {
	switch {
	case f.Redirect != "":
		return fmt.Sprintf("it redirects to %.200q, expected the document itself: AWS does not say that it follows", f.Redirect)
	case f.Error != "" || f.Status == 0:
		return fmt.Sprintf("no answer (%s): fetch it from elsewhere; if that works, only this machine cannot reach it", condition.Steady(f.Error))
	case f.Status != statusOK:
		return fmt.Sprintf("the answer is %d, expected 200: the document is missing, or not everybody may read it", f.Status)
	}
	return ""
}

func examineToken(url string, server APIServer, fetched bool) Check {
	what, token := "token of the API server "+server.Address, server.Token
	switch {
	case token.Error != "":
		return Check{What: what, Result: CheckUnknown, Detail: "no token could be requested: " + condition.Steady(token.Error)}
	case token.Issuer != url:
		return Check{What: what, Result: CheckFailed, Detail: fmt.Sprintf("it names the issuer %.300q, expected %q: set kube-apiserver's --service-account-issuer, byte for byte", token.Issuer, url)}
	case !fetched:
		return Check{What: what, Result: CheckUnknown, Detail: "it was not verified, because the documents could not be fetched"}
	case token.PublicError != "":
		return Check{What: what, Result: CheckFailed, Detail: token.PublicError}
	}
	return Check{What: what, Result: CheckOK, Detail: fmt.Sprintf("it verifies against the published documents; it is signed with %.80q", token.KeyID)}
}
