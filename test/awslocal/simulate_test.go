package awslocal_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	readPolicy = `{"Version":"2012-10-17","Statement":[
  {"Effect":"Allow","Action":"s3:Get*","Resource":"arn:aws:s3:::b/*",
   "Condition":{"StringEquals":{"aws:SourceVpc":"vpc-1"}}},
  {"Effect":"Deny","Action":"s3:GetObject","Resource":"arn:aws:s3:::b/secret"}]}`
	listPolicy   = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":["s3:ListBucket","sts:AssumeRole"],"Resource":"*"}}`
	openToUser   = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + account + `:user/ann"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*"}}`
	withoutNames = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}}`
)

func entry(key string, kind types.ContextKeyTypeEnum, values ...string) types.ContextEntry {
	return types.ContextEntry{ContextKeyName: &key, ContextKeyType: kind, ContextKeyValues: values}
}

// outline is a result in one line: decision, matched statements, missing keys.
func outline(r types.EvaluationResult) string {
	parts := []string{string(r.EvalDecision)}
	for _, one := range r.MatchedStatements {
		parts = append(parts, fmt.Sprintf("%s/%s@%d:%d-%d:%d", *one.SourcePolicyId, one.SourcePolicyType,
			one.StartPosition.Line, one.StartPosition.Column, one.EndPosition.Line, one.EndPosition.Column))
	}
	if len(r.MissingContextValues) > 0 {
		parts = append(parts, "missing "+strings.Join(r.MissingContextValues, ","))
	}
	if detail := r.PermissionsBoundaryDecisionDetail; detail != nil {
		parts = append(parts, fmt.Sprintf("boundary %v", detail.AllowedByPermissionsBoundary))
	}
	return strings.Join(parts, " ")
}

func TestSimulationOfGivenPolicies(t *testing.T) {
	client := newLab(t).iam()
	object, vpc := []string{"arn:aws:s3:::b/k"}, entry("aws:sourcevpc", "string", "vpc-1")
	cases := map[string]struct {
		input iam.SimulateCustomPolicyInput
		want  string
	}{
		"allowed":                {iam.SimulateCustomPolicyInput{ActionNames: []string{"s3:GetObject"}, ResourceArns: object, ContextEntries: []types.ContextEntry{vpc}}, "allowed PolicyInputList.1/none@2:3-3:59"},
		"another value":          {iam.SimulateCustomPolicyInput{ActionNames: []string{"s3:GetObject"}, ResourceArns: object, ContextEntries: []types.ContextEntry{entry("aws:SourceVpc", "stringList", "vpc-2")}}, "implicitDeny"},
		"a key is missing":       {iam.SimulateCustomPolicyInput{ActionNames: []string{"s3:GetObject"}, ResourceArns: object}, "implicitDeny missing aws:SourceVpc"},
		"denied":                 {iam.SimulateCustomPolicyInput{ActionNames: []string{"s3:GetObject"}, ResourceArns: []string{"arn:aws:s3:::b/secret"}, ContextEntries: []types.ContextEntry{vpc}}, "explicitDeny PolicyInputList.1/none@4:3-4:79"},
		"no resource is a star":  {iam.SimulateCustomPolicyInput{ActionNames: []string{"s3:ListBucket"}}, "allowed PolicyInputList.2/none@1:37-1:114"},
		"no trust is asked":      {iam.SimulateCustomPolicyInput{ActionNames: []string{"sts:AssumeRole"}}, "allowed PolicyInputList.2/none@1:37-1:114"},
		"a silent boundary":      {iam.SimulateCustomPolicyInput{ActionNames: []string{"s3:ListBucket"}, PermissionsBoundaryPolicyInputList: []string{readPolicy}}, "implicitDeny boundary false"},
		"a boundary that allows": {iam.SimulateCustomPolicyInput{ActionNames: []string{"s3:ListBucket"}, PermissionsBoundaryPolicyInputList: []string{listPolicy}}, "allowed PermissionsBoundaryPolicyInputList.1/none@1:37-1:114 PolicyInputList.2/none@1:37-1:114 boundary true"},
		"by the resource's policy": {iam.SimulateCustomPolicyInput{ActionNames: []string{"s3:GetObject"}, ResourceArns: object, ResourcePolicy: aws.String(openToUser),
			CallerArn: aws.String("arn:aws:iam::" + account + ":user/ann")}, "allowed ResourcePolicy/resource@1:37-1:166 missing aws:SourceVpc"},
		"the resource's policy of another account": {iam.SimulateCustomPolicyInput{ActionNames: []string{"s3:GetObject"}, ResourceArns: object, ResourcePolicy: aws.String(openToUser),
			ResourceOwner: aws.String("arn:aws:iam::" + stranger + ":root"), CallerArn: aws.String("arn:aws:iam::" + account + ":user/ann")}, "implicitDeny missing aws:SourceVpc"},
		"a handling option": {iam.SimulateCustomPolicyInput{ActionNames: []string{"s3:ListBucket"}, ResourceHandlingOption: aws.String("EC2-VPC-EBS")}, "allowed PolicyInputList.2/none@1:37-1:114"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.input.PolicyInputList = []string{readPolicy, listPolicy}
			got := must.Get(client.SimulateCustomPolicy(t.Context(), &c.input))(t)
			if len(got.EvaluationResults) != 1 {
				t.Fatalf("there are %d results, want one", len(got.EvaluationResults))
			}
			result := got.EvaluationResults[0]
			matched := slices.SortedFunc(slices.Values(result.MatchedStatements), func(a, b types.Statement) int { return strings.Compare(*a.SourcePolicyId, *b.SourcePolicyId) })
			result.MatchedStatements = matched
			if line := outline(result); line != c.want {
				t.Errorf("got %q, want %q", line, c.want)
			}
			if want := len(c.input.ResourceArns); len(result.ResourceSpecificResults) != want {
				t.Errorf("there are %d results of resources, want %d", len(result.ResourceSpecificResults), want)
			}
		})
	}
}

func TestSimulationRefusesBadInput(t *testing.T) {
	client := newLab(t).iam()
	list := []string{"s3:ListBucket"}
	cases := map[string]struct {
		input iam.SimulateCustomPolicyInput
		want  string
	}{
		"a wildcard":                 {iam.SimulateCustomPolicyInput{ActionNames: []string{"s3:*"}}, "InvalidInput: Invalid action name: s3:*"},
		"no service":                 {iam.SimulateCustomPolicyInput{ActionNames: []string{"ListBucket"}}, "InvalidInput: Invalid action name"},
		"a type that is none":        {iam.SimulateCustomPolicyInput{ActionNames: list, ContextEntries: []types.ContextEntry{entry("aws:userid", "text", "x")}}, `InvalidInput: Invalid type "text"`},
		"no number":                  {iam.SimulateCustomPolicyInput{ActionNames: list, ContextEntries: []types.ContextEntry{entry("s3:max-keys", "numeric", "ten")}}, "InvalidInput: The values of context key s3:max-keys"},
		"no address":                 {iam.SimulateCustomPolicyInput{ActionNames: list, ContextEntries: []types.ContextEntry{entry("aws:SourceIp", "ipList", "10.0.0.1", "home")}}, "InvalidInput: The values of context key aws:SourceIp"},
		"no date":                    {iam.SimulateCustomPolicyInput{ActionNames: list, ContextEntries: []types.ContextEntry{entry("aws:CurrentTime", "date", "soon")}}, "InvalidInput: The values"},
		"no boolean":                 {iam.SimulateCustomPolicyInput{ActionNames: list, ContextEntries: []types.ContextEntry{entry("aws:SecureTransport", "boolean", "yes")}}, "InvalidInput: The values"},
		"two values of a single key": {iam.SimulateCustomPolicyInput{ActionNames: list, ContextEntries: []types.ContextEntry{entry("aws:userid", "string", "a", "b")}}, "InvalidInput: The values"},
		"a key twice":                {iam.SimulateCustomPolicyInput{ActionNames: list, ContextEntries: []types.ContextEntry{entry("aws:userid", "string", "a"), entry("AWS:userId", "string", "b")}}, "InvalidInput: Invalid context key name: AWS:userId"},
		"a handling option":          {iam.SimulateCustomPolicyInput{ActionNames: list, ResourceHandlingOption: aws.String("EC2-Moon")}, "InvalidInput: Invalid ResourceHandlingOption: EC2-Moon"},
		"a session as the caller":    {iam.SimulateCustomPolicyInput{ActionNames: list, CallerArn: aws.String("arn:aws:sts::" + account + ":assumed-role/r/s")}, "InvalidInput: CallerArn"},
		"a resource policy alone":    {iam.SimulateCustomPolicyInput{ActionNames: list, ResourcePolicy: aws.String(openToUser)}, "InvalidInput: CallerArn is required"},
		"two boundaries":             {iam.SimulateCustomPolicyInput{ActionNames: list, PermissionsBoundaryPolicyInputList: []string{listPolicy, listPolicy}}, "InvalidInput: PermissionsBoundaryPolicyInputList"},
		"an owner that is none":      {iam.SimulateCustomPolicyInput{ActionNames: list, ResourceOwner: aws.String("me")}, "InvalidInput: ARN me is not valid."},
		"no policy":                  {iam.SimulateCustomPolicyInput{ActionNames: list, PolicyInputList: []string{"{"}}, "InvalidInput: Syntax errors in policy."},
		"a policy for another place": {iam.SimulateCustomPolicyInput{ActionNames: list, PolicyInputList: []string{openToUser}}, "PolicyEvaluation: Policy document should not specify a principal."},
		"no name in a resource's":    {iam.SimulateCustomPolicyInput{ActionNames: list, CallerArn: aws.String("arn:aws:iam::" + account + ":user/ann"), ResourcePolicy: aws.String(withoutNames)}, "PolicyEvaluation: Missing required field Principal"},
		"a marker of nobody's":       {iam.SimulateCustomPolicyInput{ActionNames: list, Marker: aws.String("c2FiYw")}, "ValidationError: Invalid Marker."},
		"a marker beyond the end":    {iam.SimulateCustomPolicyInput{ActionNames: list, Marker: aws.String("czk")}, "ValidationError: Invalid Marker."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.input.PolicyInputList == nil {
				c.input.PolicyInputList = []string{listPolicy}
			}
			_, err := client.SimulateCustomPolicy(t.Context(), &c.input)
			if got := awstest.Refusal(nil, err); !strings.HasPrefix(got, c.want) {
				t.Errorf("answer %q, want %q", got, c.want)
			}
		})
	}
}

func TestSimulationOfAPrincipal(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	role := l.role("app", l.trust(l.provider()))
	l.policy("app", withoutNames)
	made := must.Get(client.CreatePolicy(t.Context(), &iam.CreatePolicyInput{PolicyName: aws.String("list"), PolicyDocument: aws.String(listPolicy)}))(t)
	l.Must(client.AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{RoleName: aws.String("app"), PolicyArn: made.Policy.Arn}))
	l.Must(client.AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{
		RoleName: aws.String("app"), PolicyArn: aws.String("arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"),
	}))
	ask := func(input *iam.SimulatePrincipalPolicyInput) string {
		t.Helper()
		input.PolicySourceArn = &role
		got, err := client.SimulatePrincipalPolicy(t.Context(), input)
		if err != nil {
			return awstest.Refusal(nil, err)
		}
		lines := []string{}
		for _, result := range got.EvaluationResults {
			lines = append(lines, *result.EvalActionName+" "+outline(result))
		}
		return strings.Join(lines, "; ")
	}
	got := ask(&iam.SimulatePrincipalPolicyInput{ActionNames: []string{"s3:GetObject", "sts:AssumeRole", "s3:PutObject"}})
	want := "s3:GetObject allowed inline/role@1:37-1:94 AmazonS3ReadOnlyAccess/aws-managed@1:38-1:167; sts:AssumeRole allowed list/user-managed@1:37-1:114; s3:PutObject implicitDeny"
	if got != want {
		t.Errorf("the role's policies answer\n %s, want\n %s", got, want)
	}
	l.Must(client.PutRolePermissionsBoundary(t.Context(), &iam.PutRolePermissionsBoundaryInput{
		RoleName: aws.String("app"), PermissionsBoundary: made.Policy.Arn,
	}))
	if got, want := ask(&iam.SimulatePrincipalPolicyInput{ActionNames: []string{"s3:GetObject"}}), "s3:GetObject implicitDeny boundary false"; got != want {
		t.Errorf("with its own boundary %q, want %q", got, want)
	}
	given := &iam.SimulatePrincipalPolicyInput{ActionNames: []string{"s3:PutObject"}, PolicyInputList: []string{strings.Replace(withoutNames, "s3:GetObject", "s3:PutObject", 1)}, PermissionsBoundaryPolicyInputList: []string{strings.Replace(withoutNames, "s3:GetObject", "s3:*", 1)}}
	if got := ask(given); !strings.HasPrefix(got, "s3:PutObject allowed ") || !strings.HasSuffix(got, "boundary true") {
		t.Errorf("with policies given besides: %q", got)
	}
	if got := ask(&iam.SimulatePrincipalPolicyInput{ActionNames: []string{"s3:GetObject"}, ResourcePolicy: aws.String(openToUser)}); !strings.HasPrefix(got, "InvalidInput: CallerArn is required") {
		t.Errorf("a resource's policy without a user answers %q", got)
	}
}

func TestSimulationNeedsItsSourceAndTheRightToAsk(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	for arn, want := range map[string]string{
		"arn:aws:iam::" + account + ":role/none":            "NoSuchEntity: The role with name none cannot be found.",
		"arn:aws:iam::" + account + ":user/none":            "NoSuchEntity: The user with name none cannot be found.",
		"arn:aws:iam::" + account + ":group/none":           "NoSuchEntity: The group with name none cannot be found.",
		"arn:aws:iam::" + stranger + ":user/administrator":  "NoSuchEntity: The user with name administrator cannot be found.",
		"arn:aws:sts::" + account + ":assumed-role/app/pod": "InvalidInput: ARN arn:aws:sts::" + account + ":assumed-role/app/pod is not valid.",
	} {
		if got := awstest.Refusal(client.SimulatePrincipalPolicy(t.Context(), &iam.SimulatePrincipalPolicyInput{
			PolicySourceArn: &arn, ActionNames: []string{"s3:GetObject"},
		})); got != want {
			t.Errorf("%s answers %q, want %q", arn, got, want)
		}
	}
	source := l.role("app", l.trust(l.provider()))
	l.User(account, "ann", "")
	l.UserPolicy(account, "ann", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"iam:SimulatePrincipalPolicy","Resource":"arn:aws:iam::`+account+`:user/*"}}`)
	ann := iam.NewFromConfig(l.As(l.Key(account, "ann")))
	if got := awstest.Refusal(ann.SimulatePrincipalPolicy(t.Context(), &iam.SimulatePrincipalPolicyInput{
		PolicySourceArn: &source, ActionNames: []string{"s3:GetObject"},
	})); !strings.HasPrefix(got, "AccessDenied: User: arn:aws:iam::"+account+":user/ann is not authorized to perform: iam:SimulatePrincipalPolicy on resource: "+source) {
		t.Errorf("another's policies answer %q", got)
	}
	own := "arn:aws:iam::" + account + ":user/ann"
	if _, err := ann.SimulatePrincipalPolicy(t.Context(), &iam.SimulatePrincipalPolicyInput{PolicySourceArn: &own, ActionNames: []string{"s3:GetObject"}}); err != nil {
		t.Errorf("her own policies answer %v", err)
	}
	if got := awstest.Refusal(ann.SimulateCustomPolicy(t.Context(), &iam.SimulateCustomPolicyInput{
		PolicyInputList: []string{listPolicy}, ActionNames: []string{"s3:GetObject"},
	})); !strings.HasPrefix(got, "AccessDenied: ") {
		t.Errorf("given policies answer %q", got)
	}
	l.Admin().Inject(awslocal.Fault{Service: "iam", Operation: "SimulateCustomPolicy", Code: "Throttling", Count: 1})
	if got := awstest.Refusal(client.SimulateCustomPolicy(t.Context(), &iam.SimulateCustomPolicyInput{
		PolicyInputList: []string{listPolicy}, ActionNames: []string{"s3:GetObject"},
	})); got != "Throttling: Rate exceeded" {
		t.Errorf("when throttled the answer is %q", got)
	}
}

func TestSimulationsComeInPages(t *testing.T) {
	l := newLab(t)
	for _, short := range []bool{false, true} {
		l.Admin().SetShortPages(awslocal.ShortPages{On: short, Seed: 3})
		pages := iam.NewSimulateCustomPolicyPaginator(l.iam(), &iam.SimulateCustomPolicyInput{
			PolicyInputList: []string{listPolicy}, ActionNames: []string{"s3:GetObject", "s3:ListBucket", "s3:PutObject"},
			ResourceArns: []string{"arn:aws:s3:::a", "arn:aws:s3:::b"}, MaxItems: aws.Int32(4),
		})
		got := []string{}
		for pages.HasMorePages() {
			page := must.Get(pages.NextPage(t.Context()))(t)
			for _, result := range page.EvaluationResults {
				got = append(got, *result.EvalActionName+" "+strings.TrimPrefix(*result.EvalResourceName, "arn:aws:s3:::"))
			}
		}
		want := []string{"s3:GetObject a", "s3:GetObject b", "s3:ListBucket a", "s3:ListBucket b", "s3:PutObject a", "s3:PutObject b"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("with short pages %v the results are %v, want %v", short, got, want)
		}
	}
}

func TestContextKeysOfPolicies(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	variable := `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::b/${aws:username}","Condition":{"Bool":{"AWS:SourceVPC":"x"}}}}`
	want := []string{"aws:SourceVpc", "aws:username"}
	custom, err := client.GetContextKeysForCustomPolicy(t.Context(), &iam.GetContextKeysForCustomPolicyInput{PolicyInputList: []string{readPolicy, variable}})
	if err != nil || !reflect.DeepEqual(custom.ContextKeyNames, want) {
		t.Errorf("the policies given ask for %v (%v), want %v", custom, err, want)
	}
	l.User(account, "ann", "")
	l.UserPolicy(account, "ann", readPolicy)
	arn := "arn:aws:iam::" + account + ":user/ann"
	principal, err := client.GetContextKeysForPrincipalPolicy(t.Context(), &iam.GetContextKeysForPrincipalPolicyInput{PolicySourceArn: &arn, PolicyInputList: []string{variable}})
	if err != nil || !reflect.DeepEqual(principal.ContextKeyNames, want) {
		t.Errorf("the user's policies ask for %v (%v), want %v", principal, err, want)
	}
	ann := iam.NewFromConfig(l.As(l.Key(account, "ann")))
	checkRefusals(t, map[string]refused{
		"a user that is not there": {awstest.Refusal(client.GetContextKeysForPrincipalPolicy(t.Context(), &iam.GetContextKeysForPrincipalPolicyInput{
			PolicySourceArn: aws.String(arn + "x"),
		})), "NoSuchEntity: The user with name annx cannot be found."},
		"a text that is no policy": {awstest.Refusal(client.GetContextKeysForCustomPolicy(t.Context(), &iam.GetContextKeysForCustomPolicyInput{
			PolicyInputList: []string{"["},
		})), "InvalidInput: Syntax errors in policy."},
		"a user without rights": {awstest.Refusal(ann.GetContextKeysForCustomPolicy(t.Context(), &iam.GetContextKeysForCustomPolicyInput{
			PolicyInputList: []string{readPolicy},
		})), "AccessDenied: User: " + arn + " is not authorized to perform: iam:GetContextKeysForCustomPolicy"},
	})
}
