package capacity

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
)

// testCrowd: 100 MachineSets of several types are created at once in two regions.
// AWS is asked for the list of each region once, page by page, by one session.
func testCrowd(t *testing.T, c *cluster) {
	s := c.webSite(t, "crowd", "us-west-2")
	p := s.start(t, "--sync-period=10m")
	const many = 100
	types := slices.Sorted(maps.Keys(knownTypes()))
	var workers sync.WaitGroup
	for worker := range 10 {
		workers.Go(func() {
			for i := worker; i < many; i += 10 {
				region := []string{"us-west-2", "eu-central-1"}[i/10%2]
				if err := s.Create(t.Context(), s.machines(t, fmt.Sprintf("crowd-%03d", i), "", fmt.Sprintf(
					"{kind: AWSMachineProviderConfig, instanceType: %s, placement: {region: %s}}", types[i%len(types)], region))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	s.awaitCrowd(t, many)
	// What one list takes is what one object of another region asks for.
	s.awaitAnnotations(t, s.set(t, "alone", "m5.large", "eu-west-1"), m5large())
	pages := s.front.asked()["eu-west-1/ec2"]
	if pages < 5 {
		t.Errorf("a list has %d pages, want several", pages)
	}
	// A token is exchanged without a signature.
	want := map[string]int{"us-west-2/ec2": pages, "eu-central-1/ec2": pages, "eu-west-1/ec2": pages, "/": 1}
	if got := s.front.asked(); !maps.Equal(got, want) {
		t.Errorf("calls %v, want each list once: %v", got, want)
	}
	for _, entry := range s.calls("ec2") {
		if entry.Operation != "DescribeInstanceTypes" || !strings.HasPrefix(entry.Caller, "arn:aws:sts::"+account+":assumed-role/capacity/") {
			t.Errorf("%s was called by %s", entry.Operation, entry.Caller)
		}
	}
	if got := s.calls("sts"); len(got) != 1 || got[0].Operation != "AssumeRoleWithWebIdentity" {
		t.Errorf("calls to STS %v, want one exchange", got)
	}
	metrics := p.scrape(t)
	for _, line := range []string{
		`tabard_capacity_catalogue_fetches_total{region="us-west-2",result="success"} 1`,
		`tabard_capacity_catalogue_fetches_total{region="eu-central-1",result="success"} 1`,
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

// awaitCrowd waits until so many MachineSets have the annotations of their type.
func (s *site) awaitCrowd(t *testing.T, many int) {
	t.Helper()
	testkit.Await(t, func() error {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("machine.openshift.io/v1beta1")
		list.SetKind("MachineSetList")
		if err := s.List(t.Context(), list, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		done := 0
		for i := range list.Items {
			instanceType, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "template", "spec", "providerSpec", "value", "instanceType")
			if maps.Equal(list.Items[i].GetAnnotations(), knownTypes()[instanceType]) {
				done++
			}
		}
		if done != many {
			return fmt.Errorf("%d of %d MachineSets have their annotations, want %d", done, len(list.Items), many)
		}
		return nil
	})
}

// testHangingRegion: one region does not answer, and objects wait for it that ask
// more questions than are looked at at once. Those of the other region are
// annotated meanwhile, and theirs when it answers.
func testHangingRegion(t *testing.T, c *cluster) {
	s := c.webSite(t, "hanging", "us-west-2")
	s.aws.Admin().Inject(awslocal.Fault{Service: "ec2", Region: "eu-central-1", Latency: time.Hour})
	s.start(t)
	waiting := map[string]*unstructured.Unstructured{}
	for instanceType := range knownTypes() {
		waiting[instanceType] = s.set(t, "waiting-"+namespaceOf(instanceType), instanceType, "eu-central-1")
	}
	testkit.Await(t, func() error {
		if got := s.front.signedFor()["eu-central-1/ec2"]; got == 0 {
			return fmt.Errorf("the region that hangs was not asked")
		}
		return nil
	})
	for i := range 20 {
		s.awaitAnnotations(t, s.set(t, fmt.Sprintf("quick-%02d", i), "m5.large", "us-west-2"), m5large())
	}
	for _, set := range waiting {
		s.checkAnnotations(t, set, map[string]string{})
		if told := s.told(t, set); told != "" {
			t.Errorf("the others were annotated only after the call that hangs was given up:\n%s", told)
		}
	}
	s.aws.Admin().ClearFaults()
	for instanceType, set := range waiting {
		s.awaitAnnotations(t, set, knownTypes()[instanceType])
		s.checkNeverUnknown(t, set)
	}
}
