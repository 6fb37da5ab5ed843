package s3

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHasKnowsItsOwnBucketsByTheirNamesAtAWS(t *testing.T) {
	s := New(Options{})
	s.buckets["docs"], s.buckets["my.docs"] = &bucket{name: "docs"}, &bucket{name: "my.docs"}
	for url, want := range map[string]bool{
		"https://docs.s3.eu-west-1.amazonaws.com/a":       true,
		"https://DOCS.s3.eu-west-1.amazonaws.com:443/a":   true,
		"https://my.docs.s3.eu-west-1.amazonaws.com/a":    true,
		"https://s3.eu-west-1.amazonaws.com/docs/a":       true,
		"https://docs.s3.amazonaws.com":                   true,
		"https://other.s3.eu-west-1.amazonaws.com/docs":   false,
		"https://s3.eu-west-1.amazonaws.com/other":        false,
		"https://s3.amazonaws.com":                        false,
		"https://docs.s3.cn-north-1.amazonaws.com.cn/a":   false,
		"https://docs.s3.localhost/a":                     false,
		"https://127.0.0.1/docs/a":                        false,
		"https://docs.example.com/a":                      false,
		"https://docs.s3.amazonaws.com.example/a":         false,
		"https://docs.s3-control.eu-west-1.amazonaws.com": false,
	} {
		r := httptest.NewRequest(http.MethodGet, url, http.NoBody)
		if got := s.Has(r); got != want {
			t.Errorf("has %s: %v, want %v", url, got, want)
		}
	}
}
