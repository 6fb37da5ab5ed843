// The tests ask a local AWS that verifies signatures and evaluates policies; its
// journal says who asked what, and where.
package instancetype_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	source "github.com/tabard-dev/tabard/internal/cloud/instancetype"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
	"github.com/tabard-dev/tabard/internal/testkit"
)

func TestTypesAreAsAWSSays(t *testing.T) {
	l := newLab(t, "us-east-1")
	l.want(t, ask("m5.large", "us-east-1"), large)
	l.want(t, ask("a1.2xlarge", "us-east-1"), instancetype.Answer{State: instancetype.Found, Type: instancetype.Type{
		Name: "a1.2xlarge", VCPUs: 8, MemoryMiB: 16384, Architecture: "arm64",
	}})
	l.want(t, ask("t2.nano", "us-east-1"), instancetype.Answer{State: instancetype.Found, Type: instancetype.Type{
		Name: "t2.nano", VCPUs: 1, MemoryMiB: 512, Architecture: "amd64",
	}})
	l.want(t, ask("p4d.24xlarge", "us-east-1"), instancetype.Answer{State: instancetype.Found, Type: instancetype.Type{
		Name: "p4d.24xlarge", VCPUs: 96, MemoryMiB: 1179648, Architecture: "amd64", GPUs: 8, Accelerator: "nvidia.com/gpu", Accelerators: 8,
	}})
}

func TestSizesLeadToATypeThatHasThem(t *testing.T) {
	l := newLab(t, "us-east-1")
	said := func(n int64) instancetype.Size { return instancetype.Size{Said: true, Value: n} }
	tests := map[string]struct {
		like instancetype.Sizes
		want string
	}{
		"nothing said":           {instancetype.Sizes{}, ""},
		"of one type":            {instancetype.Sizes{VCPUs: said(96), MemoryMiB: said(1179648), GPUs: said(8), Accelerator: "nvidia.com/gpu"}, "p4d.24xlarge"},
		"of the first by name":   {instancetype.Sizes{VCPUs: said(1), MemoryMiB: said(512)}, "t2.nano"},
		"less a reserve":         {instancetype.Sizes{VCPUs: said(96), MemoryMiB: said(1061683), GPUs: said(8), Reserve: 10}, "p4d.24xlarge"},
		"less another reserve":   {instancetype.Sizes{VCPUs: said(96), MemoryMiB: said(1061683), GPUs: said(8), Reserve: 20}, ""},
		"of no type":             {instancetype.Sizes{VCPUs: said(96), MemoryMiB: said(1179648), GPUs: said(0)}, ""},
		"without memory":         {instancetype.Sizes{VCPUs: said(96), GPUs: said(8)}, ""},
		"without vCPUs":          {instancetype.Sizes{MemoryMiB: said(512)}, ""},
		"with other accelerator": {instancetype.Sizes{VCPUs: said(96), MemoryMiB: said(1179648), Accelerator: "amd.com/gpu"}, ""},
	}
	for name, test := range tests {
		q := ask("m5.large", "us-east-1")
		q.Like = test.like
		if got, err := l.types.Get(t.Context(), person, q); err != nil || got.Like != test.want || got.Type != large.Type {
			t.Errorf("%s: got %+v, %v; want one like %q", name, got, err, test.want)
		}
	}
}

func TestFiveHundredAtOnceFetchOneListARegion(t *testing.T) {
	l := newLab(t, "us-east-1")
	pages := l.pages(t)
	names := []string{"m5.large", "m5.xlarge", "a1.large", "t2.nano", "p4d.24xlarge"}
	regions := []string{"us-east-1", "eu-west-1"}
	var all sync.WaitGroup
	for i := range 500 {
		all.Go(func() {
			q := ask(names[i%len(names)], regions[i%len(regions)])
			got, err := l.types.Get(t.Context(), person, q)
			if err != nil || got.State != instancetype.Found || got.Type.Name != q.Type {
				t.Errorf("%+v: got %+v, %v", q, got, err)
			}
		})
	}
	all.Wait()
	counted := map[string]int{}
	for _, call := range l.calls() {
		counted[call]++
	}
	want := map[string]int{"DescribeInstanceTypes@us-east-1": pages, "DescribeInstanceTypes@eu-west-1": pages}
	if diff := cmp.Diff(want, counted); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestAMissIsAskedForOnce(t *testing.T) {
	l := newLab(t, "us-east-1")
	q := ask("m5.tiny", "us-east-1")
	l.want(t, ask("m5.large", "us-east-1"), large)
	l.calls()
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if got, err := l.types.Get(t.Context(), person, q); err != nil || got != unknown {
				t.Errorf("got %+v, %v; want unknown", got, err)
			}
		})
	}
	all.Wait()
	for _, test := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {29 * time.Minute, 0}, {2 * time.Minute, 1}, {time.Minute, 0}} {
		l.advance(test.after)
		l.want(t, q, unknown)
		if got := l.calls(); len(got) != test.want {
			t.Errorf("%v later: calls %v, want %d", test.after, got, test.want)
		}
	}
}

func TestUnknownIsSaidOnlyIfAWSSaidIt(t *testing.T) {
	tests := map[string]struct {
		fault awslocal.Fault
		class fault.Class
	}{
		"throttled":     {awslocal.Fault{Code: "RequestLimitExceeded"}, fault.Throttled},
		"server error":  {awslocal.Fault{Code: "InternalError"}, fault.Retry},
		"denied":        {awslocal.Fault{Code: "UnauthorizedOperation", Status: 403}, fault.Denied},
		"expired":       {awslocal.Fault{Code: "ExpiredToken"}, fault.Unauthenticated},
		"wrong keys":    {awslocal.Fault{Code: "AuthFailure", Status: 401}, fault.Unauthenticated},
		"bad parameter": {awslocal.Fault{Code: "InvalidParameterValue"}, fault.Invalid},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "us-east-1")
			test.fault.Service, test.fault.Operation = "ec2", "DescribeInstanceTypes"
			l.aws.Admin().Inject(test.fault)
			got, err := l.types.Get(t.Context(), person, ask("m5.large", "us-east-1"))
			wantFault(t, got, err, test.class, test.fault.Code)
			if refresh := <-l.refreshed; refresh.Err == nil || refresh.Region != "us-east-1" {
				t.Errorf("refresh %+v, want a failed one", refresh)
			}
			l.aws.Admin().ClearFaults()
			l.advance(2 * time.Second)
			l.want(t, ask("m5.large", "us-east-1"), large)

			// The list is there, the one call about a missing type fails.
			l.aws.Admin().Inject(test.fault)
			got, err = l.types.Get(t.Context(), person, ask("m5.tiny", "us-east-1"))
			wantFault(t, got, err, test.class, test.fault.Code)
			l.want(t, ask("m5.large", "us-east-1"), large)
			l.aws.Admin().ClearFaults()
			l.advance(2 * time.Second)
			l.want(t, ask("m5.tiny", "us-east-1"), unknown)
		})
	}
}

func TestAListThatBreaksOffIsNotKept(t *testing.T) {
	l := newLab(t, "us-east-1")
	l.aws.Admin().Inject(awslocal.Fault{Service: "ec2", Operation: "DescribeInstanceTypes", Code: "InternalError", Every: 4})
	got, err := l.types.Get(t.Context(), person, ask("a1.large", "us-east-1")) // on the first page
	wantFault(t, got, err, fault.Retry, "InternalError")
	if ages := l.types.Ages(); len(ages) > 0 {
		t.Errorf("half a list is kept: %v", ages)
	}
}

func TestTheOldListIsServedWhileItIsRenewed(t *testing.T) {
	l := newLab(t, "us-east-1")
	q := ask("m5.large", "us-east-1")
	l.want(t, q, large)
	<-l.refreshed
	l.calls()
	l.advance(20 * time.Hour)
	l.want(t, q, large)
	if calls := l.calls(); len(calls) > 0 {
		t.Errorf("a fresh list was renewed: %v", calls)
	}
	l.advance(7 * time.Hour)
	l.front.hold("us-east-1")
	for range 3 { // returns while the renewal hangs
		l.want(t, q, large)
	}
	<-l.front.came
	l.front.open()
	if refresh := <-l.refreshed; refresh.Err != nil || refresh.Types < 500 || refresh.Skipped != 0 {
		t.Errorf("refresh %+v, want all types", refresh)
	}
	testkit.Await(t, func() error { // what was fetched is told of before it is kept
		if ages := l.types.Ages(); ages["us-east-1"] != 0 {
			return fmt.Errorf("age is %v, want a new list", ages)
		}
		return nil
	})
}

func TestAnOldListOutlivesARenewalThatFails(t *testing.T) {
	l := newLab(t, "us-east-1")
	q := ask("m5.large", "us-east-1")
	l.want(t, q, large)
	<-l.refreshed
	l.aws.Admin().Inject(awslocal.Fault{Service: "ec2", Code: "RequestLimitExceeded"})
	for _, later := range []time.Duration{48 * time.Hour, 4 * 24 * time.Hour} {
		l.advance(later)
		testkit.Await(t, func() error { // a renewal is told of before it has ended, and there is one at a time
			l.want(t, q, large)
			select {
			case refresh := <-l.refreshed:
				if refresh.Err == nil {
					t.Error("the renewal did not fail")
				}
				return nil
			default:
				return fmt.Errorf("the list was not renewed %v later", later)
			}
		})
	}
	l.advance(2 * 24 * time.Hour) // now it is too old
	got, err := l.types.Get(t.Context(), person, q)
	wantFault(t, got, err, fault.Throttled, "RequestLimitExceeded")
}

func TestOneRegionThatHangsHoldsUpNoOther(t *testing.T) {
	l := newLab(t, "us-east-1")
	l.front.hold("eu-west-1")
	done := make(chan error, 1)
	go func() {
		_, err := l.types.Get(t.Context(), person, ask("m5.large", "eu-west-1"))
		done <- err
	}()
	<-l.front.came
	for range 3 {
		l.want(t, ask("m5.large", "us-east-1"), large)
	}
	l.want(t, ask("m5.tiny", "us-east-1"), unknown)

	// Who does not want to wait any longer does not, and disturbs nobody.
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := l.types.Get(impatient, person, ask("m5.large", "eu-west-1"))
	wantFault(t, got, err, fault.Retry, "")
	select {
	case err := <-done:
		t.Fatalf("the hanging region answered: %v", err)
	default:
	}
	l.front.open()
	if err := <-done; err != nil {
		t.Errorf("after the region came back: %v", err)
	}
}

func TestAFetchOutlivesWhoBeganIt(t *testing.T) {
	l := newLab(t, "us-east-1")
	pages := l.pages(t)
	q := ask("m5.large", "eu-west-1")
	l.front.hold("eu-west-1")
	impatient, cancel := context.WithCancel(t.Context())
	gaveUp := make(chan error, 1)
	go func() {
		_, err := l.types.Get(impatient, person, q)
		gaveUp <- err
	}()
	<-l.front.came
	cancel()
	wantFault(t, instancetype.Answer{}, <-gaveUp, fault.Retry, "")
	l.front.open()
	l.want(t, q, large)
	if calls := l.calls(); len(calls) != pages {
		t.Errorf("%d calls, want the %d of one list", len(calls), pages)
	}
}

func TestWhoIsRefusedDoesNotStandForOthers(t *testing.T) {
	l := newLab(t, "us-east-1")
	nobody := l.powerless(t)
	q := ask("m5.large", "us-east-1")
	got, err := l.types.Get(t.Context(), nobody, q)
	wantFault(t, got, err, fault.Denied, "UnauthorizedOperation")
	l.calls()
	got, err = l.types.Get(t.Context(), nobody, q)
	wantFault(t, got, err, fault.Denied, "UnauthorizedOperation")
	if calls := l.calls(); len(calls) > 0 {
		t.Errorf("asked again at once: %v", calls)
	}
	l.want(t, q, large)

	// Also if the fetch of the refused one is the one to wait for.
	l.front.hold("eu-west-1")
	q = ask("m5.large", "eu-west-1")
	refused := make(chan error, 1)
	go func() {
		_, err := l.types.Get(t.Context(), nobody, q)
		refused <- err
	}()
	<-l.front.came
	answered := make(chan instancetype.Answer, 1)
	go func() {
		got, err := l.types.Get(t.Context(), person, q)
		if err != nil {
			t.Error(err)
		}
		answered <- got
	}()
	l.front.open()
	wantFault(t, instancetype.Answer{}, <-refused, fault.Denied, "UnauthorizedOperation")
	if got := <-answered; got != large {
		t.Errorf("got %+v, want %+v", got, large)
	}
}

func TestFailuresAreRepeatedLessAndLessOften(t *testing.T) {
	l := newLab(t, "us-east-1")
	l.aws.Admin().Inject(awslocal.Fault{Service: "ec2", Code: "InternalError"})
	q := ask("m5.large", "us-east-1")
	for _, test := range []struct {
		after time.Duration
		want  int
	}{
		{0, 1}, {0, 0}, {999 * time.Millisecond, 0}, {time.Millisecond, 1}, {time.Second, 0}, {time.Second, 1}, {3 * time.Second, 0}, {time.Second, 1},
	} {
		l.advance(test.after)
		got, err := l.types.Get(t.Context(), person, q)
		wantFault(t, got, err, fault.Retry, "InternalError")
		if calls := l.calls(); len(calls) != test.want {
			t.Errorf("%v later: calls %v, want %d", test.after, calls, test.want)
		}
	}
	for range 20 {
		l.advance(5 * time.Minute)
		_, _ = l.types.Get(t.Context(), person, q)
	}
	if calls := l.calls(); len(calls) != 20 {
		t.Errorf("%d calls, want one in five minutes in the end", len(calls))
	}
}

func TestNobodyGetsNothing(t *testing.T) {
	l := newLab(t, "us-east-1")
	got, err := l.types.Get(t.Context(), identity.Identity{}, ask("m5.large", "us-east-1"))
	wantFault(t, got, err, fault.Invalid, "InvalidIdentity")
	got, err = l.types.Get(t.Context(), identity.Identity{Base: identity.WebIdentity}, ask("m5.large", "us-foo-9"))
	wantFault(t, got, err, fault.Unauthenticated, "CredentialsMissing")
}

func TestAgesAreThoseOfTheLists(t *testing.T) {
	l := newLab(t, "us-east-1")
	for _, region := range []string{"us-east-1", "eu-west-1"} {
		l.want(t, ask("m5.large", region), large)
		l.advance(time.Second)
	}
	want := map[string]time.Duration{"us-east-1": 2 * time.Second, "eu-west-1": time.Second}
	if diff := cmp.Diff(want, l.types.Ages()); diff != "" {
		t.Errorf("ages (-want +got):\n%s", diff)
	}
}

func TestAThrottledRequestIsRepeated(t *testing.T) {
	l := newLab(t, "us-east-1")
	types := source.New(l.auth, source.Options{Rate: 1e6, Burst: 1000, Attempts: 2})
	l.aws.Admin().Inject(awslocal.Fault{Service: "ec2", Code: "RequestLimitExceeded", Count: 1})
	if got, err := types.Get(t.Context(), person, ask("m5.large", "us-east-1")); err != nil || got != large {
		t.Errorf("got %+v, %v; want %+v", got, err, large)
	}
}

func TestNamesOfNoTypeFillNoMemory(t *testing.T) {
	l := newLab(t, "us-east-1")
	l.want(t, ask("m5.large", "us-east-1"), large)
	long := ask(string(slices.Repeat([]byte("x"), 4096)), "us-east-1")
	l.calls()
	for range 2 {
		l.want(t, long, unknown)
	}
	if calls := l.calls(); len(calls) != 2 {
		t.Errorf("a name of 4 KiB was kept: %v", calls)
	}
}
