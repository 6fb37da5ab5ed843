package credentials_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/credentials"
)

// attempt is a request of somebody who may create any CredentialsRequest in one namespace.
type attempt struct {
	// namespace is reports if empty, which has the shipped boundary of a team with a
	// bucket. The namespace mean has one that allows much.
	namespace string
	// target is in YAML; the ServiceAccount app of the namespace if empty.
	target string
	// statements are those of the providerSpec, in YAML; further fields may follow.
	statements string
	// annotation is identity.tabard.dev/service-account.
	annotation string
	want       credentials.Reason
}

// meanBoundary is valid and allows whole services on many resources, the bucket of an
// issuer, roles of Tabard's, and targets anywhere.
const meanBoundary = `
namespaces: [mean]
targetNamespaces: [mean, other, kube-system, tabard-system, tabard-credentials, openshift-ingress]
aws:
  roleARNPatterns: ["arn:aws:iam::111122223333:role/mean/*"]
  ceiling: |
    {"Version": "2012-10-17", "Statement": [
      {"Effect": "Allow", "Action": "s3:*", "Resource": ["arn:aws:s3:::team-*", "arn:aws:s3:::mean"]},
      {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"], "Resource": "*"},
      {"Effect": "Allow", "Action": "iam:*Role*", "Resource": "arn:aws:iam::111122223333:role/tabard/app"},
      {"Effect": "Allow", "Action": ["iam:CreatePolicyVersion", "sts:AssumeRole"], "Resource": "*"},
      {"Effect": "Allow", "Action": "lambda:*", "Resource": "arn:aws:lambda:eu-central-1:111122223333:function:mean-*"},
      {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::shared", "Condition": {"StringEquals": {"s3:prefix": "mean/"}}},
      {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "arn:aws:dynamodb:*:111122223333:table/${aws:PrincipalTag/team}-*"},
      {"Effect": "Deny", "Action": "s3:*", "Resource": "arn:aws:s3:::team-secret/*"}
    ]}
`

func allow(action, resource string) string {
	return fmt.Sprintf("[{effect: Allow, action: [%q], resource: %q}]", action, resource)
}

func under(condition string) string {
	return "[{effect: Allow, action: ['s3:ListBucket'], resource: 'arn:aws:s3:::example-data', policyCondition: " + condition + "}]"
}

const ownFile = "arn:aws:s3:::example-data/reports/x"

func fitting() string { return allow("s3:GetObject", ownFile) }

// elsewhere is a target outside of Tabard's own namespace.
const elsewhere = "storage: {serviceAccount: {namespace: team, name: app}}"

// Each is refused for the reason that is named, or accepted.
var escalations = map[string]attempt{
	"a ServiceAccount of another namespace":                       {target: "storage: {serviceAccount: {namespace: other, name: app}}", want: credentials.ReasonTargetNotAllowed},
	"a Secret of another namespace":                               {target: "secretRef: {namespace: other, name: app}, serviceAccountNames: [app]", want: credentials.ReasonTargetNotAllowed},
	"a Secret of another namespace, by storage beside an own one": {target: "secretRef: {namespace: reports, name: a}, storage: {secret: {namespace: other, name: app}}, serviceAccountNames: [app]", want: credentials.ReasonTargetNotAllowed},
	"a ServiceAccount of Kubernetes":                              {target: "storage: {serviceAccount: {namespace: kube-system, name: default}}", want: credentials.ReasonTargetNotAllowed},
	"a ServiceAccount of Kubernetes that a boundary allows":       {namespace: "mean", target: "storage: {serviceAccount: {namespace: kube-system, name: default}}", want: credentials.ReasonTargetNotAllowed},
	"Tabard's own ServiceAccount that a boundary allows":          {namespace: "mean", target: "storage: {serviceAccount: {namespace: tabard-credentials, name: tabard-credentials}}", want: credentials.ReasonTargetNotAllowed},
	"a Secret of another namespace of Tabard's, allowed":          {namespace: "mean", target: "secretRef: {namespace: tabard-system, name: app}, serviceAccountNames: [app]", want: credentials.ReasonTargetNotAllowed},
	"Tabard's own ServiceAccount, by a request of Tabard's own":   {namespace: ownNamespace, target: "storage: {serviceAccount: {namespace: tabard-system, name: tabard-issuer}}", want: credentials.ReasonTargetNotAllowed},
	"a Secret of OpenShift's that a boundary allows":              {namespace: "mean", target: "secretRef: {namespace: openshift-ingress, name: app}, serviceAccountNames: [app]", want: credentials.ReasonTargetNotAllowed},
	"another namespace by annotation":                             {target: "secretRef: {namespace: reports, name: app}", annotation: "other/app", want: credentials.ReasonTargetNotAllowed},
	"an annotation with two slashes":                              {target: "secretRef: {namespace: reports, name: app}", annotation: "reports/other/app", want: credentials.ReasonInvalidTarget},
	"annotation and field that differ":                            {target: "secretRef: {namespace: reports, name: app}, storage: {serviceAccount: {namespace: reports, name: one}}", annotation: "reports/two", want: credentials.ReasonInvalidTarget},
	"both members of storage":                                     {target: "storage: {secret: {namespace: reports, name: a}, serviceAccount: {namespace: other, name: a}}", want: credentials.ReasonInvalidTarget},
	"a subject of another namespace inside a name":                {target: "secretRef: {namespace: reports, name: app}, serviceAccountNames: ['x:system:serviceaccount:other:app']", want: credentials.ReasonInvalidTarget},
	"every ServiceAccount by a star":                              {target: "secretRef: {namespace: reports, name: app}, serviceAccountNames: ['*']", want: credentials.ReasonInvalidTarget},
	"a namespace with a star":                                     {target: "storage: {serviceAccount: {namespace: '*', name: app}}", want: credentials.ReasonInvalidTarget},
	"a namespace that looks like the own one":                     {target: "storage: {serviceAccount: {namespace: rеports, name: app}}", want: credentials.ReasonInvalidTarget},
	"a namespace in upper case":                                   {target: "storage: {serviceAccount: {namespace: Reports, name: app}}", want: credentials.ReasonInvalidTarget},
	"a second line in the token's path":                           {target: "secretRef: {namespace: reports, name: app}, serviceAccountNames: [app], cloudTokenPath: \"/t\\ncredential_process = sh\"", want: credentials.ReasonTokenPathInvalid},
	"a namespace without a boundary":                              {namespace: "nobody", want: credentials.ReasonNoBoundary},
	"the default boundary from a team's namespace":                {namespace: "default", want: credentials.ReasonNoBoundary},
	"everything":                                                    {statements: allow("*", "*"), want: credentials.ReasonBeyondCeiling},
	"s3:* on *":                                                     {statements: allow("s3:*", "*"), want: credentials.ReasonBeyondCeiling},
	"all actions of files of another team":                          {statements: allow("s3:GetObject", "arn:aws:s3:::example-data/*"), want: credentials.ReasonBeyondCeiling},
	"a prefix without its slash":                                    {statements: allow("s3:GetObject", "arn:aws:s3:::example-data/reports*"), want: credentials.ReasonBeyondCeiling},
	"all partitions":                                                {statements: allow("s3:GetObject", "arn:*:s3:::example-data/reports/x"), want: credentials.ReasonBeyondCeiling},
	"one character more by a question mark":                         {statements: allow("s3:GetObject", "arn:aws:s3:::example-data/report?/x"), want: credentials.ReasonBeyondCeiling},
	"an action by wildcards":                                        {statements: allow("s3:Get*", ownFile), want: credentials.ReasonBeyondCeiling},
	"an action in upper case":                                       {statements: allow("S3:PUTBUCKETPOLICY", "arn:aws:s3:::example-data"), want: credentials.ReasonBeyondCeiling},
	"a service by a question mark":                                  {statements: allow("s?:GetObject", ownFile), want: credentials.ReasonStatementInvalid},
	"all services' actions of a name":                               {statements: allow("*:Get*", ownFile), want: credentials.ReasonStatementInvalid},
	"an action without a service":                                   {statements: allow("GetObject", ownFile), want: credentials.ReasonStatementInvalid},
	"an action with a Cyrillic letter":                              {statements: allow("s3:GetОbject", ownFile), want: credentials.ReasonStatementInvalid},
	"an action with a variable":                                     {statements: allow("${aws:username}:GetObject", ownFile), want: credentials.ReasonStatementInvalid},
	"an action with a blank":                                        {statements: allow("s3:GetObject ", ownFile), want: credentials.ReasonStatementInvalid},
	"an action with an escaped star":                                {statements: `[{effect: Allow, action: ["s3:\u002a"], resource: "*"}]`, want: credentials.ReasonBeyondCeiling},
	"a resource with a variable":                                    {statements: allow("s3:GetObject", "arn:aws:s3:::example-data/${aws:PrincipalTag/team}/x"), want: credentials.ReasonBeyondCeiling},
	"a resource whose variable has a default":                       {statements: allow("s3:GetObject", "arn:aws:s3:::${aws:PrincipalTag/none, 'example-data'}/*"), want: credentials.ReasonStatementInvalid},
	"a resource with a line break":                                  {statements: allow("s3:GetObject", "arn:aws:s3:::example-data/reports/\n*"), want: credentials.ReasonStatementInvalid},
	"a resource that is a list in one text":                         {statements: allow("s3:GetObject", ownFile+",arn:aws:s3:::other/*"), want: ""},
	"iam:PassRole":                                                  {statements: allow("iam:PassRole", "*"), want: credentials.ReasonBeyondCeiling},
	"lambda:UpdateFunctionCode":                                     {statements: allow("lambda:UpdateFunctionCode", "*"), want: credentials.ReasonBeyondCeiling},
	"lambda:UpdateFunctionCode on somebody else's function":         {namespace: "mean", statements: allow("lambda:UpdateFunctionCode", "arn:aws:lambda:eu-central-1:111122223333:function:*"), want: credentials.ReasonBeyondCeiling},
	"ssm:SendCommand":                                               {statements: allow("ssm:SendCommand", "*"), want: credentials.ReasonBeyondCeiling},
	"cloudformation:*":                                              {statements: allow("cloudformation:*", "*"), want: credentials.ReasonBeyondCeiling},
	"sts:AssumeRole of another team's role":                         {statements: allow("sts:AssumeRole", "arn:aws:iam::111122223333:role/tabard/prod-x7k2p-other"), want: credentials.ReasonBeyondCeiling},
	"keys.json of an issuer":                                        {statements: allow("s3:PutObject", "arn:aws:s3:::prod-issuer/keys.json"), want: credentials.ReasonBeyondCeiling},
	"keys.json of an issuer that the ceiling allows":                {namespace: "mean", statements: allow("s3:PutObject", "arn:aws:s3:::team-issuer/keys.json"), want: credentials.ReasonReachesProtected},
	"keys.json of an issuer by wildcards":                           {namespace: "mean", statements: allow("s3:Put*", "arn:aws:s3:::team-*/key?.json"), want: credentials.ReasonBeyondCeiling},
	"keys.json of an issuer by a wildcard, allowed":                 {namespace: "mean", statements: allow("s3:PutObject", "*/keys.json"), want: credentials.ReasonStatementInvalid},
	"some buckets, that of an issuer among them":                    {namespace: "mean", statements: allow("s3:PutObject", "arn:aws:s3:::team-i*"), want: credentials.ReasonReachesProtected},
	"the policy of an issuer's bucket":                              {namespace: "mean", statements: allow("s3:PutBucketPolicy", "arn:aws:s3:::team-issuer"), want: credentials.ReasonReachesProtected},
	"an issuer's bucket by a variable":                              {namespace: "mean", statements: allow("s3:PutObject", "arn:aws:s3:::team-issuer/${aws:PrincipalTag/x}"), want: credentials.ReasonReachesProtected},
	"an issuer's bucket under a condition that seems never to hold": {namespace: "mean", statements: "[{effect: Allow, action: ['s3:PutObject'], resource: 'arn:aws:s3:::team-issuer/keys.json', policyCondition: {StringEquals: {'aws:PrincipalTag/never': 'x'}}}]", want: credentials.ReasonReachesProtected},
	"the boundary policy in AWS":                                    {namespace: "mean", statements: allow("iam:CreatePolicyVersion", awsBoundary), want: credentials.ReasonReachesProtected},
	"becoming Tabard's minter":                                      {namespace: "mean", statements: allow("sts:AssumeRole", "arn:aws:iam::111122223333:role/tabard-credentials"), want: credentials.ReasonReachesProtected},
	"becoming any role":                                             {namespace: "mean", statements: allow("sts:AssumeRole", "*"), want: credentials.ReasonReachesProtected},
	"a file that the ceiling denies":                                {namespace: "mean", statements: allow("s3:GetObject", "arn:aws:s3:::team-secret/x"), want: credentials.ReasonBeyondCeiling},
	"a role that no pattern has":                                    {namespace: "mean", statements: "[], stsIAMRoleARN: 'arn:aws:iam::111122223333:role/admin'", want: credentials.ReasonRoleARNNotAllowed},
	"a role of another account":                                     {namespace: "mean", statements: "[], stsIAMRoleARN: 'arn:aws:iam::444455556666:role/mean/x'", want: credentials.ReasonRoleARNNotAllowed},
	"a role of another partition":                                   {namespace: "mean", statements: "[], stsIAMRoleARN: 'arn:aws-cn:iam::111122223333:role/mean/x'", want: credentials.ReasonRoleARNInvalid},
	"a role with a second line":                                     {namespace: "mean", statements: "[], stsIAMRoleARN: \"arn:aws:iam::111122223333:role/mean/x\\ncredential_process = sh\"", want: credentials.ReasonRoleARNInvalid},
	"a role where no pattern is":                                    {statements: "[], stsIAMRoleARN: 'arn:aws:iam::111122223333:role/reports'", want: credentials.ReasonRoleARNNotAllowed},
	"no condition where the ceiling has one":                        {statements: allow("s3:ListBucket", "arn:aws:s3:::example-data"), want: credentials.ReasonBeyondCeiling},
	"a condition IfExists":                                          {statements: under("{StringLikeIfExists: {'s3:prefix': 'reports/*'}}"), want: credentials.ReasonCeilingUndecidable},
	"a condition ForAllValues":                                      {statements: under("{'ForAllValues:StringLike': {'s3:prefix': 'reports/*'}}"), want: credentials.ReasonCeilingUndecidable},
	"a condition Null":                                              {statements: under("{'Null': {'s3:prefix': 'true'}}"), want: credentials.ReasonCeilingUndecidable},
	"a condition StringLike *":                                      {statements: under("{StringLike: {'s3:prefix': '*'}}"), want: credentials.ReasonCeilingUndecidable},
	"a condition with one value more":                               {statements: under("{StringLike: {'s3:prefix': ['reports/*', '*']}}"), want: credentials.ReasonCeilingUndecidable},
	"a condition that negates":                                      {statements: under("{StringNotLike: {'s3:prefix': 'x'}}"), want: credentials.ReasonCeilingUndecidable},
	"a condition on another key":                                    {statements: under("{StringLike: {'s3:delimiter': 'reports/*'}}"), want: credentials.ReasonBeyondCeiling},
	"a condition with a variable":                                   {statements: under("{StringLike: {'s3:prefix': '${aws:PrincipalTag/x}'}}"), want: credentials.ReasonCeilingUndecidable},
	"a condition that is none of AWS's":                             {statements: under("{StringResembles: {'s3:prefix': 'reports/*'}}"), want: credentials.ReasonStatementInvalid},
	"a condition without values":                                    {statements: under("{StringLike: {'s3:prefix': []}}"), want: credentials.ReasonStatementInvalid},
	"a condition without keys":                                      {statements: allow("s3:GetObject", ownFile)[:len(allow("s3:GetObject", ownFile))-2] + ", policyCondition: {StringLike: {}}}]", want: credentials.ReasonStatementInvalid},
	"a condition beside another of the same key in other case":      {statements: under("{StringLike: {'s3:prefix': 'reports/*', 'S3:prefix': '*'}}"), want: credentials.ReasonStatementInvalid},
	"a condition whose value is an object":                          {statements: under("{StringLike: {'s3:prefix': {a: b}}}"), want: credentials.ReasonStatementInvalid},
	"the effect in lower case":                                      {statements: "[{effect: allow, action: ['s3:*'], resource: '*'}]", want: credentials.ReasonStatementInvalid},
	"a Deny that is an Allow besides":                               {statements: "[{Effect: Deny, effect: Allow, action: ['s3:*'], resource: '*'}]", want: credentials.ReasonBeyondCeiling},
	"no effect":                                                     {statements: "[{action: ['s3:*'], resource: '*'}]", want: credentials.ReasonStatementInvalid},
	"no action, but notAction":                                      {statements: "[{effect: Allow, notAction: ['s3:GetObject'], resource: '*'}]", want: credentials.ReasonStatementInvalid},
	"no resource, but notResource":                                  {statements: "[{effect: Allow, action: ['s3:GetObject'], notResource: 'arn:aws:s3:::x'}]", want: credentials.ReasonStatementInvalid},
	"an empty list of actions":                                      {statements: "[{effect: Allow, action: [], resource: '*'}]", want: credentials.ReasonStatementInvalid},
	"an empty action":                                               {statements: "[{effect: Allow, action: [''], resource: '*'}]", want: credentials.ReasonStatementInvalid},
	"two statements of which the second is too much":                {statements: strings.TrimSuffix(fitting(), "]") + ", {effect: Allow, action: ['iam:CreateUser'], resource: '*'}]", want: credentials.ReasonBeyondCeiling},
	"a Deny that hides an Allow":                                    {statements: "[{effect: Allow, action: ['iam:CreateUser'], resource: '*'}, {effect: Deny, action: ['iam:CreateUser'], resource: '*', policyCondition: {StringEquals: {'aws:PrincipalTag/x': y}}}]", want: credentials.ReasonCeilingUndecidable},
	"statements without end":                                        {statements: "[" + strings.Repeat(strings.Trim(fitting(), "[]")+",", 200) + "]", want: credentials.ReasonTooLong},
	"ServiceAccounts without end":                                   {target: "secretRef: {namespace: reports, name: app}, serviceAccountNames: [" + strings.Repeat("a-long-name-of-a-service-account,", 1) + manyNames(80) + "]", want: credentials.ReasonTooLong},

	"to read an issuer's documents":                       {namespace: "mean", statements: allow("s3:GetObject", "arn:aws:s3:::team-issuer/keys.json"), want: ""},
	"what the ceiling allows":                             {want: ""},
	"what the ceiling allows, in another case":            {statements: allow("S3:getobject", ownFile), want: ""},
	"what the ceiling allows under a condition":           {statements: under("{StringLike: {'s3:prefix': 'reports/sales/*'}}"), want: ""},
	"a Deny of everything":                                {statements: "[{effect: Deny, action: ['*'], resource: '*'}]", want: ""},
	"a field that is none":                                {statements: "[{effect: Allow, action: ['s3:GetObject'], resource: '" + ownFile + "', notAction: ['*']}], permissionsBoundary: 'arn:aws:iam::aws:policy/AdministratorAccess', path: /admin/", want: ""},
	"a target of another namespace that is allowed":       {namespace: "mean", target: "storage: {serviceAccount: {namespace: other, name: app}}", statements: allow("s3:GetObject", "arn:aws:s3:::mean/x"), want: ""},
	"a role that a pattern has":                           {namespace: "mean", statements: "[], stsIAMRoleARN: 'arn:aws:iam::111122223333:role/mean/x'", want: ""},
	"a function that is the team's":                       {namespace: "mean", statements: allow("lambda:UpdateFunctionCode", "arn:aws:lambda:eu-central-1:111122223333:function:mean-x"), want: ""},
	"Tabard's own request for a Secret of Kubernetes":     {namespace: ownNamespace, target: "secretRef: {namespace: kube-system, name: app}, serviceAccountNames: [app]", statements: allow("ec2:*", "*"), want: credentials.ReasonTargetNotAllowed},
	"Tabard's own request for the bucket of an issuer":    {namespace: ownNamespace, target: elsewhere, statements: allow("s3:*", "*"), want: credentials.ReasonReachesProtected},
	"Tabard's own request for its own role, by all of it": {namespace: ownNamespace, target: elsewhere, statements: allow("*", "*"), want: credentials.ReasonReachesProtected},
}

func manyNames(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("an-account-%d", i))
	}
	return strings.Join(names, ",")
}

// TestWhoMayCreateAnyRequestInOneNamespaceBecomesNobodyElse tries to get more than the
// namespace's boundary gives.
func TestWhoMayCreateAnyRequestInOneNamespaceBecomesNobodyElse(t *testing.T) {
	boundaries := append(shipped(t), boundaryOf(t, "mean", meanBoundary),
		boundaryOf(t, "default", `aws: {ceiling: '{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}'}`))
	for _, name := range slices.Sorted(maps.Keys(escalations)) {
		t.Run(name, func(t *testing.T) {
			a := escalations[name]
			if a.namespace == "" {
				a.namespace = "reports"
			}
			if a.target == "" {
				a.target = "storage: {serviceAccount: {namespace: " + a.namespace + ", name: app}}"
			}
			if a.statements == "" {
				a.statements = fitting()
			}
			request := requestOf(t, a.namespace, "{"+a.target+", providerSpec: {apiVersion: cloudcredential.openshift.io/v1, kind: AWSProviderSpec, statementEntries: "+a.statements+"}}")
			if a.annotation != "" {
				request.Annotations = map[string]string{credentials.ServiceAccountAnnotation: a.annotation}
			}
			w := teamWorld(request, boundaries...)
			want := a.want
			if want == "" {
				want = credentials.ReasonAccepted
			}
			if w.Provider.Error != "" {
				t.Fatal(w.Provider.Error)
			}
			if got, message := verdictOf(w); got != want {
				t.Errorf("%s, expected %s: %s", got, want, message)
			}
			if _, again := verdictOf(w); again != second(verdictOf(w)) {
				t.Errorf("the message changes: %s", again)
			}
		})
	}
}

func second(_ credentials.Reason, message string) string { return message }

// TestNamesOfRolesDoNotCollide tells the roles of requests apart that make up names.
func TestNamesOfRolesDoNotCollide(t *testing.T) {
	settings := credentials.Settings{OwnNamespaces: []string{ownNamespace}}
	long := strings.Repeat("x", 60)
	seen := map[string]string{}
	for _, request := range [][2]string{{"a", "b"}, {"a-b", "c"}, {"a", "b-c"}, {"b", "b"}, {ownNamespace, "b"}, {"a", long}, {"a", long + "y"}, {"b", long}, {ownNamespace, long}, {ownNamespace, long + "y"}} {
		name := credentials.RoleName(settings, "prod", request[0], request[1])
		if was, there := seen[name]; there {
			t.Errorf("%s is the role of %s and of %s", name, was, request)
		}
		if seen[name] = fmt.Sprint(request); len(name) > 64 {
			t.Errorf("%s has %d characters", name, len(name))
		}
	}
}
