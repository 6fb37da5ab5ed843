package webhook

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// withoutEffectUsage begins the help of every flag that is only accepted.
const withoutEffectUsage = "no effect"

// addIgnored accepts the flags of EKS's webhook that have nothing to do here, so
// that a Deployment written for it starts. Their values must be such as it takes.
// Those of klog, its logging, are not shown: here all goes to standard error.
func addIgnored(flags *pflag.FlagSet) {
	flags.String("service-name", "pod-identity-webhook", withoutEffectUsage+": the names in the serving certificate are the business of whoever makes it")
	flags.Duration("resync-period", time.Minute, withoutEffectUsage+": the cache is kept by a watch alone")
	logging := pflag.NewFlagSet("logging", pflag.ContinueOnError)
	for name, byDefault := range map[string]bool{
		"add_dir_header": false, "alsologtostderr": false, "legacy_stderr_threshold_behavior": true, "logtostderr": true,
		"one_output": false, "skip_headers": false, "skip_log_headers": false,
	} {
		logging.Bool(name, byDefault, withoutEffectUsage)
	}
	logging.String("log_dir", "", withoutEffectUsage)
	logging.String("log_file", "", withoutEffectUsage)
	logging.Uint64("log_file_max_size", 1800, withoutEffectUsage)
	logging.Var(&ignored{text: "0", check: checkSeverity}, "alsologtostderrthreshold", withoutEffectUsage)
	logging.Var(&ignored{text: "2", check: checkSeverity}, "stderrthreshold", withoutEffectUsage)
	logging.Var(&ignored{check: checkModules}, "vmodule", withoutEffectUsage)
	logging.Var(&ignored{check: checkLine}, "log_backtrace_at", withoutEffectUsage)
	logging.VisitAll(func(flag *pflag.Flag) {
		flag.Hidden = true
		flags.AddFlag(flag)
	})
}

// WithoutEffect are the flags that were set to something other than their
// default, and change nothing.
func WithoutEffect(flags *pflag.FlagSet) (names []string) {
	flags.Visit(func(flag *pflag.Flag) {
		if strings.HasPrefix(flag.Usage, withoutEffectUsage) && flag.Value.String() != flag.DefValue {
			names = append(names, "--"+flag.Name)
		}
	})
	return names
}

// ignored is a flag of klog whose value is only checked.
type ignored struct {
	text  string
	check func(text string) error
}

// Set is for pflag.
func (i *ignored) Set(text string) error {
	i.text = text
	return i.check(text)
}

// Type is for pflag.
func (i *ignored) Type() string { return "text" }

func (i *ignored) String() string { return i.text }

// checkSeverity accepts what klog does: a name, in any case, or a number.
func checkSeverity(text string) error {
	switch strings.ToUpper(text) {
	case "INFO", "WARNING", "ERROR", "FATAL":
		return nil
	}
	if _, err := strconv.ParseInt(text, 10, 32); err != nil {
		return fmt.Errorf("it is %.40q, expected INFO, WARNING, ERROR, FATAL or a number", text)
	}
	return nil
}

// checkModules accepts PATTERN=LEVEL, with commas between them.
func checkModules(text string) error {
	for item := range strings.SplitSeq(text, ",") {
		pattern, level, found := strings.Cut(item, "=")
		number, err := strconv.Atoi(level)
		if item != "" && (!found || pattern == "" || err != nil || number < 0) {
			return fmt.Errorf("%.80q is not as expected: FILE=LEVEL, with commas between them", item)
		}
	}
	return nil
}

// checkLine accepts FILE.go:LINE.
func checkLine(text string) error {
	file, line, _ := strings.Cut(text, ":")
	number, err := strconv.Atoi(line)
	if text != "" && (!strings.Contains(file, ".") || err != nil || number <= 0) {
		return fmt.Errorf("it is %.80q, expected FILE.go:LINE", text)
	}
	return nil
}
