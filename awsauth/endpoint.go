package awsauth

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const (
	envEndpoint      = "AWS_ENDPOINT_URL"
	envIgnore        = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"
	envRegion        = "AWS_REGION"
	envDefaultRegion = "AWS_DEFAULT_REGION"
	envFIPS          = "AWS_USE_FIPS_ENDPOINT"
	envDualStack     = "AWS_USE_DUALSTACK_ENDPOINT"
)

// environment answers the service clients' questions about where to call, from
// the injected environment. The clients find its methods by their names (AWS
// SDK for Go v2: configuration sources). A service's own variable goes before
// AWS_ENDPOINT_URL (AWS SDKs and Tools Reference Guide: service-specific
// endpoints).
type environment struct{ getenv func(string) string }

// GetServiceBaseEndpoint returns AWS_ENDPOINT_URL_<SERVICE>.
func (e environment) GetServiceBaseEndpoint(_ context.Context, sdkID string) (string, bool, error) {
	value := e.getenv(envEndpoint + "_" + strings.ReplaceAll(strings.ToUpper(sdkID), " ", "_"))
	return value, value != "", nil
}

// GetIgnoreConfiguredEndpoints says whether endpoints of the environment count.
func (e environment) GetIgnoreConfiguredEndpoints(context.Context) (ignore, found bool, err error) {
	return e.ignores(), e.getenv(envIgnore) != "", nil
}

func (e environment) ignores() bool { return strings.EqualFold(e.getenv(envIgnore), "true") }

// GetUseFIPSEndpoint answers from AWS_USE_FIPS_ENDPOINT.
func (e environment) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	switch strings.ToLower(e.getenv(envFIPS)) {
	case "true":
		return aws.FIPSEndpointStateEnabled, true, nil
	case "false":
		return aws.FIPSEndpointStateDisabled, true, nil
	}
	return aws.FIPSEndpointStateUnset, false, nil
}

// GetUseDualStackEndpoint answers from AWS_USE_DUALSTACK_ENDPOINT.
func (e environment) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	switch strings.ToLower(e.getenv(envDualStack)) {
	case "true":
		return aws.DualStackEndpointStateEnabled, true, nil
	case "false":
		return aws.DualStackEndpointStateDisabled, true, nil
	}
	return aws.DualStackEndpointStateUnset, false, nil
}

func (e environment) region() string {
	if region := e.getenv(envRegion); region != "" {
		return region
	}
	return e.getenv(envDefaultRegion)
}

// baseEndpoint is the endpoint of all services that have none of their own.
func (e environment) baseEndpoint() *string {
	value := e.getenv(envEndpoint)
	if e.ignores() || value == "" {
		return nil
	}
	return &value
}

// check refuses endpoints that are no URLs, which the clients would show only
// as a host that cannot be found.
func (e environment) check() error {
	for _, name := range []string{envEndpoint, envEndpoint + "_STS", envEndpoint + "_IAM", envEndpoint + "_S3"} {
		value := e.getenv(name)
		if value == "" {
			continue
		}
		u, err := url.Parse(value)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
			return &Error{Code: CodeEndpointInvalid, Message: fmt.Sprintf(
				"%s is no usable endpoint; it must be a URL like https://sts.example.com without user and password", name)}
		}
	}
	return nil
}
