// Package handoff reads what internal/handoff writes with programs of others: HashiCorp's
// parser of Terraform's language, and the aws command line on the local AWS. It is a
// module of its own, so that the product requires neither.
package handoff
