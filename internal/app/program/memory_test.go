package program

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestTheRuntimeIsToldTheMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	tests := map[string]struct {
		flag, variable string
		want, told     int64 // told is 0 for unchanged
		err            string
	}{
		"a flag says it":                         {flag: "200Mi", want: 200 << 20, told: 200 << 20 / 100 * 75},
		"the runtime's own variable goes before": {flag: "200Mi", variable: "100MiB", want: 200 << 20},
		"what is no quantity":                    {flag: "much", err: `--memory-limit is "much", expected a quantity of memory such as 256Mi`},
		"less than nothing":                      {flag: "-1", err: "--memory-limit"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			debug.SetMemoryLimit(before)
			t.Setenv("GOMEMLIMIT", test.variable)
			got, err := LimitMemory(test.flag)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %s", err, test.err)
				}
				return
			}
			told := debug.SetMemoryLimit(-1)
			if test.told == 0 {
				test.told = before
			}
			if err != nil || got != test.want || told != test.told {
				t.Errorf("limit %d, told %d, error %v; want %d and %d", got, told, err, test.want, test.told)
			}
		})
	}
}

func TestMemoryLimitsOfControlGroups(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"268435456\n": 256 << 20, "max\n": 0, "9223372036854771712\n": 0, "": 0} {
		if got := memoryIn(text); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
}
