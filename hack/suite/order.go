package main

// slowest are the packages that take longest by the clock, the slowest first.
var slowest = []string{
	"test/issuer",
	"test/webhook",
	"internal/app",
	"test/e2e/lab",
	"test/e2e",
	"hack/release",
	"test/capacity",
	"internal/controller/credentials",
	"internal/controller/capacity",
	"internal/cli/selector",
}
