package gateway

import (
	"net"
	"net/http"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/eks"
	"github.com/tabard-dev/tabard/awslocal/internal/podidentity"
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
	name := destination(signature, action, version)
	if signature != nil || name != "s3" {
		return name
	}
	switch host, _, _ := strings.Cut(hostname(r), "."); {
	case isEndpoint(hostname(r)) && (host == "eks" || host == "eks-auth"):
		return host
	case eks.IsAuthPath(r):
		return "eks-auth"
	}
	return name
}

func hostname(r *http.Request) string {
	if name, _, err := net.SplitHostPort(r.Host); err == nil {
		return name
	}
	return r.Host
}

// isEndpoint says that a host name has the form of an endpoint of EKS or EKS
// Auth, SERVICE.REGION.DOMAIN, and is not that of a bucket.
func isEndpoint(host string) bool {
	labels := strings.Split(host, ".")
	return len(labels) >= 4 && (labels[2] == "amazonaws" || labels[2] == "api")
}

// destination names the service that a request is for: by the version of its
// query protocol, which tells STS and IAM apart, else by its signature. What is
// neither is a request to Amazon S3.
func destination(signature *sigv4.Signature, action, version string) string {
	switch {
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
