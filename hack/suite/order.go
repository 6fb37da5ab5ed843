package main

// slowest are the packages that take longest by the clock, the slowest first.
var slowest = []string{
	"internal/app",
	"test/issuer",
	"test/docs",
	"test/e2e",
	"test/credentials/beside",
	"hack/release",
	"test/webhook",
	"test/capacity",
}
