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
func (r *request) providerURL(text string) (string, *call.Fault) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || parsed.User != nil || strings.ContainsAny(text, "?#") {
		return "", badURL()
	}
	plain := parsed.Scheme == "http" && r.options.AllowPlainHTTP
	if parsed.Scheme != "https" && !plain {
		return "", badURL()
	}
	return strings.TrimPrefix(text, parsed.Scheme+"://"), nil
}

func createProvider(r *request) (any, *call.Fault) {
	var v query.Validation
	text := v.Text(r.form, "Url", 1, 255, nil)
	if fault := v.Fault(); fault != nil {
		return nil, fault
	}
	bare, fault := r.providerURL(text)
	if fault != nil {
		return nil, fault
	}
	made, fault := r.readProvider(bare)
	if fault != nil {
		return nil, fault
	}
	context := withRequestTags(iampolicy.Context{}, made.tags)
	if fault := r.authorize(made.arn(), context); fault != nil {
		return nil, fault
	}
	if len(made.tags) > 0 {
		if fault := r.authorizeAction("TagOpenIDConnectProvider", made.arn(), context); fault != nil {
			return nil, fault
		}
	}
	if fault := r.fetchThumbprint(made, text); fault != nil {
		return nil, fault
	}
	if _, taken := r.account.providers[bare]; taken {
		return nil, providerExists(text)
	}
	if len(r.account.providers) >= maxProviders {
		return nil, tooManyProviders()
	}
	r.changesProvider(bare, nil)
	r.account.providers[bare] = made
	return createProviderResult{OpenIDConnectProviderArn: made.arn(), Tags: tagList(made.tags)}, nil
}

// fetchThumbprint asks the provider's server where the call names no thumbprint.
// Others are answered meanwhile.
func (r *request) fetchThumbprint(made *provider, url string) *call.Fault {
	if r.options.Thumbprint == nil || len(made.thumbprints) > 0 || !strings.HasPrefix(url, "https://") {
		return nil
	}
	r.mu.Unlock()
	thumbprint, err := r.options.Thumbprint(r.call.HTTP.Context(), url)
	r.mu.Lock()
	if err != nil {
		return noConnection(url)
	}
	made.thumbprints = []string{thumbprint}
	return nil
}

func (r *request) readProvider(bare string) (*provider, *call.Fault) {
	clients := r.form.List("ClientIDList")
	if len(clients) > maxClients {
		return nil, tooManyClients()
	}
	for _, client := range clients {
		if fault := checkClient(client); fault != nil {
			return nil, fault
		}
	}
	thumbprints, fault := r.readThumbprints()
	if fault != nil {
		return nil, fault
	}
	given, fault := r.readTags()
	if fault != nil {
		return nil, fault
	}
	return &provider{home: r.account.home, url: bare, created: r.call.Now, clients: clients, thumbprints: thumbprints, tags: given}, nil
}

func checkClient(client string) *call.Fault {
	if n := len([]rune(client)); n < 1 || n > 255 {
		return invalid("1 validation error detected: Value at 'clientID' failed to satisfy constraint: Member must have length between 1 and 255")
	}
	return nil
}

func (r *request) readThumbprints() ([]string, *call.Fault) {
	thumbprints := r.form.List("ThumbprintList")
	if len(thumbprints) > maxThumbprints {
		return nil, tooManyThumbprints()
	}
	for i, thumbprint := range thumbprints {
		if sum, err := hex.DecodeString(thumbprint); err != nil || len(sum) != 20 {
			return nil, badThumbprint()
		}
		thumbprints[i] = strings.ToLower(thumbprint)
	}
	return thumbprints, nil
}

// provider reads OpenIDConnectProviderArn, authorises and finds it.
func (r *request) provider(context func(iampolicy.Context) iampolicy.Context) (*provider, *call.Fault) {
	var v query.Validation
	arn := v.Text(r.form, "OpenIDConnectProviderArn", 20, 2048, nil)
	if fault := v.Fault(); fault != nil {
		return nil, fault
	}
	bare, local := strings.CutPrefix(arn, r.account.entity(providerPrefix))
	var found *provider
	own := iampolicy.Context{}
	if local && r.account.providers[bare] != nil {
		found = r.account.providers[bare]
		own = found.tags.context()
	}
	if context != nil {
		own = context(own)
	}
	if fault := r.authorize(arn, own); fault != nil {
		return nil, fault
	}
	if found == nil {
		return nil, noProvider(arn)
	}
	r.changesProvider(bare, found)
	return found, nil
}

func getProvider(r *request) (any, *call.Fault) {
	found, fault := r.provider(nil)
	if fault != nil {
		return nil, fault
	}
	return providerResult{
		Url: found.url, ClientIDList: listOf(found.clients), ThumbprintList: listOf(found.thumbprints),
		CreateDate: query.Time(found.created), Tags: tagList(found.tags),
	}, nil
}

func listProviders(r *request) (any, *call.Fault) {
	if fault := r.authorize(r.account.entity(providerPrefix+"*"), nil); fault != nil {
		return nil, fault
	}
	entries := []providerEntry{}
	for _, bare := range slices.Sorted(maps.Keys(r.account.providers)) {
		entries = append(entries, providerEntry{r.account.providers[bare].arn()})
	}
	return providersResult{listOf(entries)}, nil
}

func deleteProvider(r *request) (any, *call.Fault) {
	found, fault := r.provider(nil)
	if fault != nil {
		return nil, fault
	}
	delete(r.account.providers, found.url)
	return nil, nil
}

func (r *request) clientID() (string, *call.Fault) {
	var v query.Validation
	client := v.Text(r.form, "ClientID", 1, 255, nil)
	return client, v.Fault()
}

func addClientID(r *request) (any, *call.Fault) {
	found, fault := r.provider(nil)
	if fault != nil {
		return nil, fault
	}
	client, fault := r.clientID()
	if fault != nil {
		return nil, fault
	}
	if slices.Contains(found.clients, client) {
		return nil, nil
	}
	if len(found.clients) >= maxClients {
		return nil, tooManyClients()
	}
	found.clients = append(found.clients, client)
	return nil, nil
}

func removeClientID(r *request) (any, *call.Fault) {
	found, fault := r.provider(nil)
	if fault != nil {
		return nil, fault
	}
	client, fault := r.clientID()
	if fault != nil {
		return nil, fault
	}
	found.clients = slices.DeleteFunc(slices.Clone(found.clients), func(have string) bool { return have == client })
	return nil, nil
}

func updateThumbprint(r *request) (any, *call.Fault) {
	found, fault := r.provider(nil)
	if fault != nil {
		return nil, fault
	}
	thumbprints, fault := r.readThumbprints()
	if fault != nil {
		return nil, fault
	}
	found.thumbprints = thumbprints
	return nil, nil
}
