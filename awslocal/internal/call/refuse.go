package call

// A service's operations end at their first fault: they read like the list of
// what AWS checks, in its order, and none can go on after a fault that somebody
// forgot to look at. Within a package that is a panic, as in the standard
// library's parsers; Answer is where it ends.

// refusal is a fault on its way to Answer.
type refusal struct{ fault *Fault }

// Refuse ends the operation with a fault.
func Refuse(fault *Fault) { panic(refusal{fault}) }

// Check ends the operation if there is a fault.
func Check(fault *Fault) {
	if fault != nil {
		Refuse(fault)
	}
}

// Must is a value without which the operation ends.
func Must[T any](value T, fault *Fault) T {
	Check(fault)
	return value
}

// Answer runs an operation to its end or its first fault.
func Answer[T any](operation func() T) (result T, fault *Fault) {
	defer func() {
		switch thrown := recover().(type) {
		case nil:
		case refusal:
			fault = thrown.fault
		default:
			panic(thrown)
		}
	}()
	return operation(), nil
}
