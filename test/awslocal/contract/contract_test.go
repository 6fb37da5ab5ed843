package contract_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestContract names its parts service/Operation/state.
func TestContract(t *testing.T) {
	s := newSuite(t)
	for _, service := range slices.Sorted(maps.Keys(awslocal.Operations())) {
		t.Run(service, func(t *testing.T) {
			for _, name := range slices.Sorted(maps.Keys(s.rows)) {
				if r := s.rows[name]; r.service == service {
					t.Run(r.operation, func(t *testing.T) { s.check(t, r) })
				}
			}
		})
	}
}

// check tries a row in all its states, each in a fresh world.
func (s *suite) check(t *testing.T, r row) {
	t.Run("happy", func(t *testing.T) {
		w := s.ready(t, r)
		w.server.Admin().ClearJournal()
		w.expect(r, r.call(w), "")
		if calls := len(w.server.Admin().Journal()); calls != 1 {
			t.Errorf("the row made %d calls, want 1", calls)
		}
	})
	t.Run("exists", func(t *testing.T) {
		w := s.ready(t, r)
		w.expect(r, r.call(w), "")
		w.expect(r, r.call(w), r.again)
	})
	s.checkAbsent(t, r)
	t.Run("denied", func(t *testing.T) { s.checkDenied(t, r) })
	s.checkHidden(t, r)
	t.Run("throttled", func(t *testing.T) {
		w, code := s.ready(t, r), manners[r.service].throttled
		w.server.Admin().Inject(awslocal.Fault{Service: r.service, Operation: r.operation, Region: "us-west-2", Code: code})
		w.server.Admin().Inject(awslocal.Fault{Service: r.service, Operation: r.operation, Region: region, Code: code, Count: 1})
		w.expect(r, r.call(w), code)
		w.expect(r, r.call(w), "")
	})
	if r.pages != nil {
		t.Run("paged", func(t *testing.T) { s.checkPages(t, r) })
	}
}

// checkAbsent leaves out each of the needs in turn.
func (s *suite) checkAbsent(t *testing.T, r row) {
	needs := must.Get(s.rows.before(r))(t)
	for _, need := range needs {
		t.Run("absent/"+bare(need), func(t *testing.T) {
			w := s.world(t)
			w.prepare(r, need)
			w.expect(r, r.call(w), r.without(need))
		})
	}
	if r.lose == nil {
		return
	}
	t.Run("absent", func(t *testing.T) {
		w := s.ready(t, r)
		must.Do(t, r.lose(w))
		w.expect(r, r.call(w), r.lost)
	})
}

func (s *suite) checkDenied(t *testing.T, r row) {
	w := s.ready(t, r)
	switch {
	case r.free:
		w.becomeNobody(denyEverything)
		w.expect(r, r.call(w), "")
		return
	case r.stranger != nil:
		r.stranger(w)
	default:
		w.becomeNobody("")
	}
	w.expect(r, r.call(w), manners[r.service].denied)
}

// checkHidden has a caller who is denied ask for what is not there.
func (s *suite) checkHidden(t *testing.T, r row) {
	if r.free || r.stranger != nil {
		return
	}
	needs := must.Get(s.rows.before(r))(t)
	for _, need := range needs {
		t.Run("denied/without "+bare(need), func(t *testing.T) {
			w := s.world(t)
			w.prepare(r, need)
			w.becomeNobody("")
			code, told := manners[r.service].told[need]
			if !told {
				code = manners[r.service].denied
			}
			w.expect(r, r.call(w), code)
		})
	}
}

// checkPages wants each item once, and more than one page.
func (s *suite) checkPages(t *testing.T, r row) {
	w := s.ready(t, r)
	want := r.shows
	if r.fill != nil {
		want = []string{"item-1", "item-2", "item-3"}
		if r.most > 0 {
			want = want[:r.most]
		}
		for _, name := range want {
			if err := r.fill(w, name); err != nil {
				t.Fatalf("making %s: %v", name, err)
			}
		}
	}
	if len(w.made) > 0 {
		want = w.made
	}
	w.server.Admin().ClearJournal()
	shown := must.Get(r.pages(w))(t)
	for _, finding := range judgePages(shown, want, len(w.server.Admin().Journal())) {
		t.Error(finding)
	}
}

func TestEveryOperationHasItsRow(t *testing.T) {
	got := map[string][]string{}
	rows := allRows()
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		got[rows[name].service] = append(got[rows[name].service], rows[name].operation)
	}
	if diff := cmp.Diff(awslocal.Operations(), got); diff != "" {
		t.Errorf("rows (-operations +rows):\n%s", diff)
	}
}

func TestRowsSayWhatTheyMean(t *testing.T) {
	rows := allRows()
	for name, r := range rows {
		if strings.HasPrefix(r.operation, "List") && (r.pages == nil) == (r.whole == "") {
			t.Errorf("%s: a list has either pages or a reason to have none", name)
		}
		if r.pages != nil && (r.fill == nil) == (r.shows == nil) {
			t.Errorf("%s: a list is either filled or known", name)
		}
		needs, err := rows.before(r)
		if err != nil {
			t.Error(err)
		}
		for need := range r.except {
			if !slices.Contains(needs, r.need(need)) {
				t.Errorf("%s: the exception for %s is none of its needs %v", name, need, needs)
			}
		}
		if r.absent != "" && len(needs) == 0 || (r.lost != "") != (r.lose != nil) {
			t.Errorf("%s: there is a code for something absent, and nothing that can be", name)
		}
	}
}

// TestSDKsGetOverThrottling has the SDK retry as it does by itself.
func TestSDKsGetOverThrottling(t *testing.T) {
	s := newSuite(t)
	for _, name := range []string{"ec2/DescribeRegions", "eks/ListClusters", "iam/ListRoles", "s3/ListBuckets", "sts/GetCallerIdentity"} {
		t.Run(name, func(t *testing.T) {
			w, r := s.world(t), s.rows[name]
			w.become(w.server.Administrator(account), impatient())
			w.server.Admin().Inject(awslocal.Fault{Service: r.service, Operation: r.operation, Code: manners[r.service].throttled, Count: 2})
			w.expect(r, r.call(w), "")
			if calls := len(w.server.Admin().Journal()); calls != 3 {
				t.Errorf("the SDK made %d calls, want 3", calls)
			}
		})
	}
}
