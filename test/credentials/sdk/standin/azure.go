package standin

import (
	"fmt"
	"net/http"
	"strings"
)

// Application is an app registration, or a managed identity, with one federated credential.
type Application struct {
	Tenant, Client string
	Federation     Federation
	// Resource is what the tenant knows to ask tokens for, such as
	// https://management.azure.com.
	Resource string
}

const (
	// microsoft is where the SDK asks, unless it is told of another cloud.
	microsoft = "login.microsoftonline.com"
	assertion = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
)

// failure is one of Microsoft Entra's.
type failure struct {
	status     int
	kind, code string
}

// failures are Entra's words for a federated token that is refused, by its table of codes.
var failures = map[reason]failure{
	malformed:      {http.StatusBadRequest, "invalid_request", "AADSTS50027: JWT token is invalid or malformed."},
	otherIssuer:    {http.StatusUnauthorized, "invalid_client", "AADSTS700211: No matching federated identity record found for presented assertion issuer."},
	unpublished:    {http.StatusUnauthorized, "invalid_client", "AADSTS700027: Client assertion failed signature validation. The key was not found."},
	badSignature:   {http.StatusUnauthorized, "invalid_client", "AADSTS700027: Client assertion failed signature validation."},
	outOfTime:      {http.StatusUnauthorized, "invalid_client", "AADSTS700024: Client assertion is not within its valid time range."},
	otherAudience:  {http.StatusUnauthorized, "invalid_client", "AADSTS700212: No matching federated identity record found for presented assertion audience."},
	otherSubject:   {http.StatusUnauthorized, "invalid_client", "AADSTS700213: No matching federated identity record found for presented assertion subject."},
	issuerUnserved: {http.StatusUnauthorized, "invalid_client", "AADSTS50166: Request to External OIDC endpoint failed."},
}

func (s *Server) serveAzure(mux *http.ServeMux) {
	mux.HandleFunc("GET "+microsoft+"/common/discovery/instance", func(w http.ResponseWriter, r *http.Request) {
		_, path, _ := strings.Cut(r.URL.Query().Get("authorization_endpoint"), "://"+microsoft+"/")
		tenant, _, _ := strings.Cut(path, "/")
		answer(w, http.StatusOK, map[string]any{
			"tenant_discovery_endpoint": "https://" + microsoft + "/" + tenant + "/v2.0/.well-known/openid-configuration",
			"api-version":               "1.1",
			"metadata":                  []any{map[string]any{"preferred_network": microsoft, "preferred_cache": microsoft, "aliases": []string{microsoft}}},
		})
	})
	mux.HandleFunc("GET "+microsoft+"/{tenant}/v2.0/.well-known/openid-configuration", s.tenant(func(w http.ResponseWriter, _ *http.Request) {
		base := "https://" + microsoft + "/" + s.options.Azure.Tenant
		answer(w, http.StatusOK, map[string]string{
			"issuer": base + "/v2.0", "authorization_endpoint": base + "/oauth2/v2.0/authorize", "token_endpoint": base + "/oauth2/v2.0/token",
		})
	}))
	mux.HandleFunc("POST "+microsoft+"/{tenant}/oauth2/v2.0/token", s.tenant(s.azureToken))
}

// tenant lets only the application's tenant pass.
func (s *Server) tenant(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if tenant := r.PathValue("tenant"); tenant != s.options.Azure.Tenant {
			failure{http.StatusBadRequest, "invalid_tenant", fmt.Sprintf("AADSTS90002: Tenant '%s' not found.", tenant)}.answer(w)
			return
		}
		next(w, r)
	}
}

func (f failure) answer(w http.ResponseWriter) {
	answer(w, f.status, map[string]string{"error": f.kind, "error_description": f.code})
}

// azureToken gives the application's token for a federated one.
func (s *Server) azureToken(w http.ResponseWriter, r *http.Request) {
	application := s.options.Azure
	scope, _, _ := strings.Cut(r.PostFormValue("scope"), " ") // the SDK's library adds those of OpenID Connect
	switch {
	case r.PostFormValue("grant_type") != "client_credentials" || r.PostFormValue("client_assertion_type") != assertion:
		failure{http.StatusBadRequest, "unsupported_grant_type", "AADSTS70003: The app requested an unsupported grant type."}.answer(w)
		return
	case r.PostFormValue("client_id") != application.Client:
		failure{http.StatusBadRequest, "unauthorized_client", fmt.Sprintf("AADSTS700016: Application with identifier '%s' was not found in the directory.", r.PostFormValue("client_id"))}.answer(w)
		return
	}
	claims, refused := s.verify(r.Context(), r.PostFormValue("client_assertion"), application.Federation)
	if refused == "" && claims.Subject != application.Federation.Subject {
		refused = otherSubject
	}
	switch {
	case refused != "":
		failures[refused].answer(w)
	case scope != application.Resource+"/.default":
		failure{http.StatusBadRequest, "invalid_resource", fmt.Sprintf("AADSTS500011: The resource principal named %s was not found in the tenant.", strings.TrimSuffix(scope, "/.default"))}.answer(w)
	default:
		answer(w, http.StatusOK, map[string]any{
			"token_type": "Bearer", "expires_in": int(life.Seconds()), "ext_expires_in": int(life.Seconds()), "access_token": s.give(application.Client),
		})
	}
}
