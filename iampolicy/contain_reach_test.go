package iampolicy

import "testing"

func TestReaches(t *testing.T) {
	const issuers, own = "arn:aws:s3:::issuer-keys", roles + "tabard/minter"
	goal := []string{permit("s3:*", issuers+" "+issuers+"/*"), forbid("s3:Get* s3:List*", issuers+" "+issuers+"/*"), permit("iam:* sts:*", own)}
	bound := []string{permit("*", "*"), forbid("!s3:Get* s3:List*", issuers+" "+issuers+"/*"), forbid("iam:* sts:*", own)}
	secure := when("Bool", "aws:SecureTransport", "true")
	for name, row := range map[string]struct {
		asked, bound []string
		want         bool
	}{
		"everything, under a bound that denies the goal":         {one(permit("*", "*")), bound, false},
		"all of a service, under it":                             {one(permit("s3:*", "*")), bound, false},
		"an action that has no resource":                         {one(permit("sts:GetCallerIdentity", "*")), bound, false},
		"all of a service, under a bound that denies nothing":    {one(permit("s3:*", "*")), one(permit("*", "*")), true},
		"reading, which is not the goal, under no Deny":          {one(permit("s3:GetObject", "*")), one(permit("*", "*")), false},
		"a bound that leaves out one of two":                     {one(permit("*", "*")), bound[:2], true},
		"a bound that denies a part":                             {one(permit("s3:*", "*")), append([]string{forbid("s3:PutObject", issuers+"/*")}, permit("*", "*")), true},
		"a bound that denies under a condition":                  {one(permit("s3:*", "*")), []string{permit("*", "*"), forbid("s3:*", issuers+"*", secure)}, true},
		"a bound that denies under the condition of what allows": {one(permit("s3:*", "*", secure)), []string{permit("*", "*"), forbid("s3:*", issuers+"*", secure)}, false},
		"a bound that allows something else":                     {one(permit("*", "*")), one(permit("sqs:*", "*")), false},
		"a bound that allows the goal alone":                     {one(permit("*", "*")), one(permit("s3:PutObject", issuers+"/*")), true},
		"asked and bound deny it together":                       {[]string{permit("s3:*", "*"), forbid("s3:Put*", "*")}, []string{permit("*", "*"), forbid("!s3:Put*", issuers+"*")}, false},
		"a bound that allows nothing":                            {one(permit("s3:*", "*")), one(), false},
		"asked and bound each allow another part of the goal":    {one(permit("iam:PassRole", "*")), one(permit("iam:GetRole", "*")), false},
		"asked and bound each allow the goal of another place":   {one(permit("s3:PutObject", issuers+"/a*")), one(permit("s3:PutObject", issuers+"/b*")), false},
		"asked and bound meet in a part of the goal":             {one(permit("s3:Put*", issuers+"/a*")), one(permit("s3:*Object", issuers+"/*b")), true},
		"a bound by what it does not allow":                      {one(permit("s3:PutObject", "*")), one(permit("!s3:Put*", "*")), false},
		"a bound by what it does not allow, and something else":  {one(permit("s3:*", "*")), one(permit("!s3:Put*", "*")), true},
		"nothing asked":                {one(), bound, false},
		"another bucket":               {one(permit("s3:*", keys)), one(permit("*", "*")), false},
		"a variable may be the bucket": {one(permit("s3:*", "arn:aws:s3:::${aws:PrincipalTag/b}/*")), one(permit("*", "*")), true},
		"a variable may be the bucket, which the bound denies": {one(permit("s3:*", "arn:aws:s3:::${aws:PrincipalTag/b}/*")), bound, false},
		"a Deny of the bound with a variable denies nothing":   {one(permit("s3:*", "*")), []string{permit("*", "*"), forbid("*", "arn:aws:s3:::${aws:username}*")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := Reaches(policyOf(t, goal...), policyOf(t, row.asked...), policyOf(t, row.bound...))
			if got != row.want || got != (why != "") {
				t.Errorf("Reaches() = %v, %q, want %v", got, why, row.want)
			}
		})
	}
	for name, row := range map[string]struct {
		goal, asked, bound *Policy
		want               bool
	}{
		"a nil goal":        {nil, policyOf(t, permit("*", "*")), nil, false},
		"a nil policy":      {policyOf(t, goal...), nil, nil, false},
		"no bound":          {policyOf(t, goal...), policyOf(t, permit("*", "*")), nil, true},
		"no bound, denied":  {policyOf(t, goal...), policyOf(t, permit("*", "*"), forbid("*", "*")), nil, false},
		"no bound, nothing": {policyOf(t, goal...), policyOf(t, permit("sqs:*", "*")), nil, false},
	} {
		if may, why := Reaches(row.goal, row.asked, row.bound); may != row.want || may != (why != "") {
			t.Errorf("%s: %v, %q, want %v", name, may, why, row.want)
		}
	}
	_, why := Reaches(policyOf(t, goal...), policyOf(t, permit("sqs:*", "*"), permit("s3:Put*", "*")), policyOf(t, permit("*", "*")))
	if want := `statement 2 allows s3:Put* on *`; why != want {
		t.Errorf("Reaches() says %q, want %q", why, want)
	}
}

// checkReaches says what Reaches answered, and fails if a request shows that it is wrong.
func checkReaches(t *testing.T, seed, more uint64) bool {
	t.Helper()
	g := newSmall(seed, more)
	asked := g.document()
	bound, goal := g.near(asked), g.near(asked)
	a, b, target := read(t, asked), read(t, bound), read(t, goal)
	may, why := Reaches(target, a, b)
	if may {
		if why == "" {
			t.Fatal("no reason")
		}
		return true
	}
	for range 40 {
		r := g.request(asked, goal)
		if Evaluate(r, &Policies{Identity: []*Policy{a}, Boundary: b}).Allowed() && allows(target, r) {
			t.Fatalf("Reaches() is false, yet %s on %s with %v is allowed\nasked %s\nbound %s\ngoal %s", r.Action, r.Resource, r.Context, asked.text(), bound.text(), goal.text())
		}
	}
	return false
}

func FuzzReaches(f *testing.F) {
	for seed := range uint64(2000) {
		f.Add(seed, uint64(0))
	}
	f.Fuzz(func(t *testing.T, seed, more uint64) { checkReaches(t, seed, more) })
}

func TestTheFuzzOfReachesSeesBothAnswers(t *testing.T) {
	counts := map[bool]int{}
	for seed := range uint64(2000) {
		counts[checkReaches(t, seed, 1)]++
	}
	if t.Log(counts); counts[true] < 100 || counts[false] < 100 {
		t.Errorf("the answers are %v", counts)
	}
}
