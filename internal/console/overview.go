package console

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/overview"
)

// How long an overview is kept, how long it is shown while it is read again, and how many times as long as its
// reading took it is kept at least: without a session in AWS, looking for one takes seconds. It names so many
// pods and requests.
const (
	overviewFor   = 15 * time.Second
	overviewShown = time.Minute
	overviewRests = 3
	mostNamed     = 10
)

// overview is the cluster at a glance.
func (s *Server) overview(r *http.Request) (any, error) {
	if err := queryOf(r).err(); err != nil {
		return nil, err
	}
	if !s.World.HasCluster() {
		return nil, noCluster()
	}
	read, at, err := s.overviews.get(r.Context())
	if err != nil {
		return nil, err
	}
	out := *read
	if out.ReadAt.IsZero() || out.ReadAt.After(at) {
		out.ReadAt = at
	}
	return out, nil
}

func (s *Server) versionOfOverview(ctx context.Context) (string, error) {
	read, _, err := s.overviews.get(ctx)
	if err != nil {
		return "", err
	}
	return read.Version, nil
}

// readOverview reads the cluster and has it judged.
func (s *Server) readOverview(ctx context.Context) (*api.Overview, error) {
	read, err := s.readCluster(ctx)
	if err != nil {
		return nil, err
	}
	judged := overview.Judge(read.Seen)
	out := &api.Overview{
		Links: []api.LinkState{}, Sentence: judged.Sentence,
		Pods: read.Pods.Total, Given: read.Pods.Given, Without: read.Pods.Without, Unknown: read.Pods.Unjudged, Lacking: read.lacking, PodsUnknown: read.podsUnknown,
		Requests: read.Requests.Total, WaitingTotal: read.Requests.Waiting, Waiting: []api.WaitingRequest{}, RequestsUnknown: read.requestsUnknown,
		RequestsCommand: s.requestsCommand(read.requestsOf), PartlyPods: read.partlyPods, PartlyRequests: read.partlyRequests, Command: read.Chain.Subject.Command(s.World.ClusterFlags),
	}
	for i := range judged.Links {
		out.Links = append(out.Links, s.linkState(&judged.Links[i]))
	}
	for i := range read.waiting {
		out.Waiting = append(out.Waiting, s.waitingRequest(&read.waiting[i]))
	}
	if judged.Todo != nil {
		out.Todo = s.todo(judged.Todo)
	}
	text, err := written(out)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(text)
	out.Version, out.ReadAt = versionBy(digest[:]), read.listedAt
	return out, nil
}

// since is since when a link has had a state, by what this console has seen.
type since struct {
	state chain.State
	at    time.Time
	// told is the last of sound and broken that it was seen to be, and turned is when it was first seen to be the
	// one after it had been the other; zero where it never was.
	told   chain.State
	turned time.Time
}

// next is what is known after another look.
func (s since) next(state chain.State, now time.Time) since {
	if s.state != state {
		s.state, s.at = state, now
	}
	if state == chain.Sound || state == chain.Broken {
		if s.told != "" && s.told != state {
			s.turned = now
		}
		s.told = state
	}
	return s
}

// later is what was recorded, or when the link was seen to turn, if that was later: a condition may be older
// than a fault that the controller did not see.
func (s since) later(recorded *time.Time) *time.Time {
	if recorded == nil || !recorded.Before(s.turned) {
		return recorded
	}
	return new(s.turned)
}

// linkState is a link with when it was first seen to be so. Overviews are read one after the other, so that
// nothing else uses what is remembered meanwhile.
func (s *Server) linkState(of *overview.State) api.LinkState {
	seen := s.firstSeen[of.Link].next(of.State, time.Now().UTC().Truncate(time.Second))
	s.firstSeen[of.Link] = seen
	out := api.LinkState{
		Link: of.Link, Name: of.Link.Name(), Asks: of.Link.Asks(), State: of.State, Text: line.Of(of.Text), Needs: of.Needs, Since: seen.later(of.Since), Seen: seen.at,
	}
	if of.By != nil {
		out.By, out.Path = of.By.String(), pathOf(*of.By)
	}
	return out
}

// pathOf is the page of a workload.
func pathOf(subject chain.Subject) string {
	kind, name := "serviceaccounts", subject.Account
	if subject.Pod != "" {
		kind, name = "pods", subject.Pod
	}
	return "/workloads/" + kind + "/" + url.PathEscape(subject.Namespace) + "/" + url.PathEscape(name)
}

// todo is the one thing to do, with the command that says more where nothing says how it is mended.
func (s *Server) todo(of *overview.Todo) *api.Todo {
	out := &api.Todo{Title: line.Of(of.Title), Commands: []string{}}
	if of.Subject != nil {
		out.Path = pathOf(*of.Subject)
	}
	switch {
	case of.Finding != nil:
		out.Observed, out.Required, out.Note = of.Finding.Observed, of.Finding.Required, of.Finding.Note
		out.Commands, out.Blanks = append(out.Commands, of.Finding.Mend...), of.Finding.Blanks
		if of.Finding.Certainty == chain.Likely {
			out.Note = strings.TrimSpace("This is likely, and there may be another reason. " + out.Note)
		}
	case of.Request != nil:
		out.Observed, out.Note, out.Commands = line.Of(of.Request.Message), of.Remedy, append(out.Commands, s.describeCommand(of.Request))
	case of.Subject != nil:
		out.Commands = append(out.Commands, of.Subject.Command(s.World.ClusterFlags))
	}
	return out
}

func (s *Server) waitingRequest(row *credentials.Row) api.WaitingRequest {
	return api.WaitingRequest{
		Namespace: row.Namespace, Name: row.Name, Actor: row.Actor.Name(), Reason: line.Of(row.Reason), Message: line.Of(row.Message), Since: row.Created.UTC(), Command: s.describeCommand(row),
	}
}

// requestsCommand is the command that lists the requests of namespaces; none stand for all. The program lists
// those of one or of all, so that for several the shell asks for one after the other.
func (s *Server) requestsCommand(namespaces []string) string {
	switch len(namespaces) {
	case 0:
		return s.command("credentials list --all-namespaces")
	case 1:
		return s.command("credentials list" + flag("namespace", namespaces[0]))
	}
	var words strings.Builder
	for _, namespace := range namespaces {
		words.WriteString(" " + line.Word(namespace))
	}
	return "for namespace in" + words.String() + "; do " + s.command(`credentials list --namespace "$namespace"`) + "; done"
}

// describeCommand is the command that says all of a request.
func (s *Server) describeCommand(row *credentials.Row) string {
	return s.command(about("credentials describe", row.Name, flag("namespace", row.Namespace)))
}
