package roleselector

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

func bucketNamed(name string) Object {
	return Object{Group: "s3.services.k8s.aws", Version: "v1alpha1", Kind: "Bucket", Namespace: "prod", Name: name}
}

func sessionNamed(name string) identity.Chain {
	return identity.NewChain(identity.Role{ARN: someARN, SessionName: name, Tags: map[string]string{"a": "1", "b": "2"}})
}

func TestASelectorHasOnlySoManySessions(t *testing.T) {
	team := Reference{Name: "team", UID: "1", Generation: 1, ResourceVersion: "5"}
	relabelled, changed, anew, other := team, team, team, Reference{Name: "other", UID: "9", Generation: 1}
	relabelled.ResourceVersion, changed.Generation, anew.UID = "6", 2, "2"
	type step struct {
		resource string
		used     Reference
		session  string // none is a release
		refused  bool
	}
	for what, steps := range map[string][]step{
		"one too many":                         {{"a", team, "s1", false}, {"b", team, "s2", false}, {"c", team, "s3", true}},
		"one that others have":                 {{"a", team, "s1", false}, {"b", team, "s2", false}, {"c", team, "s1", false}, {"d", relabelled, "s2", false}},
		"the same again":                       {{"a", team, "s1", false}, {"b", team, "s2", false}, {"b", team, "s2", false}, {"a", team, "s1", false}},
		"room again":                           {{"a", team, "s1", false}, {"b", team, "s2", false}, {"c", team, "s3", true}, {"a", team, "", false}, {"c", team, "s3", false}},
		"no room while one user is left":       {{"a", team, "s1", false}, {"b", team, "s1", false}, {"c", team, "s2", false}, {"a", team, "", false}, {"d", team, "s3", true}, {"b", team, "", false}, {"d", team, "s3", false}},
		"its own room":                         {{"a", team, "s1", false}, {"b", team, "s2", false}, {"b", team, "s3", false}, {"c", team, "s2", true}},
		"a refused one has given up its old":   {{"a", team, "s1", false}, {"b", team, "s2", false}, {"c", team, "s1", false}, {"c", team, "s3", true}, {"a", team, "", false}, {"c", team, "s3", false}},
		"another selector":                     {{"a", team, "s1", false}, {"b", team, "s2", false}, {"c", other, "s1", false}, {"d", other, "s3", false}, {"e", other, "s4", true}},
		"a changed selector":                   {{"a", team, "s1", false}, {"b", team, "s2", false}, {"c", changed, "s3", false}, {"a", changed, "s4", false}, {"b", changed, "s5", true}},
		"one that is made anew under the name": {{"a", team, "s1", false}, {"b", team, "s2", false}, {"c", anew, "s3", false}},
		"a release of what has none":           {{"a", team, "", false}, {"a", team, "s1", false}, {"b", team, "s2", false}, {"c", team, "s3", true}, {"c", team, "", false}, {"c", team, "s3", true}},
	} {
		t.Run(what, func(t *testing.T) {
			sessions := NewSessions(2)
			for i, s := range steps {
				if s.session == "" {
					sessions.Release(bucketNamed(s.resource))
					continue
				}
				problem := sessions.Admit(bucketNamed(s.resource), s.used, sessionNamed(s.session))
				if refused := problem != nil; refused != s.refused {
					t.Fatalf("step %d, %+v: %v, want refused %v", i, s, problem, s.refused)
				}
			}
			for _, s := range steps {
				sessions.Release(bucketNamed(s.resource))
			}
			if len(sessions.using)+len(sessions.open)+sessions.Open()+len(sessions.waits.groups)+len(sessions.waits.queues) > 0 {
				t.Errorf("with no resources left it holds %v, %v and %v, want nothing", sessions.using, sessions.open, sessions.waits)
			}
		})
	}
}

func TestTheLimitOfSessionsIsAThousandUnlessSomebodySaysOtherwise(t *testing.T) {
	sessions := NewSessions(Settings{}.SessionLimit)
	team := Reference{Name: "team"}
	var refused []string
	for i := range 1002 {
		name := fmt.Sprint(i)
		if problem := sessions.Admit(bucketNamed(name), team, sessionNamed(name)); problem != nil {
			refused = append(refused, name)
			want := "spec.assumeRole: the selector team has as many sessions as it may have, 1000; " +
				"take variables out of its templates, or raise --assume-role-session-limit"
			if problem.String() != want || problem.Reason != ReasonTooManySessions || !problem.Blocks() {
				t.Errorf("the problem is %+v, want %s", problem, want)
			}
		}
	}
	if got := strings.Join(refused, " "); got != "1000 1001" {
		t.Errorf("refused are %s, want 1000 and 1001, the first of which is the thousand and first", got)
	}
}

func TestSessionsAreCountedByAllWorkersAtOnce(t *testing.T) {
	sessions := NewSessions(10)
	admitted := make([]int, 8)
	var workers sync.WaitGroup
	for worker := range admitted {
		workers.Go(func() {
			for i := range 20 {
				name := fmt.Sprint(i)
				if sessions.Admit(bucketNamed(fmt.Sprint(worker, "-", i)), Reference{Name: "team"}, sessionNamed(name)) == nil {
					admitted[worker]++
				}
			}
		})
	}
	workers.Wait()
	for worker, n := range admitted {
		if n != 10 {
			t.Errorf("worker %d was admitted %d times, want with the 10 sessions that were first", worker, n)
		}
	}
	if open := sessions.Open(); open != 10 {
		t.Errorf("%d sessions are counted, want 10", open)
	}
}
