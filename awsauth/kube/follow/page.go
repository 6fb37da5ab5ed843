package follow

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A page is bounded by its bytes, because those who may write objects decide how long each
// is, and in which order they come.
const (
	// firstPage and mostPage are how many objects a page has. Of a client whose answers
	// are not Bounded, none has more than the first.
	firstPage, mostPage = 20, 500
	// shortPage is the length, in bytes, below which the next page has twice as many objects.
	shortPage = 1 << 20
	// longestPage is the length, in bytes, at which reading is given up, to ask for fewer
	// objects. An object alone is read whatever its length: etcd bounds it.
	longestPage = 2 << 20
	// pageTime is how long a page may take.
	pageTime = time.Minute
)

// Pages are a list that is read page by page. Followers read so.
type Pages struct {
	// List asks the API server. It has to be there.
	List func(context.Context, metav1.ListOptions) (runtime.Object, error)
	// Options select the objects. Limit and Continue do not count.
	Options metav1.ListOptions
	// Time is how long a page may take; 0 is a minute.
	Time time.Duration
}

// Each hands each object to a function, which may keep it but should keep little, and returns
// the version of the list. Nothing is handed on of a page of which an error is returned.
func (p Pages) Each(ctx context.Context, each func(runtime.Object) error) (version string, err error) {
	if p.List == nil || each == nil {
		return "", errors.New("the pages of a list need List and a function that takes each object")
	}
	options, size := p.Options, pageSize(firstPage)
	options.Continue = ""
	for {
		options.Limit = int64(size)
		page, bytes, err := p.page(ctx, options, each)
		if errors.Is(err, errLong) {
			size = size.smaller()
			continue
		}
		if err != nil {
			return "", err
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return page.GetResourceVersion(), nil
		}
		size = size.after(bytes)
	}
}

// errLong says that a page was longer than is read at a time.
var errLong = errors.New("the page is too long")

func (p Pages) page(ctx context.Context, options metav1.ListOptions, each func(runtime.Object) error) (page meta.List, bytes int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, or(p.Time, pageTime))
	defer cancel()
	read := &reading{longest: longestPage}
	if options.Limit == 1 {
		read.longest = 0
	}
	defer read.end()
	list, err := p.List(context.WithValue(ctx, readingKey{}, read), options)
	if read.cut {
		return nil, 0, errLong // whatever became of its beginning
	}
	if err != nil {
		return nil, 0, err
	}
	if page, err = meta.ListAccessor(list); err != nil {
		return nil, 0, err
	}
	return page, read.bytes, meta.EachListItemWithAlloc(list, each)
}

// pageSize is how many objects are asked for at a time.
type pageSize int64

// after is the size that follows a page of so many bytes, 0 for a page that nobody has
// measured.
func (size pageSize) after(bytes int64) pageSize {
	if bytes == 0 || bytes >= shortPage {
		return size
	}
	return min(2*size, mostPage)
}

// smaller is the size with which a page is asked for again that was too long. It comes to
// one in three steps, so that objects in a bad order do not make most of what is read be
// read in vain.
func (size pageSize) smaller() pageSize {
	if size > firstPage {
		return firstPage
	}
	return max(size/4, 1)
}
