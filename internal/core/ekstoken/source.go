package ekstoken

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Key is an access key. A SessionToken is empty but for temporary ones.
type Key struct{ ID, Secret, SessionToken string }

// Whole says whether nothing is missing.
func (k Key) Whole() bool { return k.ID != "" && k.Secret != "" }

// Surroundings are what the environment and the files of a process say.
type Surroundings struct {
	// Named says that the environment names the files, as a mounted iamConfigSecret
	// makes it do: they win over the rest of the environment then.
	Named bool
	// Config and Credentials are the content of the files, empty for none.
	Config, Credentials string
	// Profile is the one that was asked for, empty for none.
	Profile string
	// Key, RoleARN and TokenFile are those of the environment; Container says that it
	// has an agent's address.
	Key                Key
	RoleARN, TokenFile string
	Container          bool
}

// Source is where credentials come from.
type Source struct {
	// Base is identity.Secret for Key, identity.WebIdentity for RoleARN and TokenFile,
	// or identity.Container.
	Base               identity.Base
	Key                Key
	RoleARN, TokenFile string
	SessionName        string
	// Roles are assumed in their order, with the credentials of Base.
	Roles []identity.Role
	// Region, Endpoint and Variant are the profile's, zero for none.
	Region, Endpoint string
	Variant          Variant
	// IgnoreEndpoints says that STS is at AWS, whatever else names an endpoint.
	IgnoreEndpoints bool
}

// Becomes is the role that the source ends in, as far as it is known without asking.
func (s Source) Becomes() string {
	if len(s.Roles) > 0 {
		return s.Roles[len(s.Roles)-1].ARN
	}
	return s.RoleARN
}

// tokenFiles are where EKS's webhook and OpenShift's operators mount the tokens for AWS.
var tokenFiles = []string{
	"/var/run/secrets/eks.amazonaws.com/serviceaccount/token",
	"/var/run/secrets/openshift/serviceaccount/token",
}

// Decide chooses where credentials come from: a profile that is asked for or in files
// that the environment names, else an access key of the environment, else its web
// identity, else the default profile, else a container's agent. No other source is
// tried: an instance's role belongs to all pods on it.
func Decide(s Surroundings) (Source, error) {
	if s.Named && s.Config == "" && s.Credentials == "" {
		return Source{}, errors.New("AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name no file with content; mount the files, or unset the variables")
	}
	name := s.Profile
	if name == "" {
		name = defaultProfile
	}
	of, err := s.profile(name)
	first, found := s.Named || s.Profile != "", s.environment()
	switch {
	case found.Base != "" && !first && err != nil:
		return found.at(s.place(name)), nil // of a person's files, which are not needed
	case err != nil:
		return Source{}, err
	case found.Base != "" && (!first || of.Base == ""):
		return found.at(of), nil
	case of.Base == "" && s.Container:
		return Source{Base: identity.Container}.at(of), nil
	case of.Base == "":
		return Source{}, errors.New("no AWS credentials: set AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, give the files config and credentials a profile, or give the ServiceAccount a pod identity association")
	case of.Endpoint != "" && of.Base != identity.Secret:
		return Source{}, fmt.Errorf("the profile %q has endpoint_url and no access key: a token would be sent there; set AWS_ENDPOINT_URL_STS in the environment", name)
	}
	return of, nil
}

// profile is the source of a profile, and the zero one if the files lack it and nothing
// asked for it.
func (s Surroundings) profile(name string) (Source, error) {
	all, err := readShared(s.Config, s.Credentials)
	if err != nil {
		return Source{}, err
	}
	if _, there := all.profiles[name]; !there && s.Profile == "" {
		return Source{}, nil
	}
	return all.source(name, s, nil)
}

// place is where a profile has STS, whoever it is of; nowhere if the files do not say.
func (s Surroundings) place(name string) Source {
	all, err := readShared(s.Config, s.Credentials)
	if err != nil {
		return Source{}
	}
	of, err := all.placeOf(name, all.profiles[name])
	if err != nil {
		return Source{}
	}
	return of
}

// environment is the source in the variables, and the zero one for none.
func (s Surroundings) environment() Source {
	switch {
	case s.Key.Whole():
		return Source{Base: identity.Secret, Key: s.Key}
	case s.RoleARN != "" && s.TokenFile != "":
		return Source{Base: identity.WebIdentity, RoleARN: s.RoleARN, TokenFile: s.TokenFile}
	}
	return Source{}
}

// at is a source of the environment in the region of a profile. It does not take up the
// profile's endpoint, which would get the token.
func (s Source) at(profile Source) Source {
	s.Region, s.Variant, s.IgnoreEndpoints = profile.Region, profile.Variant, profile.IgnoreEndpoints
	return s
}

// source is that of a profile; those in seen lead to it.
func (f shared) source(name string, s Surroundings, seen []string) (Source, error) {
	profile, err := f.checked(name)
	if err != nil {
		return Source{}, err
	}
	of, err := f.placeOf(name, profile)
	if err != nil {
		return Source{}, err
	}
	key, err := keyOf(name, profile)
	if err != nil {
		return Source{}, err
	}
	// A profile that names itself as its source means its own access key.
	itself := len(seen) > 0 && seen[len(seen)-1] == name
	role := profile[keyRole]
	if role == "" || itself {
		switch {
		case key == Key{}:
			if len(seen) > 0 || profile[keyTokenFile] != "" {
				return Source{}, fmt.Errorf("the profile %q has no credentials; give it role_arn, or aws_access_key_id and aws_secret_access_key", name)
			}
		case !key.Whole():
			return Source{}, fmt.Errorf("the profile %q has half an access key; give it both aws_access_key_id and aws_secret_access_key", name)
		default:
			of.Base, of.Key = identity.Secret, key
		}
		return of, nil
	}
	if slices.Contains(seen, name) {
		return Source{}, fmt.Errorf("the profile %q is its own source, by way of %q", name, seen[len(seen)-1])
	}
	if !identity.IsRoleARN(role) {
		return Source{}, fmt.Errorf("the profile %q has the role_arn %q, which is no ARN of a role", name, role)
	}
	return f.become(of, name, role, s, append(seen, name))
}

// become is the source of a profile with a role.
func (f shared) become(of Source, name, role string, s Surroundings, seen []string) (Source, error) {
	profile := f.profiles[name]
	file, from, in := profile[keyTokenFile], profile[keySourceOf], profile[keySourceIn]
	ways := 0
	for _, way := range []string{file, from, in} {
		if way != "" {
			ways++
		}
	}
	if ways != 1 {
		return Source{}, fmt.Errorf("the profile %q has role_arn and %d of web_identity_token_file, source_profile and credential_source; give it one", name, ways)
	}
	if file != "" {
		// The token goes to STS, and a mounted profile must not send any other file.
		if file != s.TokenFile && !slices.Contains(tokenFiles, file) {
			return Source{}, fmt.Errorf("the profile %q has the web_identity_token_file %q, which is mounted for no role; set AWS_WEB_IDENTITY_TOKEN_FILE to it too", name, file)
		}
		of.Base, of.RoleARN, of.TokenFile, of.SessionName = identity.WebIdentity, role, file, profile[keySession]
		return of, nil
	}
	if profile[keyMFA] != "" {
		return Source{}, fmt.Errorf("the profile %q has role_arn and mfa_serial, and nobody is asked for a code here; use aws eks get-token for it", name)
	}
	holds, err := durationOf(name, profile)
	if err != nil {
		return Source{}, err
	}
	base := s.environment()
	switch {
	case from != "":
		found, err := f.source(from, s, seen)
		if err != nil {
			return Source{}, err
		}
		base = found
	case in == "Environment" && base.Base != "":
	case in == "EcsContainer" && s.Container:
		base = Source{Base: identity.Container}
	default:
		return Source{}, fmt.Errorf("the profile %q has the credential_source %q; it must be Environment or EcsContainer, and the environment must have it", name, in)
	}
	of.Base, of.Key, of.RoleARN, of.TokenFile, of.SessionName = base.Base, base.Key, base.RoleARN, base.TokenFile, base.SessionName
	of.Roles = append(base.Roles, identity.Role{ARN: role, SessionName: profile[keySession], ExternalID: profile[keyExternalID], Duration: holds})
	return of, nil
}

// IsRole says whether a caller, as GetCallerIdentity names it, is a session of a role.
// The path of a role is not part of a caller's ARN, and names are unique without it.
func IsRole(caller, role string) bool {
	of, ok := identity.ParseRoleARN(role)
	who, is := identity.ParseARN(caller)
	if !ok || !is || who.Service != "sts" || who.Partition != of.Partition || who.Account != of.Account {
		return false
	}
	return sessionOf(who.Resource) == of.Name
}

// sessionOf is the role of assumed-role/ROLE/SESSION, and empty for any other resource.
func sessionOf(resource string) string {
	rest, ok := strings.CutPrefix(resource, "assumed-role/")
	name, session, has := strings.Cut(rest, "/")
	if !ok || !has || session == "" {
		return ""
	}
	return name
}
