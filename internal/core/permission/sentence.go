package permission

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Sentence is one thing that an operator asks for, for people.
type Sentence struct {
	Text string `json:"text"`
	// Marks say why it is sensitive; empty where it is not.
	Marks []string `json:"marks,omitempty"`
	// Request is the request that asks for it; empty for what is said of the operator.
	Request string `json:"request,omitempty"`
}

// Sentences say what an operator asks for, what is sensitive first, and then who becomes the role.
// Where nobody says what is asked for, they say that.
func (s Set) Sentences() []Sentence {
	requests, known := s.Requests()
	switch {
	case !known:
		return []Sentence{{Text: "It is unknown what the operator asks the cloud for: no source tells."}}
	case len(requests) == 0:
		return []Sentence{{Text: "The operator declares that it asks the cloud for nothing."}}
	}
	var out []Sentence
	for _, atom := range s.Atoms() {
		out = append(out, Sentence{atom.Sentence(), atom.Marks(), atom.Request})
	}
	slices.SortStableFunc(out, func(a, b Sentence) int {
		return cmp.Compare(min(1, len(b.Marks)), min(1, len(a.Marks)))
	})
	if s.Incomplete {
		out = append(out, Sentence{Text: "It asks for more than this: parts of the source could not be read."})
	}
	for _, r := range requests {
		out = append(out, Sentence{Text: r.trust(), Request: r.Name})
	}
	return out
}

// trust says who becomes the role.
func (r Request) trust() string {
	var who []string
	for _, account := range r.ServiceAccounts {
		who = append(who, account.Namespace+"/"+account.Name)
	}
	tokens := " by tokens for the audience " + strings.Join(r.Audiences, " or ")
	if r.AudiencesAssumed {
		tokens += " (assumed: no source tells)"
	}
	if len(who) == 0 {
		return "which ServiceAccount becomes the role is not said; it does so" + tokens
	}
	return "ServiceAccount " + strings.Join(who, " and ") + " becomes the role" + tokens
}

// Sentence says what the atom is, such as "may read objects (s3:GetObject) of arn:aws:s3:::b/*".
// Words stand only for what the name of an action makes certain.
func (a Atom) Sentence() string {
	switch {
	case a.Cloud == AWS:
		return a.sentenceAWS()
	case a.Kind == KindRole:
		return "gets the role " + a.Value
	case a.Kind == KindDataPermission:
		return "may do " + a.Value + " with data"
	default:
		return "may do " + a.Value
	}
}

func (a Atom) sentenceAWS() string {
	out := "may " + asked(a.Action)
	if a.Effect == "Deny" {
		out = "may never " + asked(a.Action)
	}
	if isAnything(a.Resource) {
		out += " every resource"
	} else {
		out += " " + a.Resource
	}
	if a.Condition != "" {
		out += ", only if " + a.Condition.sentence()
	}
	return out
}

// asked is what an action does, with the word that leads to its resource.
func asked(action string) string {
	service, name := cutAction(action)
	switch {
	case isAnything(service) && isAnything(name):
		return "do anything (" + action + ") with"
	case isAnything(name):
		return "do anything in " + service + " (" + action + ") with"
	}
	is, rest := cutVerb(name)
	verb := map[meaning]string{reads: "read", writes: "write", deletes: "delete"}[is]
	switch noun := nounOf(rest); {
	case is == unsaid:
		return "call " + action + " on"
	case noun == "":
		return verb + " (" + action + ")"
	default:
		return verb + " " + noun + " (" + action + ") of"
	}
}

// nounOf is what a name speaks of, in words; empty where a wildcard leaves that open.
func nounOf(name string) string {
	if strings.ContainsAny(name, "*?") {
		return ""
	}
	var words []string
	begin := 0
	letters := []rune(name)
	for i := 1; i <= len(letters); i++ {
		ends := i == len(letters) || unicode.IsUpper(letters[i]) &&
			(!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if !ends {
			continue
		}
		word := string(letters[begin:i])
		if len(word) == 1 || word != strings.ToUpper(word) { // which are abbreviations, as VPC is
			word = strings.ToLower(word)
		}
		words = append(words, word)
		begin = i
	}
	noun := strings.Join(words, " ")
	switch {
	case noun == "" || strings.HasSuffix(noun, "s") || strings.HasSuffix(noun, "ing"):
		return noun
	case strings.HasSuffix(noun, "y") && !strings.ContainsAny(noun[max(0, len(noun)-2):len(noun)-1], "aeiou"):
		return strings.TrimSuffix(noun, "y") + "ies"
	default:
		return noun + "s"
	}
}
