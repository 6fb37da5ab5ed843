package iampolicy

import "testing"

// The caller, the resource and the accounts of most tests.
const (
	account = "123456789012"
	alice   = "arn:aws:iam::123456789012:user/alice"
	bob     = "arn:aws:iam::111122223333:user/bob"
	session = "arn:aws:sts::123456789012:assumed-role/app/s1"
	rootARN = "arn:aws:iam::123456789012:root"
	issuer  = "arn:aws:iam::123456789012:oidc-provider/idp.example/x"
	object  = "arn:aws:s3:::app-data/k"
)

// statementOf writes a policy with one statement.
func statementOf(sid, effect, more string) string {
	return `{"Version":"2012-10-17","Statement":{"Sid":"` + sid + `","Effect":"` + effect + `",` + more + `}}`
}

func TestEvaluateNamesWhatDecided(t *testing.T) {
	const get = `"Action":"s3:GetObject","Resource":"*"`
	const other = `"Action":"iam:GetRole","Resource":"*"`
	const assume = `"Action":"sts:AssumeRoleWithWebIdentity"`
	allow, deny, silent := statementOf("A", "Allow", get), statementOf("D", "Deny", get), statementOf("S", "Allow", other)
	grant := func(effect, principal string) string {
		return statementOf("R", effect, `"Principal":`+principal+`,`+get)
	}
	except := func(principal string) string { return statementOf("N", "Deny", `"NotPrincipal":`+principal+`,`+get) }
	type given struct{ caller, action, identity, boundary, session, resource string }
	for name, test := range map[string]struct {
		given given
		want  Decision
	}{
		"nothing allows":                               {given{}, Decision{ImplicitDeny, IdentityPolicy, ""}},
		"the identity policy allows":                   {given{identity: allow}, Decision{Allow, IdentityPolicy, "A"}},
		"the identity policy denies":                   {given{identity: deny, resource: grant("Allow", `"*"`)}, Decision{ExplicitDeny, IdentityPolicy, "D"}},
		"the boundary is silent":                       {given{identity: allow, boundary: silent}, Decision{ImplicitDeny, BoundaryPolicy, ""}},
		"the boundary denies":                          {given{identity: allow, boundary: deny}, Decision{ExplicitDeny, BoundaryPolicy, "D"}},
		"the session policy is silent":                 {given{caller: session, identity: allow, session: silent}, Decision{ImplicitDeny, SessionPolicy, ""}},
		"the session policy denies":                    {given{caller: session, identity: allow, session: deny}, Decision{ExplicitDeny, SessionPolicy, "D"}},
		"the resource policy denies":                   {given{identity: allow, resource: grant("Deny", `"*"`)}, Decision{ExplicitDeny, ResourcePolicy, "R"}},
		"a Deny for the account hits its users":        {given{identity: allow, resource: grant("Deny", `{"AWS":"123456789012"}`)}, Decision{ExplicitDeny, ResourcePolicy, "R"}},
		"the resource policy names the user":           {given{resource: grant("Allow", `{"AWS":"`+alice+`"}`), boundary: silent}, Decision{Allow, ResourcePolicy, "R"}},
		"the resource policy names the account":        {given{resource: grant("Allow", `{"AWS":"`+rootARN+`"}`)}, Decision{ImplicitDeny, IdentityPolicy, ""}},
		"the role is named but the boundary is silent": {given{caller: session, boundary: silent, resource: grant("Allow", `{"AWS":"arn:aws:iam::123456789012:role/app"}`)}, Decision{ImplicitDeny, BoundaryPolicy, ""}},
		"everyone is named but the session is limited": {given{caller: session, session: silent, resource: grant("Allow", `"*"`)}, Decision{ImplicitDeny, SessionPolicy, ""}},
		"a foreign user lacks the resource's side":     {given{caller: bob, identity: allow}, Decision{ImplicitDeny, ResourcePolicy, ""}},
		"a foreign user lacks its own side":            {given{caller: bob, resource: grant("Allow", `"*"`)}, Decision{ImplicitDeny, IdentityPolicy, ""}},
		"a foreign user is limited by its boundary":    {given{caller: bob, identity: allow, boundary: silent, resource: grant("Allow", `{"AWS":"`+bob+`"}`)}, Decision{ImplicitDeny, BoundaryPolicy, ""}},
		"a foreign root needs the resource's side":     {given{caller: "arn:aws:iam::111122223333:root"}, Decision{ImplicitDeny, ResourcePolicy, ""}},
		"a foreign root with the resource's side":      {given{caller: "arn:aws:iam::111122223333:root", resource: grant("Allow", `{"AWS":"111122223333"}`)}, Decision{Allow, ResourcePolicy, "R"}},
		"variables are plain text in an action":        {given{identity: statementOf("A", "Allow", `"Action":"s3:${aws:x, 'GetObject'}","Resource":"*"`)}, Decision{ImplicitDeny, IdentityPolicy, ""}},
		"NotPrincipal hits everyone with a boundary":   {given{identity: allow, boundary: allow, resource: except(`"*"`)}, Decision{ExplicitDeny, ResourcePolicy, "N"}},
		"NotPrincipal hits a limited role's session":   {given{caller: session, identity: allow, boundary: allow, resource: except(`{"AWS":["` + session + `","arn:aws:iam::123456789012:role/app"]}`)}, Decision{ExplicitDeny, ResourcePolicy, "N"}},
		"an account's root assumes what names it":      {given{caller: rootARN, action: "sts:AssumeRole", resource: statementOf("R", "Allow", `"Principal":{"AWS":"`+account+`"},"Action":"sts:AssumeRole"`)}, Decision{Allow, IdentityPolicy, ""}},
		"root may everything":                          {given{caller: rootARN}, Decision{Allow, IdentityPolicy, ""}},
		"root is stopped by the resource's policy":     {given{caller: rootARN, resource: grant("Deny", `"*"`)}, Decision{ExplicitDeny, ResourcePolicy, "R"}},
		"root assumes no role that does not trust it":  {given{caller: rootARN, action: "sts:AssumeRole"}, Decision{ImplicitDeny, ResourcePolicy, ""}},
		"anonymous is no account":                      {given{caller: "anonymous", resource: grant("Allow", `{"AWS":"123456789012"}`)}, Decision{ImplicitDeny, ResourcePolicy, ""}},
		"a service is not a federated principal":       {given{caller: "a.b.com", resource: grant("Allow", `{"Federated":"a.b.com"}`)}, Decision{ImplicitDeny, ResourcePolicy, ""}},
		"a Deny for everyone hits a web identity":      {given{caller: issuer, action: "sts:AssumeRoleWithWebIdentity", resource: `{"Statement":[{"Effect":"Allow","Principal":{"Federated":"` + issuer + `"},` + assume + `},{"Sid":"X","Effect":"Deny","Principal":"*",` + assume + `}]}`}, Decision{ExplicitDeny, ResourcePolicy, "X"}},
		"session tags need the trust policy":           {given{identity: statementOf("A", "Allow", `"Action":"*","Resource":"*"`), action: "sts:TagSession"}, Decision{ImplicitDeny, ResourcePolicy, ""}},
		"a caller may always ask who it is":            {given{identity: statementOf("A", "Deny", `"Action":"*","Resource":"*"`), action: "sts:GetCallerIdentity"}, Decision{Allow, IdentityPolicy, ""}},
		"anonymous may not ask who it is":              {given{caller: "anonymous", action: "sts:GetCallerIdentity"}, Decision{ImplicitDeny, ResourcePolicy, ""}},
		"NotPrincipal hits who is not listed":          {given{identity: allow, resource: except(`{"AWS":"` + bob + `"}`)}, Decision{ExplicitDeny, ResourcePolicy, "N"}},
		"NotPrincipal spares who is listed":            {given{identity: allow, resource: except(`{"AWS":"` + alice + `"}`)}, Decision{Allow, IdentityPolicy, "A"}},
		"NotPrincipal with the account spares nobody":  {given{identity: allow, resource: except(`{"AWS":"` + rootARN + `"}`)}, Decision{ExplicitDeny, ResourcePolicy, "N"}},
		"NotPrincipal hits all who have a boundary":    {given{identity: allow, boundary: allow, resource: except(`{"AWS":"` + alice + `"}`)}, Decision{ExplicitDeny, ResourcePolicy, "N"}},
		"NotPrincipal allows nobody":                   {given{resource: statementOf("N", "Allow", `"NotPrincipal":{"AWS":"`+bob+`"},`+get)}, Decision{ImplicitDeny, IdentityPolicy, ""}},
		"a bucket policy without resources says nothing": {given{resource: statementOf("R", "Allow", `"Principal":"*","Action":"*"`)},
			Decision{ImplicitDeny, IdentityPolicy, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			g := test.given
			request := &Request{Principal: principalOf(orElse(g.caller, alice)), Action: orElse(g.action, "s3:GetObject"),
				Resource: object, ResourceAccountID: account, Context: NewContext()}
			policies := &Policies{}
			if g.identity != "" {
				policies.Identity = []*Policy{nil, mustParse(t, g.identity)}
			}
			if g.boundary != "" {
				policies.Boundary = mustParse(t, g.boundary)
			}
			if g.session != "" {
				policies.Session = []*Policy{mustParse(t, g.session)}
			}
			if g.resource != "" {
				policies.Resource = mustParse(t, g.resource)
			}
			if got := Evaluate(request, policies); got != test.want {
				t.Errorf("Evaluate() = %+v, want %+v", got, test.want)
			}
		})
	}
}

// orElse returns the first text, or the second if the first is empty.
func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func TestSessionPoliciesAreUnited(t *testing.T) {
	request := &Request{Principal: principalOf(session), Action: "s3:GetObject", Resource: object, ResourceAccountID: account}
	all := mustParse(t, statementOf("A", "Allow", `"Action":"*","Resource":"*"`))
	roles := mustParse(t, statementOf("B", "Allow", `"Action":"iam:*","Resource":"*"`))
	policies := &Policies{Identity: []*Policy{all}, Session: []*Policy{roles, all}}
	if got := Evaluate(request, policies); !got.Allowed() {
		t.Errorf("Evaluate() = %+v, want what one of the session's policies allows", got)
	}
}

func TestRestrictPublicBuckets(t *testing.T) {
	for name, test := range map[string]struct {
		caller, principal string
		want              Effect
	}{
		"a foreign account loses what a public policy gives":  {bob, `"*"`, ImplicitDeny},
		"a foreign account keeps what a named grant gives":    {bob, `{"AWS":"` + bob + `"}`, Allow},
		"the own account keeps what a public policy gives":    {alice, `"*"`, Allow},
		"a service keeps what a public policy gives":          {"logs.amazonaws.com", `"*"`, Allow},
		"an anonymous caller loses what a public policy gave": {"anonymous", `"*"`, ImplicitDeny},
	} {
		t.Run(name, func(t *testing.T) {
			request := &Request{Principal: principalOf(test.caller), Action: "s3:GetObject", Resource: object, ResourceAccountID: account}
			policies := &Policies{
				Identity:              []*Policy{mustParse(t, statementOf("A", "Allow", `"Action":"*","Resource":"*"`))},
				Resource:              mustParse(t, statementOf("R", "Allow", `"Principal":`+test.principal+`,"Action":"s3:*","Resource":"*"`)),
				RestrictPublicBuckets: true,
			}
			if got := Evaluate(request, policies); got.Effect != test.want {
				t.Errorf("Evaluate() = %+v, want %s", got, test.want)
			}
		})
	}
}

func TestPrincipalsAreNamed(t *testing.T) {
	const china, gov = "arn:aws-cn:iam::123456789012:", "arn:aws-us-gov:iam::123456789012:"
	pathed := Principal{Kind: RoleSession, ARN: session, RoleARN: "arn:aws:iam::123456789012:role/team/app", AccountID: account}
	for name, test := range map[string]struct {
		principal string
		caller    Principal
		want      strength
	}{
		"a user by its ARN":                           {`{"AWS":"` + alice + `"}`, principalOf(alice), exact},
		"a user in another case":                      {`{"AWS":"arn:aws:iam::123456789012:user/Alice"}`, principalOf(alice), unnamed},
		"a user by a wildcard within the ARN":         {`{"AWS":"arn:aws:iam::123456789012:user/*"}`, principalOf(alice), unnamed},
		"a user by a variable":                        {`{"AWS":"arn:aws:iam::123456789012:user/${aws:username}"}`, principalOf(alice), unnamed},
		"a user by the account's number":              {`{"AWS":"123456789012"}`, principalOf(alice), delegated},
		"a user by the account's root":                {`{"AWS":"` + rootARN + `"}`, principalOf(alice), delegated},
		"a root with a region is no account":          {`{"AWS":"arn:aws:iam:us-east-1:123456789012:root"}`, principalOf(alice), unnamed},
		"a user by everyone":                          {`"*"`, principalOf(alice), everyone},
		"a user under the wrong type":                 {`{"Service":"` + alice + `"}`, principalOf(alice), unnamed},
		"a session by its own ARN":                    {`{"AWS":"` + session + `"}`, principalOf(session), exact},
		"a session by a wildcard for its name":        {`{"AWS":"arn:aws:sts::123456789012:assumed-role/app/*"}`, principalOf(session), unnamed},
		"a session by its role":                       {`{"AWS":"arn:aws:iam::123456789012:role/app"}`, principalOf(session), byRole},
		"a session by its role with the path":         {`{"AWS":"arn:aws:iam::123456789012:role/team/app"}`, pathed, byRole},
		"a session by its role without the path":      {`{"AWS":"arn:aws:iam::123456789012:role/app"}`, pathed, unnamed},
		"the strongest way of several":                {`{"AWS":["*","123456789012","arn:aws:iam::123456789012:role/app"]}`, principalOf(session), byRole},
		"a service by its name":                       {`{"Service":"logs.amazonaws.com"}`, principalOf("logs.amazonaws.com"), exact},
		"a service by the wildcard of its type":       {`{"Service":"*"}`, principalOf("logs.amazonaws.com"), unnamed},
		"a service by everyone":                       {`{"AWS":"*"}`, principalOf("logs.amazonaws.com"), everyone},
		"a service under the wrong type":              {`{"AWS":"logs.amazonaws.com"}`, principalOf("logs.amazonaws.com"), unnamed},
		"a web identity by its provider":              {`{"Federated":"` + issuer + `"}`, principalOf(issuer), exact},
		"a web identity by the wildcard of its type":  {`{"Federated":"*"}`, principalOf(issuer), unnamed},
		"a web identity by the provider's account":    {`{"AWS":"123456789012"}`, principalOf(issuer), unnamed},
		"a web identity by everyone":                  {`"*"`, principalOf(issuer), unnamed},
		"anonymous by everyone":                       {`{"AWS":"*"}`, Principal{}, everyone},
		"anonymous by an empty name":                  {`{"AWS":""}`, Principal{}, unnamed},
		"a user of China":                             {`{"AWS":"` + china + `user/alice"}`, principalOf(china + "user/alice"), exact},
		"a user of China by the account's root":       {`{"AWS":"` + china + `root"}`, principalOf(china + "user/alice"), delegated},
		"a session of GovCloud by its role":           {`{"AWS":"` + gov + `role/app"}`, principalOf("arn:aws-us-gov:sts::123456789012:assumed-role/app/s"), byRole},
		"a session of GovCloud by a role of no cloud": {`{"AWS":"arn:aws:iam::123456789012:role/app"}`, principalOf("arn:aws-us-gov:sts::123456789012:assumed-role/app/s"), unnamed},
		"a provider of China":                         {`{"Federated":"` + china + `oidc-provider/x"}`, principalOf(china + "oidc-provider/x"), exact},
	} {
		t.Run(name, func(t *testing.T) {
			p := mustParse(t, statementOf("R", "Allow", `"Principal":`+test.principal+`,"Action":"*","Resource":"*"`))
			if got := p.statements[0].names(&test.caller, false); got != test.want {
				t.Errorf("%s names %+v with strength %d, want %d", test.principal, test.caller, got, test.want)
			}
		})
	}
}

func TestPartitionsDoNotMatter(t *testing.T) {
	for _, partition := range []string{"aws", "aws-cn", "aws-us-gov"} {
		t.Run(partition, func(t *testing.T) {
			in := func(rest string) string { return "arn:" + partition + ":" + rest }
			request := &Request{Principal: principalOf(in("sts::123456789012:assumed-role/app/s")), Action: "s3:GetObject", Resource: in("s3:::b/app/k"),
				ResourceAccountID: account, Context: contextOf("aws:PrincipalArn", in("iam::123456789012:role/app"), "aws:PrincipalTag/team", "app")}
			identity := mustParse(t, statementOf("I", "Allow", `"Action":"s3:*","Resource":"`+in("s3:::b/${aws:PrincipalTag/team}/*")+
				`","Condition":{"ArnEquals":{"aws:PrincipalArn":"arn:*:iam::*:role/app"}}`))
			resource := mustParse(t, statementOf("R", "Allow", `"Principal":{"AWS":"`+in("iam::123456789012:role/app")+`"},"Action":"s3:*","Resource":"`+in("s3:::b/*")+`"`))
			if got, want := Evaluate(request, &Policies{Identity: []*Policy{identity}}), (Decision{Allow, IdentityPolicy, "I"}); got != want {
				t.Errorf("by the identity policy: %+v, want %+v", got, want)
			}
			if got, want := Evaluate(request, &Policies{Resource: resource}), (Decision{Allow, ResourcePolicy, "R"}); got != want {
				t.Errorf("by the resource's policy: %+v, want %+v", got, want)
			}
			request.Principal = principalOf(in("iam::111122223333:user/bob"))
			resource = mustParse(t, statementOf("R", "Allow", `"Principal":{"AWS":"`+in("iam::111122223333:root")+`"},"Action":"s3:*","Resource":"*"`))
			if got := Evaluate(request, &Policies{Identity: []*Policy{identity}, Resource: resource}); !got.Allowed() {
				t.Errorf("from another account: %+v, want an allow", got)
			}
		})
	}
}

func TestResourcePatterns(t *testing.T) {
	for name, test := range map[string]struct {
		pattern, resource string
		want              bool
	}{
		"a region is compared as any part":                {"arn:aws:eks:us-*:1:cluster/c", "arn:aws:eks:eu-west-1:1:cluster/c", false},
		"a partition is compared as any part":             {"arn:aws:s3:::b/*", "arn:aws-cn:s3:::b/k", false},
		"a star may stand for the partition":              {"arn:*:s3:::b/*", "arn:aws-cn:s3:::b/k", true},
		"case counts":                                     {"arn:aws:s3:::B/*", "arn:aws:s3:::b/k", false},
		"a text out of a variable is compared whole":      {"arn:aws:sqs:r:1:${k:v}", "arn:aws:sqs:r:1:1:xy", false},
		"text may stand around a variable":                {"arn:aws:sqs:r:1:a?-${k:v}-*z", "arn:aws:sqs:r:1:ab-1:x-yz", true},
		"a variable may stand behind a star":              {"arn:aws:sqs:r:1:*-${k:v}", "arn:aws:sqs:r:1:a-b-1:x", true},
		"a variable behind a star must fit":               {"arn:aws:sqs:r:1:*-${k:v}", "arn:aws:sqs:r:1:a-b-1:y", false},
		"a star reaches over slashes":                     {"arn:aws:s3:::b/*", "arn:aws:s3:::b/x/y", true},
		"a star does not reach over a colon":              {"arn:aws:iam:*:role/x", "arn:aws:iam::1:role/x", false},
		"a short pattern with a star runs over colons":    {"arn:aws:iam:*", "arn:aws:iam::1:role/x", true},
		"a short pattern without a star fits nothing":     {"arn:aws:iam", "arn:aws:iam", false},
		"a question mark is one character":                {"arn:aws:s3:::b?", "arn:aws:s3:::b1", true},
		"a question mark is not nothing":                  {"arn:aws:s3:::b?", "arn:aws:s3:::b", false},
		"a colon out of a variable shifts nothing":        {"arn:aws:sqs:r:${k:v}:q", "arn:aws:sqs:r:1:x:q", false},
		"a colon out of a variable counts in the end":     {"arn:aws:sqs:r:1:${k:v}", "arn:aws:sqs:r:1:1:x", true},
		"an escaped star in a resource is a star":         {"arn:aws:s3:::b/${*}", "arn:aws:s3:::b/x", false},
		"a variable that is not closed fits nothing":      {"arn:aws:s3:::b/${k:v", "arn:aws:s3:::b/${k:v", false},
		"an absent variable fits nothing":                 {"arn:aws:s3:::b/${k:w}", "arn:aws:s3:::b/", false},
		"the pattern of everything fits what is no ARN":   {"*", "*", true},
		"the pattern of a service fits not the lone star": {"arn:*", "*", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := compileResource(test.pattern, true)
			resource := cutARN(test.resource)
			if got := p.match(&resource, contextOf("k:v", "1:x")); got != test.want {
				t.Errorf("%q fits %q: %v, want %v", test.pattern, test.resource, got, test.want)
			}
		})
	}
}

func FuzzEvaluate(f *testing.F) {
	for _, c := range readCases(f) {
		for _, document := range append(c.IdentityPolicies, c.ResourcePolicy, c.Boundary, c.SessionPolicy) {
			f.Add([]byte(document), c.Principal, c.Action, c.Resource, "aws:username", "alice")
		}
	}
	f.Add([]byte(allowIf(`{"StringLike":{"k:s":"${k:s, 'x'}*?"}}`)), "::::", "", ":::::", "k:s", "\xff*")
	f.Fuzz(func(t *testing.T, document []byte, caller, action, resource, key, value string) {
		policy, _ := Parse(document)
		request := &Request{Action: action, Resource: resource, Context: contextOf(key, value)}
		for kind := Anonymous; kind <= Federated; kind++ {
			request.Principal = Principal{Kind: kind, ARN: caller, RoleARN: caller, AccountID: account}
			for _, owner := range []string{account, "111122223333"} {
				request.ResourceAccountID = owner
				policies := &Policies{Identity: []*Policy{policy}, Boundary: policy, Session: []*Policy{policy}, Resource: policy, RestrictPublicBuckets: true}
				got := Evaluate(request, policies)
				if e := Explain(request, policies); e.Decision != got {
					t.Fatalf("Evaluate() = %+v, Explain() = %+v", got, e.Decision)
				}
				if got.Effect == "" || got.Kind == "" {
					t.Fatalf("Evaluate() = %+v: no decision", got)
				}
			}
		}
	})
}
