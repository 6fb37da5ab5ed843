package hubaccess_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller/hubaccess"
	"github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestAnAcceptedClusterGetsItsAccess from its acceptance to its deletion.
func TestAnAcceptedClusterGetsItsAccess(t *testing.T) {
	f := newFixture(t)
	cluster := f.join("cluster1", spokeARN("spoke-1"))
	f.aws.Admin().ClearJournal()
	f.run(t, managed)
	record := f.says("cluster1", "True AccessGiven")
	if calls := f.calls(); !slices.Equal(calls, []string{"GetCallerIdentity", "GetRole", "DescribeAccessEntry", "CreateRole", "CreateAccessEntry"}) {
		t.Errorf("AWS was called: %v", calls)
	}
	role, entry := f.access(spokeARN("spoke-1"))
	if role == nil || entry == nil {
		t.Fatal("there is no role, or no entry")
	}
	if e := entry.AccessEntry; *e.Username != "cluster1" || !slices.Equal(e.KubernetesGroups, []string{"open-cluster-management:cluster1"}) || *e.Type != "STANDARD" ||
		e.Tags["env"] != "test" || e.Tags[hub.HubTag] != hubARN || e.Tags[hub.ClusterTag] != "cluster1/"+string(cluster.GetUID()) || e.Tags[hub.RoleTag] != *role.Role.RoleId {
		t.Errorf("the entry is %+v", e)
	}
	if record.Spec.ClusterUID != cluster.GetUID() || record.Spec.Access.RoleARN != *role.Role.Arn {
		t.Errorf("the record is %+v", record.Spec)
	}
	must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster))
	if !slices.Contains(cluster.GetFinalizers(), core.Finalizer) {
		t.Errorf("the cluster has the finalizers %q", cluster.GetFinalizers())
	}
	if state := f.aws.Admin().Clusters()[0].AccessEntries; len(state) != 1 || state[0].Stale {
		t.Errorf("EKS has %+v", state)
	}
	f.Remove(cluster)
	f.isGone(cluster)
	f.isGone(record)
	f.wantNone(spokeARN("spoke-1"))
}

// TestAccessGoesAfterTheWorks on a deletion, a denial, and where the agent takes the
// finalizer off.
func TestAccessGoesAfterTheWorks(t *testing.T) {
	ends := map[string]func(f *fixture, cluster *unstructured.Unstructured){
		"deleted": func(f *fixture, cluster *unstructured.Unstructured) { f.Remove(cluster) },
		"denied": func(f *fixture, cluster *unstructured.Unstructured) {
			f.Merge(cluster, `{"spec":{"hubAcceptsClient":false}}`)
		},
		"its finalizer taken off, then deleted": func(f *fixture, cluster *unstructured.Unstructured) {
			f.Merge(cluster, `{"metadata":{"finalizers":null}}`)
			f.Remove(cluster)
		},
	}
	for name, end := range ends {
		for kind := range map[string]bool{"ManifestWork": true, "ManagedClusterAddOn": true} {
			t.Run(name+" with a "+kind, func(t *testing.T) {
				f := newFixture(t)
				cluster := f.join("cluster1", spokeARN("spoke-1"))
				f.run(t, managed)
				f.says("cluster1", "True AccessGiven")
				f.namespace("cluster1")
				work := object(kind, "cluster1", "app", map[string]any{})
				f.Make(work)
				end(f, cluster)
				if name == "denied" && kind == "ManagedClusterAddOn" { // it is made for each cluster that there is
					f.says("cluster1", "none")
					f.Remove(work)
					return
				}
				f.says("cluster1", "False WaitingForWorks: 1 works or add-ons are left in namespace cluster1, such as "+kind+" app")
				if role, entry := f.access(spokeARN("spoke-1")); role == nil || entry == nil {
					t.Error("the access is gone before the works are")
				}
				f.Remove(work)
				f.run(t, managed) // the next look would be in half a minute
				f.says("cluster1", "none")
				f.wantNone(spokeARN("spoke-1"))
			})
		}
	}
}

// namespace makes a namespace, if it is not there.
func (f *fixture) namespace(name string) {
	f.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion("v1")
	o.SetKind("Namespace")
	o.SetName(name)
	if err := f.Create(f.Context(), o); err != nil && !apierrors.IsAlreadyExists(err) {
		f.Fatal(err)
	}
}

// TestSwitchedOffNoCallIsMade by the ClusterManager, by its driver, by the flag, and where
// nothing is known; nor is a credential asked for.
func TestSwitchedOffNoCallIsMade(t *testing.T) {
	hosted := clusterManager(false)
	hosted.Object["spec"].(map[string]any)["deployOption"] = map[string]any{"mode": "Hosted"}
	tests := map[string]struct {
		flags hubaccess.Flags
		there []client.Object
		want  string
	}{
		"disableManagedIam": {managed, []client.Object{clusterManager(true)}, "Unknown ManagedIAMDisabled: disableManagedIam is set in the ClusterManager; the role arn:aws:iam::111111111111:role/ocm-hub-"},
		"disableManagedIam, which OCM's controller does not know": {managed, []client.Object{clusterManager(true), hubController("theirs", "awsirsa")}, "Unknown ActedOnByOCM: disableManagedIam is set"},
		"the driver of OCM":            {managed, []client.Object{clusterManager(false), hubController("theirs", "csr,awsirsa")}, "Unknown ActedOnByOCM: the pod theirs"},
		"the driver of OCM, unlisted":  {managed, []client.Object{hubController("theirs", "awsirsa")}, "Unknown ActedOnByOCM: the pod theirs"},
		"the driver, and no pod of it": {managed, []client.Object{clusterManager(false)}, "Unknown ManagedIAMUnknown: the ClusterManager lists the driver awsirsa, and no pod"},
		"a hub that is hosted":         {managed, []client.Object{hosted}, "Unknown ManagedIAMUnknown: it could not be read whether the hub controller makes roles itself: the ClusterManager cluster-manager is hosted"},
		"the flag":                     {hubaccess.Flags{IAM: hub.Off, HubARN: hubARN}, nil, "Unknown ManagedIAMDisabled: it is switched off by the flag"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			cluster := f.join("cluster1", spokeARN("spoke-1"))
			f.run(t, managed)
			f.says("cluster1", "True AccessGiven")
			f.stop()
			f.stop = nil
			for _, object := range test.there {
				f.Make(object)
			}
			f.session(aws.Credentials{AccessKeyID: "AKIANOBODY", SecretAccessKey: "none"})
			f.aws.Admin().ClearJournal()
			f.run(t, test.flags)
			f.says("cluster1", test.want)
			second := f.join("cluster2", spokeARN("spoke-2"))
			f.Remove(cluster)
			f.isGone(cluster)
			f.says("cluster1", test.want)
			f.Remove(second)
			f.isGone(second)
			for _, call := range f.aws.Admin().Journal() {
				if call.Operation != "GetRole" && call.Operation != "CreateRole" || strings.Contains(fmt.Sprint(call), "AKIANOBODY") {
					t.Errorf("AWS was called: %+v", call)
				}
			}
			if role, entry := f.access(spokeARN("spoke-1")); role == nil || entry == nil {
				t.Error("what was there is not left alone")
			}
			f.session(f.aws.Administrator(hubAccount))
			for _, object := range test.there {
				f.Remove(object, client.GracePeriodSeconds(0))
			}
			f.run(t, managed)
			f.says("cluster1", "none")
			f.wantNone(spokeARN("spoke-1"))
		})
	}
}

// TestTheDriverCountsWhereItRuns and not where it is listed: a hub controller without it makes
// no roles, and one that has ended makes none any more.
func TestTheDriverCountsWhereItRuns(t *testing.T) {
	f := newFixture(t)
	f.Make(clusterManager(false))
	f.Make(hubController("now", "csr"))
	ended := hubController("ended", "awsirsa")
	f.Make(ended)
	f.MergeStatus(ended, `{"status":{"phase":"Failed"}}`)
	f.join("cluster1", spokeARN("spoke-1"))
	f.run(t, hubaccess.Flags{})
	f.says("cluster1", "True AccessGiven")
}

// TestAFieldThatWasTakenAwaySwitchesNothingOn: the definition says that it had the field in
// which something may have been switched off.
func TestAFieldThatWasTakenAwaySwitchesNothingOn(t *testing.T) {
	f := newFixture(t)
	f.join("cluster1", spokeARN("spoke-1"))
	f.run(t, managed)
	f.says("cluster1", "True AccessGiven")
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	crd.SetName("clustermanagers.operator.open-cluster-management.io")
	must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(crd), crd))
	was := crd.DeepCopy()
	defer func() { // the tests share the cluster
		must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(crd), crd))
		crd.Object["spec"] = was.Object["spec"]
		crd.SetAnnotations(was.GetAnnotations())
		must.Do(t, f.Update(t.Context(), crd))
	}()
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	unstructured.RemoveNestedField(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties",
		"registrationConfiguration", "properties", "registrationDrivers", "items", "properties", "awsirsa", "properties", "disableManagedIam")
	must.Do(t, unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"))
	theirs := crd.DeepCopy()
	must.Do(t, hub.Merge(crd.Object, must.Get(hub.Fields(crd.Object))(t)))
	crd.Object["spec"] = theirs.Object["spec"]
	must.Do(t, f.Update(t.Context(), crd))
	f.aws.Admin().ClearJournal()
	f.run(t, managed)
	f.says("cluster1", "Unknown ManagedIAMUnknown: the field disableManagedIam was taken out of the schema of ClusterManager, as an upgrade of Open Cluster Management does, so what was switched off is not known; put it back: tabard hub fields --apply")
	if calls := f.calls(); len(calls) > 0 {
		t.Errorf("AWS was called: %v", calls)
	}

	must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(crd), crd))
	changes := must.Get(hub.Fields(crd.Object))(t)
	must.Do(t, hub.Merge(crd.Object, changes))
	must.Do(t, f.Update(t.Context(), crd))
	manager := clusterManager(false)
	unstructured.RemoveNestedField(manager.Object["spec"].(map[string]any)["registrationConfiguration"].(map[string]any)["registrationDrivers"].([]any)[1].(map[string]any), "awsirsa", "disableManagedIam") //nolint:forcetypeassert // made above
	f.Make(manager)
	f.Make(hubController("idle", "csr"))
	f.run(t, managed)
	f.says("cluster1", "Unknown ManagedIAMUnknown: the field disableManagedIam was taken out of the schema of ClusterManager and put back")
	if calls := f.calls(); len(calls) > 0 {
		t.Errorf("with the field back, AWS was called: %v", calls)
	}
}

// TestThatNothingOfOthersIsTouched in AWS, whatever annotations say.
func TestThatNothingOfOthersIsTouched(t *testing.T) {
	f := newFixture(t)
	name := hub.RoleName(f.suffix(spokeARN("theirs")))
	f.aws.Role(hubAccount, name, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::111111111111:root"}}]}`, "")
	theirs := f.join("theirs", spokeARN("theirs"))
	f.run(t, managed)
	f.says("theirs", "False RoleNotOurs")

	f.join("first", spokeARN("spoke-1"))
	f.says("first", "True AccessGiven")
	second := f.join("second", strings.Replace(spokeARN("spoke-1"), "us-east-1", "eu-west-1", 1))
	f.says("second", "False SuffixInUse: the ManagedCluster first has the suffix")
	liar := f.join("liar", spokeARN("spoke-3"))
	f.Merge(liar, `{"metadata":{"annotations":{"`+hub.SuffixAnnotation+`":"`+f.suffix(spokeARN("spoke-1"))+`"}}}`)
	f.says("liar", "False Annotations")
	for _, cluster := range []*unstructured.Unstructured{theirs, second} {
		f.Remove(cluster)
		f.isGone(cluster)
		f.says(cluster.GetName(), "none")
	}
	if role, _ := f.access(spokeARN("theirs")); role == nil || len(role.Role.Tags) != 0 {
		t.Error("a role of others was deleted or tagged")
	}
	if role, entry := f.access(spokeARN("spoke-1")); role == nil || entry == nil || *entry.AccessEntry.Username != "first" {
		t.Error("the access of the first cluster is not what it was")
	}
}

// TestAClusterMadeAnewUnderANameGetsAnAccessOfItsOwn and the former one's role goes.
func TestAClusterMadeAnewUnderANameGetsAnAccessOfItsOwn(t *testing.T) {
	f := newFixture(t)
	former := f.join("cluster1", spokeARN("spoke-1"))
	f.run(t, managed)
	f.says("cluster1", "True AccessGiven")
	f.stop()
	f.stop = nil
	f.Merge(former, `{"metadata":{"finalizers":null}}`)
	f.Remove(former)
	later := f.join("cluster1", spokeARN("spoke-2"))
	f.run(t, managed)
	f.Await(func() error {
		record := &v1alpha1.HubAccess{}
		err := f.Get(t.Context(), client.ObjectKey{Name: "cluster1"}, record)
		if err == nil && record.Spec.ClusterUID != later.GetUID() {
			err = errors.New("the record is the former cluster's")
		}
		return err
	})
	f.says("cluster1", "True AccessGiven")
	f.wantNone(spokeARN("spoke-1"))
	if role, entry := f.access(spokeARN("spoke-2")); role == nil || entry == nil {
		t.Error("the later cluster has no access")
	}
}

// TestOneSpokeWithoutARoleDelaysNoOther, and is told what to make.
func TestOneSpokeWithoutARoleDelaysNoOther(t *testing.T) {
	f := newFixture(t)
	f.run(t, managed)
	cluster := object("ManagedCluster", "", "early", map[string]any{"hubAcceptsClient": true})
	cluster.SetAnnotations(map[string]string{hub.ARNAnnotation: spokeARN("early"), hub.SuffixAnnotation: f.suffix(spokeARN("early"))})
	f.Make(cluster)
	f.join("cluster1", spokeARN("spoke-1"))
	f.says("cluster1", "True AccessGiven")
	f.says("early", "False SpokeRoleMissing: AWS knows no role ocm-managed-cluster-"+f.suffix(spokeARN("early")))
	f.wantNone(spokeARN("early"))
}

// TestNothingIsMadeInAnotherAccountThanTheHubs whatever credentials the program was given.
func TestNothingIsMadeInAnotherAccountThanTheHubs(t *testing.T) {
	f := newFixture(t)
	f.session(f.aws.Administrator(spokeAccount))
	f.join("cluster1", spokeARN("spoke-1"))
	f.aws.Admin().ClearJournal()
	f.run(t, managed)
	f.says("cluster1", "False AWSRefused: AWS refused: STS GetCallerIdentity: WrongAccount: Tabard has credentials of account 222222222222, and the hub is in account 111111111111")
	if calls := f.calls(); !slices.Equal(slices.Compact(calls), []string{"GetCallerIdentity"}) {
		t.Errorf("AWS was called: %v", calls)
	}
}

// TestTheKindRefusesARecordThatWouldLie by its rules in the API server.
func TestTheKindRefusesARecordThatWouldLie(t *testing.T) {
	f := newFixture(t)
	suffix := f.suffix(spokeARN("spoke-1"))
	good := func() *v1alpha1.HubAccess {
		return &v1alpha1.HubAccess{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}, Spec: v1alpha1.HubAccessSpec{ClusterUID: "uid", Access: &v1alpha1.ClusterAccess{
			HubARN: hubARN, ManagedClusterARN: spokeARN("spoke-1"), Suffix: suffix, RoleARN: "arn:aws:iam::111111111111:role/ocm-hub-" + suffix, Username: "cluster1",
		}}}
	}
	for name, change := range map[string]func(*v1alpha1.HubAccess){
		"no UID":                      func(h *v1alpha1.HubAccess) { h.Spec.ClusterUID = "" },
		"the name of another cluster": func(h *v1alpha1.HubAccess) { h.Spec.Access.Username = "cluster2" },
		"the role of another suffix":  func(h *v1alpha1.HubAccess) { h.Spec.Access.Suffix = strings.Repeat("a", 32) },
		"a role of another account": func(h *v1alpha1.HubAccess) {
			h.Spec.Access.RoleARN = strings.Replace(h.Spec.Access.RoleARN, "1111", "2222", 1)
		},
		"a role of another partition": func(h *v1alpha1.HubAccess) {
			h.Spec.Access.RoleARN = strings.Replace(h.Spec.Access.RoleARN, "aws", "aws-cn", 1)
		},
		"a role of another name":        func(h *v1alpha1.HubAccess) { h.Spec.Access.RoleARN = "arn:aws:iam::111111111111:role/admin" },
		"a hub that is no ARN":          func(h *v1alpha1.HubAccess) { h.Spec.Access.HubARN = "eks-hub" },
		"a cluster that is no ARN":      func(h *v1alpha1.HubAccess) { h.Spec.Access.ManagedClusterARN = "" },
		"a suffix that is not of 3.1's": func(h *v1alpha1.HubAccess) { h.Spec.Access.Suffix = "x" },
	} {
		t.Run(name, func(t *testing.T) {
			record := good()
			change(record)
			if err := f.Create(t.Context(), record); !apierrors.IsInvalid(err) {
				t.Errorf("it is taken, or refused for another reason: %v", err)
			}
		})
	}
	record := good()
	f.Make(record)
	if record.Spec.Access.Suffix = strings.Repeat("b", 32); !apierrors.IsInvalid(f.Update(t.Context(), record)) {
		t.Error("the spec can be changed")
	}
	must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(record), record))
	if record.Spec.Access = nil; !apierrors.IsInvalid(f.Update(t.Context(), record)) {
		t.Error("the access can be taken out")
	}
}
