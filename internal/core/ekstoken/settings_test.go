package ekstoken_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/ekstoken"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// harmless are lines of a profile that change no token, by their names.
var harmless = map[string]string{
	"output": "json", "cli_pager": "less", "cli_auto_prompt": "on", "cli_binary_format": "raw-in-base64-out", "cli_error_format": "json",
	"cli_follow_urlparam": "true", "cli_history": "enabled", "cli_timestamp_format": "iso8601", "cli_help_output": "browser", "cli_legacy_plugin_path": "/plugins",
	"parameter_validation": "false", "api_versions": "\n  ec2 = 2015-03-01", "sts_regional_endpoints": "legacy",
	"retry_mode": "standard", "max_attempts": "3", "defaults_mode": "in-region", "tcp_keepalive": "true", "user_agent_appid": "app", "sdk_ua_app_id": "app",
	"request_checksum_calculation": "when_required", "response_checksum_validation": "when_required",
	"disable_request_compression": "true", "request_min_compression_size_bytes": "1",
	"aws_account_id": "111111111111", "account_id_endpoint_mode": "preferred", "endpoint_discovery_enabled": "true",
	"auth_scheme_preference": "sigv4", "sigv4a_signing_region_set": "*",
	"ec2_metadata_service_endpoint": "http://evil.example", "ec2_metadata_service_endpoint_mode": "IPv6", "ec2_metadata_v1_disabled": "true", "imds_use_ipv6": "true",
	"metadata_service_timeout": "1", "metadata_service_num_attempts": "1",
	"s3": "\n    addressing_style = path\n    endpoint_url = https://evil.example\n\n\tmax_concurrent_requests = 20", "s3api": "\n  payload_signing_enabled = true",
	"s3_use_arn_region": "true", "s3_us_east_1_regional_endpoint": "regional", "s3_disable_multiregion_access_points": "true",
	"s3_disable_express_session_auth": "true", "dynamodb": "\n  endpoint_url = https://evil.example", "emr": "\n  service_role = r",
	"csm_enabled": "true", "csm_host": "evil.example", "csm_port": "1", "csm_client_id": "a",
	"x_principal_arn": spokeRole, "x_security_token_expires": "2025-01-01T00:00:00Z",
}

// refusals are lines of a profile that are refused, with what an error says of them.
var refusals = map[string]struct{ value, want string }{
	"credential_process": {"/bin/steal HIDDEN", "no program is started here"},
	"ca_bundle":          {"/HIDDEN", "set AWS_CA_BUNDLE to that file in the environment"},
	"login_session":      {"HIDDEN", "a login needs a person"},
	"sso_session":        {"HIDDEN", "single sign-on needs a person"},
	"sso_account_id":     {"HIDDEN", "not supported here: sso_account_id; single sign-on"},
	"sso_start_url":      {"HIDDEN", "use aws eks get-token"},
	"data_path":          {"/HIDDEN", "not supported here: data_path"},
	"include_profile":    {"HIDDEN", "not supported here: include_profile"},
	"mfa_process":        {"HIDDEN", "not supported here: mfa_process"},
	"sts":                {"\n  endpoint_url = HIDDEN", "not supported here: sts"},
}

// TestWhatChangesNoTokenIsIgnoredByName: beside a key, and beside a web identity in files
// that the environment names; above what counts and below it.
func TestWhatChangesNoTokenIsIgnoredByName(t *testing.T) {
	t.Parallel()
	for name, value := range harmless {
		line := name + " = " + value + "\n"
		for _, file := range []string{ownKey + line, strings.Replace(ownKey, "\n", "\n"+line, 1), strings.ReplaceAll(ownKey+line, "\n", "\r\n")} {
			got, err := ekstoken.Decide(ekstoken.Surroundings{Named: true, Config: file})
			if diff := cmp.Diff(fileKey, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
			}
		}
		got, err := ekstoken.Decide(ekstoken.Surroundings{Named: true, Config: "[default]\n" + line, RoleARN: spokeRole, TokenFile: eksToken})
		if diff := cmp.Diff(web, got); err != nil || diff != "" {
			t.Errorf("%s beside a web identity: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestWhatNeedsAProgramAFileOrAPersonIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range refusals {
		line := name + " = " + c.value + "\n"
		for _, s := range []ekstoken.Surroundings{
			{Config: ownKey + line},
			{Named: true, Config: "[default]\n" + line, RoleARN: spokeRole, TokenFile: eksToken},
		} {
			got, err := ekstoken.Decide(s)
			if !strings.Contains(said(err), c.want) || !strings.Contains(said(err), name) || strings.Contains(said(err), "HIDDEN") {
				t.Errorf("%s: got %+v, %v; want %q", name, got, err, c.want)
			}
		}
	}
}

func TestThePageHasEachSetting(t *testing.T) {
	t.Parallel()
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs/eks-token.md")))(t))
	for name := range harmless {
		if !strings.HasPrefix(name, "cli_") && !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/eks-token.md does not say that %s is ignored", name)
		}
	}
	for _, name := range []string{"cli_*", "sso_*", "login_session", "ca_bundle", "mfa_serial", "duration_seconds", "services", "ignore_configured_endpoint_urls"} {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/eks-token.md does not have %s", name)
		}
	}
}

func TestSettingsThatCount(t *testing.T) {
	t.Parallel()
	endpoint := func(s *ekstoken.Source) { s.Endpoint = "http://127.0.0.1:1" }
	becomes := func(more string) string {
		return strings.Replace(ownKey, "default", "profile base", 1) + "[default]\nsource_profile = base\nrole_arn = " + hubRole + "\n" + more
	}
	assumed := func(d time.Duration) ekstoken.Source {
		return with(fileKey, func(s *ekstoken.Source) { s.Roles = []identity.Role{{ARN: hubRole, Duration: d}} })
	}
	services := "[services s]\ns3 =\n  endpoint_url = https://evil.example\nsts =\n  region = x\n  endpoint_url = http://127.0.0.1:1\n"
	for name, c := range map[string]struct {
		config string
		want   ekstoken.Source
	}{
		"the longest session":               {becomes("duration_seconds = 43200\n"), assumed(12 * time.Hour)},
		"the shortest session":              {becomes("duration_seconds=900\n"), assumed(15 * time.Minute)},
		"no duration":                       {becomes("duration_seconds =\n"), assumed(0)},
		"a duration where no role is":       {ownKey + "duration_seconds = 3600\nmfa_serial = arn:aws:iam::111111111111:mfa/me\n", fileKey},
		"the older name of a session token": {ownKey + "aws_security_token = t\n", with(fileKey, func(s *ekstoken.Source) { s.Key.SessionToken = "t" })},
		"both names of a session token":     {ownKey + "aws_security_token = t\naws_session_token = t\n", with(fileKey, func(s *ekstoken.Source) { s.Key.SessionToken = "t" })},
		"FIPS as Python writes it":          {ownKey + "use_fips_endpoint = True\nuse_dualstack_endpoint = FALSE\n", with(fileKey, func(s *ekstoken.Source) { s.Variant.FIPS = true })},
		"an endpoint of services":           {ownKey + "services = s\nendpoint_url = http://other.example\n" + services, with(fileKey, endpoint)},
		"services for others alone":         {ownKey + "services = 's'\n[services \"'s'\"]\ns3 =\n  endpoint_url = https://evil.example\n", fileKey},
		"endpoints that are ignored": {
			ownKey + "ignore_configured_endpoint_urls = true\nendpoint_url = http://127.0.0.1:1\n", with(fileKey, func(s *ekstoken.Source) { s.IgnoreEndpoints = true }),
		},
		"all in a column further right":    {strings.ReplaceAll(ownKey, "\naws", "\n\t aws"), fileKey},
		"colons":                           {strings.ReplaceAll(ownKey, " =", ":"), fileKey},
		"further left than the line above": {strings.Replace(ownKey, "\naws", "\n  aws", 1), fileKey},
	} {
		got, err := ekstoken.Decide(ekstoken.Surroundings{Config: c.config})
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	for name, c := range map[string]struct{ config, want string }{
		"a session that is too short":   {becomes("duration_seconds = 899\n"), `the duration_seconds "899"; it must be a number from 900 to 43200`},
		"a session that is too long":    {becomes("duration_seconds = 43201\n"), "it must be a number"},
		"a duration that is no number":  {becomes("duration_seconds = 1h\n"), `"1h"; it must be a number`},
		"a code for a role":             {becomes("mfa_serial = arn:aws:iam::111111111111:mfa/me\n"), "nobody is asked for a code"},
		"two session tokens":            {ownKey + "aws_security_token = HIDDEN\naws_session_token = t\n", "another aws_security_token"},
		"FIPS by another word":          {ownKey + "use_fips_endpoint = yes\n", `"yes"; it must be true or false`},
		"services that are nowhere":     {ownKey + "services = s\n", "no section [services s]"},
		"a property in another's value": {ownKey + "region = us-west-2\n  role_arn = " + hubRole + "\n", "a line below region that begins further right"},
		"an endpoint of services that would get the token": {
			"[default]\nservices = s\nrole_arn = " + hubRole + "\nweb_identity_token_file = " + eksToken + "\n" + services, "set AWS_ENDPOINT_URL_STS",
		},
	} {
		got, err := ekstoken.Decide(ekstoken.Surroundings{Config: c.config})
		if !strings.Contains(said(err), c.want) || err == nil || strings.Contains(said(err), "HIDDEN") {
			t.Errorf("%s: got %+v, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestNamesOfProfiles(t *testing.T) {
	t.Parallel()
	for header, name := range map[string]string{
		"[profile 'my profile']": "my profile", `[profile "my profile"]`: "my profile", `[profile my\ profile]`: "my profile", "[profile my' 'profile]": "my profile",
		"[profile 'tab\tin it']": "tab\tin it", `[profile 'bob'"'"'s box']`: "bob's box", `[profile "say \"hi\""]`: `say "hi"`, `[profile "a\b c"]`: `a\b c`,
		"[profile bob's]": "bob's", "[profile my profile]": "my profile", "[profile my-profile]": "my-profile", "[profile\tone]": "one", "[profile   one ]": "one",
		"[ profile one ]": "one", "[profile one] # the first": "one", "[profile one];x": "one", "  [profile one]": "one", "[profile 'a #b']": "a #b", "[profile 'a] b']": "a] b",
		"[profile 'größe 1']": "größe 1", "[profile default]": "default", "[default]": "default", "[profile 'default']": "default", "[profile a=b@c.d:e/f]": "a=b@c.d:e/f",
	} {
		got, err := ekstoken.Decide(ekstoken.Surroundings{Profile: name, Config: strings.Replace(ownKey, "[default]", header, 1)})
		if diff := cmp.Diff(fileKey, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", header, err, diff)
		}
	}
	// The credentials file has the names as they are.
	for _, name := range []string{"my profile", "bob's box", `say "hi"`, "tab\tin it", "a #b", "profile one", "default", "größe 1"} {
		s := ekstoken.Surroundings{Profile: name, Credentials: strings.Replace(ownKey, "default", name, 1) + "[profile]\n[" + name + "] ; again\n"}
		if got, err := ekstoken.Decide(s); err != nil || got.Key != fileKey.Key {
			t.Errorf("%s in the credentials file: got %+v, %v", name, got, err)
		}
	}
	for header, name := range map[string]string{
		"[one]": "one", "[profiles one]": "one", "[sso-session one]": "one", "[services one]": "one", "[profile one two]": "one", "[Profile one]": "one", "[profile 'one]": "one", "[plugins]": "plugins",
	} {
		if got, err := ekstoken.Decide(ekstoken.Surroundings{Profile: name, Config: strings.Replace(ownKey, "[default]", header, 1)}); !strings.Contains(said(err), "has the profile") {
			t.Errorf("%s as %s: got %+v, %v", header, name, got, err)
		}
	}
}

// FuzzNamesOfProfiles: any name that is one line of text is found where it stands in quotes, as Python's
// shlex.quote writes them; no other name finds it.
func FuzzNamesOfProfiles(f *testing.F) {
	for _, name := range []string{"my profile", "bob's box", `say "hi" \ there`, "a #b", "größe", "'", `\`, " "} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if name == "" || strings.ContainsAny(name, "]\r\n") || !utf8.ValidString(name) {
			return
		}
		header := "[profile '" + strings.ReplaceAll(name, "'", `'"'"'`) + "']"
		s := ekstoken.Surroundings{Profile: name, Config: strings.Replace(ownKey, "[default]", header, 1)}
		if got, err := ekstoken.Decide(s); err != nil || got.Key != fileKey.Key {
			t.Errorf("%q as %s: got %+v, %v", name, header, got, err)
		}
		s.Profile += "x"
		if got, err := ekstoken.Decide(s); err == nil {
			t.Errorf("%q finds %s: %+v", s.Profile, header, got)
		}
	})
}
