package permission_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// chance makes small sets that are near to each other.
type chance struct{ *rand.Rand }

func newChance(seed, more uint64) chance { return chance{rand.New(rand.NewPCG(seed, more))} }

func (c chance) pick(all ...string) string { return all[c.IntN(len(all))] }

func (c chance) action() string {
	return c.pick("*", "s3:*", "s3:Get*", "s3:GetObject", "S3:getobject", "s3:PutObject", "s3:?etObject", "iam:PassRole", "sqs:*", "sqs:SendMessage", "ec2:Describe*")
}

func (c chance) resource() string {
	return c.pick("*", objects, "arn:aws:s3:::b/data/*", "arn:aws:s3:::*", "arn:aws:s3:::b/?", "arn:aws:s3:::b/${aws:PrincipalTag/t}/*", queue, "arn:aws:sqs:*:111122223333:*", "arn:aws:s3:::b*")
}

func (c chance) statement() permission.Statement {
	out := permission.Statement{Effect: "Allow", Resource: c.resource()}
	for range 1 + c.IntN(3) {
		out.Actions = append(out.Actions, c.action())
	}
	if c.IntN(4) == 0 {
		out.Effect = "Deny"
	}
	if c.IntN(3) == 0 {
		out.Condition = permission.Condition(c.pick(`{"Bool":{"aws:SecureTransport":["true"]}}`, `{"StringEquals":{"aws:RequestedRegion":["a","b"]}}`, `{"StringEquals":{"aws:RequestedRegion":["a"]}}`))
	}
	return out
}

func (c chance) request() permission.Request {
	out := permission.Request{
		Name: c.pick("p", "q", "r"), Secret: permission.Secret{Namespace: c.pick("a", permission.InstallNamespace), Name: c.pick("creds", "other")},
		TokenPath: c.pick("", "", "/t"), Audiences: []string{c.pick("openshift", "openshift", "sts.amazonaws.com")},
		ServiceAccounts: []permission.ServiceAccount{{Namespace: permission.InstallNamespace, Name: c.pick("operator", "operator", "agent")}},
	}
	if c.IntN(4) == 0 {
		out.ServiceAccounts = append(out.ServiceAccounts, permission.ServiceAccount{Namespace: "a", Name: "agent"})
	}
	switch c.IntN(8) {
	case 0:
		out.Azure = &permission.AzureRequest{Roles: []string{c.pick("Owner", "Reader")}, Permissions: []string{c.pick("*", "A/write", "a/Write")}, DataPermissions: []string{c.pick("A/write", "A/read")}}
	case 1:
		out.GCP = &permission.GCPRequest{PredefinedRoles: []string{c.pick("roles/owner", "roles/viewer")}, Permissions: []string{c.pick("storage.objects.get", "iam.serviceAccounts.actAs")}}
	default:
		out.AWS = &permission.AWSRequest{}
		for range c.IntN(4) {
			out.AWS.Statements = append(out.AWS.Statements, c.statement())
		}
	}
	return out
}

func (c chance) requests() []permission.Request {
	out := []permission.Request{}
	for range c.IntN(4) {
		out = append(out, c.request())
	}
	return out
}

// near are requests like others.
func (c chance) near(all []permission.Request) []permission.Request {
	out := []permission.Request{}
	for _, r := range all {
		switch c.IntN(5) {
		case 0:
			r = c.request()
		case 1:
			continue
		case 2:
			r.Name = c.pick("p", "q", "r")
		case 3:
			if r.AWS != nil && len(r.AWS.Statements) > 0 {
				statements := slices.Clone(r.AWS.Statements)
				other, at := c.statement(), c.IntN(len(statements))
				switch c.IntN(3) {
				case 0:
					statements[at].Actions = other.Actions
				case 1:
					statements[at].Resource = other.Resource
				default:
					statements[at].Condition = other.Condition
				}
				r.AWS = &permission.AWSRequest{Statements: statements}
			}
		}
		out = append(out, r)
	}
	if c.IntN(4) == 0 {
		out = append(out, c.request())
	}
	return out
}

// set is one with these requests; sometimes one of which nothing is known.
func (c chance) set(requests []permission.Request) permission.Set {
	if c.IntN(10) == 0 {
		return permission.Nothing(c.subject())
	}
	return permission.SetOf(c.subject(), requests)
}

func (c chance) subject() permission.Subject {
	out := subject
	out.TokenAuth = []permission.Support{"", permission.Supported, permission.NotSupported}[c.IntN(3)]
	return out
}

func isEqual(a, b permission.Canonical) bool {
	return a.Known == b.Known && slices.Equal(a.Atoms, b.Atoms) && slices.Equal(a.Facts, b.Facts)
}

// checkContained fails where atoms that a change says are inside others are not, as whole policies
// tell. What is denied is compared as if it were allowed.
func checkContained(t *testing.T, inner, outer []permission.Atom) {
	t.Helper()
	policy := func(atoms []permission.Atom) *iampolicy.Policy {
		var out iampolicy.Document
		for _, a := range atoms {
			out = append(out, iampolicy.Statement{Actions: []string{a.Action}, Resources: []string{a.Resource}, Conditions: a.Condition.Tests()})
		}
		return must.Get(iampolicy.Parse([]byte(out.String())))(t)
	}
	if got := iampolicy.Contains(policy(outer), policy(inner)); got.Answer != iampolicy.Yes {
		t.Fatalf("%+v\ninner %+v\nouter %+v", got, inner, outer)
	}
}

// checkDiff says which classes a difference has, and fails where it is none of the two sets.
func checkDiff(t *testing.T, seed, more uint64) []string {
	t.Helper()
	c := newChance(seed, more)
	requests := c.requests()
	a, b := c.set(requests), c.set(c.near(requests))
	d := permission.Diff(a, b)
	from, to := a.Canonical(), b.Canonical()
	if got := d.Apply(from); !isEqual(got, to) {
		t.Fatalf("what the difference makes of the first set is not the second: %s", cmp.Diff(to, got))
	}
	for _, change := range d.Changes {
		if change.Text == "" || (len(change.From)+len(change.To) > 0) == (len(change.FactsFrom)+len(change.FactsTo) > 0) {
			t.Fatalf("%+v says nothing, or two things", change)
		}
		switch change.Class {
		case permission.ClassWidened:
			checkContained(t, change.From, change.To)
		case permission.ClassNarrowed:
			checkContained(t, change.To, change.From)
		}
	}
	if isSame := isEqual(from, to); isSame != (len(d.Changes) == 0 && from.Known == to.Known) {
		t.Fatalf("the sets are the same: %v, and the changes are %+v", isSame, d.Changes)
	}
	if d.Verdict == permission.VerdictSame && a.Digest() != b.Digest() {
		t.Fatal("two digests of the same")
	}
	return classesOf(d)
}

// checkSame fails where a set differs from itself.
func checkSame(t *testing.T, seed, more uint64) {
	t.Helper()
	c := newChance(seed, more)
	requests := c.requests()
	a := c.set(requests)
	d := permission.Diff(a, a)
	_, known := a.Requests()
	if len(d.Changes) > 0 || len(d.Findings) > 0 || known && !a.Incomplete && d.Verdict != permission.VerdictSame || !known && d.Verdict != permission.VerdictUnknown {
		t.Fatalf("%+v", d)
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var read permission.Set
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !isEqual(a.Canonical(), read.Canonical()) || read.AsksNothing() != a.AsksNothing() {
		t.Fatalf("written and read it is another set: %s\n%s", cmp.Diff(a.Canonical(), read.Canonical()), text)
	}
	for _, document := range a.Policy().Documents {
		accepted(t, document)
	}
}

func FuzzDiffApplied(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed, uint64(0))
	}
	f.Fuzz(func(t *testing.T, seed, more uint64) { checkDiff(t, seed, more) })
}

func FuzzDiffOfTheSame(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed, uint64(0))
	}
	f.Fuzz(func(t *testing.T, seed, more uint64) { checkSame(t, seed, more) })
}

func TestTheFuzzSeesAllClasses(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(1000) {
		for _, class := range checkDiff(t, seed, 1) {
			counts[class]++
		}
	}
	t.Log(counts)
	for _, class := range []string{"added", "removed", "widened", "narrowed", "changed", "subject", "secret", "tokenPath", "support", "unknown"} {
		if counts[class] < 20 {
			t.Errorf("%s is seen only %d times", class, counts[class])
		}
	}
}

// FuzzRead holds that no text is taken for a declaration of nothing but an empty list, and that
// what is told has no characters that a terminal acts on.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"", "[]", "[ ]", "null", "{}", "[{}]", "[null]", "[[]]", "- a", "a: &a [*a]", "---\n---\n", "[" + request(accounts, entry(objects, "s3:*")) + "]", "\x00", "[\"\x1b\"]", strings.Repeat("[", 20000), "kind: List\nitems: []"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		annotation := declared(string(text))
		files := permission.ReadFiles(subject, permission.SourceRequests, "f", []permission.File{{Name: "f.yaml", Text: text}})
		var list []any
		if annotation.AsksNothing() && (json.Unmarshal(text, &list) != nil || len(list) > 0 || list == nil) {
			t.Fatalf("%q is taken for a declaration of nothing", text)
		}
		for _, set := range []permission.Set{annotation, files} {
			if _, err := json.Marshal(set); err != nil {
				t.Fatal(err)
			}
			lines := texts(set)
			for _, finding := range set.Findings {
				lines = append(lines, finding.Path, finding.Message)
			}
			for _, line := range lines {
				if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e }) {
					t.Fatalf("%q", line)
				}
			}
		}
	})
}
