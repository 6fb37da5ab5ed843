package policy

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/tabard-dev/tabard/iampolicy"
)

// Types of SARIF 2.1.0 (OASIS), as much as code hosts need to show findings beside the lines.
type (
	sarif struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPlace `json:"physicalLocation"`
	}
	sarifPlace struct {
		ArtifactLocation sarifFile   `json:"artifactLocation"`
		Region           sarifRegion `json:"region"`
	}
	sarifFile struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
)

// unreadable is the rule of a file that is no policy at all.
const unreadable = "Unusable"

// sarif is the report for code hosts. Columns are counted in characters.
func (r *report) sarif() sarif {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "tabard policy check", InformationURI: "https://github.com/tabard-dev/tabard/blob/main/docs/policy.md", Rules: []sarifRule{}}},
		ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
	}
	index := map[string]int{}
	add := func(file, rule string, level iampolicy.Severity, text string, line, column int) {
		at, known := index[rule]
		if !known {
			at = len(run.Tool.Driver.Rules)
			index[rule] = at
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{rule, sarifMessage{describe(rule)}})
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: rule, RuleIndex: at, Level: string(level), Message: sarifMessage{text},
			Locations: []sarifLocation{{sarifPlace{sarifFile{artifactURI(file)}, sarifRegion{line, column}}}},
		})
	}
	for _, one := range r.Files {
		if one.Unusable != "" {
			add(one.File, unreadable, iampolicy.SeverityError, one.Unusable, 1, 1)
		}
		for _, f := range one.Findings {
			add(one.File, string(f.Code), f.Severity, f.Message, f.Line, f.Column)
		}
	}
	return sarif{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}}
}

// describe is a rule in one sentence.
func describe(rule string) string {
	for _, one := range iampolicy.LintRules() {
		if string(one.Code) == rule {
			return strings.ReplaceAll(one.Text, "`", "")
		}
	}
	if rule == unreadable {
		return "The file cannot be read, or is not JSON."
	}
	return "AWS refuses the document: " + rule + "."
}

// artifactURI is a file's name as a reference. SARIF has no name for the standard input.
func artifactURI(file string) string {
	switch {
	case file == "-":
		return "stdin"
	case filepath.IsAbs(file):
		return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	default:
		return (&url.URL{Path: filepath.ToSlash(file)}).String()
	}
}
