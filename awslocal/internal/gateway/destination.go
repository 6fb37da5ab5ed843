package gateway

import (
	"net/http"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/eks"
	"github.com/tabard-dev/tabard/awslocal/internal/endpoint"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/podidentity"
	"github.com/tabard-dev/tabard/awslocal/internal/region"
	"github.com/tabard-dev/tabard/awslocal/internal/s3"
	"github.com/tabard-dev/tabard/awslocal/internal/sigv4"
	"github.com/tabard-dev/tabard/awslocal/internal/sts"
)

// serviceOf names the service that a request is for. It is destination's word,
// but for the agent, which is asked with a token, and for services whose unsigned
// requests have to be refused in their own form: they are known by their host
// names, and EKS Auth by its path, which no request to S3 has with that method.
// A path below /clusters at an address is a bucket's.
func serviceOf(r *http.Request, signature *sigv4.Signature, action, version string) string {
	if podidentity.Wants(r) {
		return podidentity.Name
	}
	name := destination(r.Host, signature, action, version)
	if signature != nil || name != "s3" {
		return name
	}
	if service, _, known := endpoint.Of(r.Host); known && strings.HasPrefix(service, "eks") {
		return service
	}
	if eks.IsAuthPath(r) {
		return "eks-auth"
	}
	return name
}

// placeByHost finds the region of an unsigned call to STS in the name of its
// endpoint, such as sts.eu-west-1.amazonaws.com. By any other name, and by that of
// another partition, the call is in the server's own region.
func (g *Gateway) placeByHost(c *call.Call) {
	service, name, known := endpoint.Of(c.HTTP.Host)
	if known && service == "sts" && region.Known(partition.Of(g.options.Region), name) {
		c.Region, c.Entry.Region = name, name
	}
}

// destination names the service that a request is for: by the version of its
// query protocol, which tells STS and IAM apart, by a host of Amazon S3, else by
// its signature. What is none of these is a request to Amazon S3.
func destination(host string, signature *sigv4.Signature, action, version string) string {
	switch {
	case s3.HasHost(host):
		return "s3"
	case action != "" && version == "2010-05-08":
		return "iam"
	case action != "" && version == "2011-06-15":
		return "sts"
	case signature != nil:
		return signature.Service
	case action != "":
		return "sts"
	}
	return "s3"
}

// ignoresSignatures says whether a call proves its caller in a way of its own.
func ignoresSignatures(service, action string) bool {
	return service == podidentity.Name || service == "sts" && sts.Unsigned(action)
}
