package identity

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// Endpoints are URLs by service. They are a value: equal ones are ==, and the
// zero value has none.
type Endpoints struct{ encoded string }

// NewEndpoints makes Endpoints of URLs by service: "ec2", "sts",
// "elasticloadbalancing" and so on, the names that OpenShift's Infrastructure
// and the hosts of AWS's own endpoints use. A URL must be https and may have a
// path, but no user, query or fragment; the error names the service and never
// the URL, which may hold a password.
func NewEndpoints(urls map[string]string) (Endpoints, error) {
	byService := make(map[string]string, len(urls))
	for service, text := range urls {
		key := serviceKey(service)
		u, err := url.Parse(text)
		switch {
		case key == "":
			return Endpoints{}, fmt.Errorf("the endpoint of the service %q has no service", service)
		case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
			return Endpoints{}, fmt.Errorf("the endpoint of the service %q is no usable URL; it must be like https://%s.example.com",
				service, key)
		}
		byService[key] = text
	}
	if len(byService) == 0 {
		return Endpoints{}, nil
	}
	text, err := json.Marshal(byService)
	if err != nil {
		return Endpoints{}, fmt.Errorf("the endpoints cannot be written: %w", err)
	}
	return Endpoints{encoded: string(text)}, nil
}

// URL is the endpoint of a service, empty for AWS's own. The service may be
// named as in NewEndpoints or by the SDK's service ID, such as
// "Elastic Load Balancing".
func (e Endpoints) URL(service string) string {
	if e.encoded == "" {
		return ""
	}
	var byService map[string]string
	if err := json.Unmarshal([]byte(e.encoded), &byService); err != nil {
		panic("identity: " + err.Error())
	}
	return byService[serviceKey(service)]
}

// Only are the endpoints of one service.
func (e Endpoints) Only(service string) Endpoints {
	found := e.URL(service)
	if found == "" {
		return Endpoints{}
	}
	only, err := NewEndpoints(map[string]string{service: found})
	if err != nil {
		panic("identity: " + err.Error())
	}
	return only
}

// Equal is ==, for those who compare by method.
func (e Endpoints) Equal(other Endpoints) bool { return e == other }

// String is the endpoints in JSON, empty for none.
func (e Endpoints) String() string { return e.encoded }

// otherNames are the services whose endpoints' host begins otherwise than with
// their service ID.
var otherNames = map[string]string{
	"resourcegroupstaggingapi": "tagging",
	"elasticloadbalancingv2":   "elasticloadbalancing",
	"efs":                      "elasticfilesystem",
	"cloudwatch":               "monitoring",
	"cloudwatchlogs":           "logs",
}

// serviceKey is one name for all ways to write a service.
func serviceKey(service string) string {
	key := strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(service))
	if other, ok := otherNames[key]; ok {
		return other
	}
	return key
}
