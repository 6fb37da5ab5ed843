package chaos

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/awslocal"
)

func TestLeftoversAreFound(t *testing.T) {
	foreign := map[string]inAWS{"theirs": {account: "222222222222", tags: map[string]string{"owner": "us"}, objects: 1}}
	owner := func(account string) map[string]*resource {
		return map[string]*resource{"data": {key: thing, uid: "u1", bucket: "data", recorded: recorded{account: account}}}
	}
	owners := owner("222222222222")
	ours := inAWS{account: "222222222222", tags: map[string]string{ownerTag: "u1"}}
	create := awslocal.Entry{Service: "s3", Operation: "CreateBucket", Caller: session(alphaRole), Resource: "arn:aws:s3:::data"}
	for name, c := range map[string]struct {
		theirs inAWS
		data   inAWS
		call   awslocal.Entry
		owners map[string]*resource
		want   string
	}{
		"all is well":                           {foreign["theirs"], ours, create, owners, ""},
		"a bucket without tags yet":             {foreign["theirs"], inAWS{account: "222222222222"}, create, owners, ""},
		"an orphan":                             {foreign["theirs"], ours, create, nil, "orphaned"},
		"a bucket of an object that was before": {foreign["theirs"], inAWS{account: "222222222222", tags: map[string]string{ownerTag: "u0"}}, create, owners, "is not that of its object"},
		"a bucket left behind by a move":        {foreign["theirs"], ours, create, owner("333333333333"), "is left behind"},
		"a bucket of an object without record":  {foreign["theirs"], ours, create, owner(""), "is left behind"},
		"a bucket that nobody made":             {foreign["theirs"], ours, awslocal.Entry{}, owners, "was made in []"},
		"a bucket in another account":           {foreign["theirs"], inAWS{account: "333333333333", tags: ours.tags}, create, owners, "is in the account 333333333333"},
		"a foreign bucket with other tags":      {inAWS{account: "222222222222", tags: ours.tags, objects: 1}, ours, create, owners, "the foreign bucket theirs"},
		"a foreign bucket that is gone":         {inAWS{}, ours, create, owners, "the foreign bucket theirs"},
	} {
		t.Run(name, func(t *testing.T) {
			stock := map[string]inAWS{"data": c.data}
			if c.theirs.account != "" {
				stock["theirs"] = c.theirs
			}
			faults := leftovers(stock, foreign, []awslocal.Entry{c.call}, c.owners)
			if got := strings.Join(faults, "; "); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatIsNotSettledIsFound(t *testing.T) {
	here := map[string]inAWS{"data": {account: "222222222222", tags: map[string]string{ownerTag: "u1"}}}
	elsewhere := map[string]inAWS{"data": {account: "333333333333", tags: map[string]string{ownerTag: "u1"}}}
	for name, c := range map[string]struct {
		role, ready, message string
		deleting             bool
		stock, foreign       map[string]inAWS
		want                 string
	}{
		"it has its bucket and says so":          {role: alphaRole, ready: "True", stock: here},
		"it has its bucket and is not ready":     {role: alphaRole, ready: "False", message: "why", stock: here, want: "is not ready"},
		"it has no bucket":                       {role: alphaRole, ready: "False", message: "why", want: "no bucket"},
		"it is ready without a role":             {ready: "True", stock: here, want: "does not say why"},
		"it has no role and says why":            {ready: "False", message: "why"},
		"it has no role and says nothing":        {ready: "False", want: "does not say why"},
		"its bucket is elsewhere and it is fine": {role: alphaRole, ready: "True", stock: elsewhere, want: "does not say why"},
		"its bucket is elsewhere and it tells":   {role: alphaRole, ready: "False", message: "why", stock: elsewhere},
		"its bucket is foreign and it is fine":   {role: alphaRole, ready: "True", stock: here, foreign: here, want: "does not say why"},
		"it could be deleted":                    {role: alphaRole, ready: "False", message: "why", deleting: true, stock: here, want: "could be"},
		"it cannot be deleted and tells":         {ready: "False", message: "why", deleting: true, stock: here},
	} {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{
				map[string]any{"type": "ACK.Recoverable", "status": "True", "message": c.message},
				map[string]any{"type": "Ready", "status": c.ready},
			}}}}
			got := faultOf(&resource{key: thing, uid: "u1", bucket: "data", deleting: c.deleting}, object, c.role, c.stock, c.foreign)
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}
