package awsauth

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Keys of a Secret, and properties of the INI document in it.
const (
	keyCredentials  = "credentials"
	keyAccessKeyID  = "aws_access_key_id"
	keySecretKey    = "aws_secret_access_key"
	keySessionToken = "aws_session_token"
	keyRoleARN      = "role_arn"
	keySessionName  = "role_session_name"
	keyTokenFile    = "web_identity_token_file"
)

// defaultTokenFiles are the token files that a Secret may name: where operators
// of OpenShift mount theirs, and where EKS's webhook does.
var defaultTokenFiles = []string{
	"/var/run/secrets/openshift/serviceaccount/token",
	"/var/run/secrets/eks.amazonaws.com/serviceaccount/token",
}

// allowed are the properties that a Secret's INI document may have, true for
// those that count. sts_regional_endpoints and region are written by OpenShift
// and have no effect: STS is always called in the region. All others could
// start a program, read a file or send credentials elsewhere.
var allowed = map[string]bool{
	keyAccessKeyID: true, keySecretKey: true, keySessionToken: true,
	keyRoleARN: true, keySessionName: true, keyTokenFile: true,
	"sts_regional_endpoints": false, "region": false,
}

// secret is what a Secret holds: an access key, or a role and a token file.
type secret struct {
	accessKeyID, secretKey, sessionToken string
	role, session, tokenFile             string
}

// parseSecret reads the data of a Secret: the key credentials, an INI document
// whose section [default] counts, or the keys aws_access_key_id and
// aws_secret_access_key. tokenFiles are the files that it may name. An error
// names keys, properties and lines, never what they hold.
func parseSecret(data map[string][]byte, tokenFiles []string) (secret, error) {
	if document := strings.TrimSpace(string(data[keyCredentials])); document != "" {
		return parseDocument(document, tokenFiles)
	}
	values := map[string]string{}
	for _, key := range []string{keyAccessKeyID, keySecretKey, keySessionToken} {
		values[key] = strings.TrimSpace(string(data[key]))
	}
	var missing []string
	for _, key := range []string{keyAccessKeyID, keySecretKey} {
		if values[key] == "" {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		return secret{}, fmt.Errorf("missing or empty: %s; give it both %s and %s, or the key %s",
			strings.Join(missing, ", "), keyAccessKeyID, keySecretKey, keyCredentials)
	}
	return newSecret(values, tokenFiles)
}

func parseDocument(document string, tokenFiles []string) (secret, error) {
	properties, err := readSection(document, "default")
	if err != nil {
		return secret{}, fmt.Errorf("the key %s: %w", keyCredentials, err)
	}
	if properties == nil {
		return secret{}, fmt.Errorf("the key %s has no section [default]", keyCredentials)
	}
	values := map[string]string{}
	for _, p := range properties {
		counts, known := allowed[p.name]
		_, twice := values[p.name]
		switch {
		case !known:
			return secret{}, fmt.Errorf("the key %s: line %d has a property that is not allowed%s", keyCredentials, p.line, shown(p.name))
		case twice:
			return secret{}, fmt.Errorf("the key %s: line %d: the property %s is there twice", keyCredentials, p.line, p.name)
		case counts:
			values[p.name] = p.value
		}
	}
	found, err := newSecret(values, tokenFiles)
	if err != nil {
		return secret{}, fmt.Errorf("the key %s: %w", keyCredentials, err)
	}
	return found, nil
}

// newSecret demands one whole set of properties.
func newSecret(values map[string]string, tokenFiles []string) (secret, error) {
	s := secret{
		accessKeyID: values[keyAccessKeyID], secretKey: values[keySecretKey], sessionToken: values[keySessionToken],
		role: values[keyRoleARN], session: values[keySessionName], tokenFile: values[keyTokenFile],
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if strings.ContainsFunc(values[name], isUnusable) {
			return secret{}, fmt.Errorf("the value of %s has spaces or characters that are no text", name)
		}
	}
	static := s.accessKeyID != "" || s.secretKey != "" || s.sessionToken != ""
	web := s.role != "" || s.tokenFile != "" || s.session != ""
	switch {
	case static && web:
		return secret{}, errors.New("it has both an access key and a role; only one can be meant")
	case !static && !web:
		return secret{}, fmt.Errorf("it has neither %s and %s nor %s and %s", keyAccessKeyID, keySecretKey, keyRoleARN, keyTokenFile)
	case static && s.accessKeyID == "":
		return secret{}, missingProperty(keyAccessKeyID)
	case static && s.secretKey == "":
		return secret{}, missingProperty(keySecretKey)
	case static:
		return s, nil
	case s.role == "":
		return secret{}, missingProperty(keyRoleARN)
	case s.tokenFile == "":
		return secret{}, missingProperty(keyTokenFile)
	case !identity.IsRoleARN(s.role):
		return secret{}, fmt.Errorf("the value of %s is no ARN of an IAM role", keyRoleARN)
	case s.session != "" && (len(s.session) > maxSessionName || notInSessionName().MatchString(s.session)):
		return secret{}, fmt.Errorf("the value of %s is no session name; STS takes 2 to 64 letters, digits and _+=,.@-", keySessionName)
	case !slices.Contains(tokenFiles, s.tokenFile):
		return secret{}, fmt.Errorf("the value of %s is none of the token files that this process mounts for it: %s",
			keyTokenFile, strings.Join(tokenFiles, ", "))
	}
	return s, nil
}

// isUnusable says whether a character cannot be part of any value: it would
// break a header, or is what is left of bytes that are no text.
func isUnusable(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar
}

func missingProperty(name string) error { return fmt.Errorf("%s is missing or empty", name) }

// maxName bounds what an error repeats of a property's name; secret keys are
// longer.
const maxName = 32

// shown is a property's name for an error if it looks like one: a slip may have
// put a key in its place.
func shown(name string) string {
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' }
	if len(name) > maxName || strings.ContainsFunc(name, odd) {
		return ""
	}
	return ": " + name
}
