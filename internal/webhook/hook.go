package webhook

import (
	"fmt"
	"net/http"
	"strings"
)

// hooks are the paths that the API server's hooks ask.
var hooks = []struct {
	path, cloud string
	demand      demand
}{
	{"/mutate", cloudAWS, optional},
	{"/mutate/required", cloudAWS, required},
	{"/mutate/required/skippable", cloudAWS, skippable},
	{"/mutate/azure", cloudAzure, optional},
	{"/mutate/gcp", cloudGoogle, optional},
	{"/mutate/gcp/required", cloudGoogle, required},
	{"/mutate/gcp/required/skippable", cloudGoogle, skippable},
}

// demand is what a namespace demands of its pods, by the hook that asks.
type demand uint8

const (
	// optional: a pod may start without its identity.
	optional demand = iota
	// required: no pod starts without the identity that its ServiceAccount asks for.
	required
	// skippable: the same, but that a pod's author may keep it from containers.
	skippable
)

// aliasPath is the one of other clouds' webhooks. It leads to Azure or to Google
// Cloud, whichever is on.
const aliasPath = "/mutate-v1-pod"

// addHooks adds all paths; those of clouds that are off say so.
func (s *server) addHooks(mux *http.ServeMux) {
	for _, hook := range hooks {
		found := s.mutators[hook.cloud]
		if found != nil {
			found = found.with(hook.demand)
		}
		s.addHook(mux, hook.path, found, hook.cloud)
	}
	var alias *mutator
	switch azure, google := s.mutators[cloudAzure], s.mutators[cloudGoogle]; {
	case azure == nil:
		alias = google
	case google == nil:
		alias = azure
	}
	s.addHook(mux, aliasPath, alias, "one of azure and gcp alone")
}

// addHook adds a path, which needs something that is not there if nothing was
// found.
func (s *server) addHook(mux *http.ServeMux, path string, found *mutator, needs string) {
	handler := http.Handler(found)
	if found == nil {
		handler = s.off(path, needs)
	}
	mux.Handle(path, s.metrics.reference.instrument(path, handler))
}

// off answers for what is off.
func (s *server) off(path, needs string) http.Handler {
	var on []string
	for _, name := range allClouds {
		if s.mutators[name] != nil {
			on = append(on, name)
		}
	}
	text := fmt.Sprintf("%s needs %s: this server runs with --clouds=%s", path, needs, strings.Join(on, ","))
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, http.StatusNotFound) })
}
