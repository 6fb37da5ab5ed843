package fault

import (
	"slices"
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	cases := map[string]struct {
		faults []Fault
		calls  [][2]string
		want   []string
	}{
		"nothing is asked for, nothing happens": {nil, [][2]string{{"s3", "GetObject"}}, []string{""}},
		"a fault hits its operation only":       {[]Fault{{Service: "iam", Operation: "GetRole", Code: "Throttling"}}, [][2]string{{"iam", "GetRole"}, {"iam", "ListRoles"}, {"sts", "GetRole"}}, []string{"Throttling", "", ""}},
		"a fault of a service hits all of it":   {[]Fault{{Service: "s3", Code: "SlowDown"}}, [][2]string{{"s3", "GetObject"}, {"s3", "PutObject"}, {"ec2", "DescribeRegions"}}, []string{"SlowDown", "SlowDown", ""}},
		"it ends after its count":               {[]Fault{{Code: "Throttling", Count: 2}}, [][2]string{{"a", "A"}, {"a", "A"}, {"a", "A"}}, []string{"Throttling", "Throttling", ""}},
		"every third is every third":            {[]Fault{{Code: "Throttling", Every: 3}}, [][2]string{{"a", "A"}, {"a", "A"}, {"a", "A"}, {"a", "A"}, {"a", "A"}, {"a", "A"}}, []string{"", "", "Throttling", "", "", "Throttling"}},
		"the first of two errors counts, and only it is used up": {
			[]Fault{{Code: "Throttling", Count: 1}, {Code: "InternalError", Count: 1}}, [][2]string{{"a", "A"}, {"a", "A"}, {"a", "A"}}, []string{"Throttling", "InternalError", ""}},
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
				if _, failure := b.Next(c[0], c[1]); failure != nil {
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
	wait, failure := b.Next("s3", "GetObject")
	if wait != time.Minute+time.Second || failure == nil || failure.Status != 400 || failure.Message == "" {
		t.Errorf("waits %s, fails with %+v", wait, failure)
	}
	b.Clear()
	if wait, failure := b.Next("s3", "GetObject"); wait != 0 || failure != nil || len(b.List()) != 0 {
		t.Error("a fault that was taken back is still there")
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
		if _, got := b.Next(c.service, "Operation"); got == nil || got.Code != c.fault.Code || got.Status != c.status || got.Message != c.message {
			t.Errorf("%s: the answer is %+v, want %d %s", name, got, c.status, c.message)
		}
	}
}

func TestListTellsWhatIsLeft(t *testing.T) {
	var b Book
	b.Add(Fault{Code: "Throttling", Count: 3})
	_, _ = b.Next("s3", "GetObject")
	if left := b.List(); len(left) != 1 || left[0].Count != 2 {
		t.Errorf("left %+v, want one with two to go", left)
	}
}
