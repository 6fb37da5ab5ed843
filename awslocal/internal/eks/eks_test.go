package eks

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/oidc"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
)

// zeros is a source of identifiers that are all the same.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

var now = time.Unix(1_700_000_000, 0)

func newService() *Service {
	return New(Options{
		Partition: partition.Commercial, Identifiers: identifier.New(zeros{}),
		Now: func() time.Time { return now }, TokenNow: func() time.Time { return now },
	})
}

// read reads a token of claims; nobody has signed it.
func read(t *testing.T, claims map[string]any) *oidc.Token {
	t.Helper()
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	token, err := oidc.ReadToken("e30." + base64.RawURLEncoding.EncodeToString(text) + ".x")
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestClaimsOfPods(t *testing.T) {
	good := func() map[string]any {
		return map[string]any{
			"iss": "https://i", "sub": "s", "aud": []string{Audience}, "iat": 1, "exp": now.Unix() + 1, "nbf": now.Unix(),
			"kubernetes.io": map[string]any{
				"namespace": "team-a", "serviceaccount": map[string]any{"name": "app.v1", "uid": "1"}, "pod": map[string]any{"name": "app-1", "uid": "2"}},
		}
	}
	inside := func(c map[string]any) map[string]any { return c["kubernetes.io"].(map[string]any) }
	cases := map[string]struct {
		change func(map[string]any)
		want   string
	}{
		"a good token":               {func(map[string]any) {}, ""},
		"no nbf":                     {func(c map[string]any) { delete(c, "nbf") }, ""},
		"its audience among others":  {func(c map[string]any) { c["aud"] = []string{"a", Audience} }, ""},
		"another audience":           {func(c map[string]any) { c["aud"] = "a" }, textTokenAudience},
		"its end":                    {func(c map[string]any) { c["exp"] = now.Unix() }, "The token has expired: current date/time 1700000000 must be before the expiration date/time 1700000000."},
		"the audience before expiry": {func(c map[string]any) { c["exp"], c["aud"] = 1, "a" }, textTokenAudience},
		"too early":                  {func(c map[string]any) { c["nbf"] = now.Unix() + 1 }, textTokenEarly},
		"no pod":                     {func(c map[string]any) { delete(inside(c), "pod") }, textTokenPod},
		"no service account":         {func(c map[string]any) { delete(inside(c), "serviceaccount") }, textTokenPod},
		"no namespace":               {func(c map[string]any) { delete(inside(c), "namespace") }, textTokenPod},
		"a pod with an odd name":     {func(c map[string]any) { inside(c)["pod"] = map[string]any{"name": "a b", "uid": "2"} }, textTokenPod},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			claims := good()
			c.change(claims)
			pod, fault := newService().checkClaims(read(t, claims))
			message := ""
			if fault != nil {
				message = fault.Message
			}
			if message != c.want || fault == nil && (pod.Namespace != "team-a" || pod.Pod.UID != "2") {
				t.Errorf("%+v, refused with %q, want %q", pod, message, c.want)
			}
		})
	}
}

func TestSessionsOfPodsAreNamedAfterThem(t *testing.T) {
	s := newService()
	found := s.newCluster(s.home("123456789012", "eu-west-1"), strings.Repeat("c", 40), "")
	pod := podClaims{Namespace: "n", ServiceAccount: namedObject{"sa", "1"}, Pod: &namedObject{strings.Repeat("p", 40), "2"}}
	ask := s.sessionRequest(found, &association{role: "r"}, pod)
	if want := "eks-" + strings.Repeat("c", 40) + "-" + strings.Repeat("p", 19); ask.Session != want {
		t.Errorf("the session is %q of %d characters, want %q", ask.Session, len(ask.Session), want)
	}
	got := []string{}
	for _, tag := range ask.Tags {
		got = append(got, tag.Key+"="+tag.Value)
	}
	want := "eks-cluster-arn=arn:aws:eks:eu-west-1:123456789012:cluster/" + found.name + " eks-cluster-name=" + found.name +
		" kubernetes-namespace=n kubernetes-service-account=sa kubernetes-pod-name=" + pod.Pod.Name + " kubernetes-pod-uid=2"
	if strings.Join(got, " ") != want {
		t.Errorf("the tags are\n %s\nwant\n %s", strings.Join(got, " "), want)
	}
	if ask := s.sessionRequest(found, &association{role: "r", untagged: true}, pod); len(ask.Tags) != 0 {
		t.Errorf("without tags there are %v", ask.Tags)
	}
}

func TestPagesGoOnAfterTheLastNameShown(t *testing.T) {
	name := func(s string) string { return s }
	first, next := page(&request{query: url.Values{"maxResults": {"2"}}}, []string{"c", "a", "d", "b"}, name)
	if strings.Join(first, "") != "ab" || next == "" {
		t.Fatalf("the first page is %v, %q", first, next)
	}
	rest, next := page(&request{query: url.Values{"maxResults": {"2"}, "nextToken": {next}}}, []string{"d", "aa", "c"}, name)
	if strings.Join(rest, "") != "cd" || next != "" {
		t.Errorf("with b gone and aa come the second page is %v, %q", rest, next)
	}
	for _, size := range []string{"0", "101", "-1", "many"} {
		answer, fault := call.Answer(func() any {
			shown, _ := page(&request{query: url.Values{"maxResults": {size}}}, []string{}, name)
			return shown
		})
		if fault == nil || fault.Code != "InvalidParameterException" {
			t.Errorf("maxResults %s is answered %v, %v", size, answer, fault)
		}
	}
}

func TestTagsAreChecked(t *testing.T) {
	many := map[string]string{}
	for i := range maxTags + 1 {
		many[strings.Repeat("k", i+1)] = ""
	}
	cases := map[string]struct {
		given map[string]string
		want  string
	}{
		"none":            {nil, ""},
		"good ones":       {map[string]string{"a b:c/d=e+f-g@h_i.j": "ü", "A": ""}, ""},
		"too many":        {many, "A resource has at most 50 tags."},
		"an empty key":    {map[string]string{"": "x"}, textTagKey},
		"a long key":      {map[string]string{strings.Repeat("k", 129): "x"}, textTagKey},
		"an odd key":      {map[string]string{"a#": "x"}, textTagKey},
		"a long value":    {map[string]string{"a": strings.Repeat("v", 257)}, "The value of tag a must have"},
		"a reserved key ": {map[string]string{"AWS:x": ""}, textTagReserved},
	}
	for name, c := range cases {
		message := ""
		if _, fault := call.Answer(func() any { checkTags(c.given, badTagRequest); return nil }); fault != nil {
			message = fault.Message
		}
		if !strings.HasPrefix(message, c.want) || c.want == "" && message != "" {
			t.Errorf("%s: refused with %q, want %q", name, message, c.want)
		}
	}
}

func TestARNsHaveTheirPartition(t *testing.T) {
	h := home{"aws-cn", "123456789012", "cn-north-1"}
	p, good := readPrincipal("arn:aws-cn:iam::123456789012:role/team/app")
	if !good {
		t.Fatal("the role's ARN is not read")
	}
	for want, got := range map[string]string{
		"arn:aws-cn:eks:cn-north-1:123456789012:access-entry/lab/role/123456789012/app/x": h.entryARN("lab", p, "x"),
		"arn:aws-cn:sts::123456789012:assumed-role/app/{{SessionName}}":                   h.username(p),
		"arn:aws-cn:eks::aws:cluster-access-policy/AmazonEKSViewPolicy":                   h.accessPolicyARN("AmazonEKSViewPolicy"),
		"arn:aws-cn:eks:cn-north-1:123456789012:podidentityassociation/lab/a-1":           h.associationARN("lab", "a-1"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
