// Package identity proves that a pod which a real kubelet runs gets its identity by
// nothing but its ServiceAccount's annotation: through the webhook, the kubelet's
// token and the SDK.
package identity

import (
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/test/node/bed"
)

func TestNodeADeploymentsPodHasItsIdentity(t *testing.T) {
	b := bed.Open(t)
	b.Install() // the page is typed a second time
	b.LoadWorkload()
	role := b.Team("team-a", nil)
	began := time.Now()
	b.Apply("team-a", "deployment.yaml", role)
	caller := b.Answer(b.AwaitLine("team-a", "deployment/app", "whoami", `"arn"`))["arn"]
	b.Since(began, "from creating the Deployment to its first AWS call")
	if want := "arn:aws:sts::" + b.Account + ":assumed-role/team-a-app/"; !strings.HasPrefix(caller, want) {
		t.Errorf("the caller is %s, want %s…", caller, want)
	}
	b.AwaitLine("team-a", "deployment/app", "own", `"wrote":"s3://`+role.Bucket+`/own/first.txt"`)
	b.AwaitLine("team-a", "deployment/app", "read", `"text":"no key was stored for this"`)
	refusal := b.AwaitLine("team-a", "deployment/app", "foreign", "AccessDenied")
	if want := "is not authorized to perform: s3:PutObject"; !strings.Contains(refusal, want) {
		t.Errorf("another prefix: %q, want it to say %q", refusal, want)
	}
	for _, call := range b.Calls(role) {
		if call.Caller != caller {
			// Each container has a session of its own; all are of this role.
			continue
		}
		if call.Operation == "PutObject" && strings.Contains(call.Resource, "/foreign/") && call.Status == 200 {
			t.Errorf("%+v was let through", call)
		}
	}
}
