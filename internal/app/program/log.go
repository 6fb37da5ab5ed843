package program

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"

	"github.com/spf13/pflag"
)

// debugVerbosity is the verbosity from which the programs that ours take the place
// of log single objects.
const debugVerbosity = 3

// VerbosityUsage tells of -v where LevelOf reads it.
const VerbosityUsage = "3 and more: --log-level=debug, unless that flag is set"

// LevelOf is the level of the log for commands that have -v, too.
func LevelOf(flags *pflag.FlagSet, level string) string {
	verbosity, err := strconv.Atoi(flags.Lookup("v").Value.String())
	if err == nil && verbosity >= debugVerbosity && !flags.Changed("log-level") {
		return "debug"
	}
	return level
}

// KlogUsage tells of -v where KlogLevelOf reads it.
const KlogUsage = "as with klog: 3 tells of each pod that is changed, 4 and more of every pod; --log-level=debug is as 4, and goes before"

// KlogLevelOf is the level of the log for a command whose verbosities mean what they
// mean to klog: debug is verbosity 4.
func KlogLevelOf(flags *pflag.FlagSet, level string) string {
	verbosity, err := strconv.Atoi(flags.Lookup("v").Value.String())
	if err != nil || verbosity <= 0 || flags.Changed("log-level") {
		return level
	}
	return slog.Level(max(-verbosity, int(slog.LevelDebug))).String()
}

// NewLogger writes lines of JSON from a level on: debug, info, warn or error.
func NewLogger(w io.Writer, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, Unusable(fmt.Errorf("--log-level=%q: use debug, info, warn or error", level))
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l})), nil
}
