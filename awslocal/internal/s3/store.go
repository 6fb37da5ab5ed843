package s3

import (
	"slices"
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
	objects index
	// last are the attributes of the object that was put last.
	last *attributes
}

type keyValue struct{ key, value string }

// object is one object. It is never changed, only replaced: an answer may go on
// reading it without the lock.
type object struct {
	// key is a text of its own: a part of the request's would keep all of that.
	key  string
	body []byte
	sums sums
	// modified is in nanoseconds since 1970: a time.Time is three times as long,
	// and there are many objects.
	modified int64
	// attributes are nil for none.
	attributes *attributes
}

// attributes are what an object has besides its body. They are never changed,
// and objects may share them.
type attributes struct {
	// header are the headers that come back with the object, tags its tags.
	header, tags []keyValue
}

// time is when the object was put.
func (o *object) time() time.Time { return time.Unix(0, o.modified).UTC() }

// header are the headers that come back with the object.
func (o *object) header() []keyValue {
	if o.attributes == nil {
		return nil
	}
	return o.attributes.header
}

// tags are the object's tags.
func (o *object) tags() []keyValue {
	if o.attributes == nil {
		return nil
	}
	return o.attributes.tags
}

// describe gives an object its attributes, those of the object before where
// they are the same: objects written one after the other mostly are alike.
func (b *bucket) describe(o *object, wanted attributes) {
	if len(wanted.header)+len(wanted.tags) == 0 {
		return
	}
	if b.last == nil || !slices.Equal(b.last.header, wanted.header) || !slices.Equal(b.last.tags, wanted.tags) {
		b.last = &attributes{header: wanted.header, tags: wanted.tags}
	}
	o.attributes = b.last
}

// accessBlock is what holds for a bucket: its own switches and its account's.
func (s *Service) accessBlock(b *bucket) PublicAccessBlock {
	sum, account := PublicAccessBlock{}, s.accounts[b.accountID]
	for _, block := range []*PublicAccessBlock{account, b.block} {
		if block == nil {
			continue
		}
		sum.BlockPublicACLs = sum.BlockPublicACLs || block.BlockPublicACLs
		sum.IgnorePublicACLs = sum.IgnorePublicACLs || block.IgnorePublicACLs
		sum.BlockPublicPolicy = sum.BlockPublicPolicy || block.BlockPublicPolicy
		sum.RestrictPublicBuckets = sum.RestrictPublicBuckets || block.RestrictPublicBuckets
	}
	return sum
}
