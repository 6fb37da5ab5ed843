package awslocal

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const trustText = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::123456789012:%s"}}]}`

// step is a call, or what a test does by itself.
type step struct {
	service, method, path, body string
	do                          func(*Server)
}

func iamStep(action string, parameters ...string) step {
	return step{service: "iam", method: http.MethodPost, path: "/", body: queryBody(iamVersion, action, parameters...)}
}

// randomStep draws a call among few names, so that many meet what is there.
func randomStep(random *rand.Rand) (string, step) {
	pick := func(prefix string) string { return fmt.Sprintf("%s-%d", prefix, random.IntN(4)) }
	role, user, policy, bucket, cluster := pick("role"), pick("user"), pick("policy"), pick("bucket"), pick("cluster")
	arn := "arn:aws:iam::123456789012:"
	identity := fmt.Sprintf(inlineText, pick("x"))
	steps := map[string]step{
		"user":      iamStep("CreateUser", "UserName", user, "Path", "/"+pick("path")+"/", "Tags.member.1.Key", "k", "Tags.member.1.Value", pick("v")),
		"no user":   iamStep("DeleteUser", "UserName", user),
		"key":       iamStep("CreateAccessKey", "UserName", user),
		"renamed":   iamStep("UpdateUser", "UserName", user, "NewUserName", pick("user")),
		"role":      iamStep("CreateRole", "RoleName", role, "Description", "caf\u00e9 <&>", "MaxSessionDuration", "7200", "AssumeRolePolicyDocument", fmt.Sprintf(trustText, "user/administrator")),
		"trust":     iamStep("UpdateAssumeRolePolicy", "RoleName", role, "PolicyDocument", fmt.Sprintf(trustText, "role/"+pick("role"))),
		"trusting":  iamStep("UpdateAssumeRolePolicy", "RoleName", role, "PolicyDocument", fmt.Sprintf(trustText, "user/administrator")),
		"no role":   iamStep("DeleteRole", "RoleName", role),
		"tag":       iamStep("TagRole", "RoleName", role, "Tags.member.1.Key", pick("k"), "Tags.member.1.Value", ""),
		"inline":    iamStep("PutRolePolicy", "RoleName", role, "PolicyName", pick("p"), "PolicyDocument", identity),
		"no inline": iamStep("DeleteRolePolicy", "RoleName", role, "PolicyName", pick("p")),
		"policy":    iamStep("CreatePolicy", "PolicyName", policy, "PolicyDocument", identity, "Description", "no UTF-8: \xff"),
		"version":   iamStep("CreatePolicyVersion", "PolicyArn", arn+"policy/"+policy, "PolicyDocument", identity, "SetAsDefault", fmt.Sprint(random.IntN(2) == 0)),
		"no policy": iamStep("DeletePolicy", "PolicyArn", arn+"policy/"+policy),
		"attach":    iamStep("AttachRolePolicy", "RoleName", role, "PolicyArn", arn+"policy/"+policy),
		"detach":    iamStep("DetachRolePolicy", "RoleName", role, "PolicyArn", arn+"policy/"+policy),
		"of AWS":    iamStep("AttachUserPolicy", "UserName", user, "PolicyArn", "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"),
		"boundary":  iamStep("PutUserPermissionsBoundary", "UserName", user, "PermissionsBoundary", arn+"policy/"+policy),
		"provider":  iamStep("CreateOpenIDConnectProvider", "Url", "https://"+pick("issuer")+".example/x", "ClientIDList.member.1", pick("client"), "ThumbprintList.member.1", strings.Repeat("a", 40)),
		"session":   {"sts", http.MethodPost, "/", queryBody(stsVersion, "AssumeRole", "RoleArn", arn+"role/"+role, "RoleSessionName", "session", "Policy", identity, "PolicyArns.member.1.arn", "arn:aws:iam::aws:policy/AmazonS3FullAccess"), nil},
		"bucket":    {"s3", http.MethodPut, "/" + bucket, "", nil},
		"object":    {"s3", http.MethodPut, "/" + bucket + "/" + pick("a/key"), strings.Repeat("\x00x", random.IntN(50)), nil},
		"no object": {"s3", http.MethodDelete, "/" + bucket + "/" + pick("a/key"), "", nil},
		"cluster":   {"eks", http.MethodPost, "/clusters", `{"name":"` + cluster + `","roleArn":"` + arn + `role/eks","resourcesVpcConfig":{},"accessConfig":{"authenticationMode":"API"},"tags":{"a":"b"}}`, nil},
		"entry":     {"eks", http.MethodPost, "/clusters/" + cluster + "/access-entries", `{"principalArn":"` + arn + `role/` + role + `","kubernetesGroups":["g"]}`, nil},
		"pods":      {"eks", http.MethodPost, "/clusters/" + cluster + "/pod-identity-associations", `{"namespace":"n","serviceAccount":"` + pick("sa") + `","roleArn":"` + arn + `role/` + role + `","targetRoleArn":"` + arn + `role/x"}`, nil},
		"clock":     {do: func(s *Server) { s.Admin().AdvanceClock(time.Duration(random.Int64N(int64(time.Millisecond)))) }},
		"offset":    {do: func(s *Server) { s.Admin().SetTokenClockOffset(time.Duration(random.Int64N(int64(time.Hour)))) }},
		"region":    {do: func(s *Server) { chooseRegion(s, random) }},
		"block":     {do: func(s *Server) { s.Admin().BlockPublicAccess(DefaultAccount, random.IntN(2) == 0) }},
	}
	// The map's own order is another one each time.
	name := slices.Sorted(maps.Keys(steps))[random.IntN(len(steps))]
	return name, steps[name]
}

func chooseRegion(s *Server, random *rand.Rand) {
	choose := s.Admin().DisableRegion
	if random.IntN(2) == 0 {
		choose = s.Admin().EnableRegion
	}
	if err := choose(DefaultAccount, []string{"af-south-1", "ap-east-1", "mx-central-1"}[random.IntN(3)]); err != nil {
		panic(err)
	}
}

// perform says whether a step succeeded.
func (s step) perform(server *Server, key Credentials) bool {
	if s.do != nil {
		s.do(server)
		return true
	}
	w := httptest.NewRecorder()
	server.Handler().ServeHTTP(w, signed(key, "", s.service, s.method, s.path, s.body))
	return w.Code < http.StatusBadRequest
}

// randomServer is a server after many random steps. It counts the kinds of steps
// that succeeded; those that never did are there with zero.
func randomServer(t *testing.T, seed uint64, succeeded map[string]int) *Server {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	server := newServer(t, Options{})
	key := server.Administrator(DefaultAccount)
	if !iamStep("CreateRole", "RoleName", "eks", "AssumeRolePolicyDocument", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"eks.amazonaws.com"}}]}`).perform(server, key) {
		t.Fatal("the clusters' role cannot be made")
	}
	if err := server.Admin().AddCluster(Cluster{Name: "lab", Issuer: "https://lab.example", JWKS: []byte(keySet(t)), CertificateAuthority: "PEM"}); err != nil {
		t.Fatal(err)
	}
	for range 1500 {
		name, one := randomStep(random)
		succeeded[name] += 0
		if one.perform(server, key) {
			succeeded[name]++
		}
	}
	return server
}

func dump(tb testing.TB, server *Server) []byte {
	tb.Helper()
	text, err := server.Admin().Dump()
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// ofCall is what differs from call to call.
var ofCall = regexp.MustCompile(`<(RequestId|HostId)>[^<]*<`)

// answer is all of an answer that does not differ from call to call.
func (s step) answer(server *Server, key Credentials) string {
	w := httptest.NewRecorder()
	server.Handler().ServeHTTP(w, signed(key, "", s.service, s.method, s.path, s.body))
	return fmt.Sprint(w.Code, ofCall.ReplaceAllString(w.Body.String(), ""), w.Header().Get("ETag"), w.Header().Get("Last-Modified"))
}

// readSteps are calls that together show what there is.
func readSteps() []step {
	arn := "arn:aws:iam::123456789012:"
	all := []step{
		iamStep("ListRoles"), iamStep("ListUsers"), iamStep("ListPolicies"), iamStep("ListOpenIDConnectProviders"), iamStep("GetAccountSummary"),
		iamStep("GetPolicy", "PolicyArn", "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"),
		{"s3", http.MethodGet, "/", "", nil}, {"eks", http.MethodGet, "/clusters", "", nil},
		{"eks", http.MethodGet, "/clusters/lab", "", nil},
	}
	for i := range 4 {
		n := fmt.Sprint(i)
		all = append(all,
			iamStep("GetRole", "RoleName", "role-"+n), iamStep("ListRolePolicies", "RoleName", "role-"+n), iamStep("ListAttachedRolePolicies", "RoleName", "role-"+n),
			iamStep("GetRolePolicy", "RoleName", "role-"+n, "PolicyName", "p-0"), iamStep("ListRoleTags", "RoleName", "role-"+n),
			iamStep("GetUser", "UserName", "user-"+n), iamStep("ListAccessKeys", "UserName", "user-"+n), iamStep("ListAttachedUserPolicies", "UserName", "user-"+n),
			iamStep("GetPolicy", "PolicyArn", arn+"policy/policy-"+n), iamStep("ListPolicyVersions", "PolicyArn", arn+"policy/policy-"+n),
			iamStep("GetPolicyVersion", "PolicyArn", arn+"policy/policy-"+n, "VersionId", "v1"), iamStep("ListEntitiesForPolicy", "PolicyArn", arn+"policy/policy-"+n),
			iamStep("GetOpenIDConnectProvider", "OpenIDConnectProviderArn", arn+"oidc-provider/issuer-"+n+".example/x"),
			step{"s3", http.MethodGet, "/bucket-" + n, "", nil}, step{"s3", http.MethodGet, "/bucket-" + n + "/a/key-1", "", nil},
			step{"eks", http.MethodGet, "/clusters/cluster-" + n, "", nil}, step{"eks", http.MethodGet, "/clusters/cluster-" + n + "/access-entries", "", nil},
			step{"eks", http.MethodGet, "/clusters/cluster-" + n + "/pod-identity-associations", "", nil},
		)
	}
	return all
}

func TestStatesComeBackByteForByte(t *testing.T) {
	succeeded := map[string]int{}
	for seed := range uint64(3) {
		first := randomServer(t, seed, succeeded)
		before := dump(t, first)
		if again := dump(t, first); !bytes.Equal(before, again) {
			t.Fatal("two dumps of one state differ")
		}
		second := newServer(t, Options{})
		if err := second.Admin().Load(before); err != nil {
			t.Fatal(err)
		}
		if after := dump(t, second); !bytes.Equal(before, after) {
			t.Errorf("seed %d: the state came back as\n%s\nwant\n%s", seed, after, before)
		}
		key := first.Administrator(DefaultAccount)
		if second.Administrator(DefaultAccount) != key {
			t.Error("the administrator's key is another one")
		}
		for _, one := range readSteps() {
			if got, want := one.answer(second, key), one.answer(first, key); got != want {
				t.Errorf("seed %d: %s %s %s is answered\n%s\nwant\n%s", seed, one.method, one.path, one.body, got, want)
			}
		}
		second.Admin().Reset()
		if got := iamStep("GetUser").answer(second, key); !strings.HasPrefix(got, "200") {
			t.Errorf("after a reset the administrator's key is answered %s", got)
		}
	}
	for name, times := range succeeded {
		if times == 0 {
			t.Errorf("no step %q succeeded", name)
		}
	}
}

func TestStateGoesOverTheAdminAPI(t *testing.T) {
	first, second := randomServer(t, 7, map[string]int{}), newServer(t, Options{})
	got := ask(first, http.MethodGet, "/_awslocal/state", "", nil)
	if got.Code != http.StatusOK || !bytes.Equal(got.Body.Bytes(), dump(t, first)) {
		t.Fatalf("the state is answered %d", got.Code)
	}
	if got := ask(second, http.MethodPost, "/_awslocal/state", got.Body.String(), nil); got.Code != http.StatusNoContent {
		t.Errorf("loading it is answered %d %s", got.Code, got.Body)
	}
	if !bytes.Equal(dump(t, first), dump(t, second)) {
		t.Error("the second server has another state")
	}
	if got := ask(second, http.MethodPost, "/_awslocal/state", "{}", nil); got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), "version is not 1") {
		t.Errorf("a document without a version is answered %d %s", got.Code, got.Body)
	}
}

func TestLoadedKeysAreKeptInTheFolder(t *testing.T) {
	first, folder := newServer(t, Options{}), t.TempDir()
	second := newServer(t, Options{Dir: folder})
	if err := second.Admin().Load(dump(t, first)); err != nil {
		t.Fatal(err)
	}
	if third := newServer(t, Options{Dir: folder}); third.Administrator(DefaultAccount) != first.Administrator(DefaultAccount) {
		t.Error("a server that starts with the folder has another key than the state that was loaded")
	}
}

// sessionKey assumes a role.
func sessionKey(tb testing.TB, server *Server, key Credentials, role string) (Credentials, string) {
	tb.Helper()
	answer := do(tb, server, signed(key, "", "sts", "POST", "/", queryBody(stsVersion, "AssumeRole", "RoleArn", arn(role), "RoleSessionName", "pod")))
	var got struct {
		Result struct {
			Credentials struct{ AccessKeyId, SecretAccessKey, SessionToken string } //nolint:revive // the names are the wire's
		} `xml:"AssumeRoleResult"`
	}
	if err := xml.Unmarshal([]byte(answer), &got); err != nil {
		tb.Fatal(err)
	}
	c := got.Result.Credentials
	return Credentials{AccessKeyID: c.AccessKeyId, SecretAccessKey: c.SecretAccessKey}, c.SessionToken
}
