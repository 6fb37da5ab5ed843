package follow

import (
	"errors"
	"time"
)

const (
	// lasting is how long a watch lasts at least that says that watching works.
	lasting = time.Second
	// maxFailures is after how many failures in a row all is listed anew: the version to
	// go on from may be one that the server will never know, after etcd has been restored
	// from a backup.
	maxFailures = 5
)

// ErrLost says that a watch cannot go on from where it was: all is listed anew.
var ErrLost = errors.New("what has changed since the last version cannot be told any more")

// machine is what a Loop knows. What it does next follows from that alone. It is not
// safe for concurrent use.
type machine struct {
	// version is what a watch goes on from; empty if all is to be listed.
	version string
	// wishes is how often a list was asked for, begun how often before the list that is
	// under way, met how often before the last one that came to its end. A wish during a
	// list is so for the next one: that list may have read already what has changed.
	wishes, begun, met uint64
	// failures is how many steps in a row failed. relisted says that a lost version has
	// been answered by a list, and by no watch that worked since.
	failures int
	relisted bool
}

// next says whether all is to be listed, and else from which version to watch.
func (m *machine) next() (lists bool, from string) {
	if m.version != "" && m.wishes == m.met {
		return false, m.version
	}
	m.begun = m.wishes
	return true, ""
}

// listed takes the end of a list, and says whether to pause.
func (m *machine) listed(version string, err error) (pause bool) {
	if err != nil {
		m.failures++
		return true
	}
	m.version, m.met = version, m.begun
	return version == ""
}

// watched takes the end of a watch, and says whether to pause. A watch that a wish has
// ended is no failure.
func (m *machine) watched(reached string, err error, lasted time.Duration) (pause bool) {
	progressed := reached != m.version
	m.version = reached
	if m.wishes != m.met {
		return false
	}
	if lasted >= lasting || err == nil && progressed {
		m.failures, m.relisted = 0, false
	} else if !errors.Is(err, ErrLost) {
		m.failures++
	}
	if errors.Is(err, ErrLost) {
		pause, m.relisted, m.version = m.relisted, true, ""
		return pause
	}
	if m.failures >= maxFailures {
		m.version = ""
	}
	return m.failures > 1 || m.failures > 0 && err != nil // a connection may be closed at once, once
}
