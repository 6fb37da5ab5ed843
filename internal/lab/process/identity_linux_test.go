package process

import (
	"errors"
	"os"
	"testing"
)

func TestParseStat(t *testing.T) {
	rest := " 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 1000 20"
	tests := map[string]struct {
		stat, want string
		gone       bool
	}{
		"the start is the 22nd field":           {stat: "12 (sh) S" + rest, want: "4711"},
		"a name may hold spaces and fields":     {stat: "12 (a) S 1 2) R" + rest, want: "4711"},
		"a zombie has gone":                     {stat: "12 (sh) Z" + rest, gone: true},
		"a dead process has gone":               {stat: "12 (sh) X" + rest, gone: true},
		"a zombie of which threads are ending":  {stat: "12 (sh) Z 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 12 0 4711 0 0", want: "4711"},
		"a line that is cut off is an error":    {stat: "12 (sh) S 1 2"},
		"a line without a name is an error":     {stat: "12 sh S 1 2"},
		"nothing at all is an error, no panic.": {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseStat([]byte(test.stat))
			if got != test.want || (err == nil) != (test.want != "") || errors.Is(err, errGone) != test.gone {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestMemoryOf(t *testing.T) {
	memory := MemoryOf(os.Getpid())
	if memory.Resident <= 0 || memory.Peak < memory.Resident {
		t.Errorf("own memory: %+v", memory)
	}
	if memory := MemoryOf(-1); memory != (Memory{}) {
		t.Errorf("no process: %+v", memory)
	}
}
