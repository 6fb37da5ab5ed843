package query

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// walk reads a list page by page and returns how many items each page showed.
func walk(t *testing.T, names []string, size int, short *ShortPages) ([]string, []int) {
	t.Helper()
	all, sizes := []string{}, []int{}
	values := url.Values{"MaxItems": {strconv.Itoa(size)}}
	for range 10 * (len(names) + 1) {
		page, fault := ReadPage(NewForm(values), short)
		if fault != nil {
			t.Fatal(fault)
		}
		shown, end := Cut(page, slices.Clone(names), func(name string) string { return name })
		all, sizes = append(all, shown...), append(sizes, len(shown))
		if end.IsTruncated != (end.Marker != "") {
			t.Fatalf("a page is truncated: %v, and has the marker %q", end.IsTruncated, end.Marker)
		}
		if !end.IsTruncated {
			return all, sizes
		}
		values.Set("Marker", end.Marker)
	}
	t.Fatalf("the list does not end: %v", sizes)
	return nil, nil
}

func numbered(n int) []string {
	names := []string{}
	for i := range n {
		names = append(names, fmt.Sprintf("name-%03d", i))
	}
	return names
}

func TestPagesShowEveryItemOnce(t *testing.T) {
	for _, c := range []struct {
		items, size int
		want        []int
	}{{0, 5, []int{0}}, {4, 5, []int{4}}, {5, 5, []int{5}}, {6, 5, []int{5, 1}}, {11, 4, []int{4, 4, 3}}} {
		all, sizes := walk(t, numbered(c.items), c.size, nil)
		if !slices.Equal(all, numbered(c.items)) || !slices.Equal(sizes, c.want) {
			t.Errorf("%d items in pages of %d come as %v in %v, want %v", c.items, c.size, all, sizes, c.want)
		}
	}
}

func TestShortPagesShowEveryItemOnce(t *testing.T) {
	empty, early := 0, 0
	for seed := range uint64(200) {
		var short ShortPages
		short.Set(true, seed)
		all, sizes := walk(t, numbered(12), 5, &short)
		if !slices.Equal(all, numbered(12)) {
			t.Fatalf("seed %d shows %v in pages of %v", seed, all, sizes)
		}
		for i, size := range sizes {
			if size == 0 {
				empty++
			}
			if size < 5 && i < len(sizes)-1 {
				early++
			}
			if size == 0 && i > 0 && sizes[i-1] == 0 {
				t.Errorf("seed %d has two empty pages one after the other: %v", seed, sizes)
			}
		}
		short.Set(true, seed)
		if _, again := walk(t, numbered(12), 5, &short); !slices.Equal(again, sizes) {
			t.Errorf("seed %d gives pages of %v, then of %v", seed, sizes, again)
		}
	}
	if empty == 0 || early == 0 {
		t.Errorf("in 200 lists %d pages are empty and %d end early", empty, early)
	}
}

func TestItemsThatComeAndGoBetweenPagesDoNoHarm(t *testing.T) {
	page, _ := ReadPage(NewForm(url.Values{"MaxItems": {"2"}}), nil)
	_, end := Cut(page, []string{"b", "d", "f"}, strings.Clone)
	page, fault := ReadPage(NewForm(url.Values{"Marker": {end.Marker}}), nil)
	if fault != nil {
		t.Fatal(fault)
	}
	if shown, _ := Cut(page, []string{"a", "b", "e", "f"}, strings.Clone); !slices.Equal(shown, []string{"e", "f"}) {
		t.Errorf("after d come %v, want e and f", shown)
	}
}

func TestMarkersAndSizesAreChecked(t *testing.T) {
	encode := base64.RawURLEncoding.EncodeToString
	for name, c := range map[string]struct {
		values url.Values
		want   string
	}{
		"a marker that is no base64":   {url.Values{"Marker": {"!"}}, "Invalid Marker."},
		"a marker of another kind":     {url.Values{"Marker": {encode([]byte("name"))[1:]}}, "Invalid Marker."},
		"a marker without a name":      {url.Values{"Marker": {encode([]byte("s"))}}, "Invalid Marker."},
		"an empty marker":              {url.Values{"Marker": {""}}, "Member must have length greater than or equal to 1"},
		"a marker that is too long":    {url.Values{"Marker": {strings.Repeat("a", 321)}}, "Member must have length less than or equal to 320"},
		"no items":                     {url.Values{"MaxItems": {"0"}}, "Member must have value greater than or equal to 1"},
		"too many items":               {url.Values{"MaxItems": {"1001"}}, "Member must have value less than or equal to 1000"},
		"a number of items in letters": {url.Values{"MaxItems": {"ten"}}, "MaxItems is no whole number."},
	} {
		if _, fault := ReadPage(NewForm(c.values), nil); fault == nil || !strings.Contains(fault.Message, c.want) || fault.Status != 400 {
			t.Errorf("%s answers %v, want %q", name, fault, c.want)
		}
	}
}
