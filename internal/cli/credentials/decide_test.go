package credentials_test

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const reportsRole = "arn:aws:iam::111122223333:role/reports"

// grant is the stored record of a request, nil for none.
func (b *bed) grant(r *cloudv1.CredentialsRequest) *v1alpha1.CredentialsGrant {
	b.t.Helper()
	out := &v1alpha1.CredentialsGrant{}
	err := b.client.Get(b.t.Context(), client.ObjectKey{Name: core.GrantName(r.Namespace, r.Name)}, out)
	if apierrors.IsNotFound(err) {
		return nil
	}
	must.Do(b.t, err)
	return out
}

func TestADecisionIsRecordedInTheGrant(t *testing.T) {
	former := func(g *v1alpha1.CredentialsGrant) { g.Spec.Request.UID = "an-earlier-one" }
	boundTo := func(arn string) func(*v1alpha1.CredentialsGrant) {
		return func(g *v1alpha1.CredentialsGrant) { g.Spec.Bound = &v1alpha1.BoundIdentity{RoleARN: arn} }
	}
	bind := []string{"bind", "reports", "--role-arn", reportsRole}
	tests := map[string]struct {
		beside  bool
		request []func(*cloudv1.CredentialsRequest)
		grant   []func(*v1alpha1.CredentialsGrant) // nil is no grant
		args    []string
		code    int
		says    string
		adopted bool
		bound   string
	}{
		"adopted":                         {request: []func(*cloudv1.CredentialsRequest){toSecret, ofCCO}, args: []string{"adopt", "reports"}, says: "Tabard takes team-a/reports over", adopted: true},
		"adopted, beside another record":  {request: []func(*cloudv1.CredentialsRequest){toSecret, ofCCO}, grant: []func(*v1alpha1.CredentialsGrant){boundTo(reportsRole)}, args: []string{"adopt", "reports"}, says: "Tabard takes team-a/reports over", adopted: true, bound: reportsRole},
		"Tabard's already":                {args: []string{"adopt", "reports"}, says: "Tabard fulfils team-a/reports already"},
		"an operator is live":             {beside: true, request: []func(*cloudv1.CredentialsRequest){toSecret, ofCCO}, args: []string{"adopt", "reports"}, code: command.Found, says: "is not taken over: its Deployment wants a replica"},
		"the record is an earlier one's":  {request: []func(*cloudv1.CredentialsRequest){toSecret, ofCCO}, grant: []func(*v1alpha1.CredentialsGrant){former}, args: []string{"adopt", "reports"}, code: command.Found, says: "an earlier request of the same name"},
		"bound":                           {args: bind, says: "team-a/reports is bound to " + reportsRole, bound: reportsRole},
		"bound, and it has a record":      {grant: []func(*v1alpha1.CredentialsGrant){withRole}, args: bind, says: "is bound to " + reportsRole, bound: reportsRole},
		"bound to that already":           {grant: []func(*v1alpha1.CredentialsGrant){boundTo(reportsRole)}, args: bind, says: "bound to that already", bound: reportsRole},
		"bound to another":                {grant: []func(*v1alpha1.CredentialsGrant){boundTo(reportsRole + "2")}, args: bind, code: command.Found, says: "--replace binds it to " + reportsRole, bound: reportsRole + "2"},
		"bound to another, which goes":    {grant: []func(*v1alpha1.CredentialsGrant){boundTo(reportsRole + "2")}, args: append(bind, "--replace"), says: "is bound to " + reportsRole, bound: reportsRole},
		"bound beside a live operator":    {beside: true, request: []func(*cloudv1.CredentialsRequest){toSecret}, args: bind, code: command.Found, says: "Tabard does not fulfil it"},
		"bound to no role":                {args: []string{"bind", "reports", "--role-arn", "reports"}, code: command.Unusable, says: "expected the ARN of a role"},
		"bound to roles of a pattern":     {args: []string{"bind", "reports", "--role-arn", "arn:aws:iam::111122223333:role/a*/x"}, code: command.Unusable, says: "expected the ARN of one role"},
		"bound, for kube-system":          {request: []func(*cloudv1.CredentialsRequest){ofKubernetes}, args: bind, code: command.Found, says: "is not bound, it would get nothing: Secret kube-system/reports is in a namespace of Kubernetes"},
		"adopted, for kube-system":        {request: []func(*cloudv1.CredentialsRequest){ofKubernetes, ofCCO}, args: []string{"adopt", "reports"}, code: command.Found, says: "is not taken over, it would get nothing: Secret kube-system/reports"},
		"bound to nothing":                {args: []string{"bind", "reports"}, code: command.Unusable, says: "no identity is given"},
		"bound to an identity of Azure's": {args: []string{"bind", "reports", "--azure-client-id", "x"}, code: command.Unusable, says: "the identity is of Azure"},
		"a request that is none":          {args: []string{"bind", "nosuch", "--role-arn", reportsRole}, code: command.Unusable, says: "there is no CredentialsRequest team-a/nosuch"},
		"unbound":                         {grant: []func(*v1alpha1.CredentialsGrant){boundTo(reportsRole)}, args: []string{"unbind", "reports"}, says: "no longer bound to " + reportsRole},
		"not bound":                       {args: []string{"unbind", "reports"}, says: "team-a/reports is not bound"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			of := request("reports", test.request...)
			facts, objects := plainKubernetes, []client.Object{of, &v1alpha1.CredentialsBoundary{
				ObjectMeta: metav1.ObjectMeta{Name: "team-a"}, Spec: v1alpha1.CredentialsBoundarySpec{Namespaces: []string{"team-a"}},
			}}
			if test.beside {
				facts = beside
			}
			if test.grant != nil {
				objects = append(objects, grant(of, metav1.ConditionFalse, core.ReasonNoIdentity, "waits", test.grant...))
			}
			b := newBed(t, facts, objects...)
			before := b.grant(of)
			code, out, said := b.run(test.args...)
			if code != test.code || !strings.Contains(out+said, test.says) {
				t.Errorf("exit code %d, it says %q %q, want %d and %q", code, out, said, test.code, test.says)
			}
			after := b.grant(of)
			if code != 0 && (before == nil) != (after == nil) || code != 0 && before != nil && before.ResourceVersion != after.ResourceVersion {
				t.Errorf("what is refused wrote %+v", after)
			}
			if after == nil {
				after = &v1alpha1.CredentialsGrant{}
			}
			bound := ""
			if after.Spec.Bound != nil {
				bound = after.Spec.Bound.RoleARN
			}
			if after.Spec.Adopted != test.adopted || bound != test.bound {
				t.Errorf("the grant is %+v, want adopted %t, bound to %q", after.Spec, test.adopted, test.bound)
			}
		})
	}
}

func TestAResyncIsAskedForByTheGrant(t *testing.T) {
	reports, other, waits, fresh := request("reports"), request("other"), request("waits"), request("fresh")
	b := newBed(t, plainKubernetes, reports, other, waits, fresh,
		grant(reports, metav1.ConditionTrue, core.ReasonReady, "ready", withRole), grant(other, metav1.ConditionTrue, core.ReasonReady, "ready", withRole),
		grant(waits, metav1.ConditionFalse, core.ReasonNoIssuer, "waits"))
	at := func(r *cloudv1.CredentialsRequest) string { return b.grant(r).Annotations[core.ResyncAnnotation] }
	if code, out, said := b.run("resync", "reports"); code != 0 || !strings.Contains(out, "look at 1 requests") || at(reports) != now.Format(time.RFC3339Nano) || at(other) != "" {
		t.Errorf("exit code %d, it says %q %q, the annotations are %q and %q", code, out, said, at(reports), at(other))
	}
	if code, out, said := b.run("resync", "--all"); code != 0 || !strings.Contains(out, "look at 3 requests") || at(other) == "" || at(waits) == "" {
		t.Errorf("exit code %d, it says %q %q, the annotations are %q and %q", code, out, said, at(other), at(waits))
	}
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"neither a name nor all": {[]string{"resync"}, "takes the name of one CredentialsRequest, or --all"},
		"both":                   {[]string{"resync", "reports", "--all"}, "takes the name of one CredentialsRequest, or --all"},
		"no record":              {[]string{"resync", "fresh"}, "the controller has no record of the CredentialsRequest team-a/fresh yet"},
		"no request":             {[]string{"resync", "nosuch"}, "there is no CredentialsRequest team-a/nosuch"},
	} {
		if code, out, said := b.run(test.args...); code != command.Unusable || out != "" || !strings.Contains(said, test.want) {
			t.Errorf("%s: exit code %d, it says %q %q, want %d and %q", name, code, out, said, command.Unusable, test.want)
		}
	}
}

func TestARoleIsComparedBeforeItIsBound(t *testing.T) {
	const (
		allows = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"arn:aws:s3:::data/*"}]}`
		trusts = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",
			"Principal":{"Federated":"arn:aws:iam::111122223333:oidc-provider/issuer-bucket.s3.eu-central-1.amazonaws.com"},
			"Condition":{"StringEquals":{"issuer-bucket.s3.eu-central-1.amazonaws.com:sub":"system:serviceaccount:team-a:reports",
			"issuer-bucket.s3.eu-central-1.amazonaws.com:aud":"sts.amazonaws.com"}}}]}`
	)
	bind := []string{"bind", "reports", "--role-arn", reportsRole}
	retired := oidcIssuer()
	retired.Name, retired.Spec.URL, retired.Annotations = "former", "https://former.example", map[string]string{core.RetiredAnnotation: "true"}
	current := []client.Object{oidcIssuer()}
	fits := func() *account {
		return &account{foreign: core.ForeignRole{Exists: true, Trust: trusts, Policies: []string{allows}}}
	}
	tests := map[string]struct {
		issuers []client.Object
		aws     *account // nil is no session
		args    []string
		code    int
		says    string
		bound   bool
	}{
		"an issuer leaves, which it does not trust": {append(current, retired), fits(), bind, 0, "checked: the role " + reportsRole + " allows", true},
		"no issuer is known":                        {nil, fits(), bind, 0, "not decided: the role " + reportsRole + ": no issuer is known", true},
		"a role of another partition":               {current, fits(), []string{"bind", "reports", "--role-arn", "arn:aws-cn:iam::111122223333:role/reports"}, command.Unusable, "a role of the partition aws-cn; the cluster's is aws", false},
		"it fits":                                   {current, fits(), bind, 0, "checked: the role " + reportsRole + " allows", true},
		"it allows nothing":                         {current, &account{foreign: core.ForeignRole{Exists: true, Trust: trusts}}, bind, command.Found, "statementEntries[0]", false},
		"it trusts others":                          {current, &account{foreign: core.ForeignRole{Exists: true, Trust: strings.Replace(trusts, "team-a", "team-b", 1), Policies: []string{allows}}}, bind, command.Found, "does not admit system:serviceaccount:team-a:reports", false},
		"it is not there":                           {current, &account{}, bind, command.Found, "does not exist", false},
		"it is not there, by force":                 {current, &account{}, append(bind, "--force"), 0, "warning: the role " + reportsRole + " does not exist", true},
		"it may not be read":                        {current, &account{refuses: "ReadRole"}, bind, 0, "not checked: the role " + reportsRole + " could not be compared with the request: AccessDenied", true},
		"there is no session in AWS":                {current, nil, bind, 0, "there is no AWS session: no credentials were found", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			of := request("reports")
			b := newBed(t, plainKubernetes, append(test.issuers, of)...)
			if test.aws != nil {
				b.aws = test.aws
			}
			code, out, said := b.run(test.args...)
			if code != test.code || !strings.Contains(out+said, test.says) {
				t.Errorf("exit code %d, it says %q %q, want %d and %q", code, out, said, test.code, test.says)
			}
			if got := b.grant(of); (got != nil && got.Spec.Bound != nil) != test.bound {
				t.Errorf("the grant is %+v, want bound %t", got, test.bound)
			}
		})
	}
}

// ofKubernetes makes a request name a Secret that no request may.
func ofKubernetes(r *cloudv1.CredentialsRequest) {
	r.Spec.Storage, r.Spec.SecretRef = nil, &cloudv1.ObjectReference{Namespace: "kube-system", Name: "reports"}
}
