package awslocal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/clock"
	"github.com/tabard-dev/tabard/awslocal/internal/eks"
	"github.com/tabard-dev/tabard/awslocal/internal/iam"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/podidentity"
	"github.com/tabard-dev/tabard/awslocal/internal/region"
	"github.com/tabard-dev/tabard/awslocal/internal/s3"
	"github.com/tabard-dev/tabard/awslocal/internal/snapshot"
	"github.com/tabard-dev/tabard/awslocal/internal/sts"
)

const (
	// stateVersion is that of the document. It goes up when the document changes
	// in a way that an older program would misread.
	stateVersion = 1
	// maxStateBody bounds the memory that a document may take.
	maxStateBody = 1 << 30
)

// document is all state of a server.
type document struct {
	rest
	S3 s3.Snapshot `json:"s3"`
}

// rest is all state but S3's, which may be far larger.
type rest struct {
	Version   int                 `json:"version"`
	Partition partition.Partition `json:"partition"`
	Clock     clock.Snapshot      `json:"clock"`
	IAM       iam.Snapshot        `json:"iam"`
	STS       sts.Snapshot        `json:"sts"`
	EKS       eks.Snapshot        `json:"eks"`
	// DisabledRegions are those that accounts have disabled.
	DisabledRegions []region.Choice `json:"disabledRegions,omitempty"`
}

// write writes the document, S3's objects one by one.
func (d *document) write(w io.Writer) error {
	return snapshot.WriteMember(w, d.rest, "s3", d.S3.Write)
}

// Dump writes all state down as one JSON document: accounts with their
// administrators' keys, all of IAM, sessions, buckets with their objects,
// clusters, the regions that are disabled, and the clock's shifts. The same state gives the same bytes. It holds
// secrets. The journal, faults, modes and the certificate authority are not in
// it. Calls that are answered meanwhile may be in it or not.
func (a *Admin) Dump() ([]byte, error) {
	var text bytes.Buffer
	if err := a.server.document().write(&text); err != nil {
		return nil, fmt.Errorf("awslocal: writing the state down: %w", err)
	}
	return text.Bytes(), nil
}

// document is the state as it is now. The services wait only while it is copied.
func (s *Server) document() *document {
	var out document
	out.Version, out.Partition, out.Clock = stateVersion, partition.Of(s.options.Region), s.clock.Snapshot()
	// IAM comes last: what the others refer to has been there before they did.
	out.DisabledRegions = s.regions.Snapshot()
	out.S3, out.EKS, out.STS = s.s3.Snapshot(), s.eks.Snapshot(), s.sts.Snapshot()
	out.IAM = s.iam.Snapshot()
	return &out
}

// Load replaces all state by a document of Dump. It must belong to the server's
// accounts and partition; the administrators have the document's keys from then
// on, which are kept in Options.Dir too. A document that cannot be loaded in full
// is refused, and nothing has changed then. Where Options.Random repeats itself,
// what is made after a Load may get identifiers that the document has already.
func (a *Admin) Load(text []byte) error {
	s := a.server
	var from document
	if err := decodeState(text, &from); err != nil {
		return fmt.Errorf("awslocal: reading the state: %w", err)
	}
	s.replacing.Lock()
	defer s.replacing.Unlock()
	replace, err := s.restore(from)
	if err != nil {
		return fmt.Errorf("awslocal: the state cannot be loaded: %w", err)
	}
	if err := s.keepAdministrators(from.IAM.Accounts); err != nil {
		return err
	}
	for _, one := range replace {
		one()
	}
	// These remember what was true of the state before.
	s.agent.Reset()
	s.issuers.Reset()
	s.changed()
	return nil
}

// decodeState reads the document and nothing but the document. What this version
// does not know it cannot restore, so unknown members are refused.
func decodeState(text []byte, into *document) error {
	var head struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return fmt.Errorf("it is no JSON document of a state: %w", err)
	}
	if head.Version == nil || *head.Version != stateVersion {
		return fmt.Errorf("its version is not %d, the only one that this program reads", stateVersion)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// restore checks the whole document and returns what puts it in place.
func (s *Server) restore(from document) ([]func(), error) {
	if here := partition.Of(s.options.Region); from.Partition != here {
		return nil, fmt.Errorf("it belongs to the partition %q, and this server is in %q", from.Partition, here)
	}
	// Whoever refers to IAM finds there what the document has.
	var replace []func()
	for _, one := range []struct {
		name string
		read func() (func(), error)
	}{
		{"the clock", func() (func(), error) { return s.clock.Restore(from.Clock) }},
		{"IAM", func() (func(), error) { return s.iam.Restore(from.IAM) }},
		{"STS", func() (func(), error) { return s.sts.Restore(from.STS, s.options.Accounts) }},
		{"EKS", func() (func(), error) { return s.eks.Restore(from.EKS, s.options.Accounts) }},
		{"S3", func() (func(), error) { return s.s3.Restore(from.S3, s.options.Accounts) }},
		{"the regions", func() (func(), error) { return s.regions.Restore(from.DisabledRegions, s.options.Accounts) }},
	} {
		put, err := one.read()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		replace = append(replace, put)
	}
	return replace, nil
}

// changed notes that there is something new to keep.
func (s *Server) changed() { s.changes.Add(1) }

// reads are what the names of operations begin with that change nothing.
var reads = []string{"Get", "List", "Describe", "Head", "Simulate"}

// noteCall notes that a call may have changed something. The agent's only
// operation makes a session.
func (s *Server) noteCall(entry call.Entry) {
	isRead := slices.ContainsFunc(reads, func(verb string) bool { return strings.HasPrefix(entry.Operation, verb) })
	if entry.Status < http.StatusBadRequest && (!isRead || entry.Service == podidentity.Name) {
		s.changed()
	}
}

func (s *Server) serveState(w http.ResponseWriter, _ *http.Request) {
	text, err := s.Admin().Dump()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // a client that has gone is nothing to report
}

func (s *Server) serveLoad(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxStateBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		http.Error(w, fmt.Sprintf("The state is larger than %d bytes.", maxStateBody), http.StatusRequestEntityTooLarge)
		return
	case err == nil:
		err = s.Admin().Load(text)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
