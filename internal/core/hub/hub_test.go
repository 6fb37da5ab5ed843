package hub_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	hubARN   = "arn:aws:eks:us-west-2:111111111111:cluster/eks-hub"
	spokeARN = "arn:aws:eks:us-east-1:222222222222:cluster/spoke-1"
	suffixA  = "141fc72f17164e5a28c2b4e384694bae"
	suffixB  = "347a66776893e40615516d2e0491e696"
)

func arn(t *testing.T, text string) hub.ARN {
	t.Helper()
	return must.Get(hub.ParseARN(text))(t)
}

func TestParseARN(t *testing.T) {
	good := map[string]hub.ARN{
		spokeARN: {Partition: "aws", Region: "us-east-1", Account: "222222222222", Name: "spoke-1"},
		"arn:aws-cn:eks:cn-north-1:222222222222:cluster/a":               {Partition: "aws-cn", Region: "cn-north-1", Account: "222222222222", Name: "a"},
		"arn:aws-us-gov:eks:us-gov-west-1:222222222222:cluster/with_one": {Partition: "aws-us-gov", Region: "us-gov-west-1", Account: "222222222222", Name: "with_one"},
		"arn:aws-iso-b:eks:us-isob-east-1:222222222222:cluster/0-9":      {Partition: "aws-iso-b", Region: "us-isob-east-1", Account: "222222222222", Name: "0-9"},
		"arn:aws:eks:x:222222222222:cluster/" + strings.Repeat("a", 100): {Partition: "aws", Region: "x", Account: "222222222222", Name: strings.Repeat("a", 100)},
	}
	for text, want := range good {
		if got, err := hub.ParseARN(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s is read as %+v (%s), %v", text, got, got, err)
		}
	}
	for name, text := range map[string]string{
		"the empty text": "", "no ARN": "spoke.us-west-2.eksctl.io", "five parts": "arn:aws:eks:us-east-1:222222222222",
		"the example of the CRD's comment": "arn:eks:us-west-2:12345678910:cluster/hub", "nine digits": "arn:aws:eks:us-west-2:123456789:cluster/eks-hub",
		"another service": "arn:aws:iam::222222222222:role/a", "another resource": "arn:aws:eks:us-east-1:222222222222:nodegroup/a/b/c",
		"no name": "arn:aws:eks:us-east-1:222222222222:cluster/", "a long name": "arn:aws:eks:x:222222222222:cluster/" + strings.Repeat("a", 101),
		"a leading hyphen": "arn:aws:eks:x:222222222222:cluster/-a", "a slash": "arn:aws:eks:x:222222222222:cluster/a/b", "a number sign": "arn:aws:eks:x:222222222222:cluster/a#b",
		"a line at the end": spokeARN + "\n", "a line before": "\n" + spokeARN, "no region": "arn:aws:eks::222222222222:cluster/a", "digits that are not ASCII": "arn:aws:eks:x:٢٢٢٢٢٢٢٢٢٢٢٢:cluster/a",
		"another partition": "arn:awsx:eks:x:222222222222:cluster/a", "a quote": `arn:aws:eks:x:222222222222:cluster/a"b`, "a megabyte": "arn:" + strings.Repeat("x", 1<<20),
	} {
		got, err := hub.ParseARN(text)
		if err == nil || !got.IsZero() || got.String() != "" {
			t.Errorf("%s: %.80q is read as %+v", name, text, got)
		} else if len(err.Error()) > 600 || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "arn:PARTITION:eks") {
			t.Errorf("%s: the error is %.700q", name, err)
		}
	}
}

// TestSuffix is table 3.1. An ARN is made of its parts here, because the vectors of
// others have accounts that no ARN can have.
func TestSuffix(t *testing.T) {
	of := func(account, name string) hub.ARN {
		return hub.ARN{Partition: "aws", Region: "us-west-2", Account: account, Name: name}
	}
	tests := map[string]struct {
		hub, spoke hub.ARN
		cluster    string
		want       string
	}{
		"123456789#eks-hub##localcluster":                         {of("123456789", "eks-hub"), hub.ARN{}, "localcluster", "1c4185a896c3fca92fa78ecae00dddd1"},
		"123456789012#eks-hub##localcluster":                      {of("123456789012", "eks-hub"), hub.ARN{}, "localcluster", "bca330005aa6bef99c032ccf7d1177c8"},
		"123456789012#hub#567890123456#spoke":                     {of("123456789012", "hub"), of("567890123456", "spoke"), "any", "138c525cf3b7f74ba3b945e7847792cc"},
		"123456789012#hub-cluster1#123456789012#managed-cluster1": {of("123456789012", "hub-cluster1"), of("123456789012", "managed-cluster1"), "any", "7f8141296c75f2871e3d030f85c35692"},
		"123456789012#hub-cluster#123456789012#spoke-cluster":     {of("123456789012", "hub-cluster"), of("123456789012", "spoke-cluster"), "any", "960c4e56c25ba0b571ddcdaa7edc943e"},
		"111111111111#eks-hub#222222222222#spoke-1":               {of("111111111111", "eks-hub"), of("222222222222", "spoke-1"), "", suffixA},
		"111111111111#eks-hub#333333333333#spoke-2":               {of("111111111111", "eks-hub"), of("333333333333", "spoke-2"), "any", "d7dcb0cd35104687a440e353ac3ff7cd"},
		"111111111111#other-hub#222222222222#spoke-1":             {of("111111111111", "other-hub"), of("222222222222", "spoke-1"), "any", "a32c05fd91fabec7b4b6f724bcbd8386"},
		"111111111111#eks-hub##onprem-1":                          {of("111111111111", "eks-hub"), hub.ARN{}, "onprem-1", suffixB},
		"111111111111#eks-hub##spoke-1":                           {of("111111111111", "eks-hub"), hub.ARN{}, "spoke-1", "16455f4a7a7a2b3db90947cef1a62bae"},
		"111111111111#eks-hub## is never used":                    {of("111111111111", "eks-hub"), hub.ARN{}, "", ""},
		"a name with the line that echo adds":                     {of("111111111111", "eks-hub"), hub.ARN{}, "onprem-1\n", ""},
		"a name that holds the separator":                         {of("111111111111", "eks-hub"), hub.ARN{}, "a#b", ""},
		"no hub":                                                  {hub.ARN{}, of("222222222222", "spoke-1"), "any", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := hub.Suffix(test.hub, test.spoke, test.cluster)
			if got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("the suffix is %q, %v, want %q", got, err, test.want)
			}
			if err == nil && !hub.IsSuffix(got) {
				t.Errorf("%q is not taken for a suffix", got)
			}
		})
	}
}

// TestTheRegionIsNoPartOfTheSuffix is the weakness because of which a suffix is given to
// one cluster only.
func TestTheRegionIsNoPartOfTheSuffix(t *testing.T) {
	far := arn(t, spokeARN)
	far.Region = "eu-west-1"
	if a, b := must.Get(hub.Suffix(arn(t, hubARN), arn(t, spokeARN), "a"))(t), must.Get(hub.Suffix(arn(t, hubARN), far, "b"))(t); a != b {
		t.Errorf("%s and %s differ", a, b)
	}
}

// TestAgentSuffix is table 4.2.
func TestAgentSuffix(t *testing.T) {
	tests := map[string]struct{ hub, spoke, cluster, given, want, err string }{
		"an ARN":                                    {hubARN, spokeARN, "cluster1", "", suffixA, ""},
		"an ARN and no name":                        {hubARN, spokeARN, "", "", suffixA, ""},
		"no ARN and a name":                         {hubARN, "", "onprem-1", "", suffixB, ""},
		"neither ARN nor name":                      {hubARN, "", "", "", "", "neither an ARN nor a name"},
		"no ARN of the hub":                         {"", spokeARN, "cluster1", "", "", "the ARN of the hub"},
		"a malformed ARN of the hub":                {"eks-hub", spokeARN, "cluster1", "", "", "the ARN of the hub"},
		"a malformed ARN":                           {hubARN, "spoke-1", "cluster1", "", "", "the ARN of the spoke"},
		"the same suffix is given":                  {hubARN, spokeARN, "cluster1", suffixA, suffixA, ""},
		"the suffix of another is given":            {hubARN, spokeARN, "cluster1", suffixB, "", "must be " + suffixA},
		"the rendered suffix of a name is the same": {hubARN, "", "onprem-1", suffixB, suffixB, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := hub.AgentSuffix(test.hub, test.spoke, test.cluster, test.given)
			if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("the suffix is %q, %v, want %q, %q", got, err, test.want, test.err)
			}
		})
	}
}

// TestClassify is table 3.3.
func TestClassify(t *testing.T) {
	with := func(arn, suffix string) map[string]string {
		return map[string]string{hub.ARNAnnotation: arn, hub.SuffixAnnotation: suffix, "theirs": "too"}
	}
	tests := map[string]struct {
		annotations map[string]string
		want        hub.Class
		problem     string
	}{
		"no annotations":                  {nil, hub.Foreign, ""},
		"neither annotation":              {map[string]string{"theirs": "too"}, hub.Foreign, ""},
		"both are empty":                  {with("", ""), hub.Foreign, ""},
		"both":                            {with(spokeARN, suffixA), hub.Managed, ""},
		"a suffix alone":                  {map[string]string{hub.SuffixAnnotation: suffixB}, hub.External, ""},
		"a suffix and an empty ARN":       {with("", suffixB), hub.External, ""},
		"an ARN alone":                    {map[string]string{hub.ARNAnnotation: spokeARN}, hub.Malformed, "without"},
		"an ARN and an empty suffix":      {with(spokeARN, ""), hub.Malformed, "without"},
		"a suffix in capitals":            {with(spokeARN, strings.ToUpper(suffixA)), hub.Malformed, "0-9 and a-f"},
		"a suffix that is short":          {with("", suffixA[1:]), hub.Malformed, "0-9 and a-f"},
		"a suffix with a line at its end": {with("", suffixA+"\n"), hub.Malformed, "0-9 and a-f"},
		"an ARN of another kind":          {with("arn:aws:iam::222222222222:role/a", suffixA), hub.Malformed, "arn:PARTITION:eks"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := hub.Classify(test.annotations)
			if got.Class != test.want || (got.Problem == "") != (test.problem == "") || !strings.Contains(got.Problem, test.problem) {
				t.Errorf("it is %+v, want %s, %q", got, test.want, test.problem)
			}
			if (got.Suffix != "") != (test.want == hub.Managed || test.want == hub.External) || got.Spoke.IsZero() == (test.want == hub.Managed) {
				t.Errorf("its parts are %+v", got)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	china := "arn:aws-cn:eks:us-east-1:222222222222:cluster/spoke-1"
	tests := map[string]struct{ hub, arn, suffix, cluster, want string }{
		"the spoke of the hub":         {hubARN, spokeARN, suffixA, "cluster1", ""},
		"its name does not count":      {hubARN, spokeARN, suffixA, "other", ""},
		"without an ARN":               {hubARN, "", suffixB, "onprem-1", ""},
		"without an ARN by another's":  {hubARN, "", suffixB, "onprem-2", "must be"},
		"joined with another hub":      {hubARN, spokeARN, "a32c05fd91fabec7b4b6f724bcbd8386", "cluster1", "must be " + suffixA},
		"the suffix of another":        {hubARN, spokeARN, suffixB, "cluster1", "must be " + suffixA},
		"a spoke of another partition": {hubARN, china, suffixA, "cluster1", "AWS partition"},
		"the hub is not known":         {"", spokeARN, suffixA, "cluster1", "the ARN of the hub is not known"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var h hub.ARN
			if test.hub != "" {
				h = arn(t, test.hub)
			}
			err := hub.Classify(map[string]string{hub.ARNAnnotation: test.arn, hub.SuffixAnnotation: test.suffix}).Verify(h, test.cluster)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("it says %v, want %q", err, test.want)
			}
		})
	}
}

// TestTrust is the example of 3.4.
func TestTrust(t *testing.T) {
	const want = `{"Version":"2012-10-17","Statement":[{
  "Effect":"Allow",
  "Principal":{"AWS":"arn:aws:iam::222222222222:role/ocm-managed-cluster-141fc72f17164e5a28c2b4e384694bae"},
  "Action":"sts:AssumeRole",
  "Condition":{"StringEquals":{
    "aws:PrincipalTag/hub_cluster_account_id":"111111111111",
    "aws:PrincipalTag/hub_cluster_name":"eks-hub",
    "aws:PrincipalTag/managed_cluster_account_id":"222222222222",
    "aws:PrincipalTag/managed_cluster_name":"spoke-1"}}}]}`
	got := hub.Trust(arn(t, hubARN), arn(t, spokeARN), suffixA)
	if !hub.SamePolicy(got, want) {
		t.Errorf("the trust policy is %s", got)
	}
	for name, other := range map[string]string{
		"another account":  strings.Replace(want, "222222222222:role", "333333333333:role", 1),
		"a tag less":       strings.Replace(want, `"aws:PrincipalTag/hub_cluster_name":"eks-hub",`, "", 1),
		"a statement more": strings.Replace(want, `"Statement":[`, `"Statement":[{"Effect":"Allow","Principal":"*","Action":"sts:AssumeRole"},`, 1),
		"no JSON":          "trust",
		"nothing":          "",
	} {
		if hub.SamePolicy(got, other) {
			t.Errorf("a policy with %s is taken for the same", name)
		}
	}
	if hub.SamePolicy("no JSON", "no JSON") {
		t.Error("what is not JSON is taken for a policy")
	}
	gov := strings.Replace(strings.Replace(hubARN, "arn:aws:", "arn:aws-us-gov:", 1), "us-west-2", "us-gov-west-1", 1)
	spoke := arn(t, strings.Replace(spokeARN, "arn:aws:", "arn:aws-us-gov:", 1))
	if got := hub.Trust(arn(t, gov), spoke, suffixA); !strings.Contains(got, `"arn:aws-us-gov:iam::222222222222:role/ocm-managed-cluster-`) {
		t.Errorf("the principal is not in the hub's partition: %s", got)
	}
	if got := arn(t, gov).RoleARN(hub.RoleName(suffixA)); got != "arn:aws-us-gov:iam::111111111111:role/ocm-hub-"+suffixA {
		t.Errorf("the role is %s", got)
	}
	if got := hub.Group("cluster1"); got != "open-cluster-management:cluster1" {
		t.Errorf("the group is %s", got)
	}
}
