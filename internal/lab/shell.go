package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// EnvironmentFormats are the formats in which an environment is written.
func EnvironmentFormats() []string { return []string{"shell", "fish", "powershell", "dotenv", "json"} }

// Write writes an environment in one of EnvironmentFormats. A shell that evaluates
// its text twice has the same environment as after the first time.
func (environment Environment) Write(out io.Writer, format string) error {
	var text string
	switch format {
	case "shell":
		text = environment.shell()
	case "fish":
		text = environment.fish()
	case "powershell":
		text = environment.powerShell()
	case "dotenv":
		text = environment.dotenv()
	case "json":
		return environment.json(out)
	default:
		return fmt.Errorf("-o %q is not a format; want one of %s", format, strings.Join(EnvironmentFormats(), ", "))
	}
	_, err := io.WriteString(out, text)
	return err
}

// shell is for a POSIX shell.
func (environment Environment) shell() string {
	var script strings.Builder
	if len(environment.Unset) > 0 {
		fmt.Fprintf(&script, "unset %s\n", strings.Join(environment.Unset, " "))
	}
	for _, variable := range environment.Set {
		fmt.Fprintf(&script, "export %s=%s\n", variable.Name, quote(variable.Value))
	}
	if bin := quote(environment.Bin); environment.Bin != "" {
		fmt.Fprintf(&script, "case \":$PATH:\" in *:%s:*) ;; *) export PATH=%s:\"$PATH\" ;; esac\n", bin, bin)
	}
	return script.String()
}

// quote makes a value one word of a POSIX shell.
func quote(value string) string { return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'" }

func (environment Environment) fish() string {
	// In single quotes fish reads \\ and \' alone as escapes.
	quote := func(value string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'" }
	var script strings.Builder
	for _, name := range environment.Unset {
		fmt.Fprintf(&script, "set -e %s;\n", name)
	}
	for _, variable := range environment.Set {
		fmt.Fprintf(&script, "set -gx %s %s;\n", variable.Name, quote(variable.Value))
	}
	if bin := quote(environment.Bin); environment.Bin != "" {
		fmt.Fprintf(&script, "contains -- %s $PATH; or set -gx PATH %s $PATH;\n", bin, bin)
	}
	return script.String()
}

func (environment Environment) powerShell() string {
	// PowerShell ends a word in single quotes at typographic ones too.
	quotes := strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛")
	quote := func(value string) string { return "'" + quotes.Replace(value) + "'" }
	var script strings.Builder
	for _, name := range environment.Unset {
		fmt.Fprintf(&script, "Remove-Item Env:%s -ErrorAction SilentlyContinue\n", name)
	}
	for _, variable := range environment.Set {
		fmt.Fprintf(&script, "$Env:%s = %s\n", variable.Name, quote(variable.Value))
	}
	if bin := quote(environment.Bin); environment.Bin != "" {
		fmt.Fprintf(&script, "if (($Env:PATH -split [IO.Path]::PathSeparator) -notcontains %s) { $Env:PATH = %s + [IO.Path]::PathSeparator + $Env:PATH }\n", bin, bin)
	}
	return script.String()
}

// dotenv is for programs that read a file of NAME=VALUE. Such a file cannot unset a
// variable, and an empty AWS_PROFILE is not the same as none: the names are told.
func (environment Environment) dotenv() string {
	var file strings.Builder
	if len(environment.Unset) > 0 {
		fmt.Fprintf(&file, "# A file cannot unset variables. These must not be set beside it:\n# %s\n", strings.Join(environment.Unset, " "))
	}
	for _, variable := range environment.Set {
		fmt.Fprintf(&file, "%s=%s\n", variable.Name, dotenvQuote(variable.Value))
	}
	return file.String()
}

// dotenvQuote leaves alone what every reader takes as it is, Docker's --env-file
// among them, which knows no quotes.
func dotenvQuote(value string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%~"
	if strings.Trim(value, plain) == "" {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`", "\n", `\n`).Replace(value) + `"`
}

// environmentDocument is an environment for programs.
type environmentDocument struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Set        map[string]string `json:"set"`
	Unset      []string          `json:"unset"`
	Bin        string            `json:"bin,omitempty"`
}

func (environment Environment) json(out io.Writer) error {
	document := environmentDocument{apiVersion, "Environment", map[string]string{}, environment.Unset, environment.Bin}
	for _, variable := range environment.Set {
		document.Set[variable.Name] = variable.Value
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}
