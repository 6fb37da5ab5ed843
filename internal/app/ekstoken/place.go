package ekstoken

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/ekstoken"
)

// observe reads the environment and AWS's shared files.
func observe(getenv func(string) string, profile string) (ekstoken.Surroundings, error) {
	config, credentials := getenv("AWS_CONFIG_FILE"), getenv("AWS_SHARED_CREDENTIALS_FILE")
	s := ekstoken.Surroundings{
		Named:   config != "" || credentials != "",
		Profile: profile,
		Key: ekstoken.Key{
			ID: getenv("AWS_ACCESS_KEY_ID"), Secret: getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: getenv("AWS_SESSION_TOKEN"),
		},
		RoleARN: getenv("AWS_ROLE_ARN"), TokenFile: getenv("AWS_WEB_IDENTITY_TOKEN_FILE"),
		Container: getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "" || getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "",
	}
	for _, variable := range []string{"AWS_PROFILE", "AWS_DEFAULT_PROFILE"} {
		if s.Profile == "" {
			s.Profile = getenv(variable)
		}
	}
	home := getenv("HOME")
	var err error
	if s.Config, err = readFile(config, home, "config"); err != nil {
		return s, err
	}
	s.Credentials, err = readFile(credentials, home, "credentials")
	return s, err
}

// readFile is the content of one of AWS's files, empty if there is none.
func readFile(path, home, name string) (string, error) {
	if path == "" {
		if home == "" {
			return "", nil
		}
		path = filepath.Join(home, ".aws", name)
	}
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("AWS's %s file: %w", name, err)
	}
	return string(content), nil
}

// place is where STS is.
type place struct {
	region, origin string
	// endpoint is the profile's, empty for none or where the environment has one.
	endpoint string
	variant  ekstoken.Variant
	// atAWS says that no endpoint that anything names counts.
	atAWS bool
}

func placeOf(getenv func(string) string, region string, source ekstoken.Source) (place, error) {
	p := place{variant: source.Variant, atAWS: source.IgnoreEndpoints}
	for _, p.region = range []string{region, getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), source.Region} {
		if p.region != "" {
			break
		}
	}
	if p.region == "" {
		return p, errors.New("the region is missing; add --region REGION, or set AWS_REGION")
	}
	if err := ekstoken.CheckRegion(p.region); err != nil {
		return p, err
	}
	for name, on := range map[string]*bool{
		"AWS_USE_FIPS_ENDPOINT": &p.variant.FIPS, "AWS_USE_DUALSTACK_ENDPOINT": &p.variant.DualStack,
		"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": &p.atAWS,
	} {
		switch text := getenv(name); strings.ToLower(text) {
		case "true":
			*on = true
		case "false":
			*on = false
		case "":
		default:
			return p, fmt.Errorf("%s is %q; it must be true or false", name, text)
		}
	}
	if !p.atAWS {
		for _, p.origin = range []string{getenv("AWS_ENDPOINT_URL_STS"), getenv("AWS_ENDPOINT_URL")} {
			if p.origin != "" {
				return p, nil
			}
		}
		if p.origin, p.endpoint = source.Endpoint, source.Endpoint; p.origin != "" {
			return p, nil
		}
	}
	host := ekstoken.Host(p.region, p.variant)
	if host == "" {
		return p, fmt.Errorf("clusters in %s accept no endpoint with IPv6; unset AWS_USE_DUALSTACK_ENDPOINT", p.region)
	}
	p.origin = "https://" + host
	return p, nil
}

// environment is the process's with what was decided in the place of what it says.
func (p place) environment(getenv func(string) string, source ekstoken.Source) func(string) string {
	decided := map[string]string{
		"AWS_REGION": p.region, "AWS_ROLE_ARN": source.RoleARN, "AWS_WEB_IDENTITY_TOKEN_FILE": source.TokenFile,
		"AWS_USE_FIPS_ENDPOINT": strconv.FormatBool(p.variant.FIPS), "AWS_USE_DUALSTACK_ENDPOINT": strconv.FormatBool(p.variant.DualStack),
		"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": strconv.FormatBool(p.atAWS),
	}
	if p.endpoint != "" {
		decided["AWS_ENDPOINT_URL_STS"] = p.endpoint
	}
	if source.SessionName != "" {
		decided["AWS_ROLE_SESSION_NAME"] = source.SessionName
	}
	return func(name string) string {
		if value, ok := decided[name]; ok {
			return value
		}
		return getenv(name)
	}
}

// theKey names the access key to awsauth, which asks for those by the name of a Secret.
var theKey = identity.SecretRef{Name: "access-key"}

// oneKey answers with the access key that was decided on.
type oneKey struct{ key ekstoken.Key }

// Secret implements awsauth.Source.
func (o oneKey) Secret(context.Context, identity.SecretRef) (awsauth.SecretContent, error) {
	return awsauth.SecretContent{Version: "1", Data: map[string][]byte{
		"aws_access_key_id": []byte(o.key.ID), "aws_secret_access_key": []byte(o.key.Secret), "aws_session_token": []byte(o.key.SessionToken),
	}}, nil
}

// Bundle implements awsauth.Source: there are none.
func (oneKey) Bundle(context.Context, identity.BundleRef) ([]byte, error) {
	return nil, awsauth.ErrNotFound
}
