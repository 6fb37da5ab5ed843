package rolerequest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/tabard-dev/tabard/internal/core/permission"
)

// largest bounds a document, in bytes.
const largest = 1 << 20

// written is a request in JSON. Audiences, subjects, atoms and the digest follow from the
// permissions; they are there to be read, and Read compares them.
type written struct {
	APIVersion  string            `json:"apiVersion"`
	Kind        string            `json:"kind"`
	Operator    operator          `json:"operator"`
	Cloud       permission.Cloud  `json:"cloud"`
	Cluster     string            `json:"cluster"`
	Namespace   string            `json:"namespace"`
	Issuer      string            `json:"issuer"`
	Partition   string            `json:"partition,omitempty"`
	Account     *string           `json:"account"`
	ProviderARN *string           `json:"providerARN"`
	Role        Role              `json:"role"`
	Audiences   []string          `json:"audiences"`
	Subjects    []string          `json:"subjects"`
	Atoms       []permission.Atom `json:"atoms"`
	Digest      string            `json:"digest"`
	Permissions permission.Set    `json:"permissions"`
}

type operator struct {
	Package string `json:"package"`
	Version string `json:"version,omitempty"`
	CSV     string `json:"csv,omitempty"`
}

// MarshalJSON is the request with its apiVersion and kind.
func (r Request) MarshalJSON() ([]byte, error) {
	p := r.Permissions
	return json.Marshal(written{
		APIVersion: APIVersion, Kind: Kind, Operator: operator{p.Package, p.Version, p.CSV}, Cloud: r.Cloud(),
		Cluster: r.Cluster, Namespace: r.Namespace, Issuer: r.Issuer, Partition: r.Partition, Account: orNull(r.Account), ProviderARN: orNull(r.ProviderARN()),
		Role: r.Role, Audiences: r.Audiences(), Subjects: r.Subjects(), Atoms: append([]permission.Atom{}, p.Atoms()...), Digest: r.Digest(), Permissions: p,
	})
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Read reads a request that was written as JSON. One that says two things, since somebody edited
// one place of several, is refused.
func Read(text []byte) (Request, error) {
	var in written
	if err := strictly(text, &in, Kind, func() (string, string) { return in.APIVersion, in.Kind }); err != nil {
		return Request{}, err
	}
	r := Request{
		Place:       Place{Cluster: in.Cluster, Namespace: in.Namespace, Issuer: in.Issuer, Partition: in.Partition},
		Role:        in.Role,
		Permissions: in.Permissions,
	}
	if in.Account != nil {
		r.Account = *in.Account
	}
	if err := r.check(); err != nil {
		return Request{}, err
	}
	if err := r.checkRole(); err != nil {
		return Request{}, err
	}
	again, err := json.Marshal(r)
	if err != nil {
		return Request{}, err
	}
	return r, compare(text, again)
}

// strictly reads one document of a kind, in which nothing is unknown or is there twice.
func strictly(text []byte, into any, kind string, head func() (apiVersion, kind string)) error {
	if len(text) > largest {
		return fmt.Errorf("it has %d bytes, expected %d at most", len(text), largest)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("it is no %s in JSON: %w", kind, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something after the document")
	}
	if version, is := head(); version != APIVersion || is != kind {
		return fmt.Errorf("it is %.100q of %.100q, expected %s of %s", is, version, kind, APIVersion)
	}
	return nil
}

// compare refuses a document that says something else than the request that was read of it.
func compare(got, want []byte) error {
	var a, b map[string]any
	if err := json.Unmarshal(got, &a); err != nil {
		return err
	}
	if err := json.Unmarshal(want, &b); err != nil {
		return err
	}
	for _, field := range []string{"operator", "cloud", "providerARN", "audiences", "subjects", "atoms", "digest", "permissions"} {
		if !reflect.DeepEqual(a[field], b[field]) {
			return fmt.Errorf("its field %s does not fit its field permissions: somebody changed one of them. Make the request anew", field)
		}
	}
	return nil
}

// Reply is what comes back: the role that was made.
type Reply struct {
	// Digest is that of the request; empty where it is not said.
	Digest string `json:"digest,omitempty"`
	// RoleARN is the role.
	RoleARN string `json:"roleARN"`
}

// ReadReply reads a reply to a request. A reply to another request is refused.
func ReadReply(text []byte, to Request) (Reply, error) {
	var in struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Reply
	}
	if err := strictly(text, &in, ReplyKind, func() (string, string) { return in.APIVersion, in.Kind }); err != nil {
		return Reply{}, err
	}
	if in.Digest != "" && in.Digest != to.Digest() {
		return Reply{}, fmt.Errorf("it answers the request with the digest %.80q, and this one has %s: what the operator asks for has changed meanwhile", in.Digest, to.Digest())
	}
	return in.Reply, nil
}

// MarshalJSON is the reply with its apiVersion and kind.
func (r Reply) MarshalJSON() ([]byte, error) {
	type plain Reply
	return json.Marshal(struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		plain
	}{APIVersion, ReplyKind, plain(r)})
}
