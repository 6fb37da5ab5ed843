package webhook

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/go-logr/logr"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// The config map, by the names of EKS's pod identity webhook.
const (
	configMapName = "pod-identity-webhook"
	configMapKey  = "config"
)

// configMapData is the field of core/v1.ConfigMap with its texts.
const configMapData = 2

// configMapSink takes the config map over whenever it is seen. One that is gone,
// or has no such key, leaves what it said, as with EKS's webhook: a roll-out that
// deletes it and makes it anew takes no pod's identity. To take all back, it is
// made to say {}.
type configMapSink struct {
	document document[inject.Mapping]
	needs    labelNeeds

	mu sync.Mutex
	// version is the newest that was seen since the last list began: a live look
	// may be ahead of the watch.
	version uint64
	// present says that there was one since then.
	present bool
}

// labelNeeds are called before a mapping counts that asks for labels of
// ServiceAccounts or of namespaces, with their names.
type labelNeeds struct{ accounts, namespaces func(names []string) }

// followConfigMap keeps the mapping, once it is run.
func (c *configuration) followConfigMap(from *api, namespace string, needs labelNeeds, counted *metrics, log logr.Logger) *follower {
	c.mapping.awaited.Store(true)
	sink := &configMapSink{needs: needs}
	sink.document = document[inject.Mapping]{
		name: "config-map", parse: sink.parse, length: (*inject.Mapping).Len,
		into: &c.mapping, metrics: counted, log: log.WithValues("namespace", namespace, "configMap", configMapName),
	}
	folder := "/api/v1/namespaces/" + namespace + "/configmaps"
	c.mapping.latest = newLatest(func(ctx context.Context) error {
		seen, err := from.readOne(ctx, folder+"/"+configMapName)
		if hasCode(err, http.StatusNotFound) {
			return nil // the watch will tell if that is news
		}
		if err == nil {
			err = sink.put(seen)
		}
		if err != nil {
			return fmt.Errorf("read config map %s/%s: %w", namespace, configMapName, err)
		}
		return nil
	})
	found := newFollower(from, folder, sink, log)
	found.query = url.Values{"fieldSelector": {"metadata.name=" + configMapName}}
	found.forbidden = sink.forbidden
	return found
}

// forbidden says that the server may not read the config map, as with the rights
// that EKS's webhook is shipped with. It may name anybody; but who is named by an
// annotation need not wait for it.
func (s *configMapSink) forbidden(err error) {
	s.document.fail(err)
	s.document.into.awaited.Store(false)
}

func (s *configMapSink) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version, s.present = 0, false
}

func (s *configMapSink) reached(string) {}
func (s *configMapSink) watching(bool)  {}

// listed comes also if there is no such config map.
func (s *configMapSink) listed(string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.present {
		s.document.absent("")
	}
	s.document.into.awaited.Store(false)
}

func (s *configMapSink) remove(seen object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = versionOf(seen)
	s.document.absent("")
	return nil
}

func (s *configMapSink) put(seen object) error {
	var text []byte
	err := eachEntry(seen.message, configMapData, func(name, value []byte) {
		if string(name) == configMapKey {
			text = append([]byte{}, value...)
		}
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.present = true
	version := versionOf(seen)
	if version < s.version {
		return nil
	}
	s.version = version
	if text == nil {
		s.document.absent("the config map has no key " + configMapKey)
		return nil
	}
	s.document.take(text)
	return nil
}

// versionOf is 0 if the version is no number: then whatever is seen last counts.
func versionOf(seen object) uint64 {
	version, err := strconv.ParseUint(string(seen.version), 10, 64)
	if err != nil {
		return 0
	}
	return version
}

func (s *configMapSink) parse(text []byte) (*inject.Mapping, []string) {
	found, problems := inject.ParseMapping(text)
	if names := found.AccountLabels(); len(names) > 0 {
		s.needs.accounts(names)
	}
	if names := found.NamespaceLabels(); len(names) > 0 {
		s.needs.namespaces(names)
	}
	return found, problems
}
