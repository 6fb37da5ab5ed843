package api

// row is an object and what two schemas say of it: part of the refusal's text, or
// empty if it is accepted.
type row struct {
	text          string
	shipped, ours string
	// pruned says that ACK's schema loses a part of it in silence.
	pruned bool
}

const arn = "arn:aws:iam::111111111111:role/team"

// with is a selector of the role with more fields.
func with(fields string) string {
	return "spec: {arn: " + arn + ", " + fields + "}"
}

const (
	required  = "Required value"
	missing   = "spec.resourceTypeSelector[0]"
	noPattern = "should match"
)

// rows are the objects that people write, one by one.
var rows = map[string]row{
	"no spec at all":                        {"{}", "", "spec is required", false},
	"an empty spec":                         {"spec: {}", "spec.arn: " + required, "arn is required unless effect is Deny", false},
	"an empty ARN":                          {`spec: {arn: ""}`, "", noPattern, false},
	"no ARN but a word":                     {"spec: {arn: foo, namespaceSelector: {names: [prod]}}", "", noPattern, false},
	"the ARN of a user":                     {"spec: {arn: 'arn:aws:iam::111111111111:user/team'}", "", noPattern, false},
	"an ARN without account":                {"spec: {arn: 'arn:aws:iam:::role/team'}", "", noPattern, false},
	"an ARN with a blank at its end":        {"spec: {arn: '" + arn + " '}", "", noPattern, false},
	"a role with a path":                    {"spec: {arn: 'arn:aws:iam::111111111111:role/a/b/team'}", "", "", false},
	"a role of the partition of China":      {"spec: {arn: 'arn:aws-cn:iam::111111111111:role/team'}", "", "", false},
	"a role of a partition of governments":  {"spec: {arn: 'arn:aws-us-gov:iam::111111111111:role/team'}", "", "", false},
	"a role of an isolated partition":       {"spec: {arn: 'arn:aws-iso-b:iam::111111111111:role/team'}", "", "", false},
	"only an ARN":                           {"spec: {arn: " + arn + "}", "", "", false},
	"an empty namespaceSelector":            {with("namespaceSelector: {}"), "names: " + required, "names or labelSelector is required", false},
	"namespace labels without names":        {with("namespaceSelector: {labelSelector: {matchLabels: {team: a}}}"), "names: " + required, "", false},
	"names that are null":                   {with("namespaceSelector: {names: null}"), "names: " + required, "names or labelSelector is required", false},
	"one name":                              {with("namespaceSelector: {names: [prod]}"), "", "", false},
	"a name in upper case":                  {with("namespaceSelector: {names: [Prod]}"), "", noPattern, false},
	"two names":                             {with("namespaceSelector: {names: [dev, prod]}"), "", "", false},
	"a name with a star":                    {with("namespaceSelector: {names: ['prod*']}"), "", noPattern, false},
	"no names":                              {with("namespaceSelector: {names: []}"), "", "", false},
	"names and labels":                      {with("namespaceSelector: {names: [prod], labelSelector: {matchLabels: {team: a}}}"), "", "", false},
	"no names and labels":                   {with("namespaceSelector: {names: [], labelSelector: {matchLabels: {team: a, env: q}}}"), "", "", false},
	"a label with an empty value":           {with(`namespaceSelector: {names: [], labelSelector: {matchLabels: {owner: ""}}}`), "", "", false},
	"labels without any":                    {with("namespaceSelector: {names: [prod], labelSelector: {matchLabels: {}}}"), "", "", false},
	"labels without any, and no names":      {with("namespaceSelector: {names: [], labelSelector: {matchLabels: {}}}"), "", noTerm, false},
	"a label selector without terms":        {with("namespaceSelector: {names: [prod], labelSelector: {}}"), "matchLabels: " + required, "", false},
	"expressions alone":                     {with("namespaceSelector: {names: [], labelSelector: {matchExpressions: [{key: team, operator: In, values: [a, b]}]}}"), "matchLabels: " + required, "", false},
	"expressions beside no labels":          {with("namespaceSelector: {names: [], labelSelector: {matchLabels: {}, matchExpressions: [{key: team, operator: NotIn, values: [a]}]}}"), "", "", true},
	"a name twice":                          {with("namespaceSelector: {names: [prod, prod]}"), "", "Duplicate value", false},
	"an empty name":                         {with(`namespaceSelector: {names: [""]}`), "", noPattern, false},
	"an impossible label key":               {with(`namespaceSelector: {names: [], labelSelector: {matchLabels: {"a b": c}}}`), "", "is no label key", false},
	"an empty label key":                    {with(`namespaceSelector: {names: [], labelSelector: {matchLabels: {"": c}}}`), "", "is no label key", false},
	"an impossible label value":             {with(`namespaceSelector: {names: [], labelSelector: {matchLabels: {a: "b c"}}}`), "", noPattern, false},
	"a label key with a domain":             {with("namespaceSelector: {names: [], labelSelector: {matchLabels: {my.company/dev-team: SkyTeam}}}"), "", "", false},
	"all kinds of a group":                  {with(`resourceTypeSelector: [{group: s3.services.k8s.aws, version: "", kind: ""}]`), "", "", false},
	"a group and nothing else":              {with("resourceTypeSelector: [{group: s3.services.k8s.aws}]"), missing, "", false},
	"an apiVersion":                         {with("resourceTypeSelector: [{apiVersion: s3.services.k8s.aws/v1alpha1}]"), missing, "", false},
	"an apiVersion and a kind":              {with("resourceTypeSelector: [{apiVersion: s3.services.k8s.aws/v1alpha1, kind: Bucket}]"), missing, "", false},
	"a kind of any group":                   {with(`resourceTypeSelector: [{group: "", version: "", kind: Bucket}]`), "", "", false},
	"a kind and nothing else":               {with("resourceTypeSelector: [{kind: Bucket}]"), missing, "", false},
	"a version of any group":                {with(`resourceTypeSelector: [{group: "", version: v1alpha1, kind: ""}]`), "", "", false},
	"another version":                       {with(`resourceTypeSelector: [{group: s3.services.k8s.aws, version: v1beta1, kind: ""}]`), "", "", false},
	"a group in upper case":                 {with("resourceTypeSelector: [{group: S3.services.k8s.aws, version: v1alpha1, kind: Bucket}]"), "", "", false},
	"a kind in lower case":                  {with("resourceTypeSelector: [{group: s3.services.k8s.aws, version: v1alpha1, kind: bucket}]"), "", "", false},
	"two types":                             {with(`resourceTypeSelector: [{group: ec2.services.k8s.aws, version: "", kind: ""}, {group: s3.services.k8s.aws, version: v1alpha1, kind: Bucket}]`), "", "", false},
	"no types":                              {with("resourceTypeSelector: []"), "", "", false},
	"a type of empty parts":                 {with(`resourceTypeSelector: [{group: "", version: "", kind: ""}]`), "", "at least one of apiVersion, group, version and kind", false},
	"a type of no parts":                    {with("resourceTypeSelector: [{}]"), missing, "at least one of apiVersion, group, version and kind", false},
	"resource labels":                       {with("resourceLabelSelector: {matchLabels: {app: x, tier: web}}"), "", "", false},
	"resource labels without any":           {with("resourceLabelSelector: {matchLabels: {}}"), "", noTerm, false},
	"a name, a type and a resource's label": {with(`namespaceSelector: {names: [prod]}, resourceTypeSelector: [{group: rds.services.k8s.aws, version: "", kind: ""}], resourceLabelSelector: {matchLabels: {app: x}}`), "", "", false},
	"the requirement's example": {with(`namespaceSelector: {names: [sky-dev-team], labelSelector: {matchLabels: {my.company/dev-team: SkyTeam}}},
  resourceTypeSelector: [{apiVersion: ec2.services.k8s.aws/v1alpha1}, {apiVersion: s3.services.k8s.aws/v1alpha1, kind: Bucket}]`), missing, "", false},
}
