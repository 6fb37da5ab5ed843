package ec2

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

// ask sends a form and returns the answer; effect is what the policies say.
func ask(t *testing.T, body string, effect iampolicy.Effect) *httptest.ResponseRecorder {
	t.Helper()
	return askIn(t, New(nil), "eu-central-1", body, effect)
}

func askIn(t *testing.T, s *Service, region, body string, effect iampolicy.Effect) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	c := &call.Call{
		HTTP: r, Payload: []byte(body), ID: "id-1", Region: region, Entry: &call.Entry{},
		Caller: call.Caller{Principal: iampolicy.Principal{Kind: iampolicy.User, ARN: "arn:aws:iam::123456789012:user/alice", AccountID: "123456789012"}},
		Authorize: func(action, resource string, side call.Side, _ iampolicy.Context) iampolicy.Decision {
			if !strings.HasPrefix(action, "ec2:Describe") || resource != "*" || side.AccountID != "123456789012" {
				t.Errorf("asked for %s on %s of %s", action, resource, side.AccountID)
			}
			return iampolicy.Decision{Effect: effect, Kind: iampolicy.IdentityPolicy}
		},
	}
	w := httptest.NewRecorder()
	s.Serve(w, c)
	return w
}

type answer struct {
	Types  []instanceTypeItem `xml:"instanceTypeSet>item"`
	Next   string             `xml:"nextToken"`
	Region []regionItem       `xml:"regionInfo>item"`
	Code   string             `xml:"Errors>Error>Code"`
	Text   string             `xml:"Errors>Error>Message"`
}

func read(t *testing.T, w *httptest.ResponseRecorder) answer {
	t.Helper()
	var out answer
	if err := xml.Unmarshal(w.Body.Bytes(), &out); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return out
}

func names(items []instanceTypeItem) []string {
	var out []string
	for _, item := range items {
		out = append(out, item.InstanceType)
	}
	return out
}

func TestDescribeInstanceTypes(t *testing.T) {
	const op = "Action=DescribeInstanceTypes&Version=2016-11-15&"
	cases := map[string]struct {
		query  string
		want   []string
		status int
		code   string
	}{
		"types are found by name":                     {"InstanceType.1=m5.large&InstanceType.2=g4dn.xlarge", []string{"m5.large", "g4dn.xlarge"}, 200, ""},
		"an unknown one is refused by name":           {"InstanceType.1=m5.large&InstanceType.2=m5.tiny", nil, 400, "InvalidInstanceType"},
		"names and a page size exclude each other":    {"InstanceType.1=m5.large&MaxResults=5", nil, 400, "InvalidParameterCombination"},
		"a page is five at least":                     {"MaxResults=4", nil, 400, "InvalidParameterValue"},
		"a token that is none is refused":             {"NextToken=%21", nil, 400, "InvalidParameterValue"},
		"a filter takes wildcards":                    {"Filter.1.Name=instance-type&Filter.1.Value.1=m5.?arge", []string{"m5.large"}, 200, ""},
		"values of a filter are alternatives":         {"Filter.1.Name=instance-type&Filter.1.Value.1=t2.nano&Filter.1.Value.2=t2.micro", []string{"t2.micro", "t2.nano"}, 200, ""},
		"filters all hold":                            {"Filter.1.Name=instance-type&Filter.1.Value.1=t4g.*&Filter.2.Name=memory-info.size-in-mib&Filter.2.Value.1=512", []string{"t4g.nano"}, 200, ""},
		"an unknown filter is refused and not passed": {"Filter.1.Name=gpu-info&Filter.1.Value.1=x", nil, 400, "InvalidParameterValue"},
		"a dry run is refused in its own way":         {"DryRun=true", nil, 412, "DryRunOperation"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := ask(t, op+tc.query, iampolicy.Allow)
			got := read(t, w)
			if w.Code != tc.status || got.Code != tc.code || !slices.Equal(names(got.Types), tc.want) {
				t.Errorf("status %d, code %q (%s), types %v; want %d, %q, %v", w.Code, got.Code, got.Text, names(got.Types), tc.status, tc.code, tc.want)
			}
		})
	}
}

func TestPagesHoldEveryTypeOnce(t *testing.T) {
	all, err := catalogue()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 600 || !slices.IsSortedFunc(all, func(a, b instanceType) int { return strings.Compare(a.name, b.name) }) {
		t.Fatalf("%d types, expected at least 600, sorted", len(all))
	}
	var seen []string
	token := ""
	for range len(all) {
		got := read(t, ask(t, "Action=DescribeInstanceTypes&MaxResults=50&NextToken="+url.QueryEscape(token), iampolicy.Allow))
		seen = append(seen, names(got.Types)...)
		if token = got.Next; token == "" {
			break
		}
	}
	if len(seen) != len(all) || len(slices.Compact(seen)) != len(all) {
		t.Errorf("the pages hold %d types, expected each of %d once", len(seen), len(all))
	}
}

func TestOneTypeWhole(t *testing.T) {
	body := ask(t, "Action=DescribeInstanceTypes&InstanceType.1=p4d.24xlarge", iampolicy.Allow).Body.String()
	for _, want := range []string{
		"<vCpuInfo><defaultVCpus>96</defaultVCpus></vCpuInfo>", "<memoryInfo><sizeInMiB>1179648</sizeInMiB></memoryInfo>",
		"<supportedArchitectures><item>x86_64</item></supportedArchitectures>",
		"<gpuInfo><gpus><item><name>A100</name><manufacturer>NVIDIA</manufacturer><count>8</count><gpuPartitionSize>1</gpuPartitionSize><logicalGpuCount>8</logicalGpuCount></item></gpus></gpuInfo>",
		"<requestId>id-1</requestId>",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s lacks %s", body, want)
		}
	}
	for _, lacks := range []string{"neuronInfo", "inferenceAcceleratorInfo"} {
		if strings.Contains(body, lacks) {
			t.Errorf("%s has %s", body, lacks)
		}
	}
}

func TestRefusals(t *testing.T) {
	got := read(t, ask(t, "Action=DescribeRegions", iampolicy.ImplicitDeny))
	if got.Code != "UnauthorizedOperation" || !strings.Contains(got.Text, "no identity-based policy allows the ec2:DescribeRegions action") {
		t.Errorf("without a right: %+v", got)
	}
	if got := read(t, ask(t, "Action=RunInstances&Version=2016-11-15", iampolicy.Allow)); got.Code != "InvalidAction" || !strings.Contains(got.Text, "RunInstances") {
		t.Errorf("an operation that is not there: %+v", got)
	}
}

func TestFits(t *testing.T) {
	cases := map[string]bool{
		"m5.large": true, "m5.*": true, "*.large": true, "*": true, "m?.large": true, "m5*large*": true, "*m*5*l*": true,
		"": false, "m5": false, "m5.larger": false, "?": false, "m5.*x": false, "M5.large": false,
	}
	for pattern, want := range cases {
		if got := fits(pattern, "m5.large"); got != want {
			t.Errorf("fits(%q) = %v, want %v", pattern, got, want)
		}
	}
}
