package gateway

import (
	"net"
	"strconv"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

// requestContext has the global condition keys that do not depend on the caller.
// IAM: "AWS global condition context keys".
func requestContext(c *call.Call) iampolicy.Context {
	context := iampolicy.Context{}
	context.Set("aws:CurrentTime", c.Now.Format("2006-01-02T15:04:05Z"))
	context.Set("aws:EpochTime", strconv.FormatInt(c.Now.Unix(), 10))
	context.Set("aws:SecureTransport", strconv.FormatBool(c.HTTP.TLS != nil))
	context.Set("aws:RequestedRegion", c.Region)
	context.Set("aws:PrincipalIsAWSService", "false")
	if host, _, err := net.SplitHostPort(c.HTTP.RemoteAddr); err == nil {
		context.Set("aws:SourceIp", host)
	}
	if agent := c.HTTP.UserAgent(); agent != "" {
		context.Set("aws:UserAgent", agent)
	}
	return context
}
