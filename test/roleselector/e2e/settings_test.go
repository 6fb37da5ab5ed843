package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestTheAdministratorsFlagsReachAWS: roles whose trust policies ask for just what the
// flags say. The journal has the calls, and as whom they were made.
func TestTheAdministratorsFlagsReachAWS(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	w.aws.mayTagSessions()
	p := w.start(gate, "--no-selector-policy=Deny",
		"--assume-role-external-id=ack/%CLUSTER_ID%/%K8S_NAMESPACE%", "--assume-role-session-name=ack-%K8S_NAMESPACE%-%NAMESPACE_LABEL(safe.example.com/team)%",
		"--assume-role-session-tags=ack-namespace=%K8S_NAMESPACE%,stage=test", "--protected-label-prefixes=safe.example.com/",
		"--lock-assume-role-fields=external-id,session-tags", "--allowed-role-arn-patterns=arn:aws:iam::*:role/team-*", "--assume-role-session-limit=1")
	p.awaitReadiness(200)
	cluster := &corev1.Namespace{}
	must.Do(t, w.Get(t.Context(), client.ObjectKey{Name: "kube-system"}, cluster))
	for _, name := range []string{"mine", "yours", "other", "locked", "forbidden"} {
		w.namespace(name, map[string]string{"safe.example.com/team": "t1"}, nil)
	}
	for _, part := range []struct {
		name string
		run  func(*world, string)
	}{
		{"what the trust policy asks for", (*world).asAsked},
		{"another external ID, name or tag", (*world).askedOtherwise},
		{"locked and forbidden", (*world).neverAsked},
		{"the limit of sessions", (*world).limited},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(w.in(t), string(cluster.UID)) }) {
			return
		}
	}
}

// demanding is a trust policy for one external ID, session name and pair of tags.
func demanding(externalID, sessionName, namespaceTag string) string {
	const statement = `{"Effect":"Allow","Principal":{"AWS":"%s"},"Action":"%s","Condition":{"StringEquals":{%s}}}`
	return `{"Version":"2012-10-17","Statement":[` +
		fmt.Sprintf(statement, defaultRole, "sts:AssumeRole", fmt.Sprintf(`"sts:ExternalId":%q,"sts:RoleSessionName":%q`, externalID, sessionName)) + "," +
		fmt.Sprintf(statement, defaultRole, "sts:TagSession", fmt.Sprintf(`"aws:RequestTag/ack-namespace":%q,"aws:RequestTag/stage":"test"`, namespaceTag)) + `]}`
}

// mayTagSessions gives the controller the right that its tags need.
func (c *cloud) mayTagSessions() {
	c.t.Helper()
	c.Must(c.IAM(hub).PutRolePolicy(c.t.Context(), &iam.PutRolePolicyInput{
		RoleName: aws.String("controller"), PolicyName: aws.String("tags"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:TagSession","Resource":"*"}]}`),
	}))
}

// trustsAs gives a role of a team's account another trust policy.
func (c *cloud) trustsAs(account, name, policy string) {
	c.t.Helper()
	c.Must(c.IAM(account).UpdateAssumeRolePolicy(c.t.Context(), &iam.UpdateAssumeRolePolicyInput{RoleName: &name, PolicyDocument: &policy}))
}

// sessions are the results of AssumeRole of a role, and whose sessions have called S3
// about a bucket.
func (w *world) sessions(role, name string) (assumed, callers []string) {
	for _, e := range w.aws.Admin().Journal() {
		switch {
		case e.Operation == "AssumeRole" && e.Resource == role:
			assumed = append(assumed, strings.TrimSpace(fmt.Sprint(e.Status, " ", e.Error)))
		case e.Service == "s3" && strings.HasSuffix(e.Resource, ":::"+name) && !strings.Contains(e.Caller, ":user/"):
			callers = append(callers, e.Caller)
		}
	}
	return assumed, callers
}

func (w *world) asAsked(cluster string) {
	role := w.aws.makeRole(red, "team-mine", demanding("ack/"+cluster+"/mine", "ack-mine-t1", "mine"))
	w.selects("mine", role, "mine", "yours")
	b := w.bucket("mine", "data")
	w.awaitReady(b, red, "mine")
	assumed, callers := w.sessions(role, b.Spec.Name)
	if len(assumed) != 1 || assumed[0] != "200" || len(callers) == 0 {
		w.Errorf("AssumeRole was answered %q, and S3 called by %q; want one 200, and calls", assumed, callers)
	}
	for _, caller := range callers {
		if want := "arn:aws:sts::" + red + ":assumed-role/team-mine/ack-mine-t1"; caller != want {
			w.Errorf("S3 was called by %s, want %s", caller, want)
		}
	}
}

// askedOtherwise: the trust policies of the first part would let anything pass if the
// flags did not arrive as they are.
func (w *world) askedOtherwise(cluster string) {
	selector := w.selects("other", w.aws.makeRole(green, "team-other", demanding("ack/"+cluster+"/mine", "ack-other-t1", "other")), "other")
	b := w.bucket("other", "data")
	for i, trust := range []string{
		demanding("ack/"+cluster+"/mine", "ack-other-t1", "other"),
		demanding("ack/"+cluster+"/other", "ack-mine-t1", "other"),
		demanding("ack/"+cluster+"/other", "ack-other-t1", "mine"),
	} {
		w.aws.trustsAs(green, "team-other", trust)
		w.aws.Admin().ClearJournal()
		// A change of the selector is tried at once, whatever was refused before.
		w.Merge(selector, fmt.Sprintf(`{"spec":{"namespaceSelector":{"names":["other","nowhere-%d"]}}}`, i))
		w.Await(func() error {
			if assumed, _ := w.sessions(selector.Spec.ARN, b.Spec.Name); len(assumed) == 0 || assumed[0] != "403 AccessDenied" {
				return fmt.Errorf("AssumeRole was answered %q, want AccessDenied", assumed)
			}
			return nil
		})
		w.awaitCondition(b, "ACK.Recoverable=True AssumeRoleFailed: STS AssumeRole: AccessDenied")
	}
	w.aws.trustsAs(green, "team-other", demanding("ack/"+cluster+"/other", "ack-other-t1", "other"))
	w.Merge(selector, `{"spec":{"namespaceSelector":{"names":["other"]}}}`)
	w.awaitReady(b, green, "other")
}

// neverAsked: STS is not asked for a selector that overrides what is locked, or that
// names a role which may not be assumed, or with no selector.
func (w *world) neverAsked(string) {
	locked, forbidden := w.aws.role(blue, "team-locked"), w.aws.role(blue, "admin")
	w.selector("locked", locked, func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: []string{"locked"}}
		s.AssumeRole = &v1alpha1.AssumeRole{ExternalID: &v1alpha1.Text{Value: "mine"}}
	})
	w.selects("forbidden", forbidden, "forbidden")
	for namespace, want := range map[string]string{
		"locked":    "AssumeRoleInputInvalid: spec.assumeRole.externalID: the administrator has locked the external-id with --lock-assume-role-fields",
		"forbidden": "AssumeRoleInputInvalid: spec.arn: the administrator of the controller does not let it assume this role, which fits none of --allowed-role-arn-patterns",
		"default":   "NoSelectorPolicy: ",
	} {
		b := w.bucket(namespace, "data")
		w.awaitCondition(b, "ACK.Recoverable=True "+want)
		w.wantCallers(b)
	}
	for _, role := range []string{locked, forbidden} {
		if times := w.aws.assumed(role); times > 0 {
			w.Errorf("%s was asked for %d times, want never", role, times)
		}
	}
}

// limited: a selector of two namespaces, whose sessions the flags make different, may
// have one. The second namespace waits for the end of the first, and nobody wakes it but
// the room that is left.
func (w *world) limited(cluster string) {
	first, second := w.bucket("mine", "more"), w.bucket("yours", "data")
	w.awaitReady(first, red, "mine")
	w.awaitCondition(second, "ACK.Recoverable=True TooManySessions: spec.assumeRole: the selector mine has as many sessions as it may have, 1;")
	w.wantCallers(second)
	w.aws.trustsAs(red, "team-mine", demanding("ack/"+cluster+"/yours", "ack-yours-t1", "yours"))
	var left bucket.BucketList
	if err := w.List(w.Context(), &left, client.InNamespace("mine")); err != nil || len(left.Items) != 2 {
		w.Fatalf("the namespace has %d Buckets, want 2: %v", len(left.Items), err)
	}
	for i := range left.Items {
		w.Remove(&left.Items[i])
		w.awaitGone(&left.Items[i])
	}
	w.awaitReady(second, red, "mine")
}
