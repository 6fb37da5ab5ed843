package instancetype

// Question is one question about an instance type.
type Question struct {
	// Type and Region are what is asked.
	Type, Region string
	// Home is a region that works for certain, where the partition's list of
	// regions can be had if Region is in its partition; empty for none.
	Home string
}

// State says what came out of a question.
type State string

// The states of an answer. The zero value is none: nobody has asked.
const (
	// Found: EC2 knows the type, and the answer holds it.
	Found State = "Found"
	// Unknown: EC2 said that there is no such type in the region.
	Unknown State = "Unknown"
	// Incomplete: EC2 knows the type and does not say its vCPUs or its memory.
	Incomplete State = "Incomplete"
	// RegionInvalid: there is no such region.
	RegionInvalid State = "RegionInvalid"
	// RegionNotOptedIn: the account has not asked for the region.
	RegionNotOptedIn State = "RegionNotOptedIn"
)

// Answer is what EC2 said. What went wrong on the way is no answer, but a fault.
type Answer struct {
	State State
	// Type is known if State is Found.
	Type Type
}
