package ekstoken_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/ekstoken"
)

const (
	spokeRole = "arn:aws:iam::222222222222:role/spoke"
	hubRole   = "arn:aws:iam::111111111111:role/ocm-hub-141fc72f17164e5a28c2b4e384694bae"
	eksToken  = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"
	ownKey    = "[default]\naws_access_key_id = AKIAFILE\naws_secret_access_key = filesecret\n"
)

var (
	fileKey = ekstoken.Source{Base: identity.Secret, Key: ekstoken.Key{ID: "AKIAFILE", Secret: "filesecret"}}
	envKey  = ekstoken.Key{ID: "AKIAENV", Secret: "envsecret"}
	web     = ekstoken.Source{Base: identity.WebIdentity, RoleARN: spokeRole, TokenFile: eksToken}
)

// with is a source with changes.
func with(s ekstoken.Source, change func(*ekstoken.Source)) ekstoken.Source {
	change(&s)
	return s
}

func inRegion(s *ekstoken.Source) { s.Region = "us-west-2" }

func TestSources(t *testing.T) {
	t.Parallel()
	webEnv := ekstoken.Surroundings{RoleARN: spokeRole, TokenFile: eksToken}
	assume := func(s *ekstoken.Source) { s.Roles = []identity.Role{{ARN: hubRole}} }
	for name, c := range map[string]struct {
		in   ekstoken.Surroundings
		want ekstoken.Source
	}{
		"web identity":                   {webEnv, web},
		"an access key of the variables": {ekstoken.Surroundings{Key: envKey, RoleARN: spokeRole, TokenFile: eksToken}, ekstoken.Source{Base: identity.Secret, Key: envKey}},
		"an agent":                       {ekstoken.Surroundings{Container: true}, ekstoken.Source{Base: identity.Container}},
		"a person's own file":            {ekstoken.Surroundings{Credentials: ownKey}, fileKey},
		"variables win over a person's own file": {
			ekstoken.Surroundings{Credentials: ownKey, RoleARN: spokeRole, TokenFile: eksToken}, web,
		},
		"a person's broken file is not needed with variables": {
			ekstoken.Surroundings{Config: "[default]\ncredential_process = x\n", RoleARN: spokeRole, TokenFile: eksToken}, web,
		},
		"a person's sign-on is not needed with variables, and the region is": {
			ekstoken.Surroundings{Config: "[default]\nsso_session = x\nregion = us-west-2\nendpoint_url = https://evil.example\n", RoleARN: spokeRole, TokenFile: eksToken}, with(web, inRegion),
		},
		"a person's unreadable file is not needed with variables": {
			ekstoken.Surroundings{Config: "[default\nregion = us-west-2\n", RoleARN: spokeRole, TokenFile: eksToken}, web,
		},
		"a person's slip is not needed with variables": {
			ekstoken.Surroundings{Config: "[default]\nuse_fips_endpoint = x\nregion = us-west-2\n", RoleARN: spokeRole, TokenFile: eksToken}, web,
		},
		"files that the environment names win over its web identity": {
			ekstoken.Surroundings{Named: true, Credentials: ownKey, RoleARN: spokeRole, TokenFile: eksToken}, fileKey,
		},
		"a profile that is asked for wins": {
			ekstoken.Surroundings{Profile: "one", Credentials: "[one]\n" + strings.TrimPrefix(ownKey, "[default]\n"), Key: envKey}, fileKey,
		},
		"files that name only a region leave who it is to the environment": {
			ekstoken.Surroundings{Named: true, Config: "[default]\nregion = us-west-2\n", RoleARN: spokeRole, TokenFile: eksToken}, with(web, inRegion),
		},
		"an endpoint without a key is not used for the environment's token": {
			ekstoken.Surroundings{Named: true, Config: "[default]\nendpoint_url = https://evil.example\n", RoleARN: spokeRole, TokenFile: eksToken}, web,
		},
		"an endpoint beside a key": {
			ekstoken.Surroundings{Credentials: ownKey, Config: "[default]\nendpoint_url = http://127.0.0.1:1\nuse_fips_endpoint=true\n"},
			with(fileKey, func(s *ekstoken.Source) { s.Endpoint, s.Variant.FIPS = "http://127.0.0.1:1", true }),
		},
		"a role by way of another profile": {
			ekstoken.Surroundings{Named: true, Credentials: strings.Replace(ownKey, "default", "base", 1), Config: "[default]\nrole_arn = " + hubRole + " ; the hub's\nsource_profile = base\noutput = json\n"},
			with(fileKey, assume),
		},
		"a profile that is its own source": {
			ekstoken.Surroundings{Credentials: ownKey, Config: "[profile default]\nrole_arn = " + hubRole + "\nsource_profile = default\n"},
			with(fileKey, assume),
		},
		"a profile of web identity": {
			ekstoken.Surroundings{Named: true, Config: "[default]\nrole_arn = " + spokeRole + "\nweb_identity_token_file = " + eksToken + "\n"}, web,
		},
		"a profile with the environment's own token": {
			ekstoken.Surroundings{Named: true, TokenFile: "/token", Config: "[default]\nrole_arn = " + spokeRole + "\nweb_identity_token_file = /token\n"},
			with(web, func(s *ekstoken.Source) { s.TokenFile = "/token" }),
		},
		"a role from the environment's web identity": {
			ekstoken.Surroundings{Named: true, Config: "[default]\nrole_arn = " + hubRole + "\ncredential_source = Environment\n", RoleARN: spokeRole, TokenFile: eksToken},
			with(web, assume),
		},
		"a role from an agent": {
			ekstoken.Surroundings{Named: true, Config: "[default]\nrole_arn = " + hubRole + "\ncredential_source = EcsContainer\n", Container: true},
			with(ekstoken.Source{Base: identity.Container}, assume),
		},
		"another profile may hold anything": {
			ekstoken.Surroundings{Credentials: ownKey, Config: "[sso-session x]\nanything\n[profile other]\ncredential_process = x\n"}, fileKey,
		},
		"the credentials file wins, of Windows or not": {
			ekstoken.Surroundings{Credentials: strings.ReplaceAll(ownKey, "\n", "\r\n"), Config: "[default]\naws_access_key_id = OLD\n"}, fileKey,
		},
	} {
		got, err := ekstoken.Decide(c.in)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestSourcesThatCannotBeDecidedAreRefused(t *testing.T) {
	t.Parallel()
	role := "[default]\nrole_arn = " + hubRole + "\n"
	for name, c := range map[string]struct{ config, want string }{
		"nothing at all":           {"", "no AWS credentials: set AWS_ROLE_ARN"},
		"a program":                {"[default]\ncredential_process = /bin/steal HIDDEN\n", "no program is started here"},
		"single sign-on":           {"[default]\nsso_session = HIDDEN\n", "not supported here: sso_session"},
		"a key in a name's place":  {"[default]\nHIDDEN/abc = 1\n", "not supported here"},
		"half a key":               {"[default]\naws_access_key_id = HIDDEN\n", "half an access key"},
		"a role and no source":     {role, "and 0 of"},
		"a role and two sources":   {role + "source_profile = default\ncredential_source = Environment\n", "and 2 of"},
		"a circle":                 {role + "source_profile = b\n[profile b]\nrole_arn = " + spokeRole + "\nsource_profile = default\n", `is its own source, by way of "b"`},
		"a source that is nowhere": {role + "source_profile = b\n", `has the profile "b"`},
		"a source without any":     {role + "source_profile = b\n[profile b]\nregion = us-west-2\n", `"b" has no credentials`},
		"an instance's role":       {role + "credential_source = Ec2InstanceMetadata\n", "must be Environment or EcsContainer"},
		"an environment without":   {role + "credential_source = Environment\n", "must be Environment or EcsContainer"},
		"no ARN":                   {"[default]\nrole_arn = hub\nsource_profile = b\n", "no ARN of a role"},
		"another file as the token": {
			role + "web_identity_token_file = /var/run/secrets/kubernetes.io/serviceaccount/token\n", "is mounted for no role",
		},
		"an endpoint that would get the token": {
			role + "endpoint_url = https://evil.example\nweb_identity_token_file = " + eksToken + "\n", "set AWS_ENDPOINT_URL_STS",
		},
		"a token file without a role": {"[default]\nweb_identity_token_file = " + eksToken + "\n", "has no credentials"},
		"a line before a section":     {"HIDDEN\n", "line 1 comes before any section"},
		"an open section":             {"[default\n", "line 1 opens a section"},
		"a line without a value":      {"[default]\nHIDDEN\n", "line 2 is not NAME = VALUE"},
	} {
		got, err := ekstoken.Decide(ekstoken.Surroundings{Config: c.config})
		if !strings.Contains(said(err), c.want) || err == nil || strings.Contains(said(err), "HIDDEN") {
			t.Errorf("%s: got %+v, %v; want %q", name, got, err, c.want)
		}
	}
	for name, c := range map[string]struct {
		in   ekstoken.Surroundings
		want string
	}{
		"named files that are not there":           {ekstoken.Surroundings{Named: true, Key: envKey}, "name no file with content"},
		"a profile that is asked for":              {ekstoken.Surroundings{Profile: "other", Key: envKey, Config: ownKey}, `has the profile "other"`},
		"half a web identity is none":              {ekstoken.Surroundings{RoleARN: spokeRole}, "no AWS credentials"},
		"a broken file that the environment names": {ekstoken.Surroundings{Named: true, Key: envKey, Config: "x\n"}, "before any section"},
	} {
		if got, err := ekstoken.Decide(c.in); !strings.Contains(said(err), c.want) || err == nil {
			t.Errorf("%s: got %+v, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestCallersThatAreTheRole(t *testing.T) {
	t.Parallel()
	for caller, c := range map[string]struct {
		role string
		want bool
	}{
		"arn:aws:sts::111111111111:assumed-role/hub/one":     {"arn:aws:iam::111111111111:role/hub", true},
		"arn:aws:sts::111111111111:assumed-role/pathed/one":  {"arn:aws:iam::111111111111:role/a/b/pathed", true},
		"arn:aws:sts::222222222222:assumed-role/hub/one":     {"arn:aws:iam::111111111111:role/hub", false},
		"arn:aws-cn:sts::111111111111:assumed-role/hub/one":  {"arn:aws:iam::111111111111:role/hub", false},
		"arn:aws:sts::111111111111:assumed-role/hub2/one":    {"arn:aws:iam::111111111111:role/hub", false},
		"arn:aws:sts::111111111111:federated-user/hub":       {"arn:aws:iam::111111111111:role/hub", false},
		"arn:aws:iam::111111111111:user/hub":                 {"arn:aws:iam::111111111111:role/hub", false},
		"arn:aws:sts::111111111111:assumed-role/hub/":        {"arn:aws:iam::111111111111:role/hub", false},
		"arn:aws:sts::111111111111:assumed-role/hub/no-role": {"hub", false},
		"nobody": {"arn:aws:iam::111111111111:role/hub", false},
	} {
		if got := ekstoken.IsRole(caller, c.role); got != c.want {
			t.Errorf("%s as %s: got %t", caller, c.role, got)
		}
	}
}
