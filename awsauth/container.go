package awsauth

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/smithy-go"

	"github.com/tabard-dev/tabard/awsauth/fault"
)

// The environment of container credentials (AWS SDKs and Tools Reference Guide:
// container credential provider).
const (
	envContainerFull      = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
	envContainerRelative  = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
	envContainerToken     = "AWS_CONTAINER_AUTHORIZATION_TOKEN"
	envContainerTokenFile = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"
	// containerHost answers relative URIs.
	containerHost = "http://169.254.170.2"
)

// agents are the addresses of ECS's and EKS's agents, which may be asked without
// TLS, like the machine itself.
var agents = []string{"169.254.170.2", "169.254.170.23", "fd00:ec2::23"}

// containerURL is where the environment says that credentials are had.
func (e environment) containerURL() (string, error) {
	refuse := func(text string) (string, error) {
		return "", &Error{Code: fault.CodeContainerInvalid, Message: text}
	}
	if relative := e.getenv(envContainerRelative); relative != "" {
		if !strings.HasPrefix(relative, "/") {
			return refuse(envContainerRelative + " does not begin with a slash")
		}
		return containerHost + relative, nil
	}
	full := e.getenv(envContainerFull)
	if full == "" {
		return refuse("neither " + envContainerFull + " nor " + envContainerRelative + " is set; give the ServiceAccount a pod identity association")
	}
	u, err := url.Parse(full)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		return refuse(envContainerFull + " is no usable URL")
	case u.Scheme == "https", u.Scheme == "http" && isAgent(u.Hostname()):
		return full, nil
	}
	return refuse(envContainerFull + " must be https, or http on this machine or at an agent's address")
}

func isAgent(host string) bool {
	if host == "localhost" || slices.Contains(agents, host) {
		return true
	}
	address := net.ParseIP(host)
	return address != nil && address.IsLoopback()
}

func (a *Auth) checkContainer() error {
	_, err := a.env.containerURL()
	return err
}

// containerAgent asks an agent for credentials. The token file is read each
// time: the kubelet replaces it long before it expires.
type containerAgent struct {
	url      string
	client   endpointcreds.HTTPClient
	env      environment
	readFile func(string) ([]byte, error)
}

func (a *Auth) container(client *trustingClient) *containerAgent {
	// The URL was checked when the identity's parts were gathered.
	address, _ := a.env.containerURL()
	agent := &containerAgent{url: address, client: a.injected, env: a.env, readFile: a.readFile}
	switch {
	case a.injected != nil:
	case strings.HasPrefix(address, "http:"):
		// An agent is on this machine: a proxy could not reach it, and would get
		// the token.
		agent.client = direct()
	default:
		agent.client = client
	}
	return agent
}

// direct is a client that uses no proxy.
func direct() *http.Client {
	client := httpClient(nil)
	client.Transport.(*http.Transport).Proxy = nil
	return client
}

// Retrieve asks once. An agent's refusals have no code that AWS documents; they
// become an *Error.
func (c *containerAgent) Retrieve(ctx context.Context) (aws.Credentials, error) {
	token := c.env.getenv(envContainerToken)
	if file := c.env.getenv(envContainerTokenFile); file != "" {
		read, err := readToken(c.readFile, file)
		if err != nil {
			return aws.Credentials{}, err
		}
		token = read
	}
	got, err := endpointcreds.New(c.url, func(o *endpointcreds.Options) {
		o.HTTPClient, o.Retryer, o.AuthorizationToken = c.client, newRetryer(), token
	}).Retrieve(ctx)
	var answer interface {
		HTTPStatusCode() int
		smithy.APIError
	}
	if errors.As(err, &answer) && answer.HTTPStatusCode() >= 400 && answer.HTTPStatusCode() < 500 {
		return aws.Credentials{}, &Error{Code: fault.CodeContainerRefused, cause: err, Message: "the agent gives no credentials: " +
			fault.Clean(answer.ErrorMessage()) + "; check that a pod identity association exists for this ServiceAccount"}
	}
	return got, err
}
