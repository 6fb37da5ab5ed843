package awslocal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/awslocal/internal/eks"
	"github.com/tabard-dev/tabard/awslocal/internal/oidc"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
)

// maxClusterBody has room for a key set.
const maxClusterBody = 256 << 10

// Cluster is a Kubernetes cluster that runs elsewhere and is registered here as
// a cluster of EKS, so that EKS Auth verifies the tokens of its pods.
type Cluster struct {
	// Account and Region are where it is; default the only account, and the
	// server's region.
	Account string `json:"account,omitempty"`
	Region  string `json:"region,omitempty"`
	Name    string `json:"name"`
	// Issuer is the claim iss of its tokens.
	Issuer string `json:"issuer"`
	// JWKS are the public keys of the issuer, a JSON Web Key Set. Without it they
	// are fetched from the issuer's discovery document, when they are needed.
	JWKS json.RawMessage `json:"jwks,omitempty"`
	// Endpoint, CertificateAuthority (PEM), Version and AuthenticationMode (API,
	// API_AND_CONFIG_MAP or CONFIG_MAP; default API) are shown by
	// DescribeCluster.
	Endpoint             string `json:"endpoint,omitempty"`
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
	Version              string `json:"version,omitempty"`
	AuthenticationMode   string `json:"authenticationMode,omitempty"`
}

// ClusterState is what there is of a cluster, and what EKS itself does not show.
type ClusterState struct {
	Account string `json:"account"`
	Region  string `json:"region"`
	Name    string `json:"name"`
	Issuer  string `json:"issuer"`
	// Keys says where the keys come from by which tokens are verified: "given",
	// "fetched", or "none" for a cluster that was never registered.
	Keys          string        `json:"keys"`
	AccessEntries []AccessEntry `json:"accessEntries"`
}

// AccessEntry is an access entry of a cluster. EKS ties it to the unique ID of
// its role or user, which it does not show.
type AccessEntry struct {
	PrincipalARN string `json:"principalArn"`
	PrincipalID  string `json:"principalID"`
	Username     string `json:"username"`
	// Groups are those of the cluster that the principal is in.
	Groups []string `json:"groups,omitempty"`
	// Stale says that the principal is gone, or was made anew under its name: the
	// entry lets nobody in until it is deleted and made again.
	Stale bool `json:"stale"`
}

// AddCluster registers a cluster. One of that name that CreateCluster made, or
// that was registered before, gets the issuer and keys, and what else is given;
// its access entries and pod identity associations stay.
func (a *Admin) AddCluster(c Cluster) error {
	place, err := a.server.place(c)
	if err != nil {
		return err
	}
	var keys []jose.JSONWebKey
	if len(c.JWKS) > 0 {
		if keys, err = oidc.ReadKeys(c.JWKS); err != nil {
			return fmt.Errorf("awslocal: the JWKS of cluster %q: %w", c.Name, err)
		}
	} else if !a.server.isFetchable(c.Issuer) {
		return fmt.Errorf("awslocal: the issuer %q of cluster %q is no https URL from which its keys could be fetched, and no JWKS is given", c.Issuer, c.Name)
	}
	err = a.server.eks.Register(eks.Registration{
		Place: place, Issuer: c.Issuer, Keys: keys, Endpoint: c.Endpoint,
		CertificateAuthority: c.CertificateAuthority, Version: c.Version, AuthenticationMode: c.AuthenticationMode,
	})
	if err != nil {
		return fmt.Errorf("awslocal: registering cluster %q: %w", c.Name, err)
	}
	a.server.changed()
	return nil
}

// place finds out where a cluster is to be.
func (s *Server) place(c Cluster) (eks.Place, error) {
	place := eks.Place{AccountID: c.Account, Region: c.Region, Name: c.Name}
	if place.Region == "" {
		place.Region = s.options.Region
	}
	if place.AccountID == "" && len(s.options.Accounts) == 1 {
		place.AccountID = s.options.Accounts[0]
	}
	if !slices.Contains(s.options.Accounts, place.AccountID) {
		return place, fmt.Errorf("awslocal: the account %q of cluster %q is none of %v", place.AccountID, c.Name, s.options.Accounts)
	}
	if here := partition.Of(s.options.Region); partition.Of(place.Region) != here {
		return place, fmt.Errorf("awslocal: the region %q of cluster %q is not in the partition %s", place.Region, c.Name, here)
	}
	return place, nil
}

func (s *Server) isFetchable(issuer string) bool {
	u, err := url.Parse(issuer)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && s.options.AllowPlainHTTPIssuers)
}

// Clusters returns all clusters, ordered by account, region and name.
func (a *Admin) Clusters() []ClusterState {
	out := []ClusterState{}
	for _, one := range a.server.eks.List() {
		state := ClusterState{Account: one.AccountID, Region: one.Region, Name: one.Name, Issuer: one.Issuer, Keys: one.Keys, AccessEntries: []AccessEntry{}}
		for _, e := range one.Entries {
			state.AccessEntries = append(state.AccessEntries, AccessEntry(e))
		}
		out = append(out, state)
	}
	return out
}

func (s *Server) serveClusters(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, s.Admin().Clusters())
}

func (s *Server) serveAddCluster(w http.ResponseWriter, r *http.Request) {
	var wanted Cluster
	decoder := json.NewDecoder(io.LimitReader(r.Body, maxClusterBody))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&wanted)
	if err == nil {
		err = s.Admin().AddCluster(wanted)
	} else {
		err = errors.Join(errors.New("the body must be a JSON object with name and issuer, and maybe account, region, jwks, endpoint, certificateAuthority, version and authenticationMode"), err)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.serveClusters(w, r)
}
