// Package cloudid knows the forms of the ids and names by which Azure and Google Cloud know things, for
// the flags and files that have them. Those of AWS are in awsauth/identity and core/iamname.
// Its functions may be used by several goroutines at once.
package cloudid

import (
	"regexp"
	"strings"
	"sync"
)

// Shape is whether all of a text matches an expression, which is compiled when it is first asked for.
func Shape(expression string) func(text string) bool {
	compiled := whole(expression)
	return func(text string) bool { return compiled().MatchString(text) }
}

func whole(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^(?:" + expression + ")$") })
}

const (
	// account is the id of a project, and that of a service account.
	account = `[a-z][-a-z0-9]{4,28}[a-z0-9]`
	// accounts ends the e-mail of a service account, and google begins an audience.
	accounts = ".iam.gserviceaccount.com"
	google   = "//iam.googleapis.com/"
)

var (
	uuid          = Shape(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)
	resourceGroup = Shape(`[-\w.()]{0,89}[-\w()]`)
	azureRegion   = Shape(`[a-z0-9]{1,64}`)
	projectNumber = Shape(`[0-9]{1,20}`)
	project       = Shape(account)
	pool          = Shape(`[-a-z0-9]{4,32}`)
	email         = Shape(account + `@[-a-z0-9.:]+` + regexp.QuoteMeta(accounts))
	audience      = whole(`(?:https:)?` + regexp.QuoteMeta(google) + `projects/([^/]+)/locations/global/workloadIdentityPools/([^/]+)/providers/([^/]+)`)
)

// IsUUID says that a text is the id of a tenant, a subscription or an application of Azure, or all zeros.
func IsUUID(text string) bool { return uuid(text) }

// IsZero says that an id consists of zeros, as one that was not filled in.
func IsZero(id string) bool { return strings.Trim(id, "0-") == "" }

// IsResourceGroup says that a resource group may have the name (learn.microsoft.com, "Naming rules and
// restrictions for Azure resources").
func IsResourceGroup(name string) bool { return resourceGroup(name) }

// IsAzureRegion says that Azure may call a region so.
func IsAzureRegion(name string) bool { return azureRegion(name) }

// IsProjectNumber says that a project of Google Cloud may have the number (cloud.google.com,
// "Creating and managing projects").
func IsProjectNumber(text string) bool { return projectNumber(text) }

// IsProject says that a project of Google Cloud may have the id (as above).
func IsProject(id string) bool { return project(id) }

// IsPool says that a workload identity pool may have the id, or a provider in one (cloud.google.com, IAM
// API, workloadIdentityPools: create). IsReserved says which of these ids nobody but Google may use.
func IsPool(id string) bool { return pool(id) }

// IsReserved says that the id of a pool or a provider is one that only Google may use.
func IsReserved(id string) bool { return strings.HasPrefix(id, "gcp-") }

// IsServiceAccount says that a service account may have the id, with which its e-mail begins
// (cloud.google.com, "Create service accounts").
func IsServiceAccount(id string) bool { return project(id) }

// IsEmail says that a text is the e-mail of a service account.
func IsEmail(text string) bool { return email(text) }

// Email is the e-mail of a service account of a project.
func Email(account, project string) string { return account + "@" + project + accounts }

// Pool is the resource name of a workload identity pool, of the number of its project and its own id.
func Pool(number, id string) string {
	return "projects/" + number + "/locations/global/workloadIdentityPools/" + id
}

// Audience is what tokens for a provider in a pool are for.
func Audience(number, pool, provider string) string {
	return google + Pool(number, pool) + "/providers/" + provider
}

// OfAudience takes an audience apart, with https: before it or without. The parts may be ids that Google
// Cloud does not take.
func OfAudience(text string) (number, pool, provider string, ok bool) {
	found := audience().FindStringSubmatch(text)
	if found == nil {
		return "", "", "", false
	}
	return found[1], found[2], found[3], true
}
