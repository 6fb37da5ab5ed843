package credentials

import "time"

const (
	// LookAgain is when to look next at a request that is fulfilled: what others do in
	// AWS announces itself by nothing.
	LookAgain = 30 * time.Minute
	// waitAgain is when to look at what waits for a person.
	waitAgain = 5 * time.Minute
	// lookSoon is when to look at what a plan has changed.
	lookSoon = 2 * time.Second
)

// Decide compares the world with what its request wants. It is the whole decision: for
// a request that lives, one that dies, and one that is gone.
func Decide(w World) Plan {
	return Plan{Acting: Act(AskedOf(w)), Again: LookAgain}
}
