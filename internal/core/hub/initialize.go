package hub

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tabard-dev/tabard/internal/core/iamname"
)

// The registration drivers of Open Cluster Management, beside DriverAWS.
const (
	DriverCSR  = "csr"
	DriverGRPC = "grpc"
)

// AutoApproval is the feature gate by which Open Cluster Management accepts clusters by itself.
const AutoApproval = "ManagedClusterAutoApproval"

// The parts of a ClusterManager that have feature gates.
const (
	registrationPart = "registrationConfiguration"
	workPart         = "workConfiguration"
	addOnPart        = "addOnManagerConfiguration"
)

// hubGates are the feature gates of a hub, by the part of the ClusterManager that has them
// (open-cluster-management.io/api v1.2.0, feature/feature.go).
var hubGates = map[string]string{
	"DefaultClusterSet": registrationPart, "V1beta1CSRAPICompatibility": registrationPart, AutoApproval: registrationPart,
	"ResourceCleanup": registrationPart, "ClusterProfile": registrationPart, "ClusterImporter": registrationPart,
	"AddonManagement":       addOnPart,
	"NilExecutorValidating": workPart, "ManifestWorkReplicaSet": workPart, "CloudEventsDrivers": workPart, "CleanUpCompletedManifestWork": workPart,
}

// hubImages are the fields of a ClusterManager that name images, with their programs.
var hubImages = map[string]string{
	"registrationImagePullSpec": "registration", "workImagePullSpec": "work", "placementImagePullSpec": "placement", "addOnManagerImagePullSpec": "addon-manager",
}

// Init is what an administrator wants of a hub's ClusterManager.
type Init struct {
	// Drivers are the registration drivers in their order. None leaves those that are there.
	Drivers []string
	// Hub is the hub, for the driver for AWS. The zero value leaves what is there.
	Hub ARN
	// Tags (KEY=VALUE) and Patterns (regular expressions of ARNs) are for the driver for AWS. None
	// leaves what is there.
	Tags, Patterns []string
	// DisableManagedIAM is for the driver for AWS. Nil leaves what is there.
	DisableManagedIAM *bool
	// Gates are feature gates of the hub. Those that are not named are left.
	Gates map[string]bool
}

// HasAWS says that the driver for AWS is among the wanted ones.
func (i Init) HasAWS() bool { return slices.Contains(i.Drivers, DriverAWS) }

// Check says what of it cannot be used, in the words of the flags.
func (i Init) Check() error {
	var errs []error
	for n, driver := range i.Drivers {
		switch {
		case driver != DriverCSR && driver != DriverAWS && driver != DriverGRPC:
			errs = append(errs, fmt.Errorf("--registration-drivers has %s, expected csr, awsirsa or grpc", quoted(driver)))
		case slices.Contains(i.Drivers[:n], driver):
			errs = append(errs, fmt.Errorf("--registration-drivers has %s twice, expected each driver once", driver))
		}
	}
	for _, gate := range slices.Sorted(maps.Keys(i.Gates)) {
		if hubGates[gate] == "" {
			errs = append(errs, fmt.Errorf("--feature-gates has %s, expected gates of a hub: %s", quoted(gate), strings.Join(slices.Sorted(maps.Keys(hubGates)), ", ")))
		}
	}
	return errors.Join(append(errs, i.checkAWS()...)...)
}

func (i Init) checkAWS() (errs []error) {
	for flag, given := range map[string]bool{
		"--disable-managed-iam": i.DisableManagedIAM != nil, "--hub-cluster-arn": !i.Hub.IsZero(),
		"--aws-resource-tags": len(i.Tags) > 0, "--auto-approved-arn-patterns": len(i.Patterns) > 0,
	} {
		if given && !i.HasAWS() {
			errs = append(errs, fmt.Errorf("%s is for the driver awsirsa: add --registration-drivers awsirsa, or leave it out", flag))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if len(i.Patterns) > 0 && !i.Gates[AutoApproval] {
		errs = append(errs, fmt.Errorf("--auto-approved-arn-patterns has no effect without the feature gate: add --feature-gates %s=true", AutoApproval))
	}
	if _, err := CompilePatterns(i.Patterns); err != nil {
		errs = append(errs, fmt.Errorf("--auto-approved-arn-patterns: %w", err))
	}
	if _, err := iamname.ParseTags(i.Tags); err != nil {
		errs = append(errs, fmt.Errorf("--aws-resource-tags: %w", err))
	}
	for _, tag := range i.Tags {
		if strings.Count(tag, "=") > 1 {
			errs = append(errs, fmt.Errorf("--aws-resource-tags: %s has more than one =, and Open Cluster Management (v1.2.1) gives no cluster its role then: leave it out of the value", quoted(tag)))
		}
	}
	return errs
}

// ClusterManager is the object that says so, to be applied over the existing one, nil for none. It
// has what is wanted, and what the existing one says at the same places and nobody wants changed:
// whoever asks for one thing does not take back what was asked for before.
func (i Init) ClusterManager(existing map[string]any, images Images) map[string]any {
	was := object(existing, "spec")
	spec := map[string]any{"deployOption": map[string]any{"mode": "Default"}}
	if option := object(was, "deployOption"); option["mode"] != nil {
		spec["deployOption"] = map[string]any{"mode": option["mode"]}
	}
	images.fill(spec, was, hubImages) // those that stay empty have defaults in the definition
	for _, part := range []string{registrationPart, workPart, addOnPart} {
		if gates := i.gates(part, object(was, part)["featureGates"]); len(gates) > 0 {
			spec[part] = map[string]any{"featureGates": gates}
		}
	}
	if drivers := i.drivers(listOf(object(was, registrationPart)["registrationDrivers"])); len(drivers) > 0 {
		if spec[registrationPart] == nil {
			spec[registrationPart] = map[string]any{}
		}
		object(spec, registrationPart)["registrationDrivers"] = drivers
	}
	return map[string]any{
		"apiVersion": "operator.open-cluster-management.io/v1", "kind": "ClusterManager",
		"metadata": metadataOver("cluster-manager", existing), "spec": spec,
	}
}

// gates are the feature gates of a part, which its definition replaces as a whole.
func (i Init) gates(part string, existing any) (out []any) {
	for _, each := range listOf(existing) {
		gate := object(map[string]any{"": each}, "")
		name, _ := gate["feature"].(string)
		if _, named := i.Gates[name]; !named {
			out = append(out, each)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(i.Gates)) {
		if hubGates[name] == part {
			mode := "Disable"
			if i.Gates[name] {
				mode = "Enable"
			}
			out = append(out, map[string]any{"feature": name, "mode": mode})
		}
	}
	return out
}

func (i Init) drivers(existing []any) []any {
	if len(i.Drivers) == 0 {
		return runtime.DeepCopyJSONValue(existing).([]any) //nolint:forcetypeassert // the copy of a list is one
	}
	var out []any
	for _, name := range i.Drivers {
		driver := map[string]any{"authType": name}
		for _, each := range existing {
			if there, _ := each.(map[string]any); there["authType"] == name {
				driver = runtime.DeepCopyJSON(there)
			}
		}
		if name == DriverAWS {
			i.sayAWS(driver)
		}
		out = append(out, driver)
	}
	return out
}

func (i Init) sayAWS(driver map[string]any) {
	aws := object(driver, DriverAWS)
	if aws == nil {
		aws = map[string]any{}
		driver[DriverAWS] = aws
	}
	if !i.Hub.IsZero() {
		aws["hubClusterArn"] = i.Hub.String()
	}
	if len(i.Tags) > 0 {
		aws["tags"] = texts(i.Tags)
	}
	if len(i.Patterns) > 0 {
		aws["autoApprovedIdentities"] = texts(i.Patterns)
	}
	if i.DisableManagedIAM != nil {
		aws["disableManagedIam"] = *i.DisableManagedIAM
	}
}

// HookLabel is the label of the namespaces of Open Cluster Management in which Tabard's admission
// hook is asked; HookLabelValue its one value.
const (
	HookLabel      = "tabard.dev/ocm"
	HookLabelValue = "enabled"
)

// Warnings are what an administrator should know of a ClusterManager as it would be, where labelled
// says that the namespace of the hub controller has HookLabel.
func (i Init) Warnings(manager map[string]any, labelled bool) (out []string) {
	var names []string
	var disabled bool
	for _, each := range listOf(object(object(manager, "spec"), registrationPart)["registrationDrivers"]) {
		driver, _ := each.(map[string]any)
		name, _ := driver["authType"].(string)
		names = append(names, name)
		disabled = disabled || object(driver, DriverAWS)["disableManagedIam"] == true
	}
	for _, name := range names {
		if len(i.Drivers) > 0 && !slices.Contains(i.Drivers, name) {
			out = append(out, fmt.Sprintf("the ClusterManager lists the driver %s too, which somebody else has written; it stays: kubectl edit clustermanager cluster-manager takes it out", name))
		}
	}
	if disabled && !labelled {
		out = append(out, fmt.Sprintf("released versions of Open Cluster Management (v1.2.1) do not know disableManagedIam, and their driver awsirsa makes and removes roles all the same. Tabard's admission hook (the chart's component ocm) takes the driver out of their pods in labelled namespaces, and %s lacks the label. If the namespace is not there, create it first: kubectl create namespace %[1]s; then: kubectl label namespace %[1]s %s=%s", ControllerNamespace, HookLabel, HookLabelValue))
	}
	if i.Gates[AutoApproval] && slices.ContainsFunc(names, func(name string) bool { return name != DriverAWS }) {
		out = append(out, fmt.Sprintf("with the feature gate %s, the drivers csr and grpc accept every cluster that has a bootstrap token, whatever the patterns of awsirsa say", AutoApproval))
	}
	return out
}

// metadataOver is the metadata of an object that is applied over the existing one: it is refused if
// the existing one has changed in between.
func metadataOver(name string, existing map[string]any) map[string]any {
	out := map[string]any{"name": name}
	if version, _ := object(existing, "metadata")["resourceVersion"].(string); version != "" {
		out["resourceVersion"] = version
	}
	return out
}

// object is the object at a key; nil where there is none.
func object(of map[string]any, key string) map[string]any {
	out, _ := of[key].(map[string]any)
	return out
}

func listOf(value any) []any {
	out, _ := value.([]any)
	return out
}

func texts(list []string) []any {
	out := make([]any, 0, len(list))
	for _, each := range list {
		out = append(out, each)
	}
	return out
}
