package hub_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/hub"
)

// TestDecide is table 3.9 as far as it says when managed IAM is off, and who acts by what runs.
func TestDecide(t *testing.T) {
	aws := func(arn string, disabled bool) []hub.Driver {
		return []hub.Driver{{AuthType: "csr"}, {AuthType: hub.DriverAWS, HubARN: arn, DisableManagedIAM: disabled}}
	}
	stated := func(disabled bool) []hub.Driver {
		return []hub.Driver{{AuthType: hub.DriverAWS, HubARN: hubARN, DisableManagedIAM: disabled, Stated: true}}
	}
	csr := []hub.Driver{{AuthType: "csr"}}
	acting := []hub.Pod{{Name: "idle", Commands: [][]string{hubController()}}, {Name: "acting", Commands: [][]string{hubController("--enabled-registration-drivers=csr,awsirsa")}}}
	idle := []hub.Pod{{Name: "idle", Commands: [][]string{hubController("--enabled-registration-drivers=csr")}}, {Name: "work", Commands: [][]string{{"/work", "manager"}}}}
	disabled := []hub.Pod{{Name: "disabled", Commands: [][]string{hubController("--enabled-registration-drivers=awsirsa", "--disable-managed-iam=true")}}}
	unclear := []hub.Pod{{Name: "unclear", Commands: [][]string{hubController("$(FLAGS)")}}}
	tests := map[string]struct {
		flag hub.Switch
		seen hub.ClusterManager
		want hub.Switch
		ocm  bool
		why  string
	}{
		"the field is absent in a schema that has it":              {"", hub.ClusterManager{HasField: true, Drivers: csr, Pods: idle}, hub.On, false, "is not set"},
		"the schema lacks the field":                               {"", hub.ClusterManager{Drivers: csr, Pods: idle}, hub.Unknown, false, "tabard hub fields --apply, or set the flag"},
		"the schema lacks the field, and the flag says On":         {hub.On, hub.ClusterManager{Drivers: csr, Pods: idle}, hub.On, false, "the flag"},
		"the schema has lost the field":                            {"", hub.ClusterManager{HadField: true, Drivers: csr, Pods: idle}, hub.Unknown, false, "put it back: tabard hub fields --apply"},
		"the schema has lost the field, and the flag says On":      {hub.On, hub.ClusterManager{HadField: true, Drivers: csr, Pods: idle}, hub.Unknown, false, "put it back: tabard hub fields --apply"},
		"the schema has the field still":                           {"", hub.ClusterManager{HadField: true, HasField: true, Drivers: csr, Pods: idle}, hub.On, false, "is not set"},
		"the field is back, and what was said in it is lost":       {hub.On, hub.ClusterManager{HadField: true, HasField: true, Restored: true, Drivers: aws(hubARN, false), Pods: idle}, hub.Unknown, false, "set disableManagedIam of the driver awsirsa to true or false"},
		"the field is back, and says false":                        {"", hub.ClusterManager{HadField: true, HasField: true, Restored: true, Drivers: stated(false), Pods: idle}, hub.On, false, "is not set"},
		"the field is back, and says true":                         {hub.On, hub.ClusterManager{HadField: true, HasField: true, Restored: true, Drivers: stated(true), Pods: idle}, hub.Off, false, "disableManagedIam is set"},
		"the field is back, where nothing could be said in it":     {"", hub.ClusterManager{HadField: true, HasField: true, Restored: true, Drivers: csr, Pods: idle}, hub.On, false, "is not set"},
		"there is no ClusterManager":                               {"", hub.ClusterManager{}, hub.Unknown, false, "no field"},
		"there is no ClusterManager, and the flag says On":         {hub.On, hub.ClusterManager{}, hub.On, false, "the flag"},
		"the requirement's own ClusterManager":                     {"", hub.ClusterManager{HasField: true, Drivers: aws(hubARN, true), Pods: idle}, hub.Off, false, "disableManagedIam is set"},
		"the same, and no pod is there yet":                        {"", hub.ClusterManager{HasField: true, Drivers: aws(hubARN, true)}, hub.Off, false, "disableManagedIam is set"},
		"the same, and the flag says On":                           {hub.On, hub.ClusterManager{HasField: true, Drivers: aws(hubARN, true), Pods: idle}, hub.Off, false, "disableManagedIam is set"},
		"the same with a controller that knows the flag":           {"", hub.ClusterManager{HasField: true, Drivers: aws(hubARN, true), Pods: disabled}, hub.Off, false, "disableManagedIam is set"},
		"the same with a released controller":                      {"", hub.ClusterManager{HasField: true, Drivers: aws(hubARN, true), Pods: acting}, hub.Off, true, "acting of its hub controller runs with the driver awsirsa without --disable-managed-iam"},
		"the same, and the pods cannot be read":                    {"", hub.ClusterManager{HasField: true, Drivers: aws(hubARN, true), PodTrouble: "forbidden"}, hub.Off, false, "disableManagedIam is set"},
		"the flag says Off":                                        {hub.Off, hub.ClusterManager{HasField: true, Drivers: csr, Pods: idle}, hub.Off, false, "switched off by the flag"},
		"the flag says Off beside the driver of OCM":               {hub.Off, hub.ClusterManager{HasField: true, Drivers: aws(hubARN, false), Pods: acting}, hub.Off, false, "switched off by the flag"},
		"the driver of OCM acts":                                   {"", hub.ClusterManager{HasField: true, Drivers: aws(hubARN, false), Pods: acting}, hub.Off, true, "the pod acting of the hub controller"},
		"the driver of OCM acts, and the flag says On":             {hub.On, hub.ClusterManager{HasField: true, Drivers: aws(hubARN, false), Pods: acting}, hub.Off, true, "the pod acting"},
		"the driver of OCM acts where the schema lacks the field":  {hub.On, hub.ClusterManager{Drivers: aws(hubARN, false), Pods: acting}, hub.Off, true, "the pod acting"},
		"the driver of OCM acts still, and is not listed any more": {hub.On, hub.ClusterManager{Drivers: csr, Pods: acting}, hub.Off, true, "the pod acting"},
		"the driver of OCM acts without a ClusterManager":          {hub.On, hub.ClusterManager{Pods: acting}, hub.Off, true, "the pod acting"},
		"the driver is listed, and runs nowhere":                   {hub.On, hub.ClusterManager{HasField: true, Drivers: aws(hubARN, false), Pods: idle}, hub.On, false, "the flag"},
		"the driver is listed, and runs nowhere, by the field":     {"", hub.ClusterManager{HasField: true, Drivers: aws(hubARN, false), Pods: idle}, hub.On, false, "is not set"},
		"the driver is listed, and runs with IAM disabled":         {"", hub.ClusterManager{HasField: true, Drivers: aws(hubARN, false), Pods: disabled}, hub.On, false, "is not set"},
		"the driver is listed, and no controller is seen":          {hub.On, hub.ClusterManager{HasField: true, Drivers: aws(hubARN, false), Pods: idle[1:]}, hub.Unknown, false, "no pod of its hub controller"},
		"it is not clear what the controller does":                 {hub.On, hub.ClusterManager{HasField: true, Drivers: csr, Pods: unclear}, hub.Unknown, false, "the pod unclear"},
		"the pods cannot be read":                                  {"", hub.ClusterManager{HasField: true, Drivers: csr, PodTrouble: "forbidden"}, hub.Unknown, false, "forbidden"},
		"the pods cannot be read, and the flag says On":            {hub.On, hub.ClusterManager{HasField: true, Drivers: csr, PodTrouble: "forbidden"}, hub.Unknown, false, "forbidden"},
		"the pods cannot be read, and the flag says Off":           {hub.Off, hub.ClusterManager{HasField: true, Drivers: csr, PodTrouble: "forbidden"}, hub.Off, false, "the flag"},
		"the ClusterManager cannot be read":                        {"", hub.ClusterManager{Trouble: "forbidden"}, hub.Unknown, false, "forbidden"},
		"the ClusterManager cannot be read, and the flag says On":  {hub.On, hub.ClusterManager{Trouble: "forbidden"}, hub.Unknown, false, "forbidden"},
		"the ClusterManager cannot be read, and the flag says Off": {hub.Off, hub.ClusterManager{Trouble: "forbidden"}, hub.Off, false, "the flag"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := hub.Decide(test.flag, hubARN, test.seen)
			if got.IAM != test.want || got.ByOCM != test.ocm || !strings.Contains(got.Why, test.why) {
				t.Errorf("it is %+v, want %s, %t, %q", got, test.want, test.ocm, test.why)
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
