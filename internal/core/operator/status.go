package operator

import "time"

// Status is how far one install is.
type Status struct {
	Namespace    string `json:"namespace"`
	Subscription string `json:"subscription"`
	Package      string `json:"package"`
	CSV          string `json:"csv,omitempty"`
	Installed    bool   `json:"installed"`
	// Next is the version to which an upgrade waits; empty for none.
	Next   string  `json:"next,omitempty"`
	Role   string  `json:"role,omitempty"`
	Stages []Stage `json:"stages"`
	// Of is how many stages the install has.
	Of int `json:"of"`
}

// StatusOf is how far the install of a Subscription is, by what was read of it.
func StatusOf(s Subscription, o *Objects, now time.Time) Status {
	stages := Progress(o, now)
	return Status{
		Namespace: s.Namespace, Subscription: s.Name, Package: s.Package, CSV: o.Target(), Next: o.Next(), Role: o.Identity,
		Installed: IsInstalled(o, stages), Stages: stages, Of: Stages(o),
	}
}

// Last is the first stage that is not done, or the last of all.
func (s Status) Last() Stage { return s.Stages[len(s.Stages)-1] }
