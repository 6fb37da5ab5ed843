// Package ekstoken has the rules of EKS tokens: what a token is made of, which answer
// a client of the API server expects, and what a verifier demands of a token before it
// asks STS.
//
// A token is a presigned request for sts:GetCallerIdentity. The holder of a token can
// prove to a cluster who the signer is, and do nothing else with it. The format is that
// of sigs.k8s.io/aws-iam-authenticator and of aws eks get-token.
package ekstoken

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

const (
	// Prefix begins each token.
	Prefix = "k8s-aws-v1."
	// ClusterHeader is the signed header that binds a token to one cluster, by its
	// name.
	ClusterHeader = "x-k8s-aws-id"
	// MaxLength is how many bytes a token has at most: verifiers refuse longer ones
	// (aws-iam-authenticator: maxTokenLenBytes).
	MaxLength = 4096

	// expires is the parameter X-Amz-Expires in seconds, as all makers of tokens set it.
	// STS does not look at it: it takes a request for 15 minutes.
	expires = 60
	// accepted is how long STS and verifiers accept a token.
	accepted = 15 * time.Minute
	// lifetime is how long clients are told to use a token: a minute less, for a request
	// that is under way and clocks that differ.
	lifetime = accepted - time.Minute
	// margin is how long before the end of the credentials a token is not used any more.
	margin = time.Minute
)

var clusterName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,99}$`)
})

// CheckCluster refuses what cannot be the name of a cluster. The name is sent as a
// header, so it must be one word.
func CheckCluster(name string) error {
	switch {
	case name == "":
		return errors.New("the cluster's name is missing; add --cluster-name NAME")
	case clusterName().MatchString(name):
		return nil
	}
	if arn, ok := identity.ParseARN(name); ok && arn.Service == "eks" {
		return fmt.Errorf("the cluster's name is %q, which is an ARN; give the name behind its last slash", name)
	}
	return fmt.Errorf("the cluster's name is %q; it must have 1 to 100 letters, digits and ._-, and begin with a letter or a digit", name)
}

// Unsigned is the URL to sign, of STS at an origin such as
// https://sts.eu-west-1.amazonaws.com. The signature covers the headers host and
// ClusterHeader and no other, because a verifier sends no other.
func Unsigned(origin string) (string, error) {
	u, err := url.Parse(origin)
	switch {
	case err != nil:
		return "", errors.New("the endpoint of STS is no URL; give one such as https://sts.eu-west-1.amazonaws.com")
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "", u.User != nil,
		u.Path != "" && u.Path != "/", u.RawQuery != "", u.Fragment != "":
		return "", fmt.Errorf("the endpoint of STS is %q; it must be scheme and host, such as https://sts.eu-west-1.amazonaws.com", u.Redacted())
	}
	u.Path = "/"
	u.RawQuery = url.Values{
		"Action": {"GetCallerIdentity"}, "Version": {"2011-06-15"}, "X-Amz-Expires": {strconv.Itoa(expires)},
	}.Encode()
	return u.String(), nil
}

// Token is the token of a presigned URL.
func Token(presigned string) (string, error) {
	token := Prefix + base64.RawURLEncoding.EncodeToString([]byte(presigned))
	if len(token) > MaxLength {
		return "", fmt.Errorf("the token has %d bytes, and clusters accept at most %d: the session token of the credentials is too long; use a role with fewer session tags", len(token), MaxLength)
	}
	return token, nil
}

// Expiry is when a client must have another token, for one that was signed at a time
// with credentials that end at ending; the zero time is credentials without an end.
func Expiry(signed, ending time.Time) time.Time {
	expiry := signed.Add(lifetime)
	if before := ending.Add(-margin); !ending.IsZero() && before.Before(expiry) {
		return before
	}
	return expiry
}
