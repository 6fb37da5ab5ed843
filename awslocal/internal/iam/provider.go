package iam

import (
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	maxClients     = 100
	maxThumbprints = 5
	maxProviders   = 100
)

// providerURL checks a provider's URL and returns it without its scheme. AWS
// refuses a port; here it is allowed, because issuers on one machine need it.
func (r *request) providerURL(text string) string {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || parsed.User != nil || strings.ContainsAny(text, "?#") {
		call.Refuse(badURL())
	}
	plain := parsed.Scheme == "http" && r.options.AllowPlainHTTP
	if parsed.Scheme != "https" && !plain {
		call.Refuse(badURL())
	}
	return strings.TrimPrefix(text, parsed.Scheme+"://")
}

func createProvider(r *request) any {
	text := r.text("Url", 1, 255, nil)
	bare := r.providerURL(text)
	made := r.readProvider(bare)
	context := withRequestTags(iampolicy.Context{}, made.tags)
	r.authorize(made.arn(), context)
	if len(made.tags) > 0 {
		r.authorizeAction("TagOpenIDConnectProvider", made.arn(), context)
	}
	r.fetchThumbprint(made, text)
	if _, taken := r.account.providers[bare]; taken {
		call.Refuse(providerExists(text))
	}
	if len(r.account.providers) >= maxProviders {
		call.Refuse(tooManyProviders())
	}
	r.changesProvider(bare, nil)
	r.account.providers[bare] = made
	return createProviderResult{OpenIDConnectProviderArn: made.arn(), Tags: tagList(made.tags)}
}

// fetchThumbprint asks the provider's server where the call names no thumbprint.
// Others are answered meanwhile.
func (r *request) fetchThumbprint(made *provider, url string) {
	if r.options.Thumbprint == nil || len(made.thumbprints) > 0 || !strings.HasPrefix(url, "https://") {
		return
	}
	r.mu.Unlock()
	thumbprint, err := r.options.Thumbprint(r.call.HTTP.Context(), url)
	r.mu.Lock()
	if err != nil {
		call.Refuse(noConnection(url))
	}
	made.thumbprints = []string{thumbprint}
}

func (r *request) readProvider(bare string) *provider {
	clients := r.form.List("ClientIDList")
	if len(clients) > maxClients {
		call.Refuse(tooManyClients())
	}
	for _, client := range clients {
		checkClient(client)
	}
	thumbprints := r.readThumbprints()
	given := r.readTags()
	return &provider{home: r.account.home, url: bare, created: r.call.Now, clients: clients, thumbprints: thumbprints, tags: given}
}

func checkClient(client string) {
	if n := len([]rune(client)); n < 1 || n > 255 {
		call.Refuse(invalid("1 validation error detected: Value at 'clientID' failed to satisfy constraint: Member must have length between 1 and 255"))
	}
}

func (r *request) readThumbprints() []string {
	thumbprints := r.form.List("ThumbprintList")
	if len(thumbprints) > maxThumbprints {
		call.Refuse(tooManyThumbprints())
	}
	for i, thumbprint := range thumbprints {
		if sum, err := hex.DecodeString(thumbprint); err != nil || len(sum) != 20 {
			call.Refuse(badThumbprint())
		}
		thumbprints[i] = strings.ToLower(thumbprint)
	}
	return thumbprints
}

// provider reads OpenIDConnectProviderArn, authorises and finds it.
func (r *request) provider(context contextOf) *provider {
	arn := r.text("OpenIDConnectProviderArn", 20, 2048, nil)
	bare, local := strings.CutPrefix(arn, r.account.entity(providerPrefix))
	found, own := r.account.providers[bare], tags(nil)
	if !local {
		found = nil
	}
	if found != nil {
		own = found.tags
	}
	r.authorizeWith(arn, own, context)
	if found == nil {
		call.Refuse(noProvider(arn))
	}
	r.changesProvider(bare, found)
	return found
}

func getProvider(r *request) any {
	found := r.provider(nil)
	return providerResult{
		Url: found.url, ClientIDList: listOf(found.clients), ThumbprintList: listOf(found.thumbprints),
		CreateDate: query.Time(found.created), Tags: tagList(found.tags),
	}
}

func listProviders(r *request) any {
	r.authorize(r.account.entity(providerPrefix+"*"), nil)
	entries := []providerEntry{}
	for _, bare := range slices.Sorted(maps.Keys(r.account.providers)) {
		entries = append(entries, providerEntry{r.account.providers[bare].arn()})
	}
	return providersResult{listOf(entries)}
}

func deleteProvider(r *request) any {
	delete(r.account.providers, r.provider(nil).url)
	return nil
}

func (r *request) clientID() string { return r.text("ClientID", 1, 255, nil) }

func addClientID(r *request) any {
	found := r.provider(nil)
	client := r.clientID()
	if slices.Contains(found.clients, client) {
		return nil
	}
	if len(found.clients) >= maxClients {
		call.Refuse(tooManyClients())
	}
	found.clients = append(found.clients, client)
	return nil
}

func removeClientID(r *request) any {
	found := r.provider(nil)
	client := r.clientID()
	found.clients = slices.DeleteFunc(slices.Clone(found.clients), func(have string) bool { return have == client })
	return nil
}

func updateThumbprint(r *request) any {
	found := r.provider(nil)
	found.thumbprints = r.readThumbprints()
	return nil
}
