package eks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// Registration makes a cluster that runs elsewhere known: its tokens verify.
type Registration struct {
	Place
	// Issuer is the claim iss of its tokens.
	Issuer string
	// Keys verify them; none: they are fetched from where the issuer says.
	Keys []jose.JSONWebKey
	// Endpoint, CertificateAuthority (PEM), Version and AuthenticationMode are
	// shown to those who describe the cluster; empty: as they are, or as a new
	// cluster's.
	Endpoint, CertificateAuthority, Version, AuthenticationMode string
}

// Register makes a cluster, or changes one that there is already: its access
// entries and associations stay.
func (s *Service) Register(given Registration) error {
	switch {
	case !clusterPattern.MatchString(given.Name):
		return fmt.Errorf("%q is no name of a cluster", given.Name)
	case given.Issuer == "":
		return errors.New("a cluster needs an issuer")
	case given.AuthenticationMode != "" && !isMode(given.AuthenticationMode):
		return fmt.Errorf("the authentication mode %q is none of API, API_AND_CONFIG_MAP and CONFIG_MAP", given.AuthenticationMode)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	where := s.home(given.AccountID, given.Region)
	found := s.clusters[where][given.Name]
	if found == nil {
		found = s.newCluster(where, given.Name, given.Version)
		s.add(found)
	}
	found.issuer, found.keys, found.fetched = given.Issuer, given.Keys, len(given.Keys) == 0
	replace(&found.endpoint, given.Endpoint)
	replace(&found.authority, given.CertificateAuthority)
	replace(&found.version, given.Version)
	replace(&found.mode, given.AuthenticationMode)
	return nil
}

func replace(old *string, given string) {
	if given != "" {
		*old = given
	}
}

// State is what there is of a cluster, and what AWS does not show of it.
type State struct {
	Place
	Issuer string
	// Keys says where the keys come from that verify its tokens: "given",
	// "fetched" or "none".
	Keys    string
	Entries []EntryState
}

// EntryState is an access entry.
type EntryState struct {
	PrincipalARN, PrincipalID, Username string
	Groups                              []string
	// Stale says that the principal is gone, or is another one by now: the entry
	// lets nobody in.
	Stale bool
}

// List returns all clusters, in order.
func (s *Service) List() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []State{}
	for where, clusters := range s.clusters {
		for name, one := range clusters {
			state := State{Place: Place{where.account, where.region, name}, Issuer: one.issuer, Keys: "none", Entries: []EntryState{}}
			if one.fetched {
				state.Keys = "fetched"
			} else if len(one.keys) > 0 {
				state.Keys = "given"
			}
			for _, arn := range slices.Sorted(maps.Keys(one.entries)) {
				e := one.entries[arn]
				stale := s.options.Directory.UniqueID(arn) != e.principalID
				state.Entries = append(state.Entries, EntryState{arn, e.principalID, e.username, slices.Clone(e.groups), stale})
			}
			out = append(out, state)
		}
	}
	slices.SortFunc(out, func(a, b State) int { return comparePlaces(a.Place, b.Place) })
	return out
}

// names is how a text lists clusters.
func names(places []Place) string {
	out := []string{}
	for _, one := range places {
		out = append(out, one.Region+"/"+one.AccountID+"/"+one.Name)
	}
	return strings.Join(out, ", ")
}
