package picture_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/e2e/picture"
)

var update = flag.Bool("update", false, "rewrite testdata/want.svg")

// told is what a demo could say: what differs from run to run is as given.
func told(port, id, key, session, took string) string {
	return `
1. A control plane is up
   API server v1.35.4 at https://127.0.0.1:` + port + `
   its tokens will say iss = https://127.0.0.1:` + port + `/tabard-lab-` + id + `-oidc
   (` + took + ` s)

2. It starts with <nothing> & "a token"
   every key is published: ` + key + ` signs
   the operator (process ` + port + `) has nothing; the journal shows ` + session[18:] + ` kinds of calls
   by arn:aws:sts::123456789012:assumed-role/tabard-issuer-lab-` + id + `/tabard-tabard-issuer-` + id + `-vst6x
   arn:aws:sts::123456789012:assumed-role/team-a-app/` + session + ` wrote s3://team-a-data-` + id + `/reports/first.txt
     volume kube-api-access-` + id[:5] + `: expired at date/time ` + port + `
     six
     seven
     eight
   (` + took + ` s)

3. Another chapter begins
   this is cut
   (` + took + ` s)

All 3 steps are as told, in ` + took + ` s. No key was stored anywhere.
`
}

var (
	one   = told("21456", "1e032485", "J0LQaqoXnp5EXVexbBKBBrRwMOi7AvMu3KBR_uwWe3M", "1795759527298265587", "9.0")
	other = told("9", "a3b4c5d6", "aaaaaaaaaaaaaaaaaaaaaaaaa-aaaaaaaaaaaaaaaaa", "1795759534109009399", "123.4")
)

func TestTwoRunsOfAStoryAreOnePicture(t *testing.T) {
	if diff := cmp.Diff(picture.Of(one, 2), picture.Of(other, 2)); diff != "" {
		t.Errorf("the pictures of two runs differ:\n%s", diff)
	}
}

func TestAPictureHasTheFirstStepsAndSaysWhatWasCut(t *testing.T) {
	want := `$ make demo

1. A control plane is up
   API server v1.35.4 at https://127.0.0.1:…
   its tokens will say iss = https://127.0.0.1:…/tabard-lab-…-oidc

2. It starts with <nothing> & "a token"
   every key is published: … signs
   the operator (process …) has nothing; the journal shows … kinds of calls
   by arn:aws:sts::123456789012:assumed-role/tabard-issuer-lab-…/tabard-tabard-issuer-…
   arn:aws:sts::123456789012:assumed-role/team-a-app/… wrote s3://team-a-data-…/reports/first.txt
     volume kube-api-access-…: expired at date/time …
     six
   …

…

All 3 steps are as told, in … s. No key was stored anywhere.`
	if diff := cmp.Diff(want, strings.Join(picture.Lines(one, 2), "\n")); diff != "" {
		t.Errorf("the picture's lines (-want +got):\n%s", diff)
	}
	want = strings.Replace(want, "\n…\n", "\n3. Another chapter begins\n   this is cut\n", 1)
	if diff := cmp.Diff(want, strings.Join(picture.Lines(one, 3), "\n")); diff != "" {
		t.Errorf("the lines of the whole story (-want +got):\n%s", diff)
	}
}

func TestALongLineIsCutWhereThePictureEnds(t *testing.T) {
	fits := strings.Repeat("ü", 97)
	for line, want := range map[string]string{
		"   " + fits:              "   " + fits,
		"   " + fits + "y":        "   " + fits[:2*96] + "…",
		"   " + fits[2:] + " yz":  "   " + fits[2:] + "…",
		"   " + fits[4:] + "… yz": "   " + fits[4:] + "…",
	} {
		got := picture.Lines("1. A\n"+line+"\n\nAll", 1)[3]
		if got != want || utf8.RuneCountInString(got) > 100 {
			t.Errorf("%q became %q, want %q", line, got, want)
		}
	}
}

// TestThePictureIsTheGoldenOne also reads it as XML: all text must come out as it was.
func TestThePictureIsTheGoldenOne(t *testing.T) {
	const path = "testdata/want.svg"
	got := picture.Of(one, 2)
	if *update {
		must.Do(t, os.WriteFile(path, []byte(got), 0o644))
	}
	if diff := cmp.Diff(string(must.Get(os.ReadFile(path))(t)), got); diff != "" {
		t.Errorf("the picture (-want +got); go test ./test/e2e/picture -update writes it anew:\n%s", diff)
	}
	var lines []string
	elements := map[string]string{}
	for decoder, inside := xml.NewDecoder(strings.NewReader(got)), ""; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Do(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local
			elements[inside] = ""
		case xml.EndElement:
			inside = ""
		case xml.CharData:
			elements[inside] += string(token)
			if inside == "text" {
				lines = append(lines, string(token))
			}
		}
	}
	want := strings.Split(strings.ReplaceAll(strings.Join(picture.Lines(one, 2), "\n"), "\n\n", "\n"), "\n")
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("the picture's text (-want +got):\n%s", diff)
	}
	if elements["title"] != "What make demo prints" || !strings.Contains(elements["desc"], `2. It starts with <nothing> & "a token".`) {
		t.Errorf("title %q and description %q do not say what is seen", elements["title"], elements["desc"])
	}
	for _, foreign := range []string{"script", "image", "foreignObject", "font-face"} {
		if _, has := elements[foreign]; has {
			t.Errorf("the picture has an element %s", foreign)
		}
	}
}
