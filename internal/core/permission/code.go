package permission

// Code names a kind of slip. Codes of iampolicy stand for themselves.
type Code string

// The codes.
const (
	CodeInvalidJSON         Code = "InvalidJSON"
	CodeInvalidYAML         Code = "InvalidYAML"
	CodeTooLong             Code = "TooLong"
	CodeTooMany             Code = "TooMany"
	CodeWrongKind           Code = "WrongKind"
	CodeInvalidRequest      Code = "InvalidRequest"
	CodeNoRequests          Code = "NoRequests"
	CodeNoProviderSpec      Code = "NoProviderSpec"
	CodeInvalidProvider     Code = "InvalidProviderSpec"
	CodeOtherCloud          Code = "OtherCloud"
	CodeMisspelt            Code = "MisspeltField"
	CodeMustBeEmpty         Code = "MustBeEmpty"
	CodeNoServiceAccounts   Code = "NoServiceAccountNames"
	CodeNoTarget            Code = "NoTarget"
	CodeInvalidName         Code = "InvalidName"
	CodeInvalidNamespace    Code = "InvalidNamespace"
	CodeInvalidText         Code = "InvalidText"
	CodeInvalidAction       Code = "InvalidAction"
	CodeInvalidCondition    Code = "InvalidCondition"
	CodeDuplicateRequest    Code = "DuplicateRequest"
	CodeEmptyRequest        Code = "EmptyRequest"
	CodeBundleUninstallable Code = "BundleNotInstallable"
	CodeSourcesDisagree     Code = "SourcesDisagree"
	CodeNotCompared         Code = "NotCompared"
	CodeNoUpgrade           Code = "NoUpgrade"
)
