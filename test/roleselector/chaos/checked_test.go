package chaos

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
)

const (
	ownRole   = "arn:aws:iam::111111111111:role/controller"
	alphaRole = "arn:aws:iam::222222222222:role/alpha"
	otherRole = "arn:aws:iam::222222222222:role/alpha-other"
	betaRole  = "arn:aws:iam::333333333333:role/beta"
)

var (
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	thing = key{"prod", "data"}
)

// at is a time in seconds after the start.
func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

// tale writes a history, one version after the other.
type tale struct {
	history
	revision uint64
}

// told is a tale of one object in a namespace with the label team: a.
func told(steps ...func(*tale)) *tale {
	t := &tale{}
	t.history.namespaces = append(t.history.namespaces, stored(t, 0, key{name: thing.namespace}, &namespace{map[string]string{"team": "a"}}))
	exists(0, resource{})(t)
	for _, step := range steps {
		step(t)
	}
	return t
}

func stored[T any](t *tale, seconds float64, k key, object *T) version[T] {
	t.revision++
	return version[T]{key: k, revision: t.revision, earliest: at(seconds), latest: at(seconds), object: object}
}

func exists(seconds float64, o resource) func(*tale) {
	return func(t *tale) {
		o.key, o.bucket, o.uid = thing, "data", "of-data"
		t.resources = append(t.resources, stored(t, seconds, thing, &o))
	}
}

func gone(seconds float64) func(*tale) {
	return func(t *tale) { t.resources = append(t.resources, stored[resource](t, seconds, thing, nil)) }
}

func labelled(seconds float64, team string) func(*tale) {
	return func(t *tale) {
		t.history.namespaces = append(t.history.namespaces, stored(t, seconds, key{name: thing.namespace}, &namespace{map[string]string{"team": team}}))
	}
}

func selector(seconds float64, name string, spec v1alpha1.IAMRoleSelectorSpec) func(*tale) {
	return func(t *tale) {
		s := &v1alpha1.IAMRoleSelector{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("of-" + name)}, Spec: &spec}
		t.selectors = append(t.selectors, stored(t, seconds, key{name: name}, s))
	}
}

func noSelector(seconds float64, name string) func(*tale) {
	return func(t *tale) {
		t.selectors = append(t.selectors, stored[v1alpha1.IAMRoleSelector](t, seconds, key{name: name}, nil))
	}
}

func choice(seconds float64, selector string) func(*tale) {
	return func(t *tale) {
		c := &identityv1alpha1.IAMRoleChoice{Spec: identityv1alpha1.IAMRoleChoiceSpec{SelectorRef: identityv1alpha1.SelectorRef{Name: selector}}}
		t.choices = append(t.choices, stored(t, seconds, key{thing.namespace, "c"}, c))
	}
}

func forTeam(role, team string) v1alpha1.IAMRoleSelectorSpec {
	return v1alpha1.IAMRoleSelectorSpec{ARN: role, NamespaceSelector: &v1alpha1.NamespaceSelector{
		LabelSelector: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"team": team}},
	}}
}

func selectable(role string) v1alpha1.IAMRoleSelectorSpec {
	return v1alpha1.IAMRoleSelectorSpec{ARN: role, Selection: &v1alpha1.Selection{Mode: v1alpha1.Selectable}}
}

// session is the caller that uses a role.
func session(role string) string {
	return strings.Replace(strings.Replace(role, ":iam:", ":sts:", 1), ":role/", ":assumed-role/", 1) + "/session"
}

// used is a call with a role for a bucket.
func used(seconds float64, role, bucket string) awslocal.Entry {
	return awslocal.Entry{Time: at(seconds), Service: "s3", Operation: "HeadBucket", Caller: session(role), Resource: "arn:aws:s3:::" + bucket}
}

// did is another operation.
func did(seconds float64, role, operation string) awslocal.Entry {
	call := used(seconds, role, "data")
	call.Operation = operation
	return call
}

// moving is the announcement of a change of account.
func moving(from, to string) string {
	return fmt.Sprintf("The resource is in the account %s. It will be deleted there, and then made anew in %s.", from, to)
}

// movable is a tale of two roles, alpha that made the bucket and beta that is preferred
// by now and lets it move.
func movable(o resource, steps ...func(*tale)) *tale {
	beta := selectable(betaRole)
	beta.Selection.Default, beta.OnAccountChange = true, v1alpha1.Recreate
	o.recorded = recorded{account: "222222222222", selector: "alpha", selectorUID: "of-alpha"}
	return told(append([]func(*tale){selector(1, "alpha", selectable(alphaRole)), selector(1.5, "beta", beta), exists(2, o)}, steps...)...)
}

func assumed(seconds float64, role string) awslocal.Entry {
	return awslocal.Entry{Time: at(seconds), Service: "sts", Operation: "AssumeRole", Caller: session(ownRole), Resource: role}
}

func TestCheckerFindsWhatIsPlanted(t *testing.T) {
	withAlpha := recorded{account: "222222222222", selector: "alpha", selectorUID: "of-alpha"}
	onlyAlpha := selector(1, "alpha", forTeam(alphaRole, "a"))
	toBeta := moving("222222222222", "333333333333")
	for name, c := range map[string]struct {
		tale *tale
		call awslocal.Entry
		// want is a part of the violation; empty: the call is right.
		want string
	}{
		"the role of the selector":                                {told(onlyAlpha), used(5, alphaRole, "data"), ""},
		"the role of another team":                                {told(onlyAlpha, selector(1, "beta", forTeam(betaRole, "b"))), used(5, betaRole, "data"), alphaRole},
		"another role of the right account":                       {told(onlyAlpha), used(5, otherRole, "data"), alphaRole},
		"a role before its selector was stored":                   {told(onlyAlpha), used(0.9, alphaRole, "data"), ownRole},
		"a role 1.9 s after its selector was deleted":             {told(onlyAlpha, noSelector(5, "alpha")), used(6.9, alphaRole, "data"), ""},
		"a role 2.1 s after its selector was deleted":             {told(onlyAlpha, noSelector(5, "alpha")), used(7.1, alphaRole, "data"), ownRole},
		"the default role where no selector applies":              {told(), used(5, ownRole, "data"), ""},
		"the default role 1.9 s after a selector applied":         {told(onlyAlpha), used(2.9, ownRole, "data"), ""},
		"the default role while a selector applies":               {told(onlyAlpha), used(3.1, ownRole, "data"), alphaRole},
		"a call during a conflict":                                {told(onlyAlpha, selector(1, "beta", forTeam(betaRole, "a"))), used(5, alphaRole, "data"), "Conflict"},
		"the default role during a conflict":                      {told(onlyAlpha, selector(1, "beta", forTeam(betaRole, "a"))), used(5, ownRole, "data"), "Conflict"},
		"a call right after a conflict began":                     {told(onlyAlpha, selector(4, "beta", forTeam(betaRole, "a"))), used(5, alphaRole, "data"), ""},
		"a call while two of the same role select":                {told(onlyAlpha, selector(1, "again", forTeam(alphaRole, "a"))), used(5, alphaRole, "data"), "Conflict"},
		"a call against a Deny":                                   {told(onlyAlpha, selector(1, "no", v1alpha1.IAMRoleSelectorSpec{Effect: v1alpha1.Deny})), used(5, alphaRole, "data"), "Denied"},
		"a role by labels that the namespace has":                 {told(selector(1, "beta", forTeam(betaRole, "b")), labelled(4, "b")), used(7, betaRole, "data"), ""},
		"a role by labels that the namespace had":                 {told(onlyAlpha, labelled(4, "b")), used(7, alphaRole, "data"), ownRole},
		"a role that was chosen":                                  {told(selector(1, "alpha", selectable(alphaRole)), selector(1, "beta", selectable(betaRole)), choice(2, "beta")), used(5, betaRole, "data"), ""},
		"a role that was not chosen":                              {told(selector(1, "alpha", selectable(alphaRole)), selector(1, "beta", selectable(betaRole)), choice(2, "beta")), used(5, alphaRole, "data"), betaRole},
		"a role where nobody chose":                               {told(selector(1, "alpha", selectable(alphaRole)), selector(1, "beta", selectable(betaRole))), used(5, alphaRole, "data"), "Conflict"},
		"a choice by annotation that is not permitted":            {told(selector(1, "alpha", selectable(alphaRole)), exists(1, resource{choice: "alpha"})), used(5, alphaRole, "data"), "ChoiceNotPermitted"},
		"a role of another account than on record":                {told(selector(1, "beta", forTeam(betaRole, "a")), exists(1, resource{recorded: withAlpha})), used(5, betaRole, "data"), "AccountMismatch"},
		"the default role for what another account has":           {told(exists(1, resource{recorded: withAlpha})), used(5, ownRole, "data"), "AccountMismatch"},
		"deletion with the role on record during a conflict":      {told(onlyAlpha, selector(1, "beta", forTeam(betaRole, "a")), exists(2, resource{deleting: true, recorded: withAlpha})), used(5, alphaRole, "data"), ""},
		"deletion with the other role of a conflict":              {told(onlyAlpha, selector(1, "beta", forTeam(otherRole, "a")), exists(2, resource{deleting: true, recorded: withAlpha})), used(5, otherRole, "data"), alphaRole},
		"deletion with a role that is on record no longer":        {told(selector(1, "beta", forTeam(otherRole, "a")), exists(2, resource{deleting: true, recorded: withAlpha})), used(5, otherRole, "data"), "SelectorGone"},
		"deletion by a selector that was made anew":               {told(onlyAlpha, exists(2, resource{deleting: true, recorded: recorded{account: "222222222222", selector: "alpha", selectorUID: "of-another"}})), used(5, alphaRole, "data"), "SelectorGone"},
		"deletion by a selector that was made anew with its role": {told(onlyAlpha, exists(2, resource{deleting: true, recorded: recorded{account: "222222222222", selector: "alpha", selectorUID: "of-another", role: alphaRole}})), used(5, alphaRole, "data"), ""},
		"deletion by another selector with the role on record":    {told(selector(1, "beta", forTeam(alphaRole, "a")), exists(2, resource{deleting: true, recorded: recorded{account: "222222222222", selector: "alpha", selectorUID: "of-alpha", role: alphaRole}})), used(5, alphaRole, "data"), ""},
		"deletion by a selector that selects others by now":       {told(onlyAlpha, labelled(1, "b"), exists(1, resource{deleting: true, recorded: withAlpha})), used(5, alphaRole, "data"), "SelectorGone"},
		"deletion against a Deny":                                 {told(onlyAlpha, selector(1, "no", v1alpha1.IAMRoleSelectorSpec{Effect: v1alpha1.Deny}), exists(2, resource{deleting: true, recorded: withAlpha})), used(5, alphaRole, "data"), "Denied"},
		"deletion for a move that was announced":                  {movable(resource{announced: toBeta}), did(5, alphaRole, "DeleteBucket"), ""},
		"a look before such a deletion":                           {movable(resource{announced: toBeta}), used(5, alphaRole, "data"), ""},
		"a move that nobody announced":                            {movable(resource{}), did(5, alphaRole, "DeleteBucket"), "AccountChangePending"},
		"a move to another account than was announced":            {movable(resource{announced: moving("222222222222", "111111111111")}), did(5, alphaRole, "DeleteBucket"), "AccountChangePending"},
		"a move of what is to be retained":                        {movable(resource{announced: toBeta, retain: true}), did(5, alphaRole, "DeleteBucket"), "AccountMismatch"},
		"a move that the selector does not allow":                 {movable(resource{announced: toBeta}, selector(2, "beta", v1alpha1.IAMRoleSelectorSpec{ARN: betaRole, Selection: &v1alpha1.Selection{Mode: v1alpha1.Selectable, Default: true}})), did(5, alphaRole, "DeleteBucket"), "AccountMismatch"},
		"a move with a role that is not offered any longer":       {movable(resource{announced: toBeta}, noSelector(2, "alpha")), did(5, alphaRole, "DeleteBucket"), "AccountMismatch"},
		"the new role before the bucket has gone":                 {movable(resource{announced: toBeta}), did(5, betaRole, "CreateBucket"), alphaRole},
		"the new role once it has gone":                           {movable(resource{announced: toBeta}, exists(3, resource{})), did(6, betaRole, "CreateBucket"), ""},
		"the old role once it has gone":                           {movable(resource{announced: toBeta}, exists(3, resource{})), did(6, alphaRole, "CreateBucket"), betaRole},
		"a bucket made where it is about to leave":                {movable(resource{announced: toBeta}), did(5, alphaRole, "CreateBucket"), "it is to go"},
		"tags for a bucket that is being deleted":                 {told(onlyAlpha, exists(2, resource{deleting: true, recorded: withAlpha})), did(5, alphaRole, "PutBucketTagging"), "it is to go"},
		"deletion of a bucket that is to stay":                    {told(onlyAlpha, exists(2, resource{recorded: withAlpha})), did(5, alphaRole, "DeleteBucket"), "it is to stay"},
		"deletion of a bucket whose object is deleted":            {told(onlyAlpha, exists(2, resource{deleting: true, recorded: withAlpha})), did(5, alphaRole, "DeleteBucket"), ""},
		"a bucket that nobody asked for":                          {told(onlyAlpha), used(5, alphaRole, "foreign"), "no object has ever asked for it"},
		"an object of a bucket":                                   {told(onlyAlpha), used(5, betaRole, "data/object"), alphaRole},
		"a call after the object is gone":                         {told(onlyAlpha, gone(5)), used(7.1, alphaRole, "data"), "does not exist"},
		"a list of all buckets":                                   {told(onlyAlpha), awslocal.Entry{Time: at(5), Service: "s3", Operation: "ListBuckets", Caller: session(alphaRole)}, "not a call"},
		"an unsigned call":                                        {told(), awslocal.Entry{Time: at(5), Service: "s3", Operation: "HeadBucket", Caller: "anonymous", Resource: "arn:aws:s3:::data"}, ownRole},
		"assuming the role of a selector":                         {told(onlyAlpha), assumed(5, alphaRole), ""},
		"assuming a role that nobody has":                         {told(onlyAlpha), assumed(5, betaRole), "no object has the role"},
		"assuming a role during a conflict":                       {told(onlyAlpha, selector(1, "beta", forTeam(betaRole, "a"))), assumed(5, alphaRole), "no object has the role"},
		"assuming a role from another than the controller's":      {told(onlyAlpha), awslocal.Entry{Time: at(5), Service: "sts", Operation: "AssumeRole", Caller: session(betaRole), Resource: alphaRole}, "from the controller's own"},
		"a denial before anybody read which role it is":           {told(), awslocal.Entry{Time: at(5), Service: "sts", Operation: "AssumeRole", Caller: session(ownRole), Error: "AccessDenied"}, ""},
		"a token for the controller's role":                       {told(), awslocal.Entry{Time: at(5), Service: "sts", Operation: "AssumeRoleWithWebIdentity", Caller: "anonymous", Resource: ownRole}, ""},
		"a token for another role":                                {told(), awslocal.Entry{Time: at(5), Service: "sts", Operation: "AssumeRoleWithWebIdentity", Caller: "anonymous", Resource: alphaRole}, "its own role"},
		"a call of an administrator, who may do what he will":     {told(), awslocal.Entry{Time: at(5), Service: "s3", Operation: "ListBuckets", Caller: "arn:aws:iam::111111111111:user/administrator"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			checker := newChecker(ownRole, []string{"arn:aws:iam::111111111111:user/administrator"}, &c.tale.history)
			found, _ := checker.check([]awslocal.Entry{c.call})
			switch {
			case c.want == "" && len(found) > 0:
				t.Errorf("found %s", found[0])
			case c.want != "" && (len(found) != 1 || !strings.Contains(found[0].why, c.want)):
				t.Errorf("found %v, want one that says %s", found, c.want)
			}
		})
	}
}

// TestWhatWasThereBeforeTheRecorderHasNoTime: the first list says what is there, not
// since when. That there was nothing before does not count.
func TestWhatWasThereBeforeTheRecorderHasNoTime(t *testing.T) {
	tale := told(selector(0, "alpha", forTeam(alphaRole, "a")))
	tale.selectors[0].earliest, tale.selectors[0].latest = time.Time{}, time.Time{}
	found, _ := newChecker(ownRole, nil, &tale.history).check([]awslocal.Entry{used(5, ownRole, "data"), used(5, alphaRole, "data")})
	if len(found) != 1 || found[0].why != "prod/data "+alphaRole {
		t.Errorf("found %v, want the call with the default role", found)
	}
}

// TestTimesAreNarrowedByRevisions: a version whose own time is not known lies between
// its neighbours, of whatever kind.
func TestTimesAreNarrowedByRevisions(t *testing.T) {
	tale := told(selector(1, "alpha", forTeam(alphaRole, "a")), noSelector(4, "alpha"), labelled(6, "b"), labelled(7, "c"))
	deleted := &tale.selectors[1]
	deleted.earliest, deleted.latest = time.Time{}, at(60)
	newChecker(ownRole, nil, &tale.history)
	if got, want := fmt.Sprint(deleted.earliest, deleted.latest), fmt.Sprint(at(1), at(6)); got != want {
		t.Errorf("the deletion was stored from %s, want %s", got, want)
	}
	if !slices.IsSortedFunc(tale.history.namespaces, func(a, b version[namespace]) int { return a.latest.Compare(b.latest) }) {
		t.Error("the times of a kind do not follow its revisions")
	}
}
