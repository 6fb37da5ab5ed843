package bundle

import (
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// Severity says whether a finding is a mistake for sure.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Code names a kind of finding. Codes of packages permission and catalogue stand for themselves.
type Code string

// The codes.
const (
	CodeNotInstallable  = Code(permission.CodeBundleUninstallable)
	CodeSourcesDisagree = Code(permission.CodeSourcesDisagree)
	CodeInvalidYAML     = Code(permission.CodeInvalidYAML)
	CodeTooMany         = Code(permission.CodeTooMany)
	CodeFileNotRead     = Code(catalogue.FileNotRead)
	CodeTooLarge        = Code(catalogue.AnnotationsTooLarge)
	CodeLarge           = Code("AnnotationsLarge")
	CodeKind            = Code("KindNotSupported")
	CodeNoCSV           = Code("NoClusterServiceVersion")
	CodeSeveralCSVs     = Code("SeveralClusterServiceVersions")
	CodeInvalidCSV      = Code("InvalidClusterServiceVersion")
	CodeUndeclared      = Code("RequestsNotDeclared")
	CodeNotStated       = Code("TokenAuthNotStated")
	CodeClaimed         = Code("TokenAuthClaimed")
	CodeRights          = Code("RightMissing")
	CodeServiceAccount  = Code("ServiceAccountNotUsed")
	CodeNotInCatalogue  = Code("RequestsNotInAnnotation")
	CodeTokenPath       = Code("TokenPathNotSet")
	CodeTokenNotMounted = Code("TokenNotMounted")
	CodeTokenAudience   = Code("TokenAudience")
	CodeTokenFixed      = Code("TokenNotRenewed")
	mostFindings        = 200
	mostAnnotations     = 256 << 10
	warnAnnotations     = mostAnnotations / 2
	annotationsPath     = "metadata.annotations"
	annotationPath      = annotationsPath + "[" + permission.Annotation + "]"
	featureOfTokens     = "features.operators.openshift.io/token-auth-"
	declareWith         = "type: tabard operators annotate CSV --requests PATH"
	notInstalled        = "OLM installs no bundle with it: version 0 fails the InstallPlan with UnsupportedResource, version 1 refuses the bundle"
)

// Finding is one thing that is wrong with a bundle. Message says what was seen, what was expected
// and what to do.
type Finding struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	// File is empty for the bundle as a whole.
	File string `json:"file,omitempty"`
	// Document counts from 1 within the file; 0 is the file itself.
	Document int    `json:"document,omitempty"`
	Path     string `json:"path,omitempty"`
	Message  string `json:"message"`
}

// findings collects findings.
type findings struct{ all []Finding }

func (f *findings) add(one Finding, format string, args ...any) {
	if len(f.all) > mostFindings {
		return
	}
	if len(f.all) == mostFindings {
		one, format, args = Finding{Code: CodeTooMany, Severity: Error}, "there are more than %d findings: mend these first", []any{mostFindings}
	}
	one.Message = line.Of(fmt.Sprintf(format, args...))
	if !slices.Contains(f.all, one) {
		f.all = append(f.all, one)
	}
}

func (f *findings) has(code Code) bool {
	return slices.ContainsFunc(f.all, func(one Finding) bool { return one.Code == code })
}

// HasErrors says that one of the findings is an error.
func HasErrors(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Severity == Error })
}
