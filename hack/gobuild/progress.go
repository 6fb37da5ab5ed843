package gobuild

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// state is how far a build is.
type state struct {
	downloaded, compiled int
	// total is how many packages there are to compile; 0 while that is not known.
	total int
	// compiling is the time at which the first package came, elapsed that of the state,
	// both since the start.
	started            bool
	compiling, elapsed time.Duration
}

// read counts a line of go build -v, or returns it if it is for people: names of packages
// have no space.
func (s *state) read(line string) (message string, is bool) {
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		s.downloaded++
	case line != "" && !strings.ContainsAny(line, " \t"):
		s.compiled++
	default:
		return line, line != ""
	}
	return "", false
}

// at is the state at a time since the start.
func (s *state) at(elapsed time.Duration) state {
	s.elapsed = elapsed
	if !s.started && s.compiled > 0 {
		s.started, s.compiling = true, elapsed
	}
	return *s
}

// percent is how much is compiled, at most 99: the linker comes last.
func (s state) percent() int {
	if s.total == 0 {
		return 0
	}
	return min(99, 100*s.compiled/s.total)
}

func (s state) String() string {
	switch {
	case s.compiled == 0 && s.downloaded > 0:
		return fmt.Sprintf("downloading modules: %s so far", thousands(s.downloaded))
	case s.total == 0:
		return fmt.Sprintf("compiling packages: %s so far", thousands(s.compiled))
	case s.compiled >= s.total:
		return fmt.Sprintf("compiling %s packages: done, linking", thousands(s.total))
	}
	text := fmt.Sprintf("compiling %s packages: %d %%", thousands(s.total), s.percent())
	// Before that the guess jumps.
	if spent := s.elapsed - s.compiling; s.percent() >= 3 && spent >= 5*time.Second {
		left := spent * time.Duration(s.total-s.compiled) / time.Duration(s.compiled)
		text += fmt.Sprintf(", about %.0f s left", left.Seconds())
	}
	return text
}

// thousands writes 2792 as 2,792.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// display shows states: on a terminal in one line, in a log in a line for each tenth.
type display struct {
	to       io.Writer
	name     string
	terminal bool
	last     string
}

func (d *display) show(s state) {
	if s.compiled+s.downloaded == 0 {
		return
	}
	if d.terminal {
		fmt.Fprintf(d.to, "\r\x1b[K%s: %s", d.name, s)
		d.last = "\r"
		return
	}
	// A log gets a line when this changes.
	stage := fmt.Sprint(s.compiled > 0, s.total > 0, s.compiled >= s.total, s.percent()/10)
	if stage != d.last {
		fmt.Fprintf(d.to, "%s: %s\n", d.name, s)
		d.last = stage
	}
}

// end says what was done, if anything was shown before.
func (d *display) end(s state) {
	if d.last == "" {
		return
	}
	before := ""
	if d.terminal {
		before = "\r\x1b[K"
	}
	fmt.Fprintf(d.to, "%s%s: %s packages compiled in %.0f s\n", before, d.name, thousands(s.compiled), s.elapsed.Seconds())
}
