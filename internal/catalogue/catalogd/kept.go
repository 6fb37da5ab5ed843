package catalogd

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// mostPackages is how many answers about one package are kept.
const mostPackages = 16

// entry is what was read of a URL, and by what the server tells whether it has changed.
type entry struct {
	url, modified, tag string
	read               model.Catalogue
}

// entryOf is nil if the server says nothing that can be asked by. Only what looks like a date or
// a tag is sent back.
func entryOf(at string, header http.Header, read model.Catalogue) *entry {
	e := &entry{url: at, read: read}
	if date := header.Get("Last-Modified"); date != "" {
		if _, err := http.ParseTime(date); err == nil {
			e.modified = date
		}
	}
	if tag := header.Get("ETag"); isTag(tag) {
		e.tag = tag
	}
	if e.modified == "" && e.tag == "" {
		return nil
	}
	return e
}

func isTag(tag string) bool {
	const longest = 256
	tag = strings.TrimPrefix(tag, "W/")
	return len(tag) >= 2 && len(tag) <= longest && tag[0] == '"' && tag[len(tag)-1] == '"' &&
		!strings.ContainsFunc(tag[1:len(tag)-1], func(r rune) bool { return r <= ' ' || r == '"' || r >= 0x7f })
}

// ask makes a request conditional.
func (e *entry) ask(header http.Header) {
	if e == nil {
		return
	}
	if e.modified != "" {
		header.Set("If-Modified-Since", e.modified)
	}
	if e.tag != "" {
		header.Set("If-None-Match", e.tag)
	}
}

// kept are the entries of a catalogue. A part must not push out the whole, which costs most.
type kept struct {
	mutex           *sync.Mutex
	whole, packages latest
}

func newKept() kept {
	return kept{&sync.Mutex{}, latest{most: 1}, latest{most: mostPackages}}
}

func (k *kept) of(whole bool) *latest {
	if whole {
		return &k.whole
	}
	return &k.packages
}

func (k *kept) get(url string, whole bool) *entry {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	in := k.of(whole)
	e := in.take(url)
	in.add(e)
	return e
}

// put takes the place of what was kept of the URL; nil leaves nothing.
func (k *kept) put(e *entry, url string, whole bool) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	in := k.of(whole)
	in.take(url)
	in.add(e)
}

// latest are some entries, the one that was used last at the end.
type latest struct {
	most    int
	entries []*entry
}

func (l *latest) take(url string) *entry {
	i := slices.IndexFunc(l.entries, func(e *entry) bool { return e.url == url })
	if i < 0 {
		return nil
	}
	e := l.entries[i]
	l.entries = slices.Delete(l.entries, i, i+1)
	return e
}

func (l *latest) add(e *entry) {
	if e == nil {
		return
	}
	if l.entries = append(l.entries, e); len(l.entries) > l.most {
		l.entries = slices.Delete(l.entries, 0, 1)
	}
}
