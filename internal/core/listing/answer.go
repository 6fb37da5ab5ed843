package listing

import "slices"

// Answer is one of yes, no and unknown, as it is in documents for programs.
type Answer string

// The three answers.
const (
	Yes Answer = "yes"
	No  Answer = "no"
	// Unknown means that what decides could not be seen. It is never taken for a No.
	Unknown Answer = "unknown"
)

// worst is no if one is, else unknown if one is.
func worst(all ...Answer) Answer {
	switch {
	case slices.Contains(all, No):
		return No
	case slices.Contains(all, Unknown):
		return Unknown
	}
	return Yes
}

func answerOf(holds bool) Answer {
	if holds {
		return Yes
	}
	return No
}
