package ekstoken

import (
	"fmt"
	"strings"
)

// Properties of a profile (AWS SDKs and Tools Reference Guide: shared config and
// credentials files).
const (
	keyID           = "aws_access_key_id"
	keySecret       = "aws_secret_access_key"
	keyToken        = "aws_session_token"
	keyRole         = "role_arn"
	keySourceOf     = "source_profile"
	keySourceIn     = "credential_source"
	keyTokenFile    = "web_identity_token_file"
	keySession      = "role_session_name"
	keyExternalID   = "external_id"
	keyRegion       = "region"
	keyEndpoint     = "endpoint_url"
	keyFIPS         = "use_fips_endpoint"
	keyDualStack    = "use_dualstack_endpoint"
	keyProcess      = "credential_process"
	defaultProfile  = "default"
	longestProperty = 32
)

// allowed are the properties that a profile may have, true for those that count. All
// others could start a program, read a file, or wait for a person.
var allowed = map[string]bool{
	keyID: true, keySecret: true, keyToken: true, keyRole: true, keySourceOf: true, keySourceIn: true, keyTokenFile: true,
	keySession: true, keyExternalID: true, keyRegion: true, keyEndpoint: true, keyFIPS: true, keyDualStack: true,
	"output": false, "cli_pager": false, "cli_auto_prompt": false, "sts_regional_endpoints": false, "retry_mode": false, "max_attempts": false,
}

// profiles are the sections of the two files, by the name of the profile. What is in no
// profile that is used is not looked at.
type profiles map[string]map[string]string

// readProfiles reads both files; the credentials file wins where both have a property.
func readProfiles(config, credentials string) (profiles, error) {
	all := profiles{}
	if err := all.read("config", config, func(section string) string {
		if section == defaultProfile {
			return section
		}
		name, ok := strings.CutPrefix(section, "profile ")
		if !ok {
			return ""
		}
		return strings.TrimSpace(name)
	}); err != nil {
		return nil, err
	}
	return all, all.read("credentials", credentials, func(section string) string { return section })
}

// read adds a document. An error names the line's number and never its content, which
// may be a key.
func (p profiles) read(file, document string, nameOf func(string) string) error {
	var current map[string]string
	inside, number := false, 0
	for line := range strings.Lines(document) {
		number++
		text := withoutComment(strings.TrimSpace(line))
		switch {
		case text == "":
			continue
		case text[0] == '[':
			section, ok := strings.CutSuffix(text[1:], "]")
			if !ok {
				return fmt.Errorf("the %s file: line %d opens a section that it does not close", file, number)
			}
			name := nameOf(strings.TrimSpace(section))
			if name != "" && p[name] == nil {
				p[name] = map[string]string{}
			}
			current, inside = p[name], true
			continue
		case !inside:
			return fmt.Errorf("the %s file: line %d comes before any section", file, number)
		case current == nil || line[0] == ' ' || line[0] == '\t':
			continue // of no profile, or below a property
		}
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("the %s file: line %d is not NAME = VALUE", file, number)
		}
		current[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
	}
	return nil
}

// withoutComment is a line without the comment in it: one that begins the line, or
// stands behind a space.
func withoutComment(line string) string {
	for i := range len(line) {
		if (line[i] == '#' || line[i] == ';') && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return strings.TrimSpace(line[:i])
		}
	}
	return line
}

// checked is a profile of which each property is allowed.
func (p profiles) checked(name string) (map[string]string, error) {
	found, ok := p[name]
	if !ok {
		return nil, fmt.Errorf("neither the config nor the credentials file has the profile %q", name)
	}
	for key := range found {
		_, known := allowed[key]
		switch {
		case key == keyProcess:
			return nil, fmt.Errorf("the profile %q has credential_process, and no program is started here; give it role_arn with web_identity_token_file or source_profile, or an access key", name)
		case !known:
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
