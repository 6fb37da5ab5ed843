package api

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// onAWS is a boundary of one namespace with a field about AWS.
func onAWS(field string) string { return "spec: {namespaces: [team], aws: {" + field + "}}" }

const (
	oneAccount = "must be the ARN of roles of one account"
	ofPolicy   = "must be the ARN of a managed policy"
	noWildcard = "must be the name of a namespace"
	ofPath     = "must begin and end with a slash"
)

var boundaryRows = map[string]row{
	"namespaces by name":                  {"spec: {namespaces: [team, team-b]}", ""},
	"namespaces by label":                 {"spec: {namespaceSelector: {matchLabels: {team: a}}}", ""},
	"both":                                {"spec: {namespaces: [team], namespaceSelector: {matchExpressions: [{key: a, operator: Exists}]}}", ""},
	"everything":                          {onAWS(`permissionsBoundary: "arn:aws:iam::111122223333:policy/tabard/boundary", pathPrefix: /team/a/, maxSessionSeconds: 43200, roleARNPatterns: ["arn:aws:iam::111122223333:role/team/*"], ceiling: '{"Version":"2012-10-17","Statement":[]}'`), ""},
	"other partitions":                    {onAWS(`permissionsBoundary: "arn:aws-us-gov:iam::111122223333:policy/b", roleARNPatterns: ["arn:aws-cn:iam::111122223333:role/team"]`), ""},
	"a policy of AWS as the boundary":     {onAWS(`permissionsBoundary: "arn:aws:iam::aws:policy/ReadOnlyAccess"`), ""},
	"no namespace":                        {"spec: {}", "namespaces or namespaceSelector is required"},
	"an empty list of namespaces":         {"spec: {namespaces: []}", "namespaces or namespaceSelector is required"},
	"an empty selector":                   {"spec: {namespaceSelector: {}}", "the selector has no term"},
	"an empty selector beside a name":     {"spec: {namespaces: [a], namespaceSelector: {matchLabels: {}, matchExpressions: []}}", "the selector has no term"},
	"a namespace with a star":             {`spec: {namespaces: ["team-*"]}`, noWildcard},
	"a namespace twice":                   {"spec: {namespaces: [a, a]}", "Duplicate value"},
	"an empty namespace":                  {`spec: {namespaces: [""]}`, noWildcard},
	"a target namespace with a star":      {`spec: {namespaces: [a], targetNamespaces: ["*"]}`, noWildcard},
	"a target namespace with a slash":     {"spec: {namespaces: [a], targetNamespaces: [a/b]}", noWildcard},
	"target namespaces":                   {"spec: {namespaces: [a], targetNamespaces: [a, b-1]}", ""},
	"the path /":                          {onAWS("pathPrefix: /"), ""},
	"a path without its end":              {onAWS("pathPrefix: /team"), ofPath},
	"a path without its begin":            {onAWS("pathPrefix: team/"), ofPath},
	"a path with an empty part":           {onAWS("pathPrefix: /a//b/"), ofPath},
	"a path with a star":                  {onAWS(`pathPrefix: "/*/"`), ofPath},
	"a path with a variable":              {onAWS(`pathPrefix: "/${aws:username}/"`), ofPath},
	"sessions of a second":                {onAWS("maxSessionSeconds: 1"), "greater than or equal to 3600"},
	"sessions of a day":                   {onAWS("maxSessionSeconds: 86400"), "less than or equal to 43200"},
	"a role as the boundary":              {onAWS(`permissionsBoundary: "arn:aws:iam::111122223333:role/b"`), ofPolicy},
	"a boundary with a star":              {onAWS(`permissionsBoundary: "arn:aws:iam::111122223333:policy/*"`), ofPolicy},
	"a boundary of a short account":       {onAWS(`permissionsBoundary: "arn:aws:iam::1234:policy/b"`), ofPolicy},
	"a pattern for all accounts":          {onAWS(`roleARNPatterns: ["arn:aws:iam::*:role/x"]`), oneAccount},
	"a pattern for some accounts":         {onAWS(`roleARNPatterns: ["arn:aws:iam::11112222333*:role/x"]`), oneAccount},
	"a pattern for all partitions":        {onAWS(`roleARNPatterns: ["arn:*:iam::111122223333:role/x"]`), oneAccount},
	"a pattern for users":                 {onAWS(`roleARNPatterns: ["arn:aws:iam::111122223333:user/x"]`), oneAccount},
	"a pattern for everything":            {onAWS(`roleARNPatterns: ["*"]`), oneAccount},
	"a pattern with a line break":         {onAWS(`roleARNPatterns: ["arn:aws:iam::111122223333:role/x\n"]`), oneAccount},
	"a ceiling that is no object":         {onAWS(`ceiling: "[]"`), "ceiling must be a permission policy in JSON"},
	"a ceiling in YAML":                   {onAWS(`ceiling: "Version: x"`), "ceiling must be a permission policy in JSON"},
	"a ceiling that begins with new line": {onAWS(`ceiling: "\n {}"`), ""},
	"a ceiling that is too long":          {onAWS(`ceiling: "{` + strings.Repeat("x", 20480) + `"`), "Too long"},
	"a hundred patterns":                  {onAWS(`roleARNPatterns: [` + patterns(100) + `]`), ""},
	"more than a hundred patterns":        {onAWS(`roleARNPatterns: [` + patterns(101) + `]`), "must have at most 100 items"},
}

func patterns(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"arn:aws:iam::111122223333:role/%d/*"`, i))
	}
	return strings.Join(all, ",")
}

// testBoundaries: a boundary that can only be a mistake is refused with a text that says
// what it is.
func (c *cluster) testBoundaries() {
	c.table(boundaries, boundaryRows)
	for name, each := range map[string]row{
		"default is for no namespace": {"spec: {aws: {ceiling: '{}'}}", ""},
		"default and an empty list":   {"spec: {namespaces: []}", ""},
		"default with a namespace":    {"spec: {namespaces: [team]}", "the boundary named default"},
		"default with a selector":     {"spec: {namespaceSelector: {matchLabels: {a: b}}}", "the boundary named default"},
	} {
		c.t.Run(name, func(t *testing.T) {
			judge(t, c.try(t, boundaries, object(t, boundaries, "default", each.text)), each.want)
		})
	}
}

var grantRows = map[string]row{
	"a request":                 {"spec: {request: {namespace: a, name: b, uid: c}}", ""},
	"a request with a role":     {`spec: {request: {namespace: a, name: b, uid: c}, adopted: true, bound: {roleARN: "arn:aws:iam::111122223333:role/team/x"}}`, ""},
	"an identity in Azure":      {"spec: {request: {namespace: a, name: b, uid: c}, bound: {azureClientID: c, azureTenantID: t, azureSubscriptionID: s, azureRegion: r}}", ""},
	"no request":                {"spec: {}", "spec.request: Required"},
	"no uid":                    {"spec: {request: {namespace: a, name: b}}", "spec.request.uid: Required"},
	"an empty uid":              {`spec: {request: {namespace: a, name: b, uid: ""}}`, "uid is not empty"},
	"an empty name":             {`spec: {request: {namespace: a, name: "", uid: c}}`, "at least 1 chars"},
	"a role that is none":       {"spec: {request: {namespace: a, name: b, uid: c}, bound: {roleARN: x}}", "roleARN must be the ARN of a role"},
	"a role with a star":        {`spec: {request: {namespace: a, name: b, uid: c}, bound: {roleARN: "arn:aws:iam::111122223333:role/*"}}`, "roleARN must be the ARN of a role"},
	"identities in two clouds":  {`spec: {request: {namespace: a, name: b, uid: c}, bound: {roleARN: "arn:aws:iam::111122223333:role/x", audience: a}}`, "the identity is of one cloud"},
	"an identity without field": {"spec: {request: {namespace: a, name: b, uid: c}, bound: {}}", "the identity is of one cloud"},
}

// testGrants: a grant is for one request for ever; what an administrator decided changes.
func (c *cluster) testGrants() {
	c.table(grants, grantRows)
	must.Get(c.of(grants).Create(c.t.Context(), object(c.t, grants, "team.app", "spec: {request: {namespace: a, name: b, uid: c}}"), metav1.CreateOptions{}))(c.t)
	for name, each := range map[string]struct {
		do   func(map[string]any)
		want string
	}{
		"another name":       {set("x", "spec", "request", "name"), "request cannot change"},
		"another namespace":  {set("x", "spec", "request", "namespace"), "request cannot change"},
		"another uid":        {set("x", "spec", "request", "uid"), "request cannot change"},
		"no request":         {set(nil, "spec", "request"), "spec.request: Required"},
		"adopted":            {set(true, "spec", "adopted"), ""},
		"bound":              {set("arn:aws:iam::111122223333:role/x", "spec", "bound", "roleARN"), ""},
		"bound to something": {set("", "spec", "bound", "roleARN"), "roleARN must be the ARN of a role"},
	} {
		c.t.Run("change/"+name, func(t *testing.T) {
			judge(t, c.change(t, grants, "team.app", each.do, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}), each.want)
		})
	}
}

// testExamples: the API server takes the shipped boundaries and requests as they are.
func (c *cluster) testExamples() {
	files := must.Get(filepath.Glob("../../../examples/credentials/*/*.yaml"))(c.t)
	if len(files) < 9 {
		c.t.Fatalf("%d examples, expected a boundary and two requests for each of three teams", len(files))
	}
	for _, file := range files {
		c.t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			written := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict(must.Get(os.ReadFile(file))(t), &written.Object); err != nil {
				t.Fatal(err)
			}
			resource := boundaries
			if written.GetKind() == kinds[requests] {
				// The namespaces of the examples are not made here.
				resource = requests
				written.SetNamespace("default")
			}
			judge(t, c.try(t, resource, written), "")
		})
	}
}
