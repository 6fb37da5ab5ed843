package credentials_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const small = `ceiling: '{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*"}}'`

func smallRequest(t *testing.T, namespace string) *cloudv1.CredentialsRequest {
	t.Helper()
	return requestOf(t, namespace, "{storage: {serviceAccount: {namespace: "+namespace+", name: app}}, providerSpec: {kind: AWSProviderSpec, statementEntries: "+allow("s3:GetObject", "arn:aws:s3:::b/x")+"}}")
}

// TestTheBoundaryOfANamespace chooses among boundaries by how exactly they name it.
func TestTheBoundaryOfANamespace(t *testing.T) {
	of := func(name, fields string) v1alpha1.CredentialsBoundary {
		return boundaryOf(t, name, "{"+fields+", aws: {"+small+"}}")
	}
	named, other := of("named", "namespaces: [team]"), of("other", "namespaces: [other]")
	selected := of("selected", "namespaceSelector: {matchLabels: {team: a}}")
	also := of("also", "namespaceSelector: {matchExpressions: [{key: team, operator: Exists}]}")
	every := of("every", "namespaceSelector: {}")
	byDefault := boundaryOf(t, "default", "aws: {"+small+"}")
	forged := of("default", "namespaces: [team]")
	for name, each := range map[string]struct {
		namespace  string
		boundaries []v1alpha1.CredentialsBoundary
		unread     bool
		want       string
		reason     credentials.Reason
		says       string
	}{
		"by name":                                     {"team", []v1alpha1.CredentialsBoundary{other, named}, false, "named", credentials.ReasonAccepted, ""},
		"by name before labels":                       {"team", []v1alpha1.CredentialsBoundary{selected, named}, false, "named", credentials.ReasonAccepted, ""},
		"by name where labels could not be read":      {"team", []v1alpha1.CredentialsBoundary{selected, named}, true, "named", credentials.ReasonAccepted, ""},
		"by labels":                                   {"team", []v1alpha1.CredentialsBoundary{other, selected}, false, "selected", credentials.ReasonAccepted, ""},
		"by labels that could not be read":            {"team", []v1alpha1.CredentialsBoundary{selected}, true, "", credentials.ReasonNoBoundary, "could not be read"},
		"two by labels":                               {"team", []v1alpha1.CredentialsBoundary{selected, also}, false, "", credentials.ReasonAmbiguousBoundary, "also, selected"},
		"two by name":                                 {"team", []v1alpha1.CredentialsBoundary{named, of("again", "namespaces: [team]")}, false, "", credentials.ReasonAmbiguousBoundary, "again, named"},
		"none":                                        {"team", []v1alpha1.CredentialsBoundary{other}, false, "", credentials.ReasonNoBoundary, "team"},
		"an empty selector is for none":               {"team", []v1alpha1.CredentialsBoundary{every}, false, "", credentials.ReasonNoBoundary, ""},
		"the default is not for teams":                {"team", []v1alpha1.CredentialsBoundary{byDefault}, false, "", credentials.ReasonNoBoundary, "Tabard's own"},
		"the default is not for teams that it names":  {"team", []v1alpha1.CredentialsBoundary{forged}, false, "", credentials.ReasonNoBoundary, ""},
		"the default is for Tabard's own namespace":   {ownNamespace, []v1alpha1.CredentialsBoundary{byDefault, named}, false, "default", credentials.ReasonAccepted, ""},
		"Tabard's own namespace has none by accident": {ownNamespace, []v1alpha1.CredentialsBoundary{named}, false, "", credentials.ReasonNoBoundary, ""},
	} {
		t.Run(name, func(t *testing.T) {
			request := smallRequest(t, "team")
			request.Namespace = each.namespace
			w := teamWorld(request, each.boundaries...)
			if w.NamespaceLabels = map[string]string{"team": "a"}; each.unread || each.namespace == ownNamespace {
				w.NamespaceLabels = nil
			}
			bound, v := credentials.Bound(w)
			if bound.Boundary != each.want || v.Reason != each.reason || !strings.Contains(v.Message, each.says) {
				t.Errorf("boundary %q, %s (%s), expected %q, %s (%s)", bound.Boundary, v.Reason, v.Message, each.want, each.reason, each.says)
			}
		})
	}
}

// TestANamespaceHasSoManyRequests: those that have something keep it, and of the others the
// oldest get something.
func TestANamespaceHasSoManyRequests(t *testing.T) {
	holds, empty := &v1alpha1.CredentialsGrant{}, &v1alpha1.CredentialsGrant{}
	holds.Status.Role = &v1alpha1.GrantedRole{Name: "role"}
	for name, each := range map[string]struct {
		fields string
		ahead  int
		grant  *v1alpha1.CredentialsGrant
		want   credentials.Reason
	}{
		"the first":                          {"", 0, nil, credentials.ReasonAccepted},
		"the fiftieth":                       {"", 49, nil, credentials.ReasonAccepted},
		"the next":                           {"", 50, nil, credentials.ReasonTooManyRequests},
		"the next, of which nothing is made": {"", 50, empty, credentials.ReasonTooManyRequests},
		"one that has a role":                {"", 600, holds, credentials.ReasonAccepted},
		"as many as the boundary says":       {"maxRequests: 2, ", 1, nil, credentials.ReasonAccepted},
		"more than it says":                  {"maxRequests: 2, ", 2, nil, credentials.ReasonTooManyRequests},
		"fewer than a larger one says":       {"maxRequests: 200, ", 199, nil, credentials.ReasonAccepted},
		"one that has a role, more than":     {"maxRequests: 1, ", 9, holds, credentials.ReasonAccepted},
	} {
		w := teamWorld(smallRequest(t, "team"), boundaryOf(t, "named", "{namespaces: [team], "+each.fields+"aws: {"+small+"}}"))
		w.Ahead, w.Grant = each.ahead, each.grant
		if _, v := credentials.Bound(w); v.Reason != each.want {
			t.Errorf("%s: %s (%s), want %s", name, v.Reason, v.Message, each.want)
		}
	}
}

// TestWhatABoundaryMakesOfARole: what the boundary does not say, the controller's settings do.
func TestWhatABoundaryMakesOfARole(t *testing.T) {
	for name, each := range map[string]struct {
		fields string
		edit   func(*credentials.World)
		want   credentials.AWSBound
		reason credentials.Reason
	}{
		"nothing but a ceiling": {small, func(*credentials.World) {}, credentials.AWSBound{Boundary: "b", PermissionsBoundary: awsBoundary, Path: "/tabard/", MaxSession: time.Hour}, credentials.ReasonAccepted},
		"everything": {
			small + `, pathPrefix: /tabard/team/, maxSessionSeconds: 7200, permissionsBoundary: "arn:aws:iam::111122223333:policy/team"`,
			func(*credentials.World) {},
			credentials.AWSBound{Boundary: "b", PermissionsBoundary: "arn:aws:iam::111122223333:policy/team", Path: "/tabard/team/", MaxSession: 2 * time.Hour}, credentials.ReasonAccepted,
		},
		"no path in the settings":      {small, func(w *credentials.World) { w.Settings.Path = "" }, credentials.AWSBound{Boundary: "b", PermissionsBoundary: awsBoundary, Path: "/tabard/", MaxSession: time.Hour}, credentials.ReasonAccepted},
		"no permissions boundary":      {small, func(w *credentials.World) { w.Settings.PermissionsBoundary = "" }, credentials.AWSBound{}, credentials.ReasonNoPermissionsBoundary},
		"no ceiling":                   {"maxSessionSeconds: 3600", func(*credentials.World) {}, credentials.AWSBound{}, credentials.ReasonBeyondCeiling},
		"more tags than AWS takes":     {small, func(w *credentials.World) { w.Settings.Tags = tags(48) }, credentials.AWSBound{}, credentials.ReasonTooLong},
		"as many tags as AWS takes":    {small, func(w *credentials.World) { w.Settings.Tags = tags(47) }, credentials.AWSBound{Boundary: "b", PermissionsBoundary: awsBoundary, Path: "/tabard/", MaxSession: time.Hour}, credentials.ReasonAccepted},
		"a name too long for a tag":    {small, func(w *credentials.World) { w.Request.Name = strings.Repeat("x", 250) }, credentials.AWSBound{}, credentials.ReasonTooLong},
		"another path than AWS allows": {small + ", pathPrefix: /other/", func(*credentials.World) {}, credentials.AWSBound{}, credentials.ReasonBeyondAWSBoundary},
	} {
		t.Run(name, func(t *testing.T) {
			w := teamWorld(smallRequest(t, "team"), boundaryOf(t, "b", "{namespaces: [team], aws: {"+each.fields+"}}"))
			each.edit(&w)
			bound, v := credentials.Bound(w)
			if v.Reason != each.reason || v.IsTrue() != (each.reason == credentials.ReasonAccepted) {
				t.Fatalf("%s (%s), expected %s", v.Reason, v.Message, each.reason)
			}
			if diff := cmp.Diff(each.want, bound); v.IsTrue() && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func tags(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprint("tag-", i)] = "x"
	}
	return out
}

// TestTheNumbersAreTold: a refusal for a limit says what was counted.
func TestTheNumbersAreTold(t *testing.T) {
	request := smallRequest(t, "team")
	w := teamWorld(request, boundaryOf(t, "b", "{namespaces: [team], aws: {"+small+"}}"))
	for range 200 {
		w.Provider.AWS.StatementEntries = append(w.Provider.AWS.StatementEntries, w.Provider.AWS.StatementEntries[0])
	}
	used := must.Get(iampolicy.RoomIn(iampolicy.RoleInlineQuota, []byte(credentials.PermissionPolicy(w.Provider.AWS.StatementEntries))))(t).Used
	if _, v := credentials.Bound(w); !strings.Contains(v.Message, fmt.Sprint(used)) || !strings.Contains(v.Message, "10240") {
		t.Errorf("expected %d and 10240 in: %s", used, v.Message)
	}
}

func ceiling(statement string) string {
	return `{namespaces: [team], aws: {ceiling: '{"Version": "2012-10-17", "Statement": [` + statement + `]}'}}`
}

// TestBoundariesThatCannotBeUsed refuses what would give more than it lists.
func TestBoundariesThatCannotBeUsed(t *testing.T) {
	const passRole, roles = `{"Effect": "Allow", "Action": "%s", "Resource": "%s"}`, "arn:aws:iam::111122223333:role/"
	const passTo = `{"Effect": "Allow", "Action": "iam:PassRole", "Resource": "%s", "Condition": %s}`
	for name, each := range map[string]struct {
		spec string
		want credentials.Reason
	}{
		"no AWS":                             {"namespaces: [team]", credentials.ReasonReady},
		"services and resources":             {ceiling(`{"Effect": "Allow", "Action": ["s3:*"], "Resource": ["arn:aws:s3:::b", "arn:aws:s3:::b/*"]}`), credentials.ReasonReady},
		"actions on everything":              {ceiling(`{"Effect": "Allow", "Action": "route53:List*", "Resource": "*"}`), credentials.ReasonReady},
		"a Deny of everything":               {ceiling(`{"Effect": "Deny", "NotAction": "s3:*", "NotResource": "arn:aws:s3:::b"}`), credentials.ReasonReady},
		"all actions":                        {ceiling(`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::b"}`), credentials.ReasonCeilingTooWide},
		"all actions among others":           {ceiling(`{"Effect": "Allow", "Action": ["s3:GetObject", "*"], "Resource": "arn:aws:s3:::b"}`), credentials.ReasonCeilingTooWide},
		"all services":                       {ceiling(`{"Effect": "Allow", "Action": "s*:Get*", "Resource": "arn:aws:s3:::b"}`), credentials.ReasonCeilingInvalid},
		"a service on everything":            {ceiling(`{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}`), credentials.ReasonCeilingTooWide},
		"a service on everything, stars":     {ceiling(`{"Effect": "Allow", "Action": "s3:?*", "Resource": "*"}`), credentials.ReasonCeilingTooWide},
		"a service on all of its resources":  {ceiling(`{"Effect": "Allow", "Action": "s3:*", "Resource": ["arn:aws:s3:::b", "arn:aws:s3:::*/*"]}`), credentials.ReasonCeilingTooWide},
		"NotAction":                          {ceiling(`{"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}`), credentials.ReasonCeilingTooWide},
		"NotResource":                        {ceiling(`{"Effect": "Allow", "Action": "s3:GetObject", "NotResource": "arn:aws:s3:::b/*"}`), credentials.ReasonCeilingTooWide},
		"roles that may be passed, listed":   {ceiling(fmt.Sprintf(passRole, "iam:PassRole", roles+"batch")), credentials.ReasonReady},
		"roles that may be passed by star":   {ceiling(fmt.Sprintf(passRole, "iam:PassRole", roles+"b*")), credentials.ReasonCeilingTooWide},
		"roles that may be passed, hidden":   {ceiling(fmt.Sprintf(passRole, "IAM:pass?ole", roles+"b*")), credentials.ReasonCeilingTooWide},
		"roles that may be passed by a tag":  {ceiling(fmt.Sprintf(passRole, "iam:P*", roles+"${aws:PrincipalTag/x}")), credentials.ReasonCeilingTooWide},
		"roles of a path for a service":      {ceiling(fmt.Sprintf(passTo, roles+"nodes/*", `{"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}`)), credentials.ReasonReady},
		"roles of a path for services":       {ceiling(fmt.Sprintf(passTo, roles+"a/b/*", `{"StringEquals": {"IAM:passedtoservice": ["ec2.amazonaws.com", "eks.amazonaws.com"]}}`)), credentials.ReasonReady},
		"roles of a path for any service":    {ceiling(fmt.Sprintf(passTo, roles+"nodes/*", `{}`)), credentials.ReasonCeilingTooWide},
		"roles of a path for a pattern":      {ceiling(fmt.Sprintf(passTo, roles+"nodes/*", `{"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "*"]}}`)), credentials.ReasonCeilingTooWide},
		"roles of a path for no service":     {ceiling(fmt.Sprintf(passTo, roles+"nodes/*", `{"StringEquals": {"iam:PassedToService": ""}}`)), credentials.ReasonCeilingTooWide},
		"roles of a path like a service":     {ceiling(fmt.Sprintf(passTo, roles+"nodes/*", `{"StringLike": {"iam:PassedToService": "*"}}`)), credentials.ReasonCeilingTooWide},
		"roles of a path but for a service":  {ceiling(fmt.Sprintf(passTo, roles+"nodes/*", `{"StringNotEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}`)), credentials.ReasonCeilingTooWide},
		"roles of a path if there is a name": {ceiling(fmt.Sprintf(passTo, roles+"nodes/*", `{"StringEqualsIfExists": {"iam:PassedToService": "ec2.amazonaws.com"}}`)), credentials.ReasonCeilingTooWide},
		"all roles for a service":            {ceiling(fmt.Sprintf(passTo, roles+"*", `{"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}`)), credentials.ReasonCeilingTooWide},
		"roles of a prefix for a service":    {ceiling(fmt.Sprintf(passTo, roles+"nodes*", `{"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}`)), credentials.ReasonCeilingTooWide},
		"a path of any account":              {ceiling(fmt.Sprintf(passTo, "arn:aws:iam::*:role/nodes/*", `{"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}`)), credentials.ReasonCeilingTooWide},
		"a path by a variable":               {ceiling(fmt.Sprintf(passTo, roles+"${aws:PrincipalTag/x}/*", `{"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}`)), credentials.ReasonCeilingTooWide},
		"users by a path":                    {ceiling(fmt.Sprintf(passTo, "arn:aws:iam::111122223333:user/nodes/*", `{"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}`)), credentials.ReasonCeilingTooWide},
		"no JSON":                            {"{namespaces: [team], aws: {ceiling: '{'}}", credentials.ReasonCeilingInvalid},
		"no statement":                       {ceiling(""), credentials.ReasonCeilingInvalid},
		"a principal":                        {ceiling(`{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*"}`), credentials.ReasonCeilingInvalid},
		"an element in another case":         {ceiling(`{"Effect": "Deny", "effect": "Allow", "Action": "*", "Resource": "*"}`), credentials.ReasonCeilingInvalid},
		"an effect twice":                    {ceiling(`{"Effect": "Allow", "Effect": "Deny", "Action": "*", "Resource": "*"}`), credentials.ReasonCeilingInvalid},
		"keys that differ in case":           {ceiling(conditional(`{"StringEquals": {"aws:PrincipalTag/a": "1", "aws:principaltag/A": "2"}}`)), credentials.ReasonCeilingInvalid},
		"an empty list of values":            {ceiling(conditional(`{"StringEquals": {"aws:PrincipalTag/a": []}}`)), credentials.ReasonCeilingInvalid},
		"an operator without keys":           {ceiling(conditional(`{"StringEquals": {}}`)), credentials.ReasonCeilingInvalid},
		"a key of two operators":             {ceiling(conditional(`{"StringEquals": {"aws:PrincipalTag/a": "1"}, "StringLike": {"aws:principaltag/A": "*"}}`)), credentials.ReasonReady},
		"for no namespace":                   {"targetNamespaces: [team]", credentials.ReasonBoundaryInvalid},
		"an empty selector":                  {"namespaceSelector: {}", credentials.ReasonBoundaryInvalid},
		"a selector that is none":            {"namespaceSelector: {matchExpressions: [{key: a, operator: Near}]}", credentials.ReasonBoundaryInvalid},
		"another partition's policy":         {`{namespaces: [team], aws: {permissionsBoundary: "arn:aws-cn:iam::111122223333:policy/b"}}`, credentials.ReasonBoundaryInvalid},
		"all accounts' roles":                {`{namespaces: [team], aws: {roleARNPatterns: ["arn:aws:iam::*:role/b"]}}`, credentials.ReasonBoundaryInvalid},
		"a path beside the controller's":     {"{namespaces: [team], aws: {pathPrefix: /tabardx/}}", credentials.ReasonBeyondAWSBoundary},
	} {
		t.Run(name, func(t *testing.T) {
			b := boundaryOf(t, "b", each.spec)
			v := credentials.JudgeBoundary(&b, credentials.Settings{Partition: "aws", Path: "/tabard/"})
			if v.Reason != each.want || v.IsTrue() != (each.want == credentials.ReasonReady) {
				t.Errorf("%s (%s), expected %s", v.Reason, v.Message, each.want)
			}
			if b.Spec.Namespaces == nil {
				return
			}
			if _, used := credentials.Bound(teamWorld(smallRequest(t, "team"), b)); !v.IsTrue() && used.Reason != v.Reason {
				t.Errorf("a request is told %s (%s), expected %s", used.Reason, used.Message, v.Reason)
			}
		})
	}
}

// TestACeilingConcernsOnlyRequestsThatMint: others of the namespace get what they ask for.
func TestACeilingConcernsOnlyRequestsThatMint(t *testing.T) {
	const target = "storage: {serviceAccount: {namespace: team, name: app}}, "
	for name, spec := range map[string]string{
		"too wide a ceiling":             ceiling(`{"Effect": "Allow", "Action": "elasticfilesystem:*", "Resource": "*"}`),
		"a ceiling that is none":         "{namespaces: [team], aws: {ceiling: '{'}}",
		"a path that is not Tabard's":    "{namespaces: [team], aws: {pathPrefix: /tabardx/}}",
		"another partition's policy":     `{namespaces: [team], aws: {permissionsBoundary: "arn:aws-cn:iam::111122223333:policy/b"}}`,
		"all roles passed to a service":  ceiling(`{"Effect": "Allow", "Action": "iam:PassRole", "Resource": "*"}`),
		"no ceiling, and no AWS besides": "{namespaces: [team]}",
	} {
		spec = strings.Replace(spec, "aws: {", `aws: {roleARNPatterns: ["arn:aws:iam::111122223333:role/team/*"], `, 1)
		b := boundaryOf(t, "b", spec)
		for _, each := range []struct {
			what, provider string
			bound, given   bool
		}{
			{"mints", "{kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: ['s3:GetObject'], resource: 'arn:aws:s3:::b/x'}]}", false, false},
			{"names a role", "{kind: AWSProviderSpec, stsIAMRoleARN: 'arn:aws:iam::111122223333:role/team/app'}", false, b.Spec.AWS != nil},
			{"is bound", "{kind: AWSProviderSpec}", true, true},
			{"is Google's", "{kind: GCPProviderSpec}", false, true},
		} {
			w := teamWorld(requestOf(t, "team", "{"+target+"providerSpec: "+each.provider+"}"), b)
			if each.bound {
				w.Grant = &v1alpha1.CredentialsGrant{Spec: v1alpha1.CredentialsGrantSpec{Bound: &v1alpha1.BoundIdentity{RoleARN: givenARN}}}
				w.Grant.Spec.Request.UID = w.Request.UID
			}
			if _, v := credentials.Bound(w); v.IsTrue() != each.given {
				t.Errorf("%s, and a request that %s: %+v, want accepted: %t", name, each.what, v, each.given)
			}
		}
	}
}

// conditional is a statement with a condition.
func conditional(condition string) string {
	return `{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*", "Condition": ` + condition + `}`
}

// TestConditionsWhoseMeaningAWSDoesNotState are refused by name and place, in a ceiling and
// in a request, of whatever effect: what is not decided by reading is not given.
func TestConditionsWhoseMeaningAWSDoesNotState(t *testing.T) {
	for written, want := range map[string]string{
		`{"StringEquals": {"k:s": "1", "K:S": "2"}}`: `the condition key "k:s" is under StringEquals as "K:S" too, case does not tell keys apart, and AWS does not state which of them counts; write the key once, with the values that are meant`,
		`{"StringEquals": {"k:s": []}}`:              `the condition key "k:s" under StringEquals has no value, and AWS does not state what that means; give it the values that are meant, or leave the key out`,
		`{"StringEquals": {}}`:                       `the operator StringEquals has no condition key, and AWS does not state what that means; give it a key with values, or leave it out`,
	} {
		plain := `{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*"}`
		for _, effect := range []string{"Allow", "Deny"} {
			request := requestOf(t, "team", "{storage: {serviceAccount: {namespace: team, name: app}}, providerSpec: {kind: AWSProviderSpec, statementEntries: ["+
				"{effect: Allow, action: ['s3:GetObject'], resource: 'arn:aws:s3:::b/x'}, {effect: "+effect+", action: ['s3:GetObject'], resource: 'arn:aws:s3:::b/y', policyCondition: "+written+"}]}}")
			_, v := credentials.Bound(teamWorld(request, boundaryOf(t, "b", "{namespaces: [team], aws: {"+small+"}}")))
			if v.Reason != credentials.ReasonStatementInvalid || v.Message != "spec.providerSpec.statementEntries[1].policyCondition cannot be judged: "+want {
				t.Errorf("a request of %s with %s: %s (%s)", effect, written, v.Reason, v.Message)
			}
			b := boundaryOf(t, "b", ceiling(plain+", "+strings.Replace(conditional(written), "Allow", effect, 1)))
			other := strings.NewReplacer(`"k:s" is`, `"K:S" is`, `as "K:S"`, `as "k:s"`).Replace(want) // in the order of the text
			if v := credentials.JudgeBoundary(&b, credentials.Settings{}); v.Reason != credentials.ReasonCeilingInvalid || !strings.HasPrefix(v.Message, "spec.aws.ceiling cannot be judged: line 1, column ") || !strings.HasSuffix(v.Message, other) {
				t.Errorf("a ceiling of %s with %s: %s (%s)", effect, written, v.Reason, v.Message)
			}
		}
	}
}

// TestTheDefaultMayBeWide: it is for Tabard's own namespace, and for none besides.
func TestTheDefaultMayBeWide(t *testing.T) {
	wide := `ceiling: '{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}'`
	for spec, want := range map[string]credentials.Reason{
		"aws: {" + wide + "}":                                                credentials.ReasonReady,
		"{namespaces: [team], aws: {" + wide + "}}":                          credentials.ReasonBoundaryInvalid,
		"{namespaceSelector: {matchLabels: {team: a}}, aws: {" + wide + "}}": credentials.ReasonBoundaryInvalid,
	} {
		b := boundaryOf(t, "default", spec)
		if v := credentials.JudgeBoundary(&b, credentials.Settings{}); v.Reason != want {
			t.Errorf("%s: %s (%s), expected %s", spec, v.Reason, v.Message, want)
		}
	}
}

// TestACeilingBeyondTheBoundaryInAWS is told, as AWS cuts its roles down in silence.
func TestACeilingBeyondTheBoundaryInAWS(t *testing.T) {
	in := must.Get(iampolicy.Parse([]byte(`{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}, {"Effect": "Deny", "Action": "s3:*", "Resource": "arn:aws:s3:::prod-issuer/*"}]}`)))(t)
	for statement, want := range map[string]condition.Reason{
		`{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*"}`:   credentials.ReasonReady,
		`{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::prod*"}`: credentials.ReasonBeyondAWSBoundary,
		`{"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "arn:aws:sqs:::q"}`: credentials.ReasonBeyondAWSBoundary,
	} {
		b := boundaryOf(t, "b", ceiling(statement))
		if v := credentials.WithinAWSBoundary(&b, in); v.Reason != want {
			t.Errorf("%s: %s (%s), expected %s", statement, v.Reason, v.Message, want)
		}
	}
}

// TestTheShippedBoundaries: each has a request that fits and one that does not.
func TestTheShippedBoundaries(t *testing.T) {
	for _, folder := range []string{"bucket-team", "queues-and-tables", "dns-addon"} {
		for file, want := range map[string]credentials.Reason{"fits.yaml": credentials.ReasonAccepted, "refused.yaml": credentials.ReasonBeyondCeiling} {
			request := read[cloudv1.CredentialsRequest](t, folder, file)
			request.UID = "0b0b3b1e-0000-4000-8000-000000000001"
			w := teamWorld(&request, shipped(t)...)
			w.NamespaceLabels["example.com/messaging"] = request.Namespace
			bound, v := credentials.Bound(w)
			if v.Reason != want || bound.Boundary != folder {
				t.Errorf("%s/%s: %s (%s) by %s, expected %s", folder, file, v.Reason, v.Message, bound.Boundary, want)
			}
		}
	}
}

// TestAnAdministratorBindsAnyRole: what a grant says is no team's to write, so that the
// patterns, which bound teams, are not asked; another request's grant says nothing.
func TestAnAdministratorBindsAnyRole(t *testing.T) {
	for name, each := range map[string]struct {
		uid  types.UID
		want credentials.Reason
	}{
		"bound":                       {"uid", credentials.ReasonAccepted},
		"the grant of an earlier one": {"other", credentials.ReasonRoleARNNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			request := smallRequest(t, "team")
			request.UID = "uid"
			w := teamWorld(request, boundaryOf(t, "b", "{namespaces: [team], aws: {"+small+"}}"))
			w.Provider.AWS.STSIAMRoleARN = "arn:aws:iam::111122223333:role/of-nobody"
			w.Grant = &v1alpha1.CredentialsGrant{Spec: v1alpha1.CredentialsGrantSpec{
				Request: v1alpha1.RequestRef{Namespace: "team", Name: request.Name, UID: each.uid},
				Bound:   &v1alpha1.BoundIdentity{RoleARN: "arn:aws:iam::111122223333:role/reports"},
			}}
			if _, v := credentials.Bound(w); v.Reason != each.want {
				t.Errorf("%s: %s, expected %s", v.Reason, v.Message, each.want)
			}
		})
	}
}
