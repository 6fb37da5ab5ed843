package carm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func gave(outcome Outcome, role, account, table, key, entry, cause string) Resolution {
	return Resolution{Outcome: outcome, Role: role, Account: account, Map: table, Key: key, Entry: entry, Cause: cause}
}

func TestCARMResolves(t *testing.T) {
	accounts := entries(one, roleA, "s3."+one, roleB, "named", roleB, "empty", "", "s3.empty", roleA, "s3.void", "", "void", roleA,
		"odd", "role/a", "user", "arn:aws:iam::111111111111:user/a", "blank", roleA+" ", own, roleB, "s3.only", roleA)
	teams := entries("t", roleB, "s3.t", roleA)
	both := Maps{accounts, teams}
	var (
		defaulted = gave(Default, "", own, "", "", "", "")
		general   = gave(Role, roleA, one, AccountMap, one, one, "")
		ofService = gave(Role, roleB, two, AccountMap, one, "s3."+one, "")
		ofTeam    = gave(Role, roleB, two, TeamMap, "t", "t", "")
		noKey     = func(table, key string) Resolution { return gave(Blocked, "", "", table, key, "", causeNoKey) }
		noMap     = func(table, key string) Resolution { return gave(Blocked, "", "", table, key, "", causeNoMap) }
	)
	owner := func(id string) Namespace { return namespace("a", "owner-account-id", id) }
	for name, test := range map[string]struct {
		controller Controller
		maps       Maps
		namespace  Namespace
		status     string
		want       Resolution
	}{
		"nothing says anything":                    {controller("s3"), both, namespace("a"), "", defaulted},
		"the namespace's account":                  {controller("s3"), both, owner(one), "", general},
		"a key that is no account":                 {controller("s3"), both, owner("named"), "", gave(Role, roleB, two, AccountMap, "named", "named", "")},
		"the controller's own account, looked up":  {controller("s3"), both, owner(own), "", gave(Role, roleB, two, AccountMap, own, own, "")},
		"an empty annotation":                      {controller("s3"), both, owner(""), "", defaulted},
		"the status' account":                      {controller("s3"), both, namespace("a"), one, general},
		"the status' account, the controller's":    {controller("s3"), both, namespace("a"), own, defaulted},
		"the status' account without an entry":     {controller("s3"), both, namespace("a"), two, noKey(AccountMap, two)},
		"the namespace over the status":            {controller("s3"), both, owner(one), two, general},
		"a key without an entry":                   {controller("s3"), both, owner("none"), "", noKey(AccountMap, "none")},
		"an entry without a value":                 {controller("s3"), both, owner("empty"), "", gave(Blocked, "", "", AccountMap, "empty", "", causeEmptyValue)},
		"no account map":                           {controller("s3"), Maps{nil, teams}, owner(one), "", noMap(AccountMap, one)},
		"an empty account map":                     {controller("s3"), Maps{entries(), teams}, owner(one), "", noKey(AccountMap, one)},
		"a text that is no ARN":                    {controller("s3"), both, owner("odd"), "", gave(Invalid, "role/a", "", AccountMap, "odd", "odd", "")},
		"the ARN of a user":                        {controller("s3"), both, owner("user"), "", gave(Invalid, "arn:aws:iam::111111111111:user/a", "", AccountMap, "user", "user", "")},
		"an ARN with a blank behind it":            {controller("s3"), both, owner("blank"), "", gave(Invalid, roleA+" ", "", AccountMap, "blank", "blank", "")},
		"the service's entry":                      {controller("s3", service), both, owner(one), "", ofService},
		"another service's entry":                  {controller("ec2", service), both, owner(one), "", general},
		"the service's entry without a general":    {controller("s3", service), both, owner("only"), "", gave(Role, roleA, one, AccountMap, "only", "s3.only", "")},
		"the service's entry without the gate":     {controller("s3"), both, owner("only"), "", noKey(AccountMap, "only")},
		"the service's entry over an empty one":    {controller("s3", service), both, owner("empty"), "", gave(Role, roleA, one, AccountMap, "empty", "s3.empty", "")},
		"an empty entry of the service":            {controller("s3", service), both, owner("void"), "", gave(Role, roleA, one, AccountMap, "void", "void", "")},
		"the team":                                 {controller("s3", team), both, namespace("a", "team-id", "t"), "", ofTeam},
		"the team over the account":                {controller("s3", team), both, namespace("a", "team-id", "t", "owner-account-id", one), "", ofTeam},
		"the team without the gate":                {controller("s3"), both, namespace("a", "team-id", "t", "owner-account-id", one), "", general},
		"an empty team":                            {controller("s3", team), both, namespace("a", "team-id", "", "owner-account-id", one), "", general},
		"the team and the service":                 {controller("s3", team, service), both, namespace("a", "team-id", "t"), "", gave(Role, roleA, one, TeamMap, "t", "s3.t", "")},
		"a team without an entry, with an account": {controller("s3", team), both, namespace("a", "team-id", "u", "owner-account-id", one), "", noKey(TeamMap, "u")},
		"a team without a map":                     {controller("s3", team), Maps{accounts, nil}, namespace("a", "team-id", "t"), "", noMap(TeamMap, "t")},
		"kube-system":                              {controller("s3", team), both, namespace("kube-system", "owner-account-id", one, "team-id", "t"), "", defaulted},
		"kube-public":                              {controller("s3"), both, namespace("kube-public", "owner-account-id", one), "", defaulted},
		"kube-node-lease":                          {controller("s3"), both, namespace("kube-node-lease", "owner-account-id", one), "", defaulted},
		"kube-system, with an account in status":   {controller("s3"), both, namespace("kube-system"), one, general},
		"a watched namespace":                      {controller("s3", watching("a", "b")), both, owner(one), "", general},
		"a namespace that is not watched":          {controller("s3", watching("b", "c")), both, owner(one), "", defaulted},
		"the only watched namespace":               {controller("s3", watching("a")), both, owner(one), "", defaulted},
		"the only watched namespace, with an account in status": {controller("s3", watching("a")), both, owner(one), two,
			gave(Blocked, "", "", AccountMap, two, "", causeNotStarted)},
		"CARM off":                              {controller("s3", off, team), both, namespace("a", "team-id", "t", "owner-account-id", one), "", defaulted},
		"CARM off, with an account in status":   {controller("s3", off), both, owner(one), two, defaulted},
		"a key with a dot, of no service":       {controller("s3", service), Maps{entries("s3.x", roleA), nil}, owner("s3.x"), "", gave(Role, roleA, one, AccountMap, "s3.x", "s3.x", "")},
		"another partition":                     {controller("s3"), Maps{entries("g", "arn:aws-us-gov:iam::111111111111:role/a"), nil}, owner("g"), "", gave(Role, "arn:aws-us-gov:iam::111111111111:role/a", one, AccountMap, "g", "g", "")},
		"a role whose account is not the key's": {controller("s3"), Maps{entries(one, roleB), nil}, owner(one), "", gave(Role, roleB, two, AccountMap, one, one, "")},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.controller.Resolve(test.maps, test.namespace, test.status)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestABlockedResourceIsToldACKsText(t *testing.T) {
	for cause, r := range map[string]Resolution{
		`retrieving role ARN for account/team ID "t" from "ack-role-team-map" configmap: CARM configmap not found`:                            controller("s3", team).Resolve(Maps{}, namespace("a", "team-id", "t"), ""),
		`retrieving role ARN for account/team ID "x" from "ack-role-account-map" configmap: key not found in CARM configmap`:                  controller("s3").Resolve(Maps{Accounts: entries()}, namespace("a", "owner-account-id", "x"), ""),
		`retrieving role ARN for account/team ID "111111111111" from "ack-role-account-map" configmap: role value is empty in CARM configmap`: controller("s3").Resolve(Maps{Accounts: entries(one, "")}, namespace("a"), one),
	} {
		if got := r.Message(); got != cause {
			t.Errorf("got  %s\nwant %s", got, cause)
		}
	}
	for name, r := range map[string]Resolution{
		"a role":                      controller("s3").Resolve(Maps{Accounts: entries(one, roleA)}, namespace("a"), one),
		"caches that are not started": controller("s3", watching("a")).Resolve(Maps{}, namespace("a"), one),
	} {
		if got := r.Message(); got != "" {
			t.Errorf("%s: %q, want no condition", name, got)
		}
	}
}

func TestNamespacesHaveSettings(t *testing.T) {
	flags := Settings{Region: "eu-west-1", Endpoint: "https://flag", DeletionPolicy: "delete"}
	theirs := Settings{Region: "us-east-1", Endpoint: "https://n", DeletionPolicy: "retain"}
	annotations := []string{"default-region", "us-east-1", "endpoint-url", "https://n", "s3.services.k8s.aws/deletion-policy", "retain"}
	with := func(f ...func(*Controller)) Controller {
		return controller("s3", append(f, func(c *Controller) { c.Endpoint, c.DeletionPolicy = "https://flag", "delete" })...)
	}
	upper := func(c *Controller) { c.Alias = "S3" }
	for name, test := range map[string]struct {
		controller     Controller
		namespace      Namespace
		carm, selected Settings
	}{
		"no annotations":        {with(), namespace("a"), flags, flags},
		"all annotations":       {with(), namespace("a", annotations...), theirs, theirs},
		"empty annotations":     {with(), namespace("a", "default-region", "", "endpoint-url", ""), flags, flags},
		"an alias in capitals":  {with(upper), namespace("a", annotations...), theirs, theirs},
		"a policy in capitals":  {with(), namespace("a", "S3.services.k8s.aws/deletion-policy", "retain"), flags, flags},
		"an ignored namespace":  {with(), namespace("kube-system", annotations...), flags, theirs},
		"one watched namespace": {with(watching("a")), namespace("a", annotations...), flags, theirs},
		"CARM off":              {with(off), namespace("a", annotations...), flags, theirs},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.controller.Settings(test.namespace); got != test.carm {
				t.Errorf("under CARM %v, want %v", got, test.carm)
			}
			if got := test.controller.SelectorSettings(test.namespace); got != test.selected {
				t.Errorf("with selectors %v, want %v", got, test.selected)
			}
		})
	}
	r := Resource{Annotations: map[string]string{RegionAnnotation: "ap-south-1", DeletionPolicyAnnotation: "delete"}}
	if got, want := theirs.Of(r), (Settings{"ap-south-1", "https://n", "delete"}); got != want {
		t.Errorf("a resource's annotations: %v, want %v", got, want)
	}
	r.Region = "sa-east-1"
	if got := theirs.Of(r).Region; got != "sa-east-1" {
		t.Errorf("the region of the status does not win: %s", got)
	}
}
