package command

import "testing"

func TestTableAlignsColumnsAndTakesControlOut(t *testing.T) {
	got := Table([][]string{{"NAME", "STATE"}, {"a long name", "Ready", ""}, {"red\x1b[31m\nline", "\ttab"}})
	want := "NAME           STATE\na long name    Ready\nred�[31m�line  �tab\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
