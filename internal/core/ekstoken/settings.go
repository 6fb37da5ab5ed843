package ekstoken

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Properties of a profile that count (AWS SDKs and Tools Reference Guide: settings).
const (
	keyID             = "aws_access_key_id"
	keySecret         = "aws_secret_access_key"
	keyToken          = "aws_session_token"
	keyOldToken       = "aws_security_token"
	keyRole           = "role_arn"
	keySourceOf       = "source_profile"
	keySourceIn       = "credential_source"
	keyTokenFile      = "web_identity_token_file"
	keySession        = "role_session_name"
	keyExternalID     = "external_id"
	keyDuration       = "duration_seconds"
	keyMFA            = "mfa_serial"
	keyRegion         = "region"
	keyEndpoint       = "endpoint_url"
	keyServices       = "services"
	keyIgnoreEndpoint = "ignore_configured_endpoint_urls"
	keyFIPS           = "use_fips_endpoint"
	keyDualStack      = "use_dualstack_endpoint"

	keyProcess      = "credential_process"
	longestProperty = 32
)

// counted are the properties that change who signs, or where STS is.
var counted = setOf(keyID, keySecret, keyToken, keyOldToken, keyRole, keySourceOf, keySourceIn, keyTokenFile, keySession,
	keyExternalID, keyDuration, keyMFA, keyRegion, keyEndpoint, keyServices, keyIgnoreEndpoint, keyFIPS, keyDualStack)

// ignored are the properties that change nothing about a token: they are for other services,
// for the parameters of aws and the timing of its requests, or for credentials of instances,
// which are never used. A token always names the regional host of STS, which clusters accept
// whatever sts_regional_endpoints is.
var ignored = setOf(
	"output", "parameter_validation", "api_versions", "sts_regional_endpoints",
	"retry_mode", "max_attempts", "defaults_mode", "tcp_keepalive", "user_agent_appid", "sdk_ua_app_id",
	"request_checksum_calculation", "response_checksum_validation",
	"disable_request_compression", "request_min_compression_size_bytes",
	"aws_account_id", "account_id_endpoint_mode", "endpoint_discovery_enabled",
	"auth_scheme_preference", "sigv4a_signing_region_set",
	"ec2_metadata_service_endpoint", "ec2_metadata_service_endpoint_mode", "ec2_metadata_v1_disabled", "imds_use_ipv6",
	"metadata_service_timeout", "metadata_service_num_attempts",
	"s3", "s3api", "s3_use_arn_region", "s3_us_east_1_regional_endpoint",
	"s3_disable_multiregion_access_points", "s3_disable_express_session_auth", "dynamodb", "emr",
	"csm_enabled", "csm_host", "csm_port", "csm_client_id",
	// saml2aws writes these two beside an access key.
	"x_principal_arn", "x_security_token_expires",
)

// ofCommandLine begins the names of what aws does with its own arguments, its output and
// its plugins, of which none are here.
const ofCommandLine = "cli_"

// refused are the properties that need a file or a person, with what to do instead.
var refused = map[string]string{
	"ca_bundle":     "no file that a profile names is read; take it out, and set AWS_CA_BUNDLE to that file in the environment",
	"login_session": "a login needs a person and is kept in files of aws; use aws eks get-token for it",
	"sso_":          "single sign-on needs a person and is kept in files of aws; use aws eks get-token for it",
}

func setOf(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// checked is a profile of which each property is known here: it counts, or may be ignored.
// Of those that are not, some start a program or read a file.
func (f shared) checked(name string) (map[string]string, error) {
	found, ok := f.profiles[name]
	if !ok {
		return nil, fmt.Errorf("neither the config nor the credentials file has the profile %q", name)
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		why, no := refused[key]
		if !no && strings.HasPrefix(key, "sso_") {
			why, no = refused["sso_"]
		}
		switch {
		case key == keyProcess:
			return nil, fmt.Errorf("the profile %q has credential_process, and no program is started here; give it role_arn with web_identity_token_file or source_profile, or an access key", name)
		case no:
			return nil, fmt.Errorf("the profile %q has a property that is not supported here%s; %s", name, shown(key), why)
		case counted[key] && strings.Contains(found[key], "\n"):
			return nil, fmt.Errorf("the profile %q has a line below %s that begins further right, so it is part of its value; begin all properties in the same column", name, key)
		case !counted[key] && !ignored[key] && !strings.HasPrefix(key, ofCommandLine):
			return nil, fmt.Errorf("the profile %q has a property that is not supported here%s", name, shown(key))
		}
	}
	return found, nil
}

// shown is a property's name for an error if it looks like one: a slip may have put a
// key in its place.
func shown(key string) string {
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' }
	if len(key) > longestProperty || strings.ContainsFunc(key, odd) {
		return ""
	}
	return ": " + key
}

// keyOf is the access key of a profile. aws_security_token is the older name of
// aws_session_token, and programs that sign people in write both.
func keyOf(name string, profile map[string]string) (Key, error) {
	key, old := Key{profile[keyID], profile[keySecret], profile[keyToken]}, profile[keyOldToken]
	switch {
	case key.SessionToken == "":
		key.SessionToken = old
	case old != "" && old != key.SessionToken:
		return Key{}, fmt.Errorf("the profile %q has another aws_security_token than aws_session_token; take the first out, which is the older name", name)
	}
	return key, nil
}

// switched is a property that is true or false, in any case of letters; false for none.
func switched(name string, profile map[string]string, key string) (bool, error) {
	switch text := profile[key]; {
	case strings.EqualFold(text, "true"):
		return true, nil
	case text != "" && !strings.EqualFold(text, "false"):
		return false, fmt.Errorf("the profile %q has the %s %q; it must be true or false", name, key, text)
	}
	return false, nil
}

// The bounds of a session (AWS STS API Reference: AssumeRole). STS itself grants no more
// than the role does, and one hour to a role that was assumed by way of another.
const (
	shortest = 900
	longest  = 43200
)

// durationOf is how long the session of a profile's role is to hold; zero for STS's own.
func durationOf(name string, profile map[string]string) (time.Duration, error) {
	text := profile[keyDuration]
	if text == "" {
		return 0, nil
	}
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < shortest || seconds > longest {
		return 0, fmt.Errorf("the profile %q has the duration_seconds %q; it must be a number from %d to %d", name, text, shortest, longest)
	}
	return time.Duration(seconds) * time.Second, nil
}

// placeOf is where a profile has STS, in a Source that has nothing else. A section of
// services goes before endpoint_url (AWS SDKs and Tools Reference Guide: service-specific
// endpoints).
func (f shared) placeOf(name string, profile map[string]string) (of Source, err error) {
	of = Source{Region: profile[keyRegion], Endpoint: profile[keyEndpoint]}
	for key, to := range map[string]*bool{keyFIPS: &of.Variant.FIPS, keyDualStack: &of.Variant.DualStack, keyIgnoreEndpoint: &of.IgnoreEndpoints} {
		if *to, err = switched(name, profile, key); err != nil {
			return Source{}, err
		}
	}
	if services := profile[keyServices]; services != "" {
		section, ok := f.services[services]
		if !ok {
			return Source{}, fmt.Errorf("the profile %q has services = %s, and the config file has no section [services %s]", name, services, services)
		}
		for line := range strings.Lines(section["sts"]) {
			if key, value, _ := strings.Cut(line, "="); strings.TrimSpace(key) == keyEndpoint {
				of.Endpoint = strings.TrimSpace(value)
			}
		}
	}
	if of.IgnoreEndpoints {
		of.Endpoint = ""
	}
	return of, nil
}
