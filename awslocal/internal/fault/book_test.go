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

func TestListTellsWhatIsLeft(t *testing.T) {
	var b Book
	b.Add(Fault{Code: "Throttling", Count: 3})
	_, _ = b.Next("s3", "GetObject")
	if left := b.List(); len(left) != 1 || left[0].Count != 2 {
		t.Errorf("left %+v, want one with two to go", left)
	}
}
