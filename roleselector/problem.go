package roleselector

// Problem is something wrong with a part of an object.
type Problem struct {
	// Field is the part, such as spec.arn.
	Field string
	// Message says what is wrong and what would be right.
	Message string
	// Reason is the reason of the decisions that it blocks; empty for a problem
	// that changes nothing, such as a name that is there twice.
	Reason Reason
}

// String is FIELD: MESSAGE.
func (p Problem) String() string { return p.Field + ": " + p.Message }

// Blocks says that resources are blocked because of it.
func (p Problem) Blocks() bool { return p.Reason != "" }

func invalid(field, message string) Problem { return Problem{field, message, ReasonSelectorInvalid} }

func harmless(field, message string) Problem { return Problem{Field: field, Message: message} }

// firstBlocking is the first problem that blocks, nil for none.
func firstBlocking(problems []Problem) *Problem {
	for i := range problems {
		if problems[i].Blocks() {
			return &problems[i]
		}
	}
	return nil
}
