package snapshot

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestMembersAreWrittenAsJSON(t *testing.T) {
	type object struct {
		A string `json:"a,omitempty"`
		L []int  `json:"l,omitempty"`
	}
	for _, want := range []object{{A: "<&>", L: []int{1, 2, 3}}, {L: []int{4}}, {A: "x"}, {}} {
		var out strings.Builder
		err := WriteMember(&out, object{A: want.A}, "l", func(w io.Writer) error {
			return WriteList(w, want.L, func(w io.Writer, n int) error { return Write(w, n) })
		})
		var got object
		if err == nil {
			err = json.Unmarshal([]byte(out.String()), &got)
		}
		if err != nil || got.A != want.A || len(got.L) != len(want.L) || len(want.L) > 0 && !reflect.DeepEqual(got.L, want.L) {
			t.Errorf("%+v is written as %s, error %v", want, &out, err)
		}
	}
}

// full takes a number of bytes.
type full struct{ room int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestFailuresToWriteAreTold(t *testing.T) {
	write := func(w io.Writer) error {
		return WriteMember(w, map[string]int{"a": 1}, "l", func(w io.Writer) error {
			return WriteList(w, []int{1, 2}, func(w io.Writer, n int) error { return Write(w, n) })
		})
	}
	var all strings.Builder
	if err := write(&all); err != nil {
		t.Fatal(err)
	}
	for room := range all.Len() {
		if err := write(&full{room}); !errors.Is(err, errFull) {
			t.Errorf("with room for %d bytes of %d the error is %v", room, all.Len(), err)
		}
	}
}
