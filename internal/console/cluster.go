package console

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/platform/tokenfacts"
)

// noCluster is the answer to what only a cluster knows.
func noCluster() *Problem {
	return &Problem{Status: http.StatusNotFound, Code: "noCluster", Title: "There is no cluster",
		Detail: "The console shows a catalogue in files, and was started without a kubeconfig.",
		Next:   []string{"tabard console --kubeconfig FILE shows a cluster"}}
}

// factsFor is how long the facts of the token mode are kept: a person's pages ask for them at the same
// time. A label waits for them no longer than labelWithin.
const (
	factsFor    = 10 * time.Second
	labelWithin = 2 * time.Second
)

// seen is what was read of the cluster's token mode.
func (s *Server) seen(ctx context.Context) (tokenfacts.Seen, error) {
	if !s.World.HasCluster() {
		return tokenfacts.Seen{}, noCluster()
	}
	seen, _, err := s.facts.get(ctx)
	return seen, err
}

// cluster says whether the cluster gives operators tokens.
func (s *Server) cluster(r *http.Request) (any, error) {
	q := queryOf(r)
	if err := q.err(); err != nil {
		return nil, err
	}
	seen, err := s.seen(r.Context())
	if err != nil {
		return nil, err
	}
	mode := seen.Decide()
	return api.Cluster{Mode: mode, Sentence: mode.Sentence(), Follows: mode.Follows(), Command: s.command("operators cluster")}, nil
}

// cloud is the cluster's, in token mode; nil where it is not, or is not known in time.
func (s *Server) cloud(ctx context.Context) *catalogue.Cloud {
	ctx, cancel := context.WithTimeout(ctx, labelWithin)
	defer cancel()
	seen, err := s.seen(ctx)
	if err != nil {
		return nil
	}
	mode := seen.Decide()
	for _, cloud := range listing.Clouds() {
		if mode.TokenMode == listing.Yes && strings.EqualFold(mode.Cloud, cloud.String()) {
			return &cloud
		}
	}
	return nil
}

// command is what a person types about the cluster to see the same, or to do it.
func (s *Server) command(words string) string { return "tabard " + words + s.World.ClusterFlags }

// ofCatalogue is what a person types about the catalogue.
func (s *Server) ofCatalogue(words string) string {
	return "tabard " + words + s.World.CatalogueFlags + s.World.ClusterFlags
}

// about is a command about something with a name, and flags. A name that looks like a flag stands after
// all flags.
func about(words, name, flags string) string {
	if strings.HasPrefix(name, "-") {
		return words + flags + " " + line.Argument(name)
	}
	return words + " " + line.Argument(name) + flags
}
