package ekstoken

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

const (
	// globalHost is the host of STS without a region, which tokens of the partition aws
	// may name.
	globalHost = "sts.amazonaws.com"
	// dateFormat is that of X-Amz-Date (AWS General Reference: Signature Version 4).
	dateFormat = "20060102T150405Z"
	maxExpires = 900
	statusOK   = 200
)

// Cluster is who asks whether a token is for it.
type Cluster struct {
	// Name is what its tokens are signed with; Region is where it is, and tells its
	// partition.
	Name, Region string
	// Origin is one more place of STS, such as http://127.0.0.1:4566; empty for none.
	// Whoever answers there says who the caller is.
	Origin string
}

// Question is the request that a cluster makes of a token: a GET of URL with the header
// ClusterHeader set to its own name and accept set to application/json. Redirects must
// not be followed.
type Question struct {
	URL, AccessKeyID string
}

// parameters are those that a token's URL may have, in lower case.
var parameters = []string{
	"action", "version", "x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-expires",
	"x-amz-security-token", "x-amz-signature", "x-amz-signedheaders",
}

// Check is what a cluster demands of a token before it asks STS (aws-iam-authenticator
// 0.7.18: Verify). The error says what is wrong and shows nothing of the token but names.
// A nil error does not make a token good: STS judges the signature.
func Check(token string, of Cluster, now time.Time) (Question, error) {
	if len(token) > MaxLength {
		return Question{}, fmt.Errorf("the token has %d bytes; it must have at most %d", len(token), MaxLength)
	}
	encoded, ok := strings.CutPrefix(token, Prefix)
	if !ok {
		return Question{}, fmt.Errorf("the token does not begin with %s", Prefix)
	}
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return Question{}, errors.New("the token is no base64url without padding")
	}
	u, err := url.Parse(string(text))
	if err != nil {
		return Question{}, errors.New("the token holds no URL")
	}
	if err := checkPlace(u, of); err != nil {
		return Question{}, err
	}
	query, err := parametersOf(u)
	if err != nil {
		return Question{}, err
	}
	key, _, _ := strings.Cut(query["x-amz-credential"], "/")
	return Question{u.String(), key}, checkParameters(query, now)
}

// checkPlace demands STS itself: who else answered could say anything of the caller.
func checkPlace(u *url.URL, of Cluster) error {
	origin := u.Scheme + "://" + u.Host
	switch {
	case u.Path != "/" || u.RawPath != "" || u.Opaque != "":
		return errors.New("the URL's path is not /")
	case u.User != nil:
		return errors.New("the URL has a user")
	case u.Fragment != "" || u.RawFragment != "":
		return errors.New("the URL has a fragment")
	case of.Origin != "" && origin == of.Origin:
		return nil
	case u.Scheme != "https":
		return errors.New("the URL's scheme is not https")
	case u.Host == globalHost && identity.Partition(of.Region) == "aws":
		return nil
	}
	_, rest, _ := strings.Cut(u.Host, ".")
	region, _, _ := strings.Cut(rest, ".")
	if CheckRegion(region) != nil || identity.Partition(region) != identity.Partition(of.Region) || !slices.Contains(hosts(region), u.Host) {
		return fmt.Errorf("the URL's host is no host of STS for clusters in %s", of.Region)
	}
	return nil
}

// parametersOf are the URL's parameters in lower case.
func parametersOf(u *url.URL) (map[string]string, error) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("the URL's parameters cannot be read")
	}
	out := map[string]string{}
	for name, values := range query {
		lower := strings.ToLower(name)
		_, twice := out[lower]
		switch {
		case !slices.Contains(parameters, lower):
			return nil, errors.New("the URL has a parameter that no token has")
		case twice || len(values) != 1:
			return nil, fmt.Errorf("the URL has the parameter %s twice", lower)
		}
		out[lower] = values[0]
	}
	return out, nil
}

func checkParameters(query map[string]string, now time.Time) error {
	if query["action"] != "GetCallerIdentity" {
		return errors.New("the action is not GetCallerIdentity")
	}
	if !slices.ContainsFunc(strings.Split(query["x-amz-signedheaders"], ";"), func(name string) bool {
		return strings.EqualFold(name, ClusterHeader)
	}) {
		return fmt.Errorf("the header %s is not signed", ClusterHeader)
	}
	if seconds, err := strconv.Atoi(query["x-amz-expires"]); err != nil || seconds < 0 || seconds > maxExpires {
		return fmt.Errorf("X-Amz-Expires is not a number from 0 to %d", maxExpires)
	}
	signed, err := time.Parse(dateFormat, query["x-amz-date"])
	switch {
	case err != nil:
		return errors.New("X-Amz-Date is no date such as 20250101T000000Z")
	case now.After(signed.Add(accepted)):
		return fmt.Errorf("the token was signed more than %s ago", accepted)
	}
	return nil
}

// Caller is who signed a token.
type Caller struct {
	// ARN is as STS has it, Canonical is the role's own for a session of a role.
	ARN, Canonical string
	Account        string
	// ID is the unique ID of the role or user; Session is the name of the session,
	// empty for none.
	ID, Session string
}

// ErrThrottled is STS's answer to too many questions: the same token may be good later.
var ErrThrottled = errors.New("STS has too many requests")

// Read reads the answer of STS to a Question.
func Read(status int, body []byte) (Caller, error) {
	if status != statusOK {
		if strings.Contains(string(body), "Throttling") {
			return Caller{}, ErrThrottled
		}
		return Caller{}, fmt.Errorf("STS answered %d to the token", status)
	}
	var answer struct {
		GetCallerIdentityResponse struct {
			GetCallerIdentityResult struct {
				Account, Arn string
				UserID       string `json:"UserId"`
			}
		}
	}
	if json.Unmarshal(body, &answer) != nil {
		return Caller{}, errors.New("the answer of STS is no JSON of GetCallerIdentity")
	}
	got := answer.GetCallerIdentityResponse.GetCallerIdentityResult
	return callerOf(got.Arn, got.Account, got.UserID)
}

// callerOf takes the ARN of a caller apart.
func callerOf(text, account, userID string) (Caller, error) {
	arn, ok := identity.ParseARN(text)
	if !ok || arn.Account != account || !identity.IsAccountID(account) || !slices.Contains(partitions, arn.Partition) {
		return Caller{}, errors.New("the answer of STS names no caller of its account")
	}
	caller := Caller{ARN: text, Canonical: text, Account: account, ID: userID}
	kind, _, _ := strings.Cut(arn.Resource, "/")
	switch arn.Service + " " + kind {
	case "sts federated-user", "iam user", "iam root":
		return caller, nil
	case "iam role":
	case "sts assumed-role":
		parts := strings.Split(arn.Resource, "/")
		if len(parts) < 3 {
			return Caller{}, errors.New("the caller is a session of no role")
		}
		arn.Service, arn.Resource = "iam", "role/"+strings.Join(parts[1:len(parts)-1], "/")
		caller.Canonical = arn.String()
	default:
		return Caller{}, errors.New("the caller is neither a session, a user nor the root of an account")
	}
	id, session, ok := strings.Cut(userID, ":")
	if !ok || strings.Contains(session, ":") {
		return Caller{}, errors.New("the caller's ID is not that of a session")
	}
	caller.ID, caller.Session = id, session
	return caller, nil
}

// partitions are those whose callers are taken.
var partitions = []string{"aws", "aws-cn", "aws-us-gov", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f", "aws-eusc"}
