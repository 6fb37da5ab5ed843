package gateway

import (
	"cmp"
	"net/http"

	"github.com/tabard-dev/tabard/awslocal/internal/endpoint"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/region"
	"github.com/tabard-dev/tabard/awslocal/internal/s3"
	"github.com/tabard-dev/tabard/awslocal/internal/sigv4"
)

// checkRegion wants a signature to be for a region that there is and, where the
// request comes by the name of one of AWS's endpoints, for that endpoint's. By an
// address or any other name the server is the endpoint of every region, and the
// signature says of which: an SDK that is told of one URL for all of AWS signs for
// the region that it is set to.
func (g *Gateway) checkRegion(r *http.Request, signature *sigv4.Signature) *sigv4.Error {
	here := partition.Of(g.options.Region)
	wanted := g.regionOfHost(r, here)
	exists := region.Known(here, signature.Region)
	if exists && (wanted == "" || wanted == signature.Region) {
		return nil
	}
	if !region.Known(here, wanted) {
		wanted = cmp.Or(g.options.BucketRegion(r), g.options.Region)
	}
	return signature.RefuseRegion(wanted)
}

// regionOfHost is the region of the endpoint that a request's host is; empty for a
// host that is none.
func (g *Gateway) regionOfHost(r *http.Request, here partition.Partition) string {
	if name, bucket, is := s3.Endpoint(r.Host); is {
		switch {
		case name != "":
			return name
		case bucket != "":
			// The name leads to the bucket's region.
			return cmp.Or(g.options.BucketRegion(r), here.Global())
		}
		return here.Global()
	}
	service, name, is := endpoint.Of(r.Host)
	if is && (service == "iam" || service == "sts" && name == "") {
		return here.Global()
	}
	return name
}
