package hub_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/iamname"
	"github.com/tabard-dev/tabard/internal/core/ownrole"
)

const hubIssuer = "https://oidc.eks.us-west-2.amazonaws.com/id/EXAMPLE"

func controller(t *testing.T) hub.Controller {
	t.Helper()
	return hub.Controller{Hub: arn(t, hubARN), Issuer: hubIssuer, Namespace: "tabard-system", ServiceAccount: hub.ControllerName}
}

// marks are the plan in one word: of the provider, of the role, of the ConfigMap.
func marks(plan []hub.Planned) (out string) {
	for _, one := range plan {
		out += one.Change.Mark()
	}
	return out
}

func TestBootstrap(t *testing.T) {
	c := controller(t)
	own := map[string]string{hub.ControllerTag: hubARN}
	atPath := strings.Replace(c.RoleARN(), "role/", "role/a/", 1)
	whole := func(seen *hub.BootstrapSeen) {
		seen.Role = hub.RoleSeen{Exists: true, ARN: c.RoleARN(), Tags: own, Trust: c.Trust(), Policy: hub.Permissions(c.Hub).String()}
		seen.Config = c.Config(c.RoleARN())
	}
	cases := map[string]struct {
		change  func(*hub.BootstrapSeen)
		plan    string
		refused string
	}{
		"nothing is there":               {func(*hub.BootstrapSeen) {}, "=++", ""},
		"all is there":                   {whole, "===", ""},
		"the ConfigMap alone is gone":    {func(s *hub.BootstrapSeen) { whole(s); s.Config = nil }, "==+", ""},
		"the ConfigMap lacks the region": {func(s *hub.BootstrapSeen) { whole(s); delete(s.Config, "region") }, "==~", ""},
		"the trust policy is another":    {func(s *hub.BootstrapSeen) { whole(s); s.Role.Trust = `{}` }, "=~=", ""},
		"the permission policy is gone":  {func(s *hub.BootstrapSeen) { whole(s); s.Role.Policy = "" }, "=~=", ""},
		"nothing may be looked at": {func(s *hub.BootstrapSeen) {
			s.Provider, s.Role = hub.ProviderSeen{Trouble: "denied"}, hub.RoleSeen{Trouble: "denied"}
		}, "??+", ""},
		"a role of people":                 {func(s *hub.BootstrapSeen) { whole(s); s.Role.Tags = nil }, "===", "was not made by Tabard for this hub"},
		"a role of another hub":            {func(s *hub.BootstrapSeen) { whole(s); s.Role.Tags = map[string]string{hub.ControllerTag: hubARN + "2"} }, "===", "eks-hub2"},
		"a role of a cluster of the hub":   {func(s *hub.BootstrapSeen) { whole(s); s.Role.Tags = map[string]string{hub.HubTag: hubARN} }, "===", "was not made by Tabard for this hub"},
		"its role at a path":               {func(s *hub.BootstrapSeen) { whole(s); s.Role.ARN, s.Config = atPath, c.Config(atPath) }, "===", ""},
		"its role at a path, and not told": {func(s *hub.BootstrapSeen) { whole(s); s.Role.ARN = atPath }, "==~", ""},
		"its role was at a path":           {func(s *hub.BootstrapSeen) { s.Config = c.Config(atPath) }, "=+~", ""},
		"a role of the name elsewhere":     {func(s *hub.BootstrapSeen) { s.Config = c.Config(strings.Replace(c.RoleARN(), "1111", "2222", 1)) }, "=+~", "--replace-role"},
		"its role has a boundary and tags": {func(s *hub.BootstrapSeen) {
			whole(s)
			s.Role.Boundary, s.Role.Tags = "arn:b", map[string]string{hub.ControllerTag: hubARN, "a": "b"}
		}, "===", ""},
		"a role at a path, unreadable":       {func(s *hub.BootstrapSeen) { s.Role, s.Config = hub.RoleSeen{Trouble: "denied"}, c.Config(atPath) }, "=?=", ""},
		"no provider":                        {func(s *hub.BootstrapSeen) { s.Provider = hub.ProviderSeen{} }, "=++", "aws iam create-open-id-connect-provider --url " + hubIssuer + " --client-id-list sts.amazonaws.com"},
		"a provider without the audience":    {func(s *hub.BootstrapSeen) { s.Provider.Audiences = []string{"other"} }, "=++", "aws iam add-client-id-to-open-id-connect-provider"},
		"a session of another account":       {func(s *hub.BootstrapSeen) { s.Account = "222222222222" }, "", "your session is in account 222222222222"},
		"a ClusterManager of the same hub":   {func(s *hub.BootstrapSeen) { s.Stated = hubARN }, "=++", ""},
		"a ClusterManager of another hub":    {func(s *hub.BootstrapSeen) { s.Stated = hubARN + "2" }, "=++", "the ClusterManager says"},
		"tokens of the same issuer":          {func(s *hub.BootstrapSeen) { s.Issuer = hubIssuer }, "=++", ""},
		"tokens of another issuer":           {func(s *hub.BootstrapSeen) { s.Issuer = "https://other.example" }, "=++", "the cluster's tokens name"},
		"no namespace":                       {func(s *hub.BootstrapSeen) { s.Namespace = false }, "=++", "helm install"},
		"no right to the ConfigMap":          {func(s *hub.BootstrapSeen) { s.Lacks = []string{"patch the ConfigMap"} }, "=++", "may not patch the ConfigMap"},
		"the controller has another role":    {func(s *hub.BootstrapSeen) { s.Config = map[string]string{"roleARN": "arn:a"} }, "=+~", "--replace-role"},
		"another role, which is not to stay": {func(s *hub.BootstrapSeen) { s.Config, s.ReplaceRole = map[string]string{"roleARN": "arn:a"}, true }, "=+~", ""},
		"a ConfigMap that says no role":      {func(s *hub.BootstrapSeen) { s.Config = map[string]string{"region": "eu-west-1"} }, "=+~", ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			seen := hub.BootstrapSeen{Account: "111111111111", Namespace: true, Provider: hub.ProviderSeen{Exists: true, Audiences: []string{hub.TokenAudience}}}
			test.change(&seen)
			plan, err := c.Bootstrap(seen)
			if marks(plan) != test.plan || (err == nil) != (test.refused == "") || err != nil && !strings.Contains(err.Error(), test.refused) {
				t.Errorf("the plan is %v, refused with %v", plan, err)
			}
		})
	}
}

// TestBootstrapAsAnAccountDemands: the path, the boundary and the tags that flags say.
func TestBootstrapAsAnAccountDemands(t *testing.T) {
	c := controller(t)
	c.Role = ownrole.Wish{Path: "/platform/", Boundary: "arn:aws:iam::111111111111:policy/platform", Tags: map[string]string{"team": "a", "empty": ""}}
	if want := "arn:aws:iam::111111111111:role/platform/tabard-hub-eks-hub-01fe8ed7"; c.RoleARN() != want {
		t.Fatalf("its ARN is %s, expected %s", c.RoleARN(), want)
	}
	whole := hub.RoleSeen{
		Exists: true, ARN: c.RoleARN(), Trust: c.Trust(), Policy: hub.Permissions(c.Hub).String(), Boundary: c.Role.Boundary,
		Tags: map[string]string{hub.ControllerTag: hubARN, "team": "a", "empty": "", "theirs": "b"},
	}
	cases := map[string]struct {
		change  func(*hub.RoleSeen)
		plan    string
		says    string
		refused string
	}{
		"nothing is there":   {func(r *hub.RoleSeen) { *r = hub.RoleSeen{} }, "=+=", "role tabard-hub-eks-hub-01fe8ed7 at the path /platform/ with the permissions boundary " + c.Role.Boundary + " with the tags empty, team for the ServiceAccount", ""},
		"all is there":       {func(*hub.RoleSeen) {}, "===", "at the path /platform/", ""},
		"another boundary":   {func(r *hub.RoleSeen) { r.Boundary = "arn:b" }, "=~=", "its permissions boundary will be replaced", ""},
		"no boundary":        {func(r *hub.RoleSeen) { r.Boundary = "" }, "=~=", "its permissions boundary will be replaced", ""},
		"another tag":        {func(r *hub.RoleSeen) { r.Tags["team"] = "b" }, "=~=", "its tag team will be replaced", ""},
		"a tag that is gone": {func(r *hub.RoleSeen) { delete(r.Tags, "empty") }, "=~=", "its tag empty will be replaced", ""},
		"at another path":    {func(r *hub.RoleSeen) { r.ARN = strings.Replace(r.ARN, "/platform/", "/", 1) }, "==~", "", "IAM moves no role; leave --role-path out"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			role := whole
			role.Tags = maps.Clone(whole.Tags)
			test.change(&role)
			plan, err := c.Bootstrap(hub.BootstrapSeen{
				Account: "111111111111", Namespace: true, Provider: hub.ProviderSeen{Exists: true, Audiences: []string{hub.TokenAudience}}, Role: role, Config: c.Config(c.RoleARN()),
			})
			if marks(plan) != test.plan || !strings.Contains(plan[1].Object, test.says) || (err == nil) != (test.refused == "") || err != nil && !strings.Contains(err.Error(), test.refused) {
				t.Errorf("the plan is %v, refused with %v", plan, err)
			}
		})
	}
	wish := whole.Wish()
	c.Role.Tags["theirs"] = "b"
	if diff := cmp.Diff(c.Role, wish); diff != "" {
		t.Errorf("to make the role as it is, a person chooses (-want +got):\n%s", diff)
	}
}

func TestRemoval(t *testing.T) {
	c := controller(t)
	own := hub.RoleSeen{Exists: true, ARN: c.RoleARN(), Tags: map[string]string{hub.ControllerTag: hubARN}}
	atPath := strings.Replace(c.RoleARN(), "role/", "role/a/", 1)
	people := own
	people.Tags = map[string]string{hub.HubTag: hubARN}
	cases := map[string]struct {
		role    hub.RoleSeen
		config  map[string]string
		written bool
		plan    string
		refused string
	}{
		"both":                             {own, c.Config(c.RoleARN()), true, "--", ""},
		"the role alone":                   {own, nil, false, "-", ""},
		"both, of a role at a path":        {hub.RoleSeen{Exists: true, ARN: atPath, Tags: own.Tags}, c.Config(atPath), true, "--", ""},
		"the ConfigMap of one at a path":   {hub.RoleSeen{}, c.Config(atPath), true, "=-", ""},
		"the ConfigMap alone":              {hub.RoleSeen{}, c.Config(c.RoleARN()), true, "=-", ""},
		"neither":                          {hub.RoleSeen{}, nil, false, "=", ""},
		"a ConfigMap of people":            {own, c.Config(c.RoleARN()), false, "-=", ""},
		"a ConfigMap with another role":    {own, map[string]string{"roleARN": "arn:a"}, true, "-=", ""},
		"a role of people":                 {people, c.Config(c.RoleARN()), true, "", "was not made by Tabard"},
		"a role that may not be looked at": {hub.RoleSeen{Trouble: "denied"}, c.Config(c.RoleARN()), true, "", "cannot be told: denied"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			plan, err := hub.Removal(c.Hub, test.role, "tabard-system", test.config, test.written)
			if marks(plan) != test.plan || (err == nil) != (test.refused == "") || err != nil && !strings.Contains(err.Error(), test.refused) {
				t.Errorf("the plan is %v, refused with %v", plan, err)
			}
		})
	}
}

// TestTheControllersRoleIsOfOneHub: of one name in two regions, accounts and partitions too, and
// none of a name that the controller may change.
func TestTheControllersRoleIsOfOneHub(t *testing.T) {
	long := strings.Repeat("a", 99)
	seen := map[string]string{}
	for _, text := range []string{
		hubARN, strings.Replace(hubARN, "us-west-2", "eu-west-1", 1), strings.Replace(hubARN, "111111111111", "222222222222", 1),
		"arn:aws:eks:us-west-2:111111111111:cluster/" + long + "a", "arn:aws:eks:us-west-2:111111111111:cluster/" + long + "b", "arn:aws-cn:eks:cn-north-1:111111111111:cluster/eks-hub",
	} {
		one := arn(t, text)
		name := hub.ControllerRoleName(one)
		if !iamname.IsRole(name) || !strings.HasPrefix(name, "tabard-hub-") || strings.HasPrefix(name, hub.RoleName("")) || seen[name] != "" {
			t.Errorf("the role of %s is %s; %s has it", text, name, seen[name])
		}
		seen[name] = text
		c := hub.Controller{Hub: one, Issuer: hubIssuer, Namespace: "a", ServiceAccount: "b"}
		if config := c.Config(c.RoleARN()); config["hubARN"] != text || config["region"] != one.Region || !strings.HasSuffix(config["roleARN"], ":role/"+name) || len(config) != 3 {
			t.Errorf("the ConfigMap of %s is %v", text, config)
		}
	}
	if got := hub.ControllerRoleName(arn(t, hubARN)); got != "tabard-hub-eks-hub-01fe8ed7" {
		t.Errorf("the role is called %s now: a role that was made before would be left behind", got)
	}
}

func TestAControllerThatNobodyCanBecomeIsRefused(t *testing.T) {
	for name, change := range map[string]func(*hub.Controller){
		"no issuer":         func(c *hub.Controller) { c.Issuer = "" },
		"an issuer of HTTP": func(c *hub.Controller) { c.Issuer = "http://issuer.example" },
		"no namespace":      func(c *hub.Controller) { c.Namespace = "" },
		"a pattern":         func(c *hub.Controller) { c.ServiceAccount = "*" },
	} {
		c := controller(t)
		if change(&c); c.Check() == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if err := controller(t).Check(); err != nil {
		t.Error(err)
	}
}
