package api

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// spec is a request for AWS with further fields.
func spec(fields string) string {
	return "spec: {providerSpec: {apiVersion: cloudcredential.openshift.io/v1, kind: AWSProviderSpec, statementEntries: []}" + fields + "}"
}

const (
	secretRef = ", secretRef: {name: a, namespace: b}"
	both      = "say by type which one is meant"
	noAccount = "serviceAccount is required"
	noSecret  = "storage.secret is required"
	noName    = "must be the name of"
)

// requestRows begin with the number of the row in the table of targets.
var requestRows = map[string]row{
	"1 a Secret by secretRef":                        {spec(secretRef), ""},
	"1 a Secret by secretRef, with an empty storage": {spec(secretRef + ", storage: {}"), ""},
	"2 a Secret by storage":                          {spec(", storage: {type: Secret, secret: {namespace: a, name: b}}"), ""},
	"2 a Secret by storage beside a secretRef":       {spec(secretRef + ", storage: {type: Secret, secret: {namespace: a, name: b}}"), ""},
	"2 a Secret by storage without a type":           {spec(", storage: {secret: {namespace: a, name: b}}"), ""},
	"2 both members and a type":                      {spec(", storage: {type: Secret, secret: {namespace: a, name: b}, serviceAccount: {namespace: a, name: b}}"), ""},
	"3 the type Secret and a secretRef":              {spec(secretRef + ", storage: {type: Secret}"), ""},
	"4 a ServiceAccount without a type":              {spec(", storage: {serviceAccount: {namespace: a, name: b}}"), ""},
	"4 a ServiceAccount and an empty secretRef":      {spec(", secretRef: {}, storage: {serviceAccount: {namespace: a, name: b}}"), ""},
	"5 a ServiceAccount with its type":               {spec(", storage: {type: ServiceAccount, serviceAccount: {namespace: a, name: b}}"), ""},
	"5 a ServiceAccount beside a secretRef":          {spec(secretRef + ", storage: {type: ServiceAccount, serviceAccount: {namespace: a, name: b}}"), ""},
	"6 the type ServiceAccount without the member":   {spec(secretRef + ", storage: {type: ServiceAccount}"), noAccount},
	"6 the type ServiceAccount and a Secret":         {spec(", storage: {type: ServiceAccount, secret: {namespace: a, name: b}}"), noAccount},
	"6 the type Secret and a ServiceAccount":         {spec(", storage: {type: Secret, serviceAccount: {namespace: a, name: b}}"), noSecret},
	"6 the type Secret and an empty secretRef":       {spec(", secretRef: {}, storage: {type: Secret}"), noTarget},
	"6 both members without a type":                  {spec(", storage: {secret: {namespace: a, name: b}, serviceAccount: {namespace: a, name: b}}"), both},
	"6 an empty name":                                {spec(`, storage: {secret: {namespace: a, name: ""}}`), noName},
	"6 an empty namespace":                           {spec(`, storage: {serviceAccount: {namespace: "", name: b}}`), noName},
	"6 a member without a name":                      {spec(", storage: {serviceAccount: {namespace: a}}"), "serviceAccount.name: Required"},
	"6 a secretRef without a namespace":              {spec(", secretRef: {name: a}"), noTarget},
	"6 a secretRef with an empty name":               {spec(`, secretRef: {name: "", namespace: b}`), noTarget},
	"6 another type":                                 {spec(secretRef + ", storage: {type: ConfigMap}"), "Unsupported value"},
	"6 a wildcard for a name":                        {spec(`, storage: {serviceAccount: {namespace: a, name: "*"}}`), noName},
	"6 a slash in a namespace":                       {spec(`, storage: {serviceAccount: {namespace: a/b, name: c}}`), noName},
	"6 a Cyrillic letter in a namespace":             {spec(`, storage: {serviceAccount: {namespace: tеam, name: c}}`), noName},
	"7 no target at all":                             {spec(""), noTarget},
	"7 an empty storage alone":                       {spec(", storage: {}"), noTarget},
	"no providerSpec":                                {"spec: {secretRef: {name: a, namespace: b}}", noProvider},
	"no spec":                                        {"{}", "spec: Required"},
	"a providerSpec of another cloud":                {"spec: {secretRef: {name: a, namespace: b}, providerSpec: {kind: NutanixProviderSpec, x: {y: [1]}}}", ""},
	"an empty providerSpec":                          {"spec: {secretRef: {name: a, namespace: b}, providerSpec: {}}", ""},
	"a providerSpec that is a list":                  {"spec: {secretRef: {name: a, namespace: b}, providerSpec: []}", "must be of type object"},
	"an ARN that is none":                            {"spec: {secretRef: {name: a, namespace: b}, providerSpec: {kind: AWSProviderSpec, stsIAMRoleARN: whatever}}", ""},
}

// testRequests: every row of the table of targets is taken or refused as it says, and
// what is taken is stored as written.
func (c *cluster) testRequests() {
	c.table(requests, requestRows)
	must.Get(c.of(requests).Create(c.t.Context(), object(c.t, requests, "status", spec(secretRef)), metav1.CreateOptions{}))(c.t)
	for name, each := range map[string]struct {
		status map[string]any
		want   string
	}{
		"a status without provisioned":        {map[string]any{"lastSyncGeneration": int64(1)}, "status.provisioned: Required"},
		"a status without the generation":     {map[string]any{"provisioned": true}, "status.lastSyncGeneration: Required"},
		"a status with the two":               {map[string]any{"provisioned": true, "lastSyncGeneration": int64(1)}, ""},
		"a condition without a status":        {map[string]any{"provisioned": true, "lastSyncGeneration": int64(1), "conditions": []any{map[string]any{"type": "Ignored"}}}, "status.conditions[0].status: Required"},
		"a condition with no instants (null)": {map[string]any{"provisioned": true, "lastSyncGeneration": int64(1), "conditions": []any{map[string]any{"type": "Ignored", "status": "True", "lastProbeTime": nil}}}, ""},
	} {
		c.t.Run(name, func(t *testing.T) {
			dry := metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}
			judge(t, c.change(t, requests, "status", set(each.status, "status"), dry, "status"), each.want)
		})
	}
}

// untilServed waits until the API server judges by our schema.
func (c *cluster) untilServed(t *testing.T) {
	t.Helper()
	testkit.Await(t, func() error {
		_, err := c.of(requests).Create(t.Context(), object(t, requests, "probe", spec(", storage: {serviceAccount: {namespace: a, name: b}}")), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}
