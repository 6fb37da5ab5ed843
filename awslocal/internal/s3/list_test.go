package s3

import (
	"encoding/xml"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listed is a ListObjectsV2 answer as a client reads it.
type listed struct {
	Contents              []struct{ Key string }
	CommonPrefixes        []struct{ Prefix string }
	KeyCount              int
	IsTruncated           bool
	NextContinuationToken string
}

func (l listed) keys() []string {
	var keys []string
	for _, one := range l.Contents {
		keys = append(keys, one.Key)
	}
	return keys
}

func (l listed) prefixes() []string {
	var prefixes []string
	for _, one := range l.CommonPrefixes {
		prefixes = append(prefixes, one.Prefix)
	}
	return prefixes
}

func list(t *testing.T, s *Service, query url.Values) listed {
	t.Helper()
	query.Set("list-type", "2")
	var l listed
	if err := xml.Unmarshal(must(t, s, "GET /docs?"+query.Encode(), ask{}).Body.Bytes(), &l); err != nil {
		t.Fatalf("list %s: %v", query.Encode(), err)
	}
	return l
}

func filled(t *testing.T, keys ...string) *Service {
	t.Helper()
	s := New(Options{})
	must(t, s, "PUT /docs", ask{})
	for _, key := range keys {
		must(t, s, "PUT /docs/"+url.PathEscape(key), ask{body: key})
	}
	return s
}

func TestListObjects(t *testing.T) {
	keys := []string{"a", "b/1", "b/2", "b/c/3", "b0", "é", "z"}
	tests := map[string]struct {
		query          url.Values
		keys, prefixes []string
	}{
		"all keys are in the order of their bytes":      {url.Values{}, []string{"a", "b/1", "b/2", "b/c/3", "b0", "z", "é"}, nil},
		"a prefix chooses":                              {url.Values{"prefix": {"b/"}}, []string{"b/1", "b/2", "b/c/3"}, nil},
		"a prefix that is a key chooses it too":         {url.Values{"prefix": {"b0"}}, []string{"b0"}, nil},
		"a prefix of nothing chooses nothing":           {url.Values{"prefix": {"c"}}, nil, nil},
		"a delimiter folds":                             {url.Values{"delimiter": {"/"}}, []string{"a", "b0", "z", "é"}, []string{"b/"}},
		"prefix and delimiter show one folder":          {url.Values{"prefix": {"b/"}, "delimiter": {"/"}}, []string{"b/1", "b/2"}, []string{"b/c/"}},
		"a delimiter may be longer than a character":    {url.Values{"delimiter": {"/c/"}}, []string{"a", "b/1", "b/2", "b0", "z", "é"}, []string{"b/c/"}},
		"start-after leaves out what it names":          {url.Values{"start-after": {"b/2"}}, []string{"b/c/3", "b0", "z", "é"}, nil},
		"start-after need not be a key":                 {url.Values{"start-after": {"b/15"}}, []string{"b/2", "b/c/3", "b0", "z", "é"}, nil},
		"start-after before a prefix":                   {url.Values{"start-after": {"a"}, "prefix": {"b0"}}, []string{"b0"}, nil},
		"start-after behind a prefix":                   {url.Values{"start-after": {"x"}, "prefix": {"b0"}}, nil, nil},
		"no keys at all":                                {url.Values{"max-keys": {"0"}}, nil, nil},
		"more than a thousand are cut to a thousand":    {url.Values{"max-keys": {"5000"}}, []string{"a", "b/1", "b/2", "b/c/3", "b0", "z", "é"}, nil},
		"encoding-type url writes keys percent-encoded": {url.Values{"encoding-type": {"url"}, "prefix": {"é"}}, []string{"%C3%A9"}, nil},
	}
	s := filled(t, keys...)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := list(t, s, tt.query)
			if !slices.Equal(got.keys(), tt.keys) || !slices.Equal(got.prefixes(), tt.prefixes) {
				t.Errorf("got %q and %q, want %q and %q", got.keys(), got.prefixes(), tt.keys, tt.prefixes)
			}
			if got.KeyCount != len(tt.keys)+len(tt.prefixes) || got.IsTruncated {
				t.Errorf("KeyCount %d, IsTruncated %v", got.KeyCount, got.IsTruncated)
			}
		})
	}
}

func TestListObjectsRefusals(t *testing.T) {
	check(t, map[string]row{
		"a token that is none":           {line: "GET /docs?list-type=2&continuation-token=abc", status: 400, code: "InvalidArgument", message: "The continuation token provided is incorrect"},
		"an empty token":                 {line: "GET /docs?list-type=2&continuation-token=", status: 400, code: "InvalidArgument"},
		"max-keys that is no number":     {line: "GET /docs?list-type=2&max-keys=x", status: 400, code: "InvalidArgument"},
		"max-keys below zero":            {line: "GET /docs?list-type=2&max-keys=-1", status: 400, code: "InvalidArgument"},
		"an encoding that there is not":  {line: "GET /docs?list-type=2&encoding-type=rot13", status: 400, code: "InvalidArgument"},
		"a list type that there is not":  {line: "GET /docs?list-type=3", status: 400, code: "InvalidArgument"},
		"the owner is shown when wanted": {line: "GET /docs?list-type=2&fetch-owner=true", status: 200, body: "<Owner><ID>"},
	})
}

// TestPagesTogetherAreTheList walks random lists page by page and compares with
// a slow reading of what a list is.
func TestPagesTogetherAreTheList(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var keys []string
	for range 60 {
		key := ""
		for range 1 + random.IntN(6) {
			key += string("ab/"[random.IntN(3)])
		}
		keys = append(keys, strings.TrimLeft(key, "/")+"k")
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	s := filled(t, keys...)
	for _, prefix := range []string{"", "a", "a/", "b/a", "nothing"} {
		for _, delimiter := range []string{"", "/", "a"} {
			wantKeys, wantPrefixes := slowList(keys, prefix, delimiter)
			for _, size := range []int{1, 2, 7, 1000} {
				gotKeys, gotPrefixes := walk(t, s, prefix, delimiter, size)
				if !slices.Equal(gotKeys, wantKeys) || !slices.Equal(gotPrefixes, wantPrefixes) {
					t.Errorf("prefix %q, delimiter %q, pages of %d:\n got %q %q\nwant %q %q",
						prefix, delimiter, size, gotKeys, gotPrefixes, wantKeys, wantPrefixes)
				}
			}
		}
	}
}

func slowList(keys []string, prefix, delimiter string) (plain, common []string) {
	for _, key := range keys {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if before, _, found := strings.Cut(rest, delimiter); delimiter != "" && found {
			common = append(common, prefix+before+delimiter)
			continue
		}
		plain = append(plain, key)
	}
	return plain, slices.Compact(common)
}

func walk(t *testing.T, s *Service, prefix, delimiter string, size int) (keys, prefixes []string) {
	t.Helper()
	query := url.Values{"prefix": {prefix}, "delimiter": {delimiter}, "max-keys": {strconv.Itoa(size)}}
	for {
		page := list(t, s, query)
		if page.KeyCount > size {
			t.Fatalf("a page of %d, want at most %d", page.KeyCount, size)
		}
		keys, prefixes = append(keys, page.keys()...), append(prefixes, page.prefixes()...)
		if !page.IsTruncated {
			return keys, prefixes
		}
		query.Set("continuation-token", page.NextContinuationToken)
	}
}

func TestATokenOutlivesItsKey(t *testing.T) {
	s := filled(t, "a", "b", "c")
	first := list(t, s, url.Values{"max-keys": {"2"}})
	must(t, s, "DELETE /docs/b", ask{})
	rest := list(t, s, url.Values{"continuation-token": {first.NextContinuationToken}})
	if !slices.Equal(rest.keys(), []string{"c"}) {
		t.Errorf("the rest is %q, want c", rest.keys())
	}
}

// TestTheOldListGoesOnAfterItsMarker walks through all pages as clients do: by
// NextMarker where there is one, else by the last key.
func TestTheOldListGoesOnAfterItsMarker(t *testing.T) {
	s := filled(t, "a", "b/1", "b/2", "b/c/3", "b0", "c/1", "z")
	for _, delimiter := range []string{"", "/"} {
		for limit := range 4 {
			var got []string
			marker := ""
			for more := limit > 0; more; {
				query := url.Values{"marker": {marker}, "max-keys": {strconv.Itoa(limit)}, "delimiter": {delimiter}}
				text := must(t, s, "GET /docs?"+query.Encode(), ask{}).Body.Bytes()
				var page struct {
					listed
					NextMarker string
				}
				if err := xml.Unmarshal(text, &page); err != nil {
					t.Fatalf("list: %v", err)
				}
				entries := append(page.keys(), page.prefixes()...)
				slices.Sort(entries)
				if len(entries) > limit || (page.NextMarker != "") != (page.IsTruncated && delimiter != "") {
					t.Fatalf("a page of %d: %s", limit, text)
				}
				got = append(got, entries...)
				marker = entries[len(entries)-1]
				more = page.IsTruncated
			}
			want := []string{"a", "b/1", "b/2", "b/c/3", "b0", "c/1", "z"}
			switch {
			case limit == 0:
				want = nil
			case delimiter != "":
				want = []string{"a", "b/", "b0", "c/", "z"}
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d, delimiter %q: %q, want %q", limit, delimiter, got, want)
			}
		}
	}
	if got := must(t, s, "GET /docs?max-keys=1", ask{}).text(); strings.Contains(got, "KeyCount") || !strings.Contains(got, "<Marker></Marker>") || !strings.Contains(got, "<Owner>") {
		t.Errorf("the old list has a marker and owners, and no count: %s", got)
	}
}
