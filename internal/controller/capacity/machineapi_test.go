package capacity_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awsauth/kube"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// machines is a MachineSet of the Machine API.
func machines(t *testing.T, name, instanceType, annotations string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, `
apiVersion: machine.openshift.io/v1beta1
kind: MachineSet
metadata: {name: %s, annotations: {%s}}
spec:
  replicas: 0
  selector: {matchLabels: {set: a}}
  template:
    metadata: {labels: {set: a}}
    spec:
      providerSpec:
        value:
          apiVersion: machine.openshift.io/v1beta1
          kind: AWSMachineProviderConfig
          instanceType: %s
          placement: {region: us-west-2}
          credentialsSecret: {name: aws-cloud-credentials}
          ami: {id: ami-0123456789}
`, name, annotations, instanceType)
}

func large() map[string]string {
	return map[string]string{vcpu: "2", memory: "8192", gpu: "0", labels: "kubernetes.io/arch=amd64"}
}

func event(kind, component, reason, message string) corev1.Event {
	return corev1.Event{Type: kind, Reason: reason, Message: message, Source: corev1.EventSource{Component: component}}
}

const fromMachineAPI = "machineset-controller"

func testMachineSets(t *testing.T, f *fixture) {
	f.run(t)
	t.Run("get the annotations of their type", together(f.testAnnotated))
	t.Run("are not written to when nothing changes", together(f.testQuiet))
	t.Run("keep what others write into the labels", together(f.testLabels))
	t.Run("lose no label while two write at once", together(f.testRace))
	t.Run("lose our values and keep others' if AWS does not know the type", together(f.testUnknown))
	t.Run("keep what others maintain", together(f.testForeign))
	t.Run("lose the values of the one from which they were copied", together(f.testCopy))
	t.Run("keep their annotations while AWS fails", together(f.testFault))
}

func testWoken(t *testing.T, f *fixture) {
	f.run(t, wokenByWatchesAlone)
	t.Run("by another type", together(f.testTypeChange))
	t.Run("by its Secret", together(f.testSecret))
	t.Run("not if it is of another cloud", together(f.testOtherCloud))
	t.Run("by the Infrastructure's region", together(f.testInfrastructure))
	t.Run("by what all credentials are made of", together(f.testBundle))
}

func (f *fixture) testAnnotated(t *testing.T) {
	set := machines(t, "plain", "m5.large", "")
	f.create(t, set)
	now := f.awaitAnnotations(t, set, large())
	f.awaitEvent(t, set, event("Normal", fromMachineAPI, "CapacityAnnotated",
		"Set autoscaling from zero annotations: m5.large in us-west-2 has 2 vCPU, 8192 MiB, 0 GPU, amd64"))
	got := map[string]string{}
	for _, entry := range now.GetManagedFields() {
		if entry.Manager == "capa-annotator" {
			got[string(entry.Operation)] = entry.FieldsV1.GetRawString()
		}
	}
	want := map[string]string{
		"Apply":  `{"f:metadata":{"f:annotations":{"f:machine.openshift.io/GPU":{},"f:machine.openshift.io/memoryMb":{},"f:machine.openshift.io/vCPU":{}}}}`,
		"Update": `{"f:metadata":{"f:annotations":{".":{},"f:capacity.cluster-autoscaler.kubernetes.io/labels":{}}}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what capa-annotator owns (-want +got):\n%s", diff)
	}
	if spec, _, _ := unstructured.NestedString(now.Object, "spec", "template", "spec", "providerSpec", "value", "ami", "id"); spec != "ami-0123456789" {
		t.Errorf("the rest of the object has changed: %v", now.Object)
	}
}

func (f *fixture) testQuiet(t *testing.T) {
	f.types.know("quiet.large", 2, 8192, instancetype.AMD64)
	set := machines(t, "quiet", "quiet.large", "")
	f.create(t, set)
	before := f.awaitAnnotations(t, set, large())
	f.awaitPasses(t, "quiet.large")
	if after := f.reread(t, set); after.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("it was written to again: %v", after.Object)
	}
	f.checkEvents(t, set, "CapacityAnnotated")
}

func (f *fixture) testTypeChange(t *testing.T) {
	set := machines(t, "changed", "m5.large", "")
	f.create(t, set)
	f.awaitAnnotations(t, set, large())
	f.patch(t, set, "kubectl", `{"spec":{"template":{"spec":{"providerSpec":{"value":{"instanceType":"m6g.4xlarge"}}}}}}`)
	f.awaitAnnotations(t, set, map[string]string{vcpu: "16", memory: "65536", gpu: "0", labels: "kubernetes.io/arch=arm64"})
}

func (f *fixture) testLabels(t *testing.T) {
	set := machines(t, "shared", "m5.large", labels+`: "b=2, a=1 ,,"`)
	f.create(t, set)
	want := large()
	want[labels] = "a=1,b=2,kubernetes.io/arch=amd64"
	f.awaitAnnotations(t, set, want)
	for i := range 10 {
		f.patch(t, set, "somebody", fmt.Sprintf(`{"metadata":{"annotations":{%q:"z=%d,kubernetes.io/arch=arm64"}}}`, labels, i))
		want[labels] = fmt.Sprintf("kubernetes.io/arch=amd64,z=%d", i)
		f.awaitAnnotations(t, set, want)
	}
	f.awaitEvent(t, set, event("Normal", fromMachineAPI, "ArchLabelCorrected",
		`Corrected kubernetes.io/arch in the annotation `+labels+` from "arm64" to "amd64"`))
}

// testRace has somebody add labels, each by a write of what was read, as fast as
// that goes, while the controller puts the architecture back.
func (f *fixture) testRace(t *testing.T) {
	set := machines(t, "raced", "m5.large", "")
	f.create(t, set)
	want := large()
	for i := range 30 {
		want[labels] += fmt.Sprintf(",z%02d=1", i)
		must.Do(t, retry.OnError(retry.DefaultRetry, apierrors.IsConflict, func() error {
			now := f.reread(t, set)
			annotations := now.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[labels] = strings.Replace(annotations[labels], "amd64", "wrong", 1) + fmt.Sprintf(",z%02d=1", i)
			now.SetAnnotations(annotations)
			return f.cluster.Update(t.Context(), now, client.FieldOwner("somebody"))
		}))
	}
	f.awaitAnnotations(t, set, want)
}

func (f *fixture) testUnknown(t *testing.T) {
	set := machines(t, "unknown", "m5.large", "")
	f.create(t, set)
	f.awaitAnnotations(t, set, large())
	f.patch(t, set, "somebody", `{"metadata":{"annotations":{"example.com/own":"stays"}},
		"spec":{"template":{"spec":{"providerSpec":{"value":{"instanceType":"x9.new"}}}}}}`)
	f.awaitAnnotations(t, set, map[string]string{"example.com/own": "stays"})
	f.awaitEvent(t, set, event("Warning", fromMachineAPI, "FailedUpdate",
		"Failed to set autoscaling from zero annotations, instance type unknown"))
	// A person's answer to that event stays.
	f.patch(t, set, "kubectl-edit", `{"metadata":{"annotations":{"machine.openshift.io/vCPU":"7"}}}`)
	f.awaitPasses(t, "x9.new")
	f.awaitAnnotations(t, set, map[string]string{"example.com/own": "stays", vcpu: "7"})
}

func (f *fixture) testForeign(t *testing.T) {
	f.types.know("foreign.large", 2, 8192, instancetype.AMD64)
	set := machines(t, "foreign", "foreign.large", vcpu+`: "4"`)
	f.create(t, set)
	want := large()
	want[vcpu] = "4"
	f.awaitAnnotations(t, set, want)
	f.awaitPasses(t, "foreign.large")
	f.awaitAnnotations(t, set, want)
	f.checkEvents(t, set, "AnnotationConflict", "CapacityAnnotated")
}

func (f *fixture) testCopy(t *testing.T) {
	f.types.know("copied.large", 16, 65536, instancetype.ARM64)
	others := fmt.Sprintf("%s: '2', %s: '8192', %s: '0', %s: kubernetes.io/arch=amd64", vcpu, memory, gpu, labels)
	set := machines(t, "copy", "copied.large", others)
	f.create(t, set)
	want := map[string]string{vcpu: "16", memory: "65536", gpu: "0", labels: "kubernetes.io/arch=arm64"}
	f.awaitAnnotations(t, set, want)
	f.awaitPasses(t, "copied.large")
	f.checkEvents(t, set, "AnnotationsCorrected", "ArchLabelCorrected", "CapacityAnnotated")

	// Who writes them again maintains them.
	f.patch(t, set, "gitops", `{"metadata":{"annotations":{"`+vcpu+`":"2","`+memory+`":"8192"}}}`)
	f.awaitPasses(t, "copied.large")
	want[vcpu], want[memory] = "2", "8192"
	f.awaitAnnotations(t, set, want)
	f.awaitEvent(t, set, event("Warning", fromMachineAPI, "AnnotationConflict", "Left as set by others, for copied.large: "+
		memory+` is "8192" by gitops, AWS says "65536"; `+vcpu+` is "2" by gitops, AWS says "16"; remove the annotation to have it maintained`))

	// Who applies them keeps them.
	applied := machines(t, "copy-applied", "copied.large", others)
	must.Do(t, f.cluster.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("kubectl")))
	applied = f.reread(t, applied)
	f.awaitEvent(t, applied, event("Warning", fromMachineAPI, "AnnotationConflict", "Left as set by others, for copied.large: "+
		memory+` is "8192" by kubectl, AWS says "65536"; `+vcpu+` is "2" by kubectl, AWS says "16"; remove the annotation to have it maintained`))
}

func (f *fixture) testFault(t *testing.T) {
	f.types.know("m5.xlarge", 4, 16384, instancetype.AMD64)
	set := machines(t, "failing", "m5.xlarge", "")
	f.create(t, set)
	want := map[string]string{vcpu: "4", memory: "16384", gpu: "0", labels: "kubernetes.io/arch=amd64"}
	f.awaitAnnotations(t, set, want)
	f.types.fail("m5.xlarge", fault.Fault{Class: fault.Throttled, Service: "EC2", Operation: "DescribeInstanceTypes", Code: "RequestLimitExceeded"})
	f.awaitEvent(t, set, event("Warning", fromMachineAPI, "AWSRequestFailed",
		"AWS asks for fewer requests: EC2 DescribeInstanceTypes: RequestLimitExceeded"))
	f.awaitAnnotations(t, set, want)
}

func (f *fixture) testSecret(t *testing.T) {
	f.who.set("rotated", "the Secret lacks a key")
	f.types.know("secret.large", 2, 8192, instancetype.AMD64)
	set := machines(t, "credentials", "secret.large", "")
	must.Do(t, unstructured.SetNestedField(set.Object, "rotated", "spec", "template", "spec", "providerSpec", "value", "credentialsSecret", "name"))
	f.create(t, set)
	f.awaitEvent(t, set, event("Warning", fromMachineAPI, "ReconcileError", "the Secret lacks a key"))
	if got := f.types.count("secret.large"); got != 0 {
		t.Errorf("AWS was asked %d times without credentials", got)
	}
	f.who.set("rotated", "")
	f.controller.Changed(kube.Reference{Resource: "secrets", Namespace: namespace, Name: "rotated"})
	f.awaitAnnotations(t, set, large())
}

func (f *fixture) testOtherCloud(t *testing.T) {
	set := machines(t, "azure", "m5.large", "")
	must.Do(t, unstructured.SetNestedField(set.Object, "AzureMachineProviderSpec", "spec", "template", "spec", "providerSpec", "value", "kind"))
	after := machines(t, "after-azure", "m5.large", "")
	f.create(t, set, after)
	f.awaitAnnotations(t, after, large())
	if got := f.reread(t, set).GetAnnotations(); len(got) != 0 || len(f.events(t, set)) != 0 {
		t.Errorf("it has the annotations %v and the events %v", got, f.events(t, set))
	}
}

func (f *fixture) testInfrastructure(t *testing.T) {
	f.types.know("placed.large", 2, 8192, instancetype.AMD64)
	set := machines(t, "placed", "placed.large", "")
	unstructured.RemoveNestedField(set.Object, "spec", "template", "spec", "providerSpec", "value", "placement")
	f.create(t, set)
	f.awaitEvent(t, set, event("Warning", fromMachineAPI, "ReconcileError",
		"unable to determine AWS region from placement.region of providerSpec, from Infrastructure cluster or from AWS_REGION"))
	platform := parse(t, `
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: {name: cluster}
spec: {platformSpec: {type: AWS}}
`)
	platform.SetNamespace("")
	f.create(t, platform)
	status := []byte(`{"status":{"platformStatus":{"type":"AWS","aws":{"region":"eu-central-1"}}}}`)
	must.Do(t, f.cluster.Status().Patch(t.Context(), platform, client.RawPatch("application/merge-patch+json", status)))
	f.awaitAnnotations(t, set, large())
}

func (f *fixture) testBundle(t *testing.T) {
	f.types.know("bundle.large", 2, 8192, instancetype.AMD64)
	f.types.fail("bundle.large", fault.Fault{Class: fault.Invalid, Code: "CABundleInvalid", Message: "no certificate in it"})
	set := machines(t, "bundled", "bundle.large", "")
	f.create(t, set)
	f.awaitEvent(t, set, event("Warning", fromMachineAPI, "ReconcileError", "no certificate in it"))
	f.types.recover("bundle.large")
	f.controller.Changed(kube.Reference{Resource: "configmaps", Namespace: "openshift-config-managed", Name: "kube-cloud-config"})
	f.awaitAnnotations(t, set, large())
}
