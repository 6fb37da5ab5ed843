package e2e

import (
	"slices"
	"strings"
	"testing"

	base "github.com/tabard-dev/tabard/test/roleselector/world"
)

const (
	hub   = "111111111111"
	red   = "222222222222"
	green = "333333333333"
	blue  = "444444444444"

	region = "eu-west-1"
	// defaultRole is who the controller is by itself. It may do everything in the
	// hub's account: nothing but the controller's own care keeps it from using that.
	defaultRole = "arn:aws:iam::" + hub + ":role/controller"
)

var accounts = []string{hub, red, green, blue}

// cloud is a local AWS with the hub's account and three teams'.
type cloud struct {
	*base.Cloud
	t *testing.T
}

// role makes a role of a team's account that trusts the controller.
func (c *cloud) role(account, name string) (arn string) {
	c.t.Helper()
	return c.makeRole(account, name, c.Trust())
}

func (c *cloud) makeRole(account, name, trust string) string {
	c.t.Helper()
	return c.Role(account, name, trust, base.Everything)
}

// buckets are the names of an account's buckets.
func (c *cloud) buckets(account string) []string { return c.Buckets(c.t, account) }

// tags are those of a bucket.
func (c *cloud) tags(account, name string) map[string]string { return c.Tags(c.t, account, name) }

// accountOf is whose a bucket is, empty for nobody's.
func (c *cloud) accountOf(name string) string { return c.AccountOf(c.t, name) }

// calls are what the controller has asked AWS about a resource or role since the
// journal was cleared, as OPERATION by CALLER; callers are ACCOUNT/ROLE.
func (c *cloud) calls(resource string) (calls []string) {
	for _, e := range c.Admin().Journal() {
		if strings.HasSuffix(e.Resource, resource) && !strings.Contains(e.Caller, ":user/administrator") {
			calls = append(calls, e.Operation+" by "+caller(e.Caller))
		}
	}
	return calls
}

// caller is ACCOUNT/ROLE of a session's ARN.
func caller(arn string) string {
	fields := strings.SplitN(arn, ":", 6)
	if len(fields) != 6 {
		return arn
	}
	return fields[4] + "/" + strings.Split(fields[5]+"/", "/")[1]
}

// callers are who asked about a bucket, each once.
func (c *cloud) callers(name string) (callers []string) {
	for _, call := range c.calls(":::" + name) {
		_, by, _ := strings.Cut(call, " by ")
		callers = append(callers, by)
	}
	slices.Sort(callers)
	return slices.Compact(callers)
}

// assumed is how often a role was asked for, whatever the answer was.
func (c *cloud) assumed(role string) (times int) {
	for _, e := range c.Admin().Journal() {
		if e.Operation == "AssumeRole" && e.Resource == role {
			times++
		}
	}
	return times
}

// trusts says whether a role of a team's account trusts the controller, or only its
// own account.
func (c *cloud) trusts(account, name string, controller bool) {
	c.t.Helper()
	principal := "arn:aws:iam::" + account + ":root"
	if controller {
		principal = defaultRole
	}
	c.trustsAs(account, name, base.TrustOf(principal))
}
