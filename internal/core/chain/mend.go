package chain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

// statement is one statement of a trust policy, with what is not known of it as it is.
type statement credentials.Statement

// statementAt is a copy of a statement.
func (a *admission) statementAt(index int) statement {
	if index >= len(a.statements) {
		return statement{}
	}
	return statement(maps.Clone(a.statements[index]))
}

// setAction is the statement with the action by which tokens become roles. It is nil where the statement
// does not name the ServiceAccounts that it is for: with the action it would let in whoever comes.
func (s statement) setAction(a *admission) statement {
	var all map[string]map[string]json.RawMessage
	if json.Unmarshal(s["Condition"], &all) != nil || len(values(all["StringEquals"][a.bare+":sub"])) == 0 {
		return nil
	}
	s["Action"] = raw(assumeWithToken)
	return s
}

// conditions is the statement with conditions that admit the token, and nil where a statement more is
// safer. Whom it admits, it still does. A statement that compares with names that no token has, such as
// one with a star or of another issuer, admits nobody: it is made for the token. Another one has to ask
// about subject and audience by StringEquals, and gets the token's as one more value of each.
func (s statement) conditions(a *admission) statement {
	var all map[string]map[string]json.RawMessage
	if json.Unmarshal(s["Condition"], &all) != nil {
		return nil
	}
	asks := questions{alive: map[string][]string{}}
	for operator, keys := range all {
		for key, value := range keys {
			claim, is := sufficiency.Claim(key)
			if !is {
				continue
			}
			if operator != "StringEquals" && operator != "StringLike" {
				return nil
			}
			asks.take(operator, claim, strings.EqualFold(key, a.bare+":"+claim), values(value))
			delete(keys, key)
		}
		if len(keys) == 0 {
			delete(all, operator)
		}
	}
	if asks.patterns || !asks.dead && len(asks.alive) < 2 {
		return nil
	}
	if all["StringEquals"] == nil {
		all["StringEquals"] = map[string]json.RawMessage{}
	}
	for claim, value := range map[string]string{"sub": a.tokenSubject(), "aud": a.audience} {
		kept := asks.alive[claim]
		if !slices.Contains(kept, value) {
			kept = append(kept, value)
		}
		all["StringEquals"][a.bare+":"+claim] = raw(oneOrMany(kept))
	}
	s["Condition"] = raw(all)
	return s
}

// questions are what the conditions of a statement ask about the claims of a token.
type questions struct {
	// alive are the values that a token of the issuer may have, by claim.
	alive map[string][]string
	// dead says that a condition holds for no token of the issuer.
	dead bool
	// patterns says that a condition admits by a pattern, which no list of names says.
	patterns bool
}

// take adds a condition; own says that its key is of the issuer that the principal is.
func (q *questions) take(operator, claim string, own bool, values []string) {
	if !own { // the key is in no token of the issuer
		q.dead = true
		return
	}
	if operator == "StringLike" {
		q.patterns = true
		return
	}
	values = slices.DeleteFunc(values, func(text string) bool {
		return strings.ContainsAny(text, "*?") || (claim == "aud") == strings.HasPrefix(text, "system:serviceaccount:")
	})
	q.dead = q.dead || len(values) == 0
	q.alive[claim] = append(q.alive[claim], values...)
}

func values(value json.RawMessage) []string {
	var one string
	if json.Unmarshal(value, &one) == nil {
		return []string{one}
	}
	var many []string
	if json.Unmarshal(value, &many) != nil {
		return nil
	}
	return many
}

func oneOrMany(all []string) any {
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// with is the trust policy with one statement in place of another.
func (a *admission) with(index int, s statement) string {
	if index >= len(a.statements) || s == nil {
		return ""
	}
	all := slices.Clone(a.statements)
	all[index] = credentials.Statement(s)
	return a.whole(all)
}

// whole is the trust policy with other statements.
func (a *admission) whole(all []credentials.Statement) string {
	var statements []json.RawMessage
	for _, one := range all {
		statements = append(statements, ordered(one, "Sid", "Effect", "Principal", "Action", "Condition"))
	}
	document := maps.Clone(a.document)
	document["Statement"] = raw(statements)
	return string(ordered(document, "Version", "Id", "Statement"))
}

// ordered is an object with some members first, as people write policies.
func ordered(object map[string]json.RawMessage, first ...string) json.RawMessage {
	names := slices.Sorted(maps.Keys(object))
	slices.SortStableFunc(names, func(a, b string) int { return place(first, a) - place(first, b) })
	var out bytes.Buffer
	for i, name := range names {
		out.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		out.Write(raw(name))
		out.WriteByte(':')
		out.Write(object[name])
	}
	return append(out.Bytes(), '}')
}

func place(first []string, name string) int {
	if at := slices.Index(first, name); at >= 0 {
		return at
	}
	return len(first)
}

// mend gives a finding the command that corrects the trust policy. Where no corrected document is
// given, or it does not admit the token, a statement for the token is added.
func (a *admission) mend(f *Finding, corrected string) {
	if corrected == "" || !a.admits(corrected) {
		var added credentials.Statement
		if err := json.Unmarshal(raw(iampolicy.WebIdentity(a.provider, a.audience, a.tokenSubject())), &added); err != nil {
			panic("chain: what was encoded does not decode: " + err.Error())
		}
		corrected = a.whole(append(slices.Clone(a.statements), added))
	}
	f.Mend = []string{"aws iam update-assume-role-policy --role-name " + line.Word(a.name) + " --policy-document " + line.Quoted(corrected)}
	f.Note = "It adds this token. Whoever is admitted today still is: remove by hand what is not needed."
	if room, err := iampolicy.RoomIn(iampolicy.TrustQuota, []byte(corrected)); err == nil && room.Left < 0 {
		f.Note = fmt.Sprintf("The document has %d characters, and AWS allows %d without a raised quota: take out what nobody needs.", room.Used, room.Limit)
	}
}

// admits says whether a trust policy admits the token.
func (a *admission) admits(document string) bool {
	policy, err := iampolicy.Parse([]byte(document))
	return err == nil && iampolicy.Evaluate(a.policy.Request(a.tokenSubject(), a.audience), &iampolicy.Policies{Resource: policy}).Allowed()
}

// raw is a value in JSON.
func raw(value any) json.RawMessage { return json.RawMessage(credentials.Encoded(value)) }
