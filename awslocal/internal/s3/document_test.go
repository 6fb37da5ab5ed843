package s3

import (
	"crypto/md5"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

// TestBadDocumentsAreRefused sends what is no document, or too much of one, to
// every operation that takes one.
func TestBadDocumentsAreRefused(t *testing.T) {
	inner := map[string][2]string{
		"PUT /docs?tagging":           {"<Tagging><TagSet>", "</TagSet></Tagging>"},
		"PUT /docs/a.txt?tagging":     {"<Tagging><TagSet>", "</TagSet></Tagging>"},
		"PUT /docs?publicAccessBlock": {"<PublicAccessBlockConfiguration>", "</PublicAccessBlockConfiguration>"},
		"PUT /new-one":                {"<CreateBucketConfiguration>", "</CreateBucketConfiguration>"},
		"POST /docs?delete":           {"<Delete><Object><Key>a.txt</Key></Object>", "</Delete>"},
	}
	const laughs = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>`
	for line, frame := range inner {
		for name, document := range map[string]string{
			"no document":         "hello",
			"the wrong document":  "<Other/>",
			"an unknown element":  frame[0] + "<Other/>" + frame[1],
			"deep nesting":        frame[0] + strings.Repeat("<a>", 100_000) + strings.Repeat("</a>", 100_000) + frame[1],
			"an entity":           laughs + frame[0] + "&b;" + frame[1],
			"an open element":     frame[0],
			"a second document":   frame[0] + frame[1] + frame[0] + frame[1],
			"text behind the end": frame[0] + frame[1] + "text",
			"invalid UTF-8":       frame[0] + "<!-- \xff -->\xff" + frame[1],
			"more than 2 MiB":     frame[0] + strings.Repeat(" ", maxDocument) + frame[1],
			"a huge attribute":    strings.Replace(frame[0], ">", ` a="`+strings.Repeat("x", maxDocument)+`">`, 1) + frame[1],
		} {
			t.Run(name+" for "+line, func(t *testing.T) {
				want := "MalformedXML"
				if len(document) > maxDocument {
					want = "MaxMessageLengthExceeded"
				}
				sum := md5.Sum([]byte(document))
				got := do(t, stocked(t), line, ask{body: document, header: map[string]string{"Content-MD5": base64.StdEncoding.EncodeToString(sum[:])}})
				if code, _ := got.failure(); code != want || got.Code != 400 {
					t.Errorf("status %d %s, want 400 %s", got.Code, code, want)
				}
			})
		}
	}
}

// FuzzDocuments reads documents of both kinds that are written too: what is
// taken is written and read again as the same.
func FuzzDocuments(f *testing.F) {
	f.Add([]byte(blue))
	f.Add([]byte(openAll))
	f.Add([]byte(`<?xml version="1.0"?><Tagging xmlns="x"><TagSet><!-- c --><Tag><Key>&amp;&#10;</Key><Value><![CDATA[<]]></Value></Tag></TagSet></Tagging> `))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if tags, fault := readTags(payload); fault == nil {
			again, fault := readTags(written(t, newTagging(tags)))
			if fault != nil || !slices.Equal(again, tags) {
				t.Errorf("%q is read as %q, and again as %q: %v", payload, tags, again, fault)
			}
		}
		if block, fault := readAccessBlock(payload); fault == nil {
			again, fault := readAccessBlock(written(t, newAccessBlock(block)))
			if fault != nil || *again != *block {
				t.Errorf("%q is read as %+v, and again as %+v: %v", payload, block, again, fault)
			}
		}
	})
}

func written(t *testing.T, value any) []byte {
	t.Helper()
	a, fault := document(value)
	if fault == nil {
		fault = a.encode()
	}
	if fault != nil {
		t.Fatalf("writing %+v: %v", value, fault)
	}
	return a.body
}
