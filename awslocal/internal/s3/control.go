package s3

import (
	"net/http"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/endpoint"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/iampolicy"
)

// S3 Control is the part of S3 that is about whole accounts. It has hosts and
// paths of its own, and errors in another form. Its calls are signed for s3.
const (
	controlPath     = "/v20180820/"
	controlBlock    = controlPath + "configuration/publicAccessBlock"
	accountIDHeader = "X-Amz-Account-Id"
)

// controlHost is an endpoint of S3 Control, with or without an account before
// it.
var controlHost = pattern.New(`^(?:([0-9]{12})\.)?s3-control(?:-fips)?(?:\.dualstack)?(?:\.(` + endpoint.RegionPattern + `))?\.(?:` + endpoint.DomainPattern + `)$`)

// accountOfHost is the account that a host of S3 Control names; ok is false for
// every other host.
func accountOfHost(host string) (account string, ok bool) {
	m := controlHost.FindStringSubmatch(endpoint.Name(host))
	if m == nil {
		return "", false
	}
	return m[1], true
}

// isControl says whether a request is for S3 Control. On a host that does not
// say so, the path and the account's header do: a bucket of that name has no
// such header.
func isControl(r *http.Request) bool {
	if _, ok := accountOfHost(r.Host); ok {
		return true
	}
	return strings.HasPrefix(r.URL.Path, controlPath) && r.Header.Get(accountIDHeader) != ""
}

// controlOperations are S3 Control's, by method.
var controlOperations = map[string]operation{
	http.MethodGet:    {name: "GetAccountPublicAccessBlock", action: "s3:GetAccountPublicAccessBlock", serve: (*Service).getAccountBlock},
	http.MethodPut:    {name: "PutAccountPublicAccessBlock", action: "s3:PutAccountPublicAccessBlock", writes: true, serve: (*Service).putAccountBlock},
	http.MethodDelete: {name: "DeleteAccountPublicAccessBlock", action: "s3:PutAccountPublicAccessBlock", writes: true, serve: (*Service).deleteAccountBlock},
}

// routeControl finds the operation on an account.
func routeControl(r *http.Request) (operation, *fault) {
	op, known := controlOperations[r.Method]
	if r.URL.Path != controlBlock || !known {
		name := "S3 Control " + r.Method + " " + strings.TrimPrefix(r.URL.Path, strings.TrimSuffix(controlPath, "/"))
		return operation{name: name}, unsupported(name)
	}
	op.makes = true
	return op, nil
}

// controlled is the account that a request to S3 Control is about; it must be
// the caller's own.
func (s *Service) controlled(r *request) (string, *fault) {
	ofHost, _ := accountOfHost(r.HTTP.Host)
	account := r.HTTP.Header.Get(accountIDHeader)
	switch {
	case ofHost == "" && account == "":
		return "", errAccountIDMissing
	case ofHost != "" && account != "" && ofHost != account:
		return "", errAccountIDDiffers
	case account == "":
		account = ofHost
	}
	caller := r.Caller.Principal
	if caller.Kind == iampolicy.Anonymous || caller.AccountID != account {
		return "", errAccessDenied
	}
	return account, s.authorize(r, r.operation.action, "*", r.conditions())
}

func (s *Service) getAccountBlock(r *request) (*answer, *fault) {
	account, f := s.controlled(r)
	if f != nil {
		return nil, f
	}
	block := s.accounts[account]
	if block == nil {
		return nil, errNoSuchAccessBlock.with("AccountId", account)
	}
	return document(newAccessBlock(block))
}

func (s *Service) putAccountBlock(r *request) (*answer, *fault) {
	account, f := s.controlled(r)
	if f != nil {
		return nil, f
	}
	block, f := readAccessBlock(r.Payload)
	if f != nil {
		return nil, f
	}
	s.accounts[account] = block
	return empty(http.StatusOK), nil
}

func (s *Service) deleteAccountBlock(r *request) (*answer, *fault) {
	account, f := s.controlled(r)
	if f != nil {
		return nil, f
	}
	delete(s.accounts, account)
	return empty(http.StatusNoContent), nil
}
