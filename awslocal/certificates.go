package awslocal

import (
	"crypto/tls"
	"strings"
	"sync"

	"github.com/tabard-dev/tabard/awslocal/internal/authority"
	"github.com/tabard-dev/tabard/awslocal/internal/endpoint"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/region"
)

// certificates has one for the hosts of each region, made when a client first asks
// for one of them, and one for all other hosts. There are no more than that,
// whatever names clients ask for.
type certificates struct {
	authority *authority.Authority
	partition partition.Partition
	// other is for clients that name no host of another region.
	other *tls.Certificate

	mu sync.Mutex
	// regions has the hosts, and those with a star for their first label.
	regions map[string]string
	issued  map[string]*tls.Certificate
}

// newCertificates makes the one for the given hosts.
func newCertificates(by *authority.Authority, of partition.Partition, hosts []string) (*certificates, error) {
	other, err := by.Issue(hosts)
	if err != nil {
		return nil, err
	}
	return &certificates{authority: by, partition: of, other: &other, issued: map[string]*tls.Certificate{}}, nil
}

// get is a tls.Config's GetCertificate.
func (c *certificates) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if hello.ServerName == "" || c.other.Leaf.VerifyHostname(hello.ServerName) == nil {
		return c.other, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	in := c.regionOf(strings.ToLower(hello.ServerName))
	if in == "" {
		return c.other, nil
	}
	if c.issued[in] == nil {
		one, err := c.authority.Issue(endpoint.Names(in))
		if err != nil {
			return nil, err
		}
		c.issued[in] = &one
	}
	return c.issued[in], nil
}

// regionOf is the region of a host that a region's certificate is good for, empty
// for none.
func (c *certificates) regionOf(host string) string {
	if c.regions == nil {
		c.regions = map[string]string{}
		for _, one := range region.Of(c.partition) {
			for _, name := range endpoint.Names(one.Name) {
				c.regions[name] = one.Name
			}
		}
	}
	if in := c.regions[host]; in != "" {
		return in
	}
	_, rest, _ := strings.Cut(host, ".")
	return c.regions["*."+rest]
}
