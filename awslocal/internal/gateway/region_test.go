package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/endpoint"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/region"
)

// TestEveryNameInACertificateIsAnEndpointOfItsRegion keeps the two lists of names
// together: those that are shown, and those that are read.
func TestEveryNameInACertificateIsAnEndpointOfItsRegion(t *testing.T) {
	for _, home := range []string{"us-east-1", "cn-north-1", "us-gov-west-1", "us-iso-east-1", "us-isob-east-1", "eu-isoe-west-1", "us-isof-south-1", "eusc-de-east-1"} {
		here := partition.Of(home)
		g := New(Options{Region: home})
		for _, one := range region.Of(here) {
			for _, name := range endpoint.Names(one.Name) {
				want := one.Name
				if strings.HasPrefix(name, "iam.") {
					want = here.Global()
				}
				r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
				r.Host = strings.Replace(name, "*", "123456789012", 1)
				if got := g.regionOfHost(r, here); got != want {
					t.Errorf("in %s, %s is an endpoint of %q, want %s", home, r.Host, got, want)
				}
			}
		}
		if !region.Known(here, here.Global()) {
			t.Errorf("in %s, the region of services without regions, %s, is none", home, here.Global())
		}
	}
}

func TestUnsignedCallsAreInARegionThatThereIs(t *testing.T) {
	g := New(Options{Region: "eu-central-1"})
	for host, want := range map[string]string{
		"sts.eu-west-1.amazonaws.com": "eu-west-1", "sts.mars-1.amazonaws.com": "here", "sts.us-gov-west-1.amazonaws.com": "here",
		"sts.amazonaws.com": "here", "eks.eu-west-1.amazonaws.com": "here", "127.0.0.1": "here",
	} {
		c := &call.Call{HTTP: httptest.NewRequest(http.MethodPost, "http://"+host+"/", http.NoBody), Region: "here", Entry: &call.Entry{}}
		if g.placeByHost(c); c.Region != want {
			t.Errorf("by %s a call is in %s, want %s", host, c.Region, want)
		}
	}
}
