package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Provider is a workload identity provider, and a service account that a subject of its
// tokens may impersonate.
type Provider struct {
	// Name begins with //iam.googleapis.com/projects/.
	Name       string
	Federation Federation
	// Account is the e-mail address of the service account.
	Account string
	// Universe is the domain of another of Google's clouds that has the same provider and
	// account, beside googleapis.com; the Holder's name ends with " of " and the domain there.
	Universe string
}

const (
	exchange      = "urn:ietf:params:oauth:grant-type:token-exchange"
	subjectType   = "urn:ietf:params:oauth:token-type:jwt"
	accessType    = "urn:ietf:params:oauth:token-type:access_token"
	cloudPlatform = "https://www.googleapis.com/auth/cloud-platform"
	// subject precedes the subject of a token that the provider took: it is who holds the
	// token that Google's STS gives for it.
	subject = "principal:"
)

func (s *Server) serveGoogle(mux *http.ServeMux) {
	provider := s.options.Google
	for universe, holder := range map[string]string{"googleapis.com": provider.Account, provider.Universe: provider.Account + " of " + provider.Universe} {
		mux.HandleFunc("POST sts."+universe+"/v1/token", s.exchange)
		mux.HandleFunc("POST iamcredentials."+universe+"/v1/projects/-/serviceAccounts/{method}", func(w http.ResponseWriter, r *http.Request) {
			s.impersonate(w, r, holder)
		})
	}
}

// exchange gives a token of Google's STS for a federated one.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request) {
	provider := s.options.Google
	refuse := func(kind, text string) {
		answer(w, http.StatusBadRequest, map[string]string{"error": kind, "error_description": text})
	}
	switch {
	case r.PostFormValue("grant_type") != exchange || r.PostFormValue("requested_token_type") != accessType:
		refuse("unsupported_grant_type", "Unsupported grant type or requested token type.")
		return
	case r.PostFormValue("subject_token_type") != subjectType:
		refuse("invalid_request", "Invalid value for \"subject_token_type\".")
		return
	case r.PostFormValue("audience") != provider.Name:
		refuse("invalid_target", "The target service indicated by the \"audience\" parameters is invalid. This might either be because the pool or provider is disabled or deleted or because it doesn't exist.")
		return
	}
	claims, refused := s.verify(r.Context(), r.PostFormValue("subject_token"), provider.Federation)
	if refused != "" {
		refuse("invalid_grant", fmt.Sprintf("The subject token is refused: %s.", refused))
		return
	}
	answer(w, http.StatusOK, map[string]any{
		"access_token": s.give(subject + claims.Subject), "issued_token_type": accessType, "token_type": "Bearer", "expires_in": int(life.Seconds()),
	})
}

// impersonate gives the service account's token for one of Google's STS. The holder is how
// the account is called then.
func (s *Server) impersonate(w http.ResponseWriter, r *http.Request, holder string) {
	provider := s.options.Google
	account, called := strings.CutSuffix(r.PathValue("method"), ":generateAccessToken")
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	principal, known := strings.CutPrefix(s.Holder(bearer), subject)
	var asked struct {
		Scope []string `json:"scope"`
	}
	refuse := func(status int, name, text string) {
		answer(w, status, map[string]any{"error": map[string]any{"code": status, "status": name, "message": text}})
	}
	switch {
	case !known:
		refuse(http.StatusUnauthorized, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
	case !called || account != provider.Account || principal != provider.Federation.Subject:
		refuse(http.StatusForbidden, "PERMISSION_DENIED", "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).")
	case json.NewDecoder(r.Body).Decode(&asked) != nil || !slices.Contains(asked.Scope, cloudPlatform):
		refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "Request contains an invalid argument: scope.")
	default:
		answer(w, http.StatusOK, map[string]string{"accessToken": s.give(holder), "expireTime": time.Now().Add(life).UTC().Format(time.RFC3339)})
	}
}
