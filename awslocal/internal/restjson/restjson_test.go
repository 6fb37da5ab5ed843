package restjson

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

func TestPathsAreCutBeforeTheyAreDecoded(t *testing.T) {
	routes := []Route[string]{
		{"GET", "/clusters", "List", ""},
		{"GET", "/clusters/{name}", "Describe", ""},
		{"GET", "/clusters/{name}/access-entries/{arn}/access-policies", "Policies", ""},
	}
	cases := map[string]struct {
		method, target, want string
		values               map[string]string
	}{
		"a list":             {"GET", "/clusters?x=y", "List", map[string]string{}},
		"another method":     {"POST", "/clusters", "", nil},
		"a variable":         {"GET", "/clusters/a", "Describe", map[string]string{"name": "a"}},
		"an empty variable":  {"GET", "/clusters/", "", nil},
		"an ARN":             {"GET", "/clusters/a/access-entries/arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fteam%2Fx/access-policies", "Policies", map[string]string{"name": "a", "arn": "arn:aws:iam::1:role/team/x"}},
		"an ARN in the open": {"GET", "/clusters/a/access-entries/arn:aws:iam::1:role/x/access-policies", "", nil},
		"one part too many":  {"GET", "/clusters/a/b", "", nil},
		"a slash in a name":  {"GET", "/clusters/a%2Fb", "Describe", map[string]string{"name": "a/b"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			route, values, ok := Match(routes, httptest.NewRequest(c.method, c.target, http.NoBody))
			if route.Operation != c.want || ok != (c.want != "") || ok && !reflect.DeepEqual(values, c.values) {
				t.Errorf("found %q with %v, want %q with %v", route.Operation, values, c.want, c.values)
			}
		})
	}
}

func TestBodiesThatAreRefused(t *testing.T) {
	cases := map[string]struct{ body, want string }{
		"none":                {"", ""},
		"an object":           {`{"name":"a"}`, ""},
		"white space after":   {"{}\n", ""},
		"a list":              {"[]", "SerializationException"},
		"half an object":      {`{"name"`, "SerializationException"},
		"two objects":         {"{}{}", "SerializationException"},
		"another type":        {`{"name":1}`, "SerializationException"},
		"not UTF-8":           {"{\"name\":\"\xff\"}", "SerializationException"},
		"an unknown member":   {`{"size":1}`, "NotImplemented"},
		"nested without end ": {strings.Repeat(`[`, 100000), "SerializationException"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var into struct {
				Name string `json:"name"`
			}
			code := ""
			if fault := Read("Do", []byte(c.body), &into); fault != nil {
				code = fault.Code
			}
			if code != c.want {
				t.Errorf("refused with %q, want %q", code, c.want)
			}
		})
	}
	if fault := Read("Do", []byte(`{"size":1}`), &struct{}{}); !strings.Contains(fault.Message, "the parameter size of Do") {
		t.Errorf("an unknown member is refused with %q", fault.Message)
	}
}

func TestInstantsAreSeconds(t *testing.T) {
	for want, at := range map[string]time.Time{"1700000000": time.Unix(1_700_000_000, 999), "1700000000.25": time.UnixMilli(1_700_000_000_250), "0": time.Unix(0, 0)} {
		if got, err := json.Marshal(Time(at)); err != nil || string(got) != want {
			t.Errorf("%s is written %s, %v; want %s", at, got, err, want)
		}
	}
}

func TestErrorsStandInAHeader(t *testing.T) {
	c := &call.Call{Entry: &call.Entry{}}
	w := httptest.NewRecorder()
	Refuse(w, c, Denied("me", "a:B", "r", iampolicy.Decision{Effect: iampolicy.ImplicitDeny, Kind: iampolicy.IdentityPolicy}, 400), map[string]string{"clusterName": "x"})
	want := `{"clusterName":"x","message":"User: me is not authorized to perform: a:B on resource: r because no identity-based policy allows the a:B action"}` + "\n"
	if w.Code != 400 || w.Body.String() != want || w.Header().Get("X-Amzn-Errortype") != "AccessDeniedException" || c.Entry.Error != "AccessDeniedException" {
		t.Errorf("answer %d %v %s, journal %+v", w.Code, w.Header(), w.Body, c.Entry)
	}
}

func FuzzRequestsAreReadOrRefused(f *testing.F) {
	f.Add("/clusters/a%2Fb/access-entries", []byte(`{"name":"a"}`))
	f.Add("/%", []byte("{"))
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		r := &http.Request{Method: http.MethodGet, URL: &url.URL{RawPath: path, Path: path}}
		if _, values, ok := Match([]Route[string]{{http.MethodGet, "/clusters/{name}", "Describe", ""}}, r); ok && values["name"] == "" {
			t.Errorf("%q matches with an empty name", path)
		}
		var into struct {
			Name string   `json:"name"`
			List []string `json:"list"`
		}
		if fault := Read("Do", body, &into); fault != nil && (fault.Code == "" || fault.Status < 400) {
			t.Errorf("%q is refused with %+v", body, fault)
		}
	})
}
