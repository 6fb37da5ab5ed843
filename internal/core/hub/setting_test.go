package hub_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/hub"
)

// TestDecide is table 3.9 as far as it says when managed IAM is off.
func TestDecide(t *testing.T) {
	aws := func(arn string, disabled bool) []hub.Driver {
		return []hub.Driver{{AuthType: "csr"}, {AuthType: hub.DriverAWS, HubARN: arn, DisableManagedIAM: disabled}}
	}
	csr := []hub.Driver{{AuthType: "csr"}}
	tests := map[string]struct {
		flag hub.Switch
		seen hub.ClusterManager
		want hub.Switch
		ocm  bool
	}{
		"the field is absent in a schema that has it":              {"", hub.ClusterManager{HasField: true, Drivers: csr}, hub.On, false},
		"the schema lacks the field":                               {"", hub.ClusterManager{Drivers: csr}, hub.Unknown, false},
		"the schema lacks the field, and the flag says On":         {hub.On, hub.ClusterManager{Drivers: csr}, hub.On, false},
		"there is no ClusterManager":                               {"", hub.ClusterManager{}, hub.Unknown, false},
		"there is no ClusterManager, and the flag says On":         {hub.On, hub.ClusterManager{}, hub.On, false},
		"the field is set":                                         {"", hub.ClusterManager{HasField: true, Drivers: aws(hubARN, true)}, hub.Off, false},
		"the field is set, and the flag says On":                   {hub.On, hub.ClusterManager{HasField: true, Drivers: aws(hubARN, true)}, hub.Off, false},
		"the flag says Off":                                        {hub.Off, hub.ClusterManager{HasField: true, Drivers: csr}, hub.Off, false},
		"the flag says Off beside the driver of OCM":               {hub.Off, hub.ClusterManager{HasField: true, Drivers: aws(hubARN, false)}, hub.Off, false},
		"the driver of OCM acts":                                   {"", hub.ClusterManager{HasField: true, Drivers: aws(hubARN, false)}, hub.Off, true},
		"the driver of OCM acts, and the flag says On":             {hub.On, hub.ClusterManager{HasField: true, Drivers: aws(hubARN, false)}, hub.Off, true},
		"the driver of OCM acts where the schema lacks the field":  {hub.On, hub.ClusterManager{Drivers: aws(hubARN, false)}, hub.Off, true},
		"the ClusterManager cannot be read":                        {"", hub.ClusterManager{Trouble: "forbidden"}, hub.Unknown, false},
		"the ClusterManager cannot be read, and the flag says On":  {hub.On, hub.ClusterManager{Trouble: "forbidden"}, hub.Unknown, false},
		"the ClusterManager cannot be read, and the flag says Off": {hub.Off, hub.ClusterManager{Trouble: "forbidden"}, hub.Off, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := hub.Decide(test.flag, hubARN, test.seen)
			if got.IAM != test.want || got.ByOCM != test.ocm || got.Why == "" {
				t.Errorf("it is %+v, want %s, %t", got, test.want, test.ocm)
			}
		})
	}
}

func TestDecideWhichHub(t *testing.T) {
	tests := map[string]struct{ flag, stated, want, problem string }{
		"the flag":             {hubARN, "", hubARN, ""},
		"the ClusterManager":   {"", hubARN, hubARN, ""},
		"both say the same":    {hubARN, hubARN, hubARN, ""},
		"both differ":          {hubARN, spokeARN, "", "correct one of both"},
		"neither":              {"", "", "", "required for managed IAM"},
		"the flag is no ARN":   {"eks-hub", "", "", "arn:PARTITION:eks"},
		"an ARN of four parts": {"", "arn:aws:eks:us-west-2", "", "arn:PARTITION:eks"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			seen := hub.ClusterManager{Drivers: []hub.Driver{{AuthType: hub.DriverAWS, HubARN: test.stated}}}
			got := hub.Decide("", test.flag, seen)
			if got.Hub.String() != test.want || (got.HubProblem == "") != (test.problem == "") || !strings.Contains(got.HubProblem, test.problem) {
				t.Errorf("it is %+v, want %q, %q", got, test.want, test.problem)
			}
		})
	}
}
