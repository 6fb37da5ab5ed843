package awslocal

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/region"
)

// Region is a region of the server's partition, as an account has it.
type Region struct {
	Account string `json:"account"`
	Region  string `json:"region"`
	// OptInStatus is that of DescribeRegions: "opt-in-not-required", "opted-in" or
	// "not-opted-in".
	OptInStatus string `json:"optInStatus"`
}

// DisableRegion makes an opt-in region one that the account has not enabled, as
// all of them are in a new account of AWS: keys of the account are unknown there,
// and STS makes no sessions of its roles there. IAM has no regions and goes on. At
// first all regions are enabled.
func (a *Admin) DisableRegion(account, region string) error {
	return a.setRegion(account, region, a.server.regions.Disable)
}

// EnableRegion takes DisableRegion back.
func (a *Admin) EnableRegion(account, region string) error {
	return a.setRegion(account, region, a.server.regions.Enable)
}

func (a *Admin) setRegion(account, name string, set func(account, region string) error) error {
	if !slices.Contains(a.server.options.Accounts, account) {
		return fmt.Errorf("awslocal: the account %q is none of %v", account, a.server.options.Accounts)
	}
	if err := set(account, name); err != nil {
		return fmt.Errorf("awslocal: %w", err)
	}
	a.server.changed()
	return nil
}

// Regions returns all regions of the partition for each account, ordered by
// account and name.
func (a *Admin) Regions() []Region {
	out := []Region{}
	for _, account := range a.server.options.Accounts {
		for _, one := range region.Of(partition.Of(a.server.options.Region)) {
			out = append(out, Region{account, one.Name, string(a.server.regions.Status(account, one))})
		}
	}
	return out
}

// regionChange is what POST regions takes.
type regionChange struct {
	Account string `json:"account"`
	Region  string `json:"region"`
	Enabled *bool  `json:"enabled"`
}

func (s *Server) serveRegions(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, s.Admin().Regions())
}

func (s *Server) serveSetRegion(w http.ResponseWriter, r *http.Request) {
	var change regionChange
	err := decodeJSON(r, &change)
	if err == nil && change.Enabled == nil {
		err = errors.New("enabled is not given")
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("The body must be a JSON object with region and enabled, and account where there are several: %v", err), http.StatusBadRequest)
		return
	}
	if change.Account == "" && len(s.options.Accounts) == 1 {
		change.Account = s.options.Accounts[0]
	}
	set := s.Admin().DisableRegion
	if *change.Enabled {
		set = s.Admin().EnableRegion
	}
	if err := set(change.Account, change.Region); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.serveRegions(w, r)
}
