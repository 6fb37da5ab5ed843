package awsauth

import (
	"context"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

const (
	envEndpoint      = "AWS_ENDPOINT_URL"
	envIgnore        = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"
	envRegion        = "AWS_REGION"
	envDefaultRegion = "AWS_DEFAULT_REGION"
	envFIPS          = "AWS_USE_FIPS_ENDPOINT"
	envDualStack     = "AWS_USE_DUALSTACK_ENDPOINT"
)

// environment answers where to call, from the injected environment. The service
// clients find those of its methods that begin with Get by their names (AWS SDK
// for Go v2: configuration sources).
type environment struct{ getenv func(string) string }

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

// identity is what the environment says of who the process is.
func (e environment) identity() identity.Environment {
	return identity.Environment{
		RoleARN: e.getenv(envRoleARN), TokenFile: e.getenv(envTokenFile),
		Container: e.getenv(envContainerFull) != "" || e.getenv(envContainerRelative) != "",
	}
}

// endpoint is where a service is called, empty for AWS's own: the most specific
// of its own variable (AWS SDKs and Tools Reference Guide: service-specific
// endpoints), the identity's endpoints and AWS_ENDPOINT_URL.
func (e environment) endpoint(serviceID string, of identity.Endpoints) string {
	ignored := strings.EqualFold(e.getenv(envIgnore), "true")
	if own := e.getenv(endpointVariable(serviceID)); own != "" && !ignored {
		return own
	}
	if configured := of.URL(serviceID); configured != "" {
		return configured
	}
	if ignored {
		return ""
	}
	return e.getenv(envEndpoint)
}

func endpointVariable(serviceID string) string {
	return envEndpoint + "_" + strings.ReplaceAll(strings.ToUpper(serviceID), " ", "_")
}

// endpointOption sets the endpoints of service clients. Every client's options
// have a field BaseEndpoint, but no type in common; and the clients' own way to
// find it looks into the real environment, where AWS_ENDPOINT_URL would go
// before an identity's endpoint of the service.
func (e environment) endpointOption(of identity.Endpoints) func(string, any) {
	return func(serviceID string, options any) {
		found := e.endpoint(serviceID, of)
		if found == "" {
			return
		}
		field := reflect.ValueOf(options).Elem().FieldByName("BaseEndpoint")
		if field.IsValid() && field.CanSet() {
			field.Set(reflect.ValueOf(&found))
		}
	}
}

// check refuses endpoints that are no URLs, which the clients would show only
// as a host that cannot be found.
func (e environment) check() error {
	for _, name := range []string{envEndpoint, envEndpoint + "_STS", envEndpoint + "_IAM", envEndpoint + "_S3", envEndpoint + "_EC2"} {
		value := e.getenv(name)
		if value == "" {
			continue
		}
		u, err := url.Parse(value)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
			return &Error{Code: fault.CodeEndpointInvalid, Message: fmt.Sprintf(
				"%s is no usable endpoint; it must be a URL like https://sts.example.com without user and password", name)}
		}
	}
	return nil
}
