package program

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestVerbositiesMeanWhatTheyMeanToKlog: -v=N shows the lines of verbosity N and below.
func TestVerbositiesMeanWhatTheyMeanToKlog(t *testing.T) {
	for args, want := range map[string]string{
		"":                      "0",
		"-v=1":                  "0 1",
		"-v=3":                  "0 1 2 3",
		"-v=4":                  "0 1 2 3 4",
		"-v=5":                  "0 1 2 3 4",
		"-v=10":                 "0 1 2 3 4",
		"-v=-1":                 "0",
		"--log-level=debug":     "0 1 2 3 4",
		"-v=5 --log-level=info": "0",
		"-v=5 --log-level=warn": "",
	} {
		flags := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
		level := flags.String("log-level", "info", "")
		flags.IntP("v", "v", 0, "")
		must.Do(t, flags.Parse(strings.Fields(args)))
		var text bytes.Buffer
		logger := must.Get(NewLogger(&text, KlogLevelOf(flags, *level)))(t)
		log, got := logr.FromSlogHandler(logger.Handler()), []string{}
		for _, verbosity := range []string{"0", "1", "2", "3", "4", "5"} {
			log.V(int(verbosity[0]-'0')).Info("line", "of", verbosity)
			if strings.Contains(text.String(), `"of":"`+verbosity) {
				got = append(got, verbosity)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s shows verbosities %v, want %s", args, got, want)
		}
	}
}
