package main

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestTheHubAsksForARoleOnlyWhereItMayUseOne: with managed IAM off its pod has neither a role
// nor a token for AWS, and waits for no ConfigMap. Off and On without quotes are booleans.
func TestTheHubAsksForARoleOnlyWhereItMayUseOne(t *testing.T) {
	role := []string{
		"name: AWS_ROLE_ARN", "name: AWS_REGION", "name: AWS_WEB_IDENTITY_TOKEN_FILE", "configMapKeyRef: {name: tabard-hub,", "optional: false",
		"volumeMounts:", "serviceAccountToken:", "- --hubaccess-hub-cluster-arn=$(HUB_ARN)\n",
	}
	const flag = "--hubaccess-managed-iam="
	c := load(t)
	for text, want := range map[string]struct {
		flag string
		role bool
	}{
		``:                  {"", true},
		`managedIAM: ""`:    {"", true},
		`managedIAM: "On"`:  {"On", true},
		`managedIAM: On`:    {"On", true},
		`managedIAM: "Off"`: {"Off", false},
		`managedIAM: Off`:   {"Off", false},
		`extraEnv: [{name: HTTPS_PROXY, value: x}]`:                    {"", true},
		`{managedIAM: Off, extraEnv: [{name: HTTPS_PROXY, value: x}]}`: {"Off", false},
	} {
		var hub values
		if err := yaml.Unmarshal([]byte(text), &hub); err != nil {
			t.Fatal(err)
		}
		if hub == nil {
			hub = values{}
		}
		hub["enabled"] = true
		rendered, err := render(c, values{"hub": hub}, "Helm")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := rendered["tabard/templates/hub.yaml"]
		for _, part := range role {
			if strings.Contains(got, part) != want.role {
				t.Errorf("%s: that the pod has %q is %t", text, part, !want.role)
			}
		}
		if has := strings.Contains(got, flag); has != (want.flag != "") || has && !strings.Contains(got, "- "+flag+want.flag+"\n") {
			t.Errorf("%s: the flag for managed IAM is not %q:\n%s", text, want.flag, got)
		}
		if strings.Contains(text, "HTTPS_PROXY") && !strings.Contains(got, "HTTPS_PROXY") {
			t.Errorf("%s: a variable is lost", text)
		}
		if notes := rendered["tabard/templates/NOTES.txt"]; strings.Contains(notes, "tabard hub bootstrap") != want.role {
			t.Errorf("%s: the notes say\n%s", text, notes)
		}
	}
}

// TestTheTagsOfTheHubAreFlags: each is one argument, whatever is in it.
func TestTheTagsOfTheHubAreFlags(t *testing.T) {
	tags := []any{"env=prod", "cost centre=a: b, #1"}
	rendered, err := render(load(t), values{"hub": values{"enabled": true, "awsResourceTags": tags}}, "Helm")
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for document := range strings.SplitSeq(rendered["tabard/templates/hub.yaml"], "\n---\n") {
		var deployment struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct{ Containers []struct{ Args []string } }
				}
			}
		}
		if err := yaml.Unmarshal([]byte(document), &deployment); err != nil {
			t.Fatal(err)
		}
		if deployment.Kind == "Deployment" {
			args = deployment.Spec.Template.Spec.Containers[0].Args
		}
	}
	text := strings.Join(args, "\n") + "\n"
	for _, tag := range tags {
		if !strings.Contains(text, "\n--hubaccess-aws-resource-tag="+tag.(string)+"\n") { //nolint:forcetypeassert // of the list above
			t.Errorf("the arguments lack the tag %s:\n%s", tag, text)
		}
	}
}

// TestTheKindOfTheHubComesWithIt and not without.
func TestTheKindOfTheHubComesWithIt(t *testing.T) {
	c := load(t)
	for _, enabled := range []bool{true, false} {
		rendered, err := render(c, values{"hub": values{"enabled": enabled}}, "Helm")
		if err != nil {
			t.Fatal(err)
		}
		crds := rendered["tabard/templates/crds.yaml"]
		if strings.Contains(crds, "\n  name: hubaccesses.identity.tabard.dev\n") != enabled {
			t.Errorf("with hub.enabled %t the chart's kinds are otherwise", enabled)
		}
		if strings.Contains(crds, "open-cluster-management.io\n") {
			t.Error("the chart has a kind of Open Cluster Management")
		}
	}
}
