package command

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestItIsSaidOnceWhatIsWaitedFor(t *testing.T) {
	broken := errors.New("the cluster is away")
	for name, c := range map[string]struct {
		timeout time.Duration
		// looks are what is missing at each look, and at all that follow the last.
		looks [][]string
		err   error
		took  time.Duration
		said  string
		want  []string
	}{
		"nothing is missing":  {looks: [][]string{nil}},
		"no time":             {looks: [][]string{{"a"}}, want: []string{"a"}},
		"no time for another": {timeout: time.Second, looks: [][]string{{"a"}}, want: []string{"a"}},
		"it comes":            {timeout: time.Minute, looks: [][]string{{"a", "b"}, {"a", "b"}, {"b"}, nil}, took: 6 * time.Second, said: "waiting:\n  a\n  b\nwaiting:\n  b\n"},
		"it does not":         {timeout: 5 * time.Second, looks: [][]string{{"a"}}, took: 4 * time.Second, said: "waiting:\n  a\n", want: []string{"a"}},
		"it cannot be seen":   {timeout: time.Minute, err: broken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said strings.Builder
				began, looks := time.Now(), c.looks
				got, err := Until(t.Context(), &said, c.timeout, func(context.Context) ([]string, error) {
					if c.err != nil {
						return []string{"not known"}, c.err
					}
					now := looks[0]
					if len(looks) > 1 {
						looks = looks[1:]
					}
					return now, nil
				})
				if !errors.Is(err, c.err) || !slices.Equal(got, c.want) || said.String() != c.said || time.Since(began) != c.took {
					t.Errorf("after %s it said %q, and returned %q and %v", time.Since(began), said.String(), got, err)
				}
			})
		})
	}
}

func TestWhoIsToldToEndWaitsNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		var said strings.Builder
		_, err := Until(ctx, &said, time.Hour, func(context.Context) ([]string, error) { return []string{"a"}, nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
	})
}
