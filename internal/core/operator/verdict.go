package operator

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

// Upgrade is one operator of an InstallPlan, and what is known of its role.
type Upgrade struct {
	// CSV is the version that the plan installs, and From the one that is installed; empty for none.
	CSV, From string
	// Old and New are what the two ask for; Old is of no meaning where From is empty.
	Old, New permission.Set
	// NotRead says why the version could not be read; empty where it was.
	NotRead string
	// Namespace is where the operator is.
	Namespace string
	// Values are those of its role; empty where it was given none. References says that variables come
	// from other objects, where nobody looks: a role may be among them.
	Values     map[string]string
	References bool
	// Orphan says that no Subscription names the version, as for a dependency, or for some moments for a
	// new one: nobody can tell which role it has. TakesTokens says that it takes tokens of some cloud.
	Orphan, TakesTokens bool
	// Issuer is that of the cluster's tokens; empty where it is not known.
	Issuer string
	// Role are the documents of its role; nil where they could not be had, and Unread says why.
	Role   *sufficiency.Documents
	Unread string
}

// Judgement is what is said of one operator.
type Judgement struct {
	CSV     string  `json:"csv"`
	From    string  `json:"from,omitempty"`
	Verdict Verdict `json:"verdict"`
	// Digest is that of what the version asks for; empty where that is not known.
	Digest string `json:"digest,omitempty"`
	Why    string `json:"why"`
	// Report is nil where the role was not compared.
	Report *sufficiency.Report `json:"report,omitempty"`
	// Difference is nil where nothing is installed.
	Difference *permission.Difference `json:"difference,omitempty"`
	// Orphan says that the verdict is that no Subscription names the version.
	Orphan bool `json:"-"`
}

// Judge says whether the role of an operator is enough for the version that a plan installs.
func Judge(u Upgrade) Judgement {
	out := Judgement{CSV: u.CSV, From: u.From}
	next := u.New.In(u.Namespace)
	_, known := next.Requests()
	if known {
		out.Digest = next.Digest()
	}
	if u.From != "" {
		difference := permission.Diff(u.Old.In(u.Namespace), next)
		out.Difference = &difference
	}
	out.Verdict, out.Why = u.judge(next, known, &out)
	return out
}

func (u Upgrade) judge(next permission.Set, known bool, out *Judgement) (Verdict, string) {
	requests, _ := next.Requests()
	switch {
	case u.NotRead != "":
		out.Orphan = u.Orphan
		return VerdictUnknown, because("the version could not be read", u.NotRead)
	case u.Orphan && (u.TakesTokens || len(requests) > 0):
		out.Orphan = true
		return VerdictUnknown, "it takes a role by tokens, and no Subscription names this version: it may be a dependency, or OLM has just planned it, so look again in some seconds"
	case len(u.Values) == 0 && u.References:
		return VerdictUnknown, "the Subscription takes variables from other objects, so that it is unknown which role the operator has"
	case len(u.Values) == 0 && next.TokenAuth != permission.Supported:
		return VerdictNotToken, "the operator takes no role by tokens, and was given none"
	case len(u.Values) == 0:
		return VerdictNotToken, "the operator was installed without a role"
	case next.TokenAuth == permission.NotSupported:
		return VerdictUnknown, "the version says that it takes no tokens of this cloud, so that the operator would lose its role"
	case !known:
		return VerdictUnknown, "it is unknown what the version asks the cloud for"
	case next.Incomplete:
		return VerdictUnknown, "a part of what the version asks for could not be read"
	case u.same(next):
		return VerdictNoChange, "the version asks for what the installed one asks for"
	case next.AsksNothing():
		return VerdictSatisfied, "the version declares that it asks the cloud for nothing"
	case u.Values[envRole] == "":
		return VerdictUnknown, "Tabard compares roles of AWS only"
	case u.Role == nil:
		return VerdictUnknown, because("the role's policies were not read", u.Unread)
	}
	report := sufficiency.Check(u.question(next), *u.Role)
	out.Report = &report
	switch report.Verdict {
	case sufficiency.Satisfied:
		return VerdictSatisfied, "the role is enough"
	case sufficiency.Missing:
		return VerdictMissing, "the role is not enough"
	case sufficiency.Unknown:
	}
	return VerdictUnknown, "it is unknown whether the role is enough"
}

// IsOfAWS says that the role is one of AWS: no other is compared.
func (u Upgrade) IsOfAWS() bool { return u.Values[envRole] != "" }

func (u Upgrade) same(next permission.Set) bool {
	if u.From == "" {
		return false
	}
	old := u.Old.In(u.Namespace)
	_, known := old.Requests()
	return known && !old.Incomplete && old.Digest() == next.Digest()
}

// question is what the role shall be enough for.
func (u Upgrade) question(next permission.Set) sufficiency.Question {
	out := sufficiency.Question{Issuer: u.Issuer, Atoms: next.Atoms()}
	requests, _ := next.Requests()
	for _, one := range requests {
		out.Audiences = append(out.Audiences, one.Audiences...)
		for _, account := range one.ServiceAccounts {
			out.Subjects = append(out.Subjects, "system:serviceaccount:"+account.Namespace+":"+account.Name)
		}
	}
	return out
}

// order of verdicts, from what lets a plan pass to what holds it.
var order = [...]Verdict{VerdictNotToken, VerdictNoChange, VerdictSatisfied, VerdictUnknown, VerdictMissing}

// Sum is what several judgements come to: the worst verdict, and the digests of all in one.
func Sum(all []Judgement) (Verdict, string) {
	worst := VerdictNotToken
	var digests []string
	for _, one := range all {
		if slices.Index(order[:], one.Verdict) > slices.Index(order[:], worst) {
			worst = one.Verdict
		}
		if one.Digest != "" {
			digests = append(digests, one.Digest)
		}
	}
	switch len(digests) {
	case 0:
		return worst, ""
	case 1:
		return worst, digests[0]
	}
	sum := sha256.Sum256([]byte(strings.Join(digests, "\n")))
	return worst, "sha256:" + hex.EncodeToString(sum[:])
}
