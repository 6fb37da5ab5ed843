package main

// slowest are the packages that take longest by the clock, the slowest first.
var slowest = []string{
	"test/conformance", // in make conformance
	"test/site",
	"test/issuer",
	"test/webhook",
	"internal/app",
	"test/e2e/lab",
	"test/capacity",
	"internal/controller/credentials",
	"test/e2e",
	"internal/controller/capacity",
	"hack/release",
	"test/roleselector/api",
	"test/credentials/api",
	"test/roleselector/kube",
	"internal/controller/issuer",
	"internal/webhook",
	"internal/app/election",
	"test/awslocal",
	"internal/cli/selector",
	"internal/cli/migrate",
	"internal/controller/hubaccess",
	"internal/controller/webhookdeployment",
	"internal/testkit",
	"internal/platform",
	"test/rights",
	"test/hubaccess",
	"test/awsauth",
	"test/node/10-chart",
}
