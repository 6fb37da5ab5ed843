package rolerequest_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/rolerequest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const asked = `[{"apiVersion":"cloudcredential.openshift.io/v1","kind":"CredentialsRequest","metadata":{"name":"p"},"spec":{"secretRef":{"name":"s","namespace":"$(NAMESPACE)"},"serviceAccountNames":["operator","agent"],"cloudTokenPath":"/t","providerSpec":{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec","statementEntries":[{"effect":"Allow","action":["s3:GetObject","s3:PutObject"],"resource":"arn:aws:s3:::b/*"}]}}}]`

var place = rolerequest.Place{Cluster: "prod-x7k2p", Namespace: "keeper", Issuer: "https://oidc.example.com/c", Account: "111122223333"}

func set(annotation string) permission.Set {
	return permission.ReadAnnotations(permission.Subject{Package: "object-keeper", Version: "1.0.0", CSV: "object-keeper.v1.0.0"}, "object-keeper.v1.0.0", map[string]string{permission.Annotation: annotation})
}

func TestARequestSaysWhatIsAsked(t *testing.T) {
	r := must.Get(rolerequest.New(set(asked), place, rolerequest.Role{}))(t)
	if r.Role.Name != "prod-x7k2p-keeper-object-keeper" || r.Cloud() != permission.AWS || r.ProviderARN() != "arn:aws:iam::111122223333:oidc-provider/oidc.example.com/c" {
		t.Errorf("%+v", r)
	}
	text := string(must.Get(json.Marshal(r))(t))
	for _, part := range []string{`"kind":"RoleRequest"`, `"subjects":["system:serviceaccount:keeper:agent","system:serviceaccount:keeper:operator"]`, `"audiences":["openshift"]`, `"digest":"`, `"account":"111122223333"`, `"action":"s3:PutObject"`} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not in %s", part, text)
		}
	}
	again := must.Get(rolerequest.Read([]byte(text)))(t)
	if got := string(must.Get(json.Marshal(again))(t)); got != text || again.Digest() != r.Digest() {
		t.Errorf("read and written again it is\n%s\nwas\n%s", got, text)
	}
	long := place
	long.Cluster = strings.Repeat("c", 60)
	if r := must.Get(rolerequest.New(set(asked), long, rolerequest.Role{}))(t); len(r.Role.Name) > 64 || !strings.Contains(r.Role.Name, "ccc-") {
		t.Errorf("%s", r.Role.Name)
	}
	unknown := place
	unknown.Account = ""
	text = string(must.Get(json.Marshal(must.Get(rolerequest.New(set(asked), unknown, rolerequest.Role{}))(t)))(t))
	if !strings.Contains(text, `"account":null,"providerARN":null`) {
		t.Error(text)
	}
}

func TestWhatNoRoleCanBeAskedForIsRefused(t *testing.T) {
	change := func(of func(*rolerequest.Place, *rolerequest.Role)) func() (permission.Set, rolerequest.Place, rolerequest.Role) {
		return func() (permission.Set, rolerequest.Place, rolerequest.Role) {
			p, r := place, rolerequest.Role{}
			of(&p, &r)
			return set(asked), p, r
		}
	}
	from := func(annotation string) func() (permission.Set, rolerequest.Place, rolerequest.Role) {
		return func() (permission.Set, rolerequest.Place, rolerequest.Role) {
			return set(annotation), place, rolerequest.Role{}
		}
	}
	for name, c := range map[string]struct {
		of   func() (permission.Set, rolerequest.Place, rolerequest.Role)
		says string
	}{
		"unknown": {func() (permission.Set, rolerequest.Place, rolerequest.Role) {
			return permission.Set{Package: "p"}, place, rolerequest.Role{}
		}, "unknown"},
		"nothing":                  {from("[]"), "needs no role"},
		"in part":                  {from(asked[:len(asked)-1] + `,7]`), "could not be read"},
		"no ServiceAccount":        {from(strings.ReplaceAll(asked, `["operator","agent"]`, "[]")), "names no ServiceAccount"},
		"two clouds":               {from(asked[:len(asked)-1] + "," + strings.NewReplacer("AWSProviderSpec", "GCPProviderSpec", `"statementEntries"`, `"predefinedRoles":["roles/x"],"x"`, `"p"`, `"q"`, `"name":"s"`, `"name":"s2"`).Replace(asked[1:])), "clouds"},
		"no namespace":             {change(func(p *rolerequest.Place, _ *rolerequest.Role) { p.Namespace = "" }), "namespace"},
		"a namespace that is none": {change(func(p *rolerequest.Place, _ *rolerequest.Role) { p.Namespace = "a*" }), "namespace"},
		"no cluster":               {change(func(p *rolerequest.Place, _ *rolerequest.Role) { p.Cluster = "" }), "cluster"},
		"a cluster of shell":       {change(func(p *rolerequest.Place, _ *rolerequest.Role) { p.Cluster = "a;b" }), "cluster"},
		"no issuer":                {change(func(p *rolerequest.Place, _ *rolerequest.Role) { p.Issuer = "" }), "issuer"},
		"an issuer with http":      {change(func(p *rolerequest.Place, _ *rolerequest.Role) { p.Issuer = "http://a" }), "issuer"},
		"an issuer for all":        {change(func(p *rolerequest.Place, _ *rolerequest.Role) { p.Issuer = "https://a/*" }), "issuer"},
		"eleven digits":            {change(func(p *rolerequest.Place, _ *rolerequest.Role) { p.Account = "11112222333" }), "twelve digits"},
		"a name that is too long":  {change(func(_ *rolerequest.Place, r *rolerequest.Role) { r.Name = strings.Repeat("a", 65) }), "64"},
		"a path without slash":     {change(func(_ *rolerequest.Place, r *rolerequest.Role) { r.Path = "/a" }), "path"},
		"a boundary that is none":  {change(func(_ *rolerequest.Place, r *rolerequest.Role) { r.Boundary = "arn" }), "boundary"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := rolerequest.New(c.of()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAPrefixBeginsTheDefaultName(t *testing.T) {
	for name, c := range map[string]struct {
		cluster string
		role    rolerequest.Role
		want    string
	}{
		"a prefix":            {"prod", rolerequest.Role{Prefix: "x-"}, "x-prod-keeper-object-keeper"},
		"no prefix":           {"prod", rolerequest.Role{}, "prod-keeper-object-keeper"},
		"a name beside it":    {"prod", rolerequest.Role{Prefix: "x-", Name: "keeper"}, "keeper"},
		"a cut with the hash": {strings.Repeat("c", 60), rolerequest.Role{Prefix: "x-"}, "x-" + strings.Repeat("c", 45) + "-"},
	} {
		at := place
		at.Cluster = c.cluster
		r := must.Get(rolerequest.New(set(asked), at, c.role))(t)
		if got := r.Role.Name; got != c.want && !(len(got) == 64 && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		// It is in the name alone, so that what is read back is the same request.
		text := must.Get(json.Marshal(r))(t)
		if again := must.Get(rolerequest.Read(text))(t); !reflect.DeepEqual(again.Role, r.Role) || strings.Contains(string(text), "refix") {
			t.Errorf("%s: %+v was read of %s", name, again.Role, text)
		}
	}
	if _, err := rolerequest.New(set(asked), place, rolerequest.Role{Prefix: "a b"}); err == nil || !strings.Contains(err.Error(), "the role's name is") {
		t.Errorf("a prefix that no name takes: %v", err)
	}
}

func TestAnEditedRequestIsRefused(t *testing.T) {
	text := string(must.Get(json.Marshal(must.Get(rolerequest.New(set(asked), place, rolerequest.Role{}))(t)))(t))
	for name, change := range map[string][]string{
		"an atom":             {`"action":"s3:PutObject","resource"`, `"action":"s3:*","resource"`},
		"a subject":           {`"system:serviceaccount:keeper:agent"`, `"system:serviceaccount:keeper:other"`},
		"an audience":         {`"audiences":["openshift"],"subjects"`, `"audiences":["x"],"subjects"`},
		"the provider":        {`oidc-provider/oidc`, `oidc-provider/evil`},
		"the digest":          {`"digest":"`, `"digest":"0`},
		"the package":         {`"operator":{"package":"object-keeper"`, `"operator":{"package":"other"`},
		"another kind":        {`"kind":"RoleRequest"`, `"kind":"RoleReply"`},
		"a field more":        {`"cloud":"aws",`, `"cloud":"aws","more":1,`},
		"something behind it": {`}`, `}`},
	} {
		t.Run(name, func(t *testing.T) {
			edited := strings.Replace(text, change[0], change[1], 1)
			if name == "something behind it" {
				edited = text + "{}"
			} else if edited == text {
				t.Fatalf("%s is not in %s", change[0], text)
			}
			if _, err := rolerequest.Read([]byte(edited)); err == nil {
				t.Error("it was read")
			}
		})
	}
	if _, err := rolerequest.Read(bytes.Repeat([]byte(" "), 2<<20)); err == nil {
		t.Error("two megabytes were read")
	}
}

func TestAReplyAnswersItsRequest(t *testing.T) {
	r := must.Get(rolerequest.New(set(asked), place, rolerequest.Role{}))(t)
	text := must.Get(json.Marshal(rolerequest.Reply{Digest: r.Digest(), RoleARN: "arn:aws:iam::111122223333:role/r"}))(t)
	if got := must.Get(rolerequest.ReadReply(text, r))(t); got.RoleARN != "arn:aws:iam::111122223333:role/r" {
		t.Errorf("%+v", got)
	}
	other := must.Get(rolerequest.New(set(strings.ReplaceAll(asked, "s3:PutObject", "s3:DeleteObject")), place, rolerequest.Role{}))(t)
	if _, err := rolerequest.ReadReply(text, other); err == nil || !strings.Contains(err.Error(), "has changed meanwhile") {
		t.Errorf("%v", err)
	}
	if _, err := rolerequest.ReadReply([]byte(`{"roleARN":"x"}`), r); err == nil {
		t.Error("a document without a kind was read")
	}
}

// FuzzRead: whatever is read is written as it was, and nothing ends the program.
func FuzzRead(f *testing.F) {
	r, err := rolerequest.New(set(asked), place, rolerequest.Role{Path: "/o/", Tags: map[string]string{"a": "b"}})
	if err != nil {
		f.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(text), "", "{}", "null", strings.Replace(string(text), "openshift", "*", 1), strings.Replace(string(text), "111122223333", "1", 1)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read, err := rolerequest.Read([]byte(text))
		if err != nil {
			return
		}
		again := must.Get(rolerequest.Read(must.Get(json.Marshal(read))(t)))(t)
		if again.Digest() != read.Digest() || again.Role.Name != read.Role.Name {
			t.Errorf("%+v is read again as %+v", read, again)
		}
	})
}
