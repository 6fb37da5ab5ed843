package s3

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/iampolicy"
)

// globalRegion is the region whose rules for creating buckets differ.
const globalRegion = "us-east-1"

// bucket is one bucket. The Service's lock covers it.
type bucket struct {
	name, accountID, region string
	created                 time.Time
	// block is the bucket's public access block, nil for none.
	block *PublicAccessBlock
	// policy is the bucket policy and document its bytes; nil for none.
	policy   *iampolicy.Policy
	document []byte
	// tags are in the order in which they were put.
	tags    []keyValue
	objects map[string]*object
	// keys are those of objects, sorted by their bytes, so that a page of a
	// list costs no more than its length.
	keys []string
}

type keyValue struct{ key, value string }

// object is one object. It is never changed, only replaced: an answer may go on
// reading it without the lock.
type object struct {
	body     []byte
	digest   digest
	modified time.Time
	// header are the headers that come back with the object.
	header []keyValue
}

// put stores an object under a key.
func (b *bucket) put(key string, o *object) {
	if b.objects[key] == nil {
		at, _ := slices.BinarySearch(b.keys, key)
		b.keys = slices.Insert(b.keys, at, key)
	}
	b.objects[key] = o
}

// remove takes an object away; there need not be one.
func (b *bucket) remove(key string) {
	if b.objects[key] == nil {
		return
	}
	delete(b.objects, key)
	at, _ := slices.BinarySearch(b.keys, key)
	b.keys = slices.Delete(b.keys, at, at+1)
}

// after is the index of the first key that sorts after the given one.
func (b *bucket) after(key string) int {
	return sort.Search(len(b.keys), func(i int) bool { return b.keys[i] > key })
}

// afterPrefix is the index of the first key that sorts after all keys with the
// given prefix.
func (b *bucket) afterPrefix(prefix string) int {
	return sort.Search(len(b.keys), func(i int) bool {
		return b.keys[i] > prefix && !strings.HasPrefix(b.keys[i], prefix)
	})
}

// accessBlock is what holds for a bucket: its own switches and its account's.
func (s *Service) accessBlock(b *bucket) PublicAccessBlock {
	sum := s.options.AccountBlock(b.accountID)
	if b.block != nil {
		sum.BlockPublicACLs = sum.BlockPublicACLs || b.block.BlockPublicACLs
		sum.IgnorePublicACLs = sum.IgnorePublicACLs || b.block.IgnorePublicACLs
		sum.BlockPublicPolicy = sum.BlockPublicPolicy || b.block.BlockPublicPolicy
		sum.RestrictPublicBuckets = sum.RestrictPublicBuckets || b.block.RestrictPublicBuckets
	}
	return sum
}
