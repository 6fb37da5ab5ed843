package s3

import (
	"slices"
	"sort"
	"strings"
)

// maxBlock is how many objects stand together: moving so many pointers costs
// less than a request, and a bucket of a million objects has a few thousand
// blocks.
const maxBlock = 512

// index holds a bucket's objects sorted by the bytes of their keys, in blocks,
// so that neither a page of a list nor a write costs more for a large bucket.
// No block is empty.
type index struct {
	blocks [][]*object
	size   int
}

// place is where an object stands in an index.
type place struct{ block, at int }

// later is the later of two places.
func later(p, q place) place {
	if p.block < q.block || p.block == q.block && p.at < q.at {
		return q
	}
	return p
}

// search is the place of the first object whose key is past something. Once a
// key is past it, all later ones must be.
func (x *index) search(past func(key string) bool) place {
	block := sort.Search(len(x.blocks), func(i int) bool {
		last := len(x.blocks[i]) - 1
		return past(x.blocks[i][last].key)
	})
	if block == len(x.blocks) {
		return place{block, 0}
	}
	return place{block, sort.Search(len(x.blocks[block]), func(i int) bool { return past(x.blocks[block][i].key) })}
}

// object is what stands at a place, nil behind the last one.
func (x *index) object(p place) *object {
	if p.block == len(x.blocks) {
		return nil
	}
	return x.blocks[p.block][p.at]
}

// next is the place behind a place.
func (x *index) next(p place) place {
	if p.at+1 < len(x.blocks[p.block]) {
		return place{p.block, p.at + 1}
	}
	return place{p.block + 1, 0}
}

// from is the place of the first key that does not sort before the given one.
func (x *index) from(key string) place {
	return x.search(func(k string) bool { return k >= key })
}

// after is the place of the first key that sorts after the given one.
func (x *index) after(key string) place {
	return x.search(func(k string) bool { return k > key })
}

// afterPrefix is the place of the first key that sorts after all keys with the
// given prefix.
func (x *index) afterPrefix(prefix string) place {
	return x.search(func(k string) bool { return k > prefix && !strings.HasPrefix(k, prefix) })
}

// get is the object with a key, nil for none.
func (x *index) get(key string) *object {
	if o := x.object(x.from(key)); o != nil && o.key == key {
		return o
	}
	return nil
}

// put adds an object or replaces the one with its key.
func (x *index) put(o *object) {
	p := x.from(o.key)
	if old := x.object(p); old != nil && old.key == o.key {
		x.blocks[p.block][p.at] = o
		return
	}
	x.size++
	if p.block == len(x.blocks) {
		// Behind the last key: it goes to the end of the last block.
		if p.block == 0 {
			x.blocks = [][]*object{{o}}
			return
		}
		p = place{p.block - 1, len(x.blocks[p.block-1])}
	}
	x.blocks[p.block] = slices.Insert(x.blocks[p.block], p.at, o)
	x.split(p)
}

// split makes two blocks of one that has grown too long. One that grew at the
// end of all stays full: keys often come in order.
func (x *index) split(p place) {
	block := x.blocks[p.block]
	if len(block) <= maxBlock {
		return
	}
	cut := len(block) / 2
	if p.block == len(x.blocks)-1 && p.at == maxBlock {
		cut = maxBlock
	}
	tail := slices.Clone(block[cut:])
	clear(block[cut:])
	x.blocks[p.block] = slices.Clip(block[:cut])
	x.blocks = slices.Insert(x.blocks, p.block+1, tail)
}

// remove takes an object away; there need not be one.
func (x *index) remove(key string) {
	p := x.from(key)
	if o := x.object(p); o == nil || o.key != key {
		return
	}
	x.size--
	x.blocks[p.block] = slices.Delete(x.blocks[p.block], p.at, p.at+1)
	if len(x.blocks[p.block]) == 0 {
		x.blocks = slices.Delete(x.blocks, p.block, p.block+1)
	}
}
