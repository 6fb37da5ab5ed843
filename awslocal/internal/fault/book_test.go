package fault

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestNext(t *testing.T) {
	cases := map[string]struct {
		faults []Fault
		calls  [][3]string
		want   []string
	}{
		"nothing is asked for, nothing happens": {nil, [][3]string{{"s3", "GetObject", ""}}, []string{""}},
		"a fault hits its operation only":       {[]Fault{{Service: "iam", Operation: "GetRole", Code: "Throttling"}}, [][3]string{{"iam", "GetRole", ""}, {"iam", "ListRoles", ""}, {"sts", "GetRole", ""}}, []string{"Throttling", "", ""}},
		"a fault of a service hits all of it":   {[]Fault{{Service: "s3", Code: "SlowDown"}}, [][3]string{{"s3", "GetObject", ""}, {"s3", "PutObject", ""}, {"ec2", "DescribeRegions", ""}}, []string{"SlowDown", "SlowDown", ""}},
		"a fault of a region spares the others": {
			[]Fault{{Region: "eu-west-1", Code: "Throttling"}}, [][3]string{{"ec2", "A", "us-east-1"}, {"ec2", "A", "eu-west-1"}, {"iam", "B", ""}}, []string{"", "Throttling", ""}},
		"a call in another region uses up nothing": {
			[]Fault{{Region: "eu-west-1", Code: "Throttling", Count: 1, Every: 2}},
			[][3]string{{"a", "A", "eu-west-1"}, {"a", "A", "us-east-1"}, {"a", "A", "eu-west-1"}, {"a", "A", "eu-west-1"}}, []string{"", "", "Throttling", ""}},
		"service, operation and region must all fit": {
			[]Fault{{Service: "ec2", Operation: "A", Region: "r", Code: "Throttling"}}, [][3]string{{"ec2", "A", "s"}, {"ec2", "B", "r"}, {"sts", "A", "r"}, {"ec2", "A", "r"}}, []string{"", "", "", "Throttling"}},
		"it ends after its count":    {[]Fault{{Code: "Throttling", Count: 2}}, [][3]string{{"a", "A", ""}, {"a", "A", ""}, {"a", "A", ""}}, []string{"Throttling", "Throttling", ""}},
		"every third is every third": {[]Fault{{Code: "Throttling", Every: 3}}, [][3]string{{"a", "A", ""}, {"a", "A", ""}, {"a", "A", ""}, {"a", "A", ""}, {"a", "A", ""}, {"a", "A", ""}}, []string{"", "", "Throttling", "", "", "Throttling"}},
		"the first of two errors counts, and only it is used up": {
			[]Fault{{Code: "Throttling", Count: 1}, {Code: "InternalError", Count: 1}}, [][3]string{{"a", "A", ""}, {"a", "A", ""}, {"a", "A", ""}}, []string{"Throttling", "InternalError", ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var b Book
			for _, f := range tc.faults {
				b.Add(f)
			}
			var got []string
			for _, c := range tc.calls {
				code := ""
				if failure := b.Next(c[0], c[1], c[2]).Failure; failure != nil {
					code = failure.Code
				}
				got = append(got, code)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestLatenciesAddUpAndAnErrorKeepsItsText(t *testing.T) {
	var b Book
	b.Add(Fault{Latency: time.Second})
	b.Add(Fault{Latency: time.Minute, Code: "Odd"})
	got := b.Next("s3", "GetObject", "")
	if got.Latency != time.Minute+time.Second || got.Failure == nil || got.Failure.Status != 400 || got.Failure.Message == "" {
		t.Errorf("waits %s, fails with %+v", got.Latency, got.Failure)
	}
	b.Clear()
	if got := b.Next("s3", "GetObject", ""); got.Latency != 0 || got.Failure != nil || len(b.List()) != 0 {
		t.Error("a fault that was taken back is still there")
	}
}

func TestRetryAfterGoesWithItsError(t *testing.T) {
	cases := map[string]struct {
		faults []Fault
		want   []int
	}{
		"of the one error":         {[]Fault{{Code: "Throttling", RetryAfter: 7}}, []int{7, 7}},
		"of the error that counts": {[]Fault{{Code: "A", RetryAfter: 3, Count: 1}, {Code: "B", RetryAfter: 5}}, []int{3, 5}},
		"not of a mere latency":    {[]Fault{{Latency: time.Second, RetryAfter: 7}, {Code: "A"}}, []int{0, 0}},
	}
	for name, tc := range cases {
		var b Book
		for _, f := range tc.faults {
			b.Add(f)
		}
		var got []int
		for range tc.want {
			got = append(got, b.Next("ec2", "A", "").RetryAfter)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}

func TestAHangEndsWithItsCause(t *testing.T) {
	const hang = 1000 * time.Hour
	cases := map[string]func(*Book, context.CancelFunc){
		"the client goes away":     func(_ *Book, leave context.CancelFunc) { leave() },
		"the fault is taken back":  func(b *Book, _ context.CancelFunc) { b.Clear() },
		"the server is to stop":    func(b *Book, _ context.CancelFunc) { b.Hurry(true) },
		"it was to stop and stays": func(b *Book, _ context.CancelFunc) { b.Hurry(true); b.Hurry(false) },
	}
	for name, end := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b Book
				b.Add(Fault{Latency: hang})
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				var isOver atomic.Bool
				trouble := b.Next("ec2", "A", "")
				go func() {
					trouble.Wait(ctx)
					isOver.Store(true)
				}()
				<-time.After(hang / 2)
				synctest.Wait()
				if isOver.Load() {
					t.Error("the call did not wait")
				}
				end(&b, leave)
				synctest.Wait()
				if !isOver.Load() {
					t.Error("the call still waits")
				}
			})
		})
	}
}

func TestNobodyWaitsInAHurry(t *testing.T) {
	var b Book
	b.Add(Fault{Latency: time.Hour, Code: "Odd"})
	b.Hurry(true)
	if got := b.Next("ec2", "A", ""); got.Latency != 0 || got.Failure == nil {
		t.Errorf("in a hurry: %+v, want the failure at once", got)
	}
	b.Hurry(false)
	if got := b.Next("ec2", "A", ""); got.Latency != time.Hour {
		t.Errorf("afterwards a call waits %s, want an hour", got.Latency)
	}
}

func TestUsualStatusesAreThoseOfTheService(t *testing.T) {
	cases := map[string]struct {
		service string
		fault   Fault
		status  int
		message string
	}{
		"EKS throttles":                     {"eks", Fault{Code: "ThrottlingException"}, 429, "Rate exceeded"},
		"EKS Auth throttles":                {"eks-auth", Fault{Code: "ThrottlingException"}, 429, "Rate exceeded"},
		"the agent passes it on":            {"pod-identity-agent", Fault{Code: "ThrottlingException"}, 429, "Rate exceeded"},
		"another service throttles":         {"x", Fault{Code: "ThrottlingException"}, 400, "Rate exceeded"},
		"EKS is in trouble":                 {"eks", Fault{Code: "ServerException"}, 500, "These errors are usually caused by a server-side issue."},
		"EKS Auth is in trouble":            {"eks-auth", Fault{Code: "InternalServerException"}, 500, "These errors are usually caused by a server-side issue."},
		"EKS is not there":                  {"eks", Fault{Code: "ServiceUnavailableException"}, 503, "The service is unavailable. Back off and retry the operation."},
		"EC2 does not know the keys":        {"ec2", Fault{Code: "AuthFailure"}, 401, "AWS was not able to validate the provided access credentials"},
		"EC2 allows nothing":                {"ec2", Fault{Code: "UnauthorizedOperation"}, 403, "You are not authorized to perform this operation."},
		"EC2 throttles":                     {"ec2", Fault{Code: "RequestLimitExceeded"}, 503, "Request limit exceeded."},
		"a service is not subscribed to":    {"ec2", Fault{Code: "OptInRequired"}, 403, "The AWS Access Key Id needs a subscription for the service"},
		"STS is off in the region":          {"sts", Fault{Code: "RegionDisabledException"}, 403, "This fault was asked for."},
		"S3 throttles":                      {"s3", Fault{Code: "SlowDown"}, 503, "Please reduce your request rate."},
		"a session of S3's caller is over":  {"s3", Fault{Code: "ExpiredToken"}, 400, "The provided token has expired."},
		"a session of IAM's caller is over": {"iam", Fault{Code: "ExpiredToken"}, 403, "The security token included in the request is expired"},
		"a status of its own":               {"eks", Fault{Code: "ThrottlingException", Status: 400}, 400, "Rate exceeded"},
		"a text of its own":                 {"eks", Fault{Code: "ThrottlingException", Message: "Slow."}, 429, "Slow."},
		"a code that nobody knows":          {"eks", Fault{Code: "Odd"}, 400, "This fault was asked for."},
	}
	for name, c := range cases {
		var b Book
		b.Add(c.fault)
		if got := b.Next(c.service, "Operation", "").Failure; got == nil || got.Code != c.fault.Code || got.Status != c.status || got.Message != c.message {
			t.Errorf("%s: the answer is %+v, want %d %s", name, got, c.status, c.message)
		}
	}
}

func TestListTellsWhatIsLeft(t *testing.T) {
	var b Book
	b.Add(Fault{Code: "Throttling", Count: 3})
	b.Next("s3", "GetObject", "")
	if left := b.List(); len(left) != 1 || left[0].Count != 2 {
		t.Errorf("left %+v, want one with two to go", left)
	}
}
