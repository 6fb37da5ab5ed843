package iampolicy

// Certainty says what a decision rests on.
type Certainty string

const (
	// Documented is a decision that follows from what AWS documents.
	Documented Certainty = "documented"
	// Assumed is a decision that would be another one if a question that AWS's
	// documentation leaves open had the other answer.
	Assumed Certainty = "assumed"
)

// Question names something that AWS's documentation leaves open. The names
// never change.
type Question string

// The open questions.
const (
	// QuestionManyValues is an operator without set prefix on several values.
	QuestionManyValues Question = "ManyValues"
	// QuestionEmptyList is a condition key that is present without a value.
	QuestionEmptyList Question = "EmptyList"
	// QuestionEmptyValue is Null on a key whose value is the empty text.
	QuestionEmptyValue Question = "EmptyValue"
	// QuestionUnresolvedVariable is a negation with a variable left open.
	QuestionUnresolvedVariable Question = "UnresolvedVariable"
	// QuestionEmptyDefault is a variable with a default, the key being empty.
	QuestionEmptyDefault Question = "EmptyDefault"
	// QuestionUnreadableValue is a value that is not of the operator's type.
	QuestionUnreadableValue Question = "UnreadableValue"
	// QuestionAddressFamilies is an IPv4 range and an IPv6 address, or reverse.
	QuestionAddressFamilies Question = "AddressFamilies"
	// QuestionDateForms is a date and epoch seconds that meet.
	QuestionDateForms Question = "DateForms"
	// QuestionStarOverColons is a star that covers colons in an ARN's last part.
	QuestionStarOverColons Question = "StarOverColons"
	// QuestionEveryoneFederated is "*" and the holder of a web identity token.
	QuestionEveryoneFederated Question = "EveryoneFederated"
	// QuestionEveryoneService is {"AWS": "*"} and an AWS service.
	QuestionEveryoneService Question = "EveryoneService"
	// QuestionEveryoneBoundary is "*", a user, and a boundary that is silent.
	QuestionEveryoneBoundary Question = "EveryoneBoundary"
	// QuestionExceptRole is NotPrincipal with a role, and a session of it.
	QuestionExceptRole Question = "ExceptRole"
	// QuestionForeignSession is a session of another account named by itself.
	QuestionForeignSession Question = "ForeignSession"
	// QuestionForeignRoot is the root user of another account.
	QuestionForeignRoot Question = "ForeignRoot"
	// QuestionColonInVariable is a variable in a resource's ARN whose value has
	// a colon.
	QuestionColonInVariable Question = "ColonInVariable"
)

// Assumption is the answer on which this package decides an open question.
type Assumption struct {
	Question Question `json:"question"`
	// Asked is the question as a sentence.
	Asked string `json:"asked"`
	// Answer is what this package does.
	Answer string `json:"answer"`
}

// Assumptions lists all open questions with the answers taken here. Where one
// answer allows less than the other, and nothing speaks for the other, it is
// the one taken.
func Assumptions() []Assumption {
	return []Assumption{
		{QuestionManyValues, "Does an operator without ForAllValues or ForAnyValue match a key with several values?", "No, whatever the values."},
		{QuestionEmptyList, "Is a key that is present with an empty list absent?", "Yes: ForAllValues is true, ForAnyValue is false."},
		{QuestionEmptyValue, "Does Null call a key absent whose value is the empty text?", "No, it is present."},
		{QuestionUnresolvedVariable, "Does a negated operator or NotResource apply when its variable has no value?", "No; a Deny does not apply then either."},
		{QuestionEmptyDefault, "Does a variable take its default when the key is present and empty?", "No, it takes the empty text."},
		{QuestionUnreadableValue, "What does a condition do with a value that is not of the operator's type, such as a number with an exponent or a range of addresses that cannot be?", "Nothing matches it, and a negated operator is not true either."},
		{QuestionAddressFamilies, "Does a range of IPv4 addresses say anything about an IPv6 address, or the reverse?", "It does not hold it: IpAddress is false, NotIpAddress is true."},
		{QuestionDateForms, "Are a date and the same instant in epoch seconds equal?", "Yes."},
		{QuestionStarOverColons, "Does a star in the last part of a resource's ARN cover colons?", "Yes."},
		{QuestionEveryoneFederated, `Does the principal "*" or {"AWS": "*"} mean the holder of a web identity token?`, "In a Deny it does, in an Allow it does not: a provider has to be trusted by name."},
		{QuestionEveryoneService, `Does the principal {"AWS": "*"} mean AWS services?`, `Yes, as "*" does.`},
		{QuestionEveryoneBoundary, `Does a resource policy that allows "*" let a user of the same account pass a boundary or session policy that is silent?`, "Yes; a role's session it does not."},
		{QuestionExceptRole, "Does a Deny with NotPrincipal spare a role's sessions when it lists the role and not the session?", "Yes."},
		{QuestionForeignSession, "Does a resource policy that names a session of another account stand in for that account's own permission?", "No, both are needed."},
		{QuestionForeignRoot, "Does the root user of another account need a policy of its own besides the resource's?", "No, and no boundary or session policy limits it."},
		{QuestionColonInVariable, "Does a colon in the value of a variable part a resource's ARN?", "No: an ARN is taken apart as the policy's author wrote it."},
	}
}
