package s3

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/snapshot"
	"github.com/tabard-dev/tabard/iampolicy"
)

// Snapshot is all that the service keeps, as plain data in a fixed order.
type Snapshot struct {
	// Accounts are the public access blocks of whole accounts.
	Accounts map[string]PublicAccessBlock `json:"accountPublicAccessBlocks,omitempty"`
	Buckets  []BucketSnapshot             `json:"buckets,omitempty"`
}

// BucketSnapshot is a bucket and its objects.
type BucketSnapshot struct {
	Name    string             `json:"name"`
	Account string             `json:"account"`
	Region  string             `json:"region"`
	Created time.Time          `json:"created"`
	Block   *PublicAccessBlock `json:"publicAccessBlock,omitempty"`
	// Policy may name principals that are gone.
	Policy  string           `json:"policy,omitempty"`
	Tags    []TextPair       `json:"tags,omitempty"`
	Objects []ObjectSnapshot `json:"objects,omitempty"`
}

// ObjectSnapshot is an object. Its ETag and checksum follow from its body.
type ObjectSnapshot struct {
	Key      string    `json:"key"`
	Modified time.Time `json:"modified"`
	// Algorithm is the checksum's, empty for the one that S3 chooses.
	Algorithm string     `json:"checksumAlgorithm,omitempty"`
	Header    []TextPair `json:"header,omitempty"`
	Tags      []TextPair `json:"tags,omitempty"`
	// Body may be the object's own bytes, which nobody changes.
	Body []byte `json:"body,omitempty"`
}

// TextPair is a header or a tag.
type TextPair struct {
	Name  snapshot.Text `json:"name"`
	Value snapshot.Text `json:"value"`
}

// Snapshot has all buckets, ordered by their names, with their objects, ordered by
// their keys.
func (s *Service) Snapshot() Snapshot {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := Snapshot{Accounts: map[string]PublicAccessBlock{}}
	for account, block := range s.accounts {
		out.Accounts[account] = *block
	}
	for _, name := range slices.Sorted(maps.Keys(s.buckets)) {
		out.Buckets = append(out.Buckets, s.buckets[name].snapshot())
	}
	return out
}

// Write writes the snapshot as JSON, one object at a time: together they may be
// large.
func (s Snapshot) Write(w io.Writer) error {
	buckets := s.Buckets
	s.Buckets = nil
	return snapshot.WriteMember(w, s, "buckets", func(w io.Writer) error {
		return snapshot.WriteList(w, buckets, writeBucket)
	})
}

func writeBucket(w io.Writer, b BucketSnapshot) error {
	objects := b.Objects
	b.Objects = nil
	return snapshot.WriteMember(w, b, "objects", func(w io.Writer) error {
		return snapshot.WriteList(w, objects, func(w io.Writer, one ObjectSnapshot) error { return snapshot.Write(w, one) })
	})
}

func (b *bucket) snapshot() BucketSnapshot {
	out := BucketSnapshot{
		Name: b.name, Account: b.accountID, Region: b.region, Created: b.created, Block: b.block, Policy: string(b.document),
		Tags: pairs(b.tags), Objects: make([]ObjectSnapshot, 0, b.objects.size),
	}
	for _, block := range b.objects.blocks {
		for _, o := range block {
			one := ObjectSnapshot{Key: o.key, Modified: o.time(), Header: pairs(o.header()), Tags: pairs(o.tags()), Body: o.body}
			if o.sums.algorithm != defaultAlgorithm {
				one.Algorithm = o.sums.algorithm
			}
			out.Objects = append(out.Objects, one)
		}
	}
	return out
}

func pairs(all []keyValue) []TextPair {
	var out []TextPair
	for _, one := range all {
		out = append(out, TextPair{snapshot.Text(one.key), snapshot.Text(one.value)})
	}
	return out
}

func keyValues(all []TextPair) []keyValue {
	var out []keyValue
	for _, one := range all {
		out = append(out, keyValue{string(one.Name), string(one.Value)})
	}
	return out
}

// Restore checks a snapshot and returns the function that replaces all buckets
// with it. It keeps the bodies' bytes.
func (s *Service) Restore(from Snapshot, accounts []string) (replace func(), err error) {
	buckets, blocks := map[string]*bucket{}, map[string]*PublicAccessBlock{}
	for account, block := range from.Accounts {
		if !slices.Contains(accounts, account) {
			return nil, fmt.Errorf("the account %q, whose public access is blocked, does not exist", account)
		}
		blocks[account] = &block
	}
	for _, one := range from.Buckets {
		made, err := restoreBucket(one)
		switch {
		case err != nil:
		case !slices.Contains(accounts, one.Account):
			err = fmt.Errorf("its account %q does not exist", one.Account)
		case buckets[one.Name] != nil:
			err = errors.New("it is there twice")
		}
		if err != nil {
			return nil, fmt.Errorf("the bucket %q: %w", one.Name, err)
		}
		buckets[one.Name] = made
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.buckets, s.accounts = buckets, blocks
	}, nil
}

func restoreBucket(from BucketSnapshot) (*bucket, error) {
	made := &bucket{
		name: from.Name, accountID: from.Account, region: from.Region, created: from.Created, block: from.Block, tags: keyValues(from.Tags),
	}
	if !isBucketName(from.Name) || !regionName.MatchString(from.Region) {
		return nil, fmt.Errorf("its name, or its region %q, is none", from.Region)
	}
	if from.Policy != "" {
		// Its principals may be gone since it was put, which S3 does not mind.
		policy, err := iampolicy.Parse([]byte(from.Policy))
		if err == nil {
			err = policy.Validate(iampolicy.ResourcePolicy)
		}
		if err != nil {
			return nil, fmt.Errorf("its policy: %w", err)
		}
		made.policy, made.document = policy, []byte(from.Policy)
	}
	for _, one := range from.Objects {
		if err := made.restoreObject(one); err != nil {
			return nil, fmt.Errorf("the object %q: %w", one.Key, err)
		}
	}
	return made, nil
}

func (b *bucket) restoreObject(from ObjectSnapshot) error {
	algorithm := from.Algorithm
	if algorithm == "" {
		algorithm = defaultAlgorithm
	}
	switch {
	case from.Key == "" || b.objects.get(from.Key) != nil:
		return errors.New("its key is empty or there twice")
	case algorithms[algorithm] == nil:
		return fmt.Errorf("its checksum's algorithm %q is unknown", algorithm)
	case !time.Unix(0, from.Modified.UnixNano()).Equal(from.Modified):
		return fmt.Errorf("it is of %v, which is too far away", from.Modified)
	}
	o := &object{key: strings.Clone(from.Key), body: from.Body, sums: sumUp(from.Body, algorithm), modified: from.Modified.UnixNano()}
	b.describe(o, attributes{header: keyValues(from.Header), tags: keyValues(from.Tags)})
	b.objects.put(o)
	return nil
}
