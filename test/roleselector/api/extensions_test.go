package api

import (
	"fmt"
	"strings"
)

// extension is an object of what ACK does not know, and the refusal that it earns.
type extension struct{ text, want string }

// many is a list of a text with the numbers from 0.
func many(count int, format string) string {
	parts := make([]string, count)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(parts, ", ")
}

func assuming(fields string) string { return with("assumeRole: {" + fields + "}") }

func tagged(tags string) string { return assuming("sessionTags: [" + tags + "]") }

var (
	long     = strings.Repeat("x", 64)
	trusted  = "%CLUSTER_ID%.%CONTROLLER_NAMESPACE%.%SERVICE%.%KIND%.%K8S_NAMESPACE%.%K8S_NAMESPACE_UID%.%SELECTOR_NAME%.%SELECTOR_UID%.%NAMESPACE_LABEL(identity.tabard.dev/team)%"
	resource = "%RESOURCE_NAME%.%RESOURCE_UID%.%RESOURCE_LABEL(app.kubernetes.io/name)%"
)

// everything is a selector whose every part is as large as it may be, so that rules
// which cost the API server too much show.
func everything() string {
	const key = "%d" // and a name around it
	domain := strings.Repeat(long[:62]+".", 3) + long[:60] + "/"
	labels := "{matchLabels: {" + many(64, domain+long[:60]+key+": "+long[:63]) + "}, matchExpressions: [" +
		many(32, "{key: "+domain+long[:60]+key+", operator: In, values: ["+many(128, long[:60]+key)+"]}") + "]}"
	return with("namespaceSelector: {names: [" + many(1024, long[:58]+key) + "], labelSelector: " + labels + "}, resourceLabelSelector: " + labels +
		", resourceTypeSelector: [" + many(64, "{group: "+domain[:249]+", version: "+long[:63]+", kind: "+long[:60]+key+"}") + "]" +
		", assumeRole: {sessionTags: [" + many(50, "{key: ack-user-"+long+key+", template: '%%RESOURCE_NAME%%"+strings.Repeat("x", 1224-len("%RESOURCE_NAME%"))+"'}") + "]" +
		", transitiveTagKeys: [" + many(50, "ack-user-"+long+key) + "]}")
}

var extensions = map[string]extension{
	"everything at its limit": {everything(), ""},
	// What is selected.
	"1024 names":                            {with("namespaceSelector: {names: [" + many(1024, "n%d") + "]}"), ""},
	"1025 names":                            {with("namespaceSelector: {names: [" + many(1025, "n%d") + "]}"), "must have at most 1024 items"},
	"a name of 63 characters":               {with("namespaceSelector: {names: [" + long[:63] + "]}"), ""},
	"a name of 64 characters":               {with("namespaceSelector: {names: [" + long + "]}"), "63"},
	"64 labels":                             {with("namespaceSelector: {labelSelector: {matchLabels: {" + many(64, "l%d: v") + "}}}"), ""},
	"65 labels":                             {with("namespaceSelector: {labelSelector: {matchLabels: {" + many(65, "l%d: v") + "}}}"), "at most 64"},
	"the longest label key":                 {with("resourceLabelSelector: {matchLabels: {" + strings.Repeat(long[:62]+".", 4) + "x/" + long[:63] + ": v}}"), ""},
	"a label key with too long a name":      {with("resourceLabelSelector: {matchLabels: {" + long + ": v}}"), "is no label key"},
	"a label value of 64 characters":        {with("resourceLabelSelector: {matchLabels: {a: " + long + "}}"), "63"},
	"each operator":                         {with("resourceLabelSelector: {matchExpressions: [{key: a, operator: In, values: [x, '']}, {key: b, operator: NotIn, values: [x]}, {key: c, operator: Exists}, {key: d, operator: DoesNotExist, values: []}]}"), ""},
	"an unknown operator":                   {with("resourceLabelSelector: {matchExpressions: [{key: a, operator: Gt, values: ['1']}]}"), "Unsupported value"},
	"In without values":                     {with("namespaceSelector: {labelSelector: {matchExpressions: [{key: a, operator: In}]}}"), "In and NotIn need values"},
	"NotIn with no values":                  {with("namespaceSelector: {labelSelector: {matchExpressions: [{key: a, operator: NotIn, values: []}]}}"), "In and NotIn need values"},
	"Exists with values":                    {with("namespaceSelector: {labelSelector: {matchExpressions: [{key: a, operator: Exists, values: [x]}]}}"), "Exists and DoesNotExist have none"},
	"DoesNotExist with values":              {with("namespaceSelector: {labelSelector: {matchExpressions: [{key: a, operator: DoesNotExist, values: [x]}]}}"), "Exists and DoesNotExist have none"},
	"an expression with an impossible key":  {with("namespaceSelector: {labelSelector: {matchExpressions: [{key: a b, operator: Exists}]}}"), noPattern},
	"an expression with a blank in a value": {with("namespaceSelector: {labelSelector: {matchExpressions: [{key: a, operator: In, values: [x y]}]}}"), noPattern},
	"labels and expressions":                {with("namespaceSelector: {names: [prod], labelSelector: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: Exists}]}}"), ""},
	"no resource labels at all":             {with("resourceLabelSelector: {}"), noTerm},
	"64 types":                              {with("resourceTypeSelector: [" + many(64, "{kind: K%d}") + "]"), ""},
	"65 types":                              {with("resourceTypeSelector: [" + many(65, "{kind: K%d}") + "]"), "must have at most 64 items"},
	"an apiVersion beside a group":          {with("resourceTypeSelector: [{apiVersion: s3.services.k8s.aws/v1alpha1, group: s3.services.k8s.aws}]"), "leave out group and version"},
	"an apiVersion beside a version":        {with("resourceTypeSelector: [{apiVersion: s3.services.k8s.aws/v1alpha1, version: v1alpha1, kind: Bucket}]"), "leave out group and version"},
	"an apiVersion without a group":         {with("resourceTypeSelector: [{apiVersion: v1alpha1}]"), noPattern},
	"an apiVersion without a version":       {with("resourceTypeSelector: [{apiVersion: s3.services.k8s.aws/}]"), noPattern},
	"an empty apiVersion":                   {with("resourceTypeSelector: [{apiVersion: '', kind: Bucket}]"), noPattern},
	"a group with a star":                   {with("resourceTypeSelector: [{group: '*.services.k8s.aws'}]"), noPattern},
	"a group with a slash":                  {with("resourceTypeSelector: [{group: s3.services.k8s.aws/v1alpha1}]"), noPattern},
	"a type twice":                          {with("resourceTypeSelector: [{group: g.io}, {group: g.io, version: '', kind: ''}]"), "two entries are the same type"},
	"a type twice, in both forms":           {with("resourceTypeSelector: [{apiVersion: g.io/v1, kind: K}, {group: g.io, version: v1, kind: K}]"), "two entries are the same type"},
	"a type and a wider one":                {with("resourceTypeSelector: [{group: g.io}, {group: g.io, kind: K}, {apiVersion: g.io/v1}]"), ""},
	// What is done.
	"Use, said":                          {with("effect: Use"), ""},
	"Deny without an ARN":                {"spec: {effect: Deny, namespaceSelector: {names: [prod]}}", ""},
	"Deny with an ARN":                   {with("effect: Deny"), "effect Deny uses no role"},
	"Deny with an empty ARN":             {"spec: {effect: Deny, arn: ''}", "effect Deny uses no role"},
	"Deny with a way to assume":          {"spec: {effect: Deny, assumeRole: {}}", "effect Deny uses no role"},
	"Deny with a selection":              {"spec: {effect: Deny, selection: {mode: Selectable}}", "effect Deny uses no role"},
	"another effect":                     {with("effect: Allow"), "Unsupported value"},
	"Use without an ARN":                 {"spec: {effect: Use}", "arn is required unless effect is Deny"},
	"Recreate":                           {with("onAccountChange: Recreate"), ""},
	"another account change":             {with("onAccountChange: Ignore"), "Unsupported value"},
	"a selectable default":               {with("selection: {mode: Selectable, default: true, choosers: [NamespaceChoice, ResourceAnnotation]}"), ""},
	"selectable when chosen":             {with("selection: {mode: Selectable, requireChoice: true}"), ""},
	"exclusive, said":                    {with("selection: {mode: Exclusive, default: false}"), ""},
	"an empty selection":                 {with("selection: {}"), ""},
	"an exclusive default":               {with("selection: {default: true}"), "need mode Selectable"},
	"an exclusive one that needs choice": {with("selection: {mode: Exclusive, requireChoice: true}"), "need mode Selectable"},
	"an exclusive one with choosers":     {with("selection: {choosers: [NamespaceChoice]}"), "need mode Selectable"},
	"a default that must be chosen":      {with("selection: {mode: Selectable, default: true, requireChoice: true}"), "exclude each other"},
	"no choosers":                        {with("selection: {mode: Selectable, choosers: []}"), "at least 1 item"},
	"a chooser twice":                    {with("selection: {mode: Selectable, choosers: [NamespaceChoice, NamespaceChoice]}"), "Duplicate value"},
	"another chooser":                    {with("selection: {mode: Selectable, choosers: [NamespaceAnnotation]}"), "Unsupported value"},
	// How the role is assumed.
	"nothing about assuming":                  {assuming(""), ""},
	"an external ID":                          {assuming("externalID: {value: 'Ab0_+=,.@:/-'}"), ""},
	"an external ID of one character":         {assuming("externalID: {value: x}"), "value is 2 to 1224"},
	"the longest external ID":                 {assuming("externalID: {value: " + strings.Repeat("x", 1224) + "}"), ""},
	"too long an external ID":                 {assuming("externalID: {value: " + strings.Repeat("x", 1225) + "}"), "1224"},
	"an external ID with a blank":             {assuming("externalID: {value: a b}"), "value is 2 to 1224"},
	"an external ID of the cluster":           {assuming("externalID: {template: 'ack/%CLUSTER_ID%/%CONTROLLER_NAMESPACE%/%K8S_NAMESPACE%/%K8S_NAMESPACE_UID%/%SELECTOR_NAME%/%SELECTOR_UID%'}"), ""},
	"an external ID of the service":           {assuming("externalID: {template: '%SERVICE%'}"), "template holds only"},
	"an external ID of a namespace's label":   {assuming("externalID: {template: '%NAMESPACE_LABEL(a)%'}"), "template holds only"},
	"an external ID of the resource's name":   {assuming("externalID: {template: '%RESOURCE_NAME%'}"), "template holds only"},
	"an external ID of the resource's label":  {assuming("externalID: {template: '%RESOURCE_LABEL(a)%'}"), "template holds only"},
	"a variable that nobody knows":            {assuming("externalID: {template: 'a/%CLUSTER%'}"), "template holds only"},
	"a variable that is not closed":           {assuming("externalID: {template: 'a/%CLUSTER_ID'}"), "template holds only"},
	"a variable in lower case":                {assuming("externalID: {template: '%cluster_id%'}"), "template holds only"},
	"a value and a template":                  {assuming("externalID: {value: ab, template: cd}"), "exactly one of value and template"},
	"neither value nor template":              {assuming("externalID: {}"), "exactly one of value and template"},
	"an empty template":                       {assuming("externalID: {template: ''}"), "should be at least 1 chars long"},
	"a session name":                          {assuming("sessionName: {value: 'Ab0_+=,.@-'}"), ""},
	"a session name with a slash":             {assuming("sessionName: {value: a/b}"), "value is 2 to 64"},
	"a session name of 65 characters":         {assuming("sessionName: {value: " + long + "x}"), "value is 2 to 64"},
	"a session name of all variables":         {assuming("sessionName: {template: 'ack-" + trusted + resource + "'}"), ""},
	"a session name of an unknown variable":   {assuming("sessionName: {template: '%NAMESPACE%'}"), "template holds only"},
	"a session name of a label without a key": {assuming("sessionName: {template: '%NAMESPACE_LABEL()%'}"), "template holds only"},
	"a session name of a cluster's label":     {assuming("sessionName: {template: '%CLUSTER_LABEL(a)%'}"), "template holds only"},
	"a source identity":                       {assuming("sourceIdentity: {value: team-a}"), ""},
	"a source identity of trusted variables":  {assuming("sourceIdentity: {template: '" + trusted + "'}"), ""},
	"a source identity of the resource":       {assuming("sourceIdentity: {template: '%RESOURCE_UID%'}"), "none of the resource's"},
	"899 seconds":                             {assuming("durationSeconds: 899"), "should be greater than or equal to 900"},
	"900 seconds":                             {assuming("durationSeconds: 900"), ""},
	"3601 seconds":                            {assuming("durationSeconds: 3601"), "should be less than or equal to 3600"},
	"tags":                                    {tagged("{key: cost, value: '42'}, {key: empty, value: ''}, {key: ack-namespace, template: '" + trusted + "'}, {key: ack-user-name, template: 'x/" + resource + "'}"), ""},
	"50 tags":                                 {tagged(many(50, "{key: k%d, value: v}")), ""},
	"51 tags":                                 {tagged(many(51, "{key: k%d, value: v}")), "must have at most 50 items"},
	"a tag with an empty key":                 {tagged("{key: '', value: v}"), "at least 1 chars"},
	"a tag key of 129 characters":             {tagged("{key: " + long + long + "x, value: v}"), "128"},
	"a tag key with a star":                   {tagged("{key: 'a*', value: v}"), noPattern},
	"a tag of AWS":                            {tagged("{key: 'aws:x', value: v}"), "aws: is reserved"},
	"a tag of AWS in upper case":              {tagged("{key: 'AWS:x', value: v}"), "aws: is reserved"},
	"a tag value in another script":           {tagged("{key: city, value: 'Zürich 東京'}"), ""},
	"a tag value of 257 characters":           {tagged("{key: k, value: " + strings.Repeat("x", 257) + "}"), "value is at most 256"},
	"a tag value with a percent sign":         {tagged("{key: k, value: '%KIND%'}"), "value is at most 256"},
	"a tag twice":                             {tagged("{key: k, value: v}, {key: k, value: w}"), "Duplicate value"},
	"a tag twice but for its case":            {tagged("{key: Team, value: v}, {key: team, value: w}"), "upper and lower case only"},
	"a tag with neither":                      {tagged("{key: k}"), "exactly one of value and template"},
	"a computed tag without our prefix":       {tagged("{key: namespace, template: '%K8S_NAMESPACE%'}"), "begins with ack-"},
	"the resource's name in a trusted tag":    {tagged("{key: ack-name, template: '%RESOURCE_NAME%'}"), "begins with ack-user-"},
	"the resource's label in a trusted tag":   {tagged("{key: ack-name, template: 'a%RESOURCE_LABEL(b)%'}"), "begins with ack-user-"},
	"an unknown variable in a tag":            {tagged("{key: ack-user-x, template: '%RESOURCE_ANNOTATION(b)%'}"), "template holds only"},
	"transitive tags":                         {assuming("sessionTags: [{key: a, value: v}, {key: b, value: v}], transitiveTagKeys: [b]"), ""},
	"a transitive tag that is not there":      {assuming("sessionTags: [{key: a, value: v}], transitiveTagKeys: [b]"), "are keys of sessionTags"},
	"transitive tags without tags":            {assuming("transitiveTagKeys: [b]"), "are keys of sessionTags"},
	"policies":                                {assuming("policyARNs: ['arn:aws:iam::aws:policy/ReadOnlyAccess', 'arn:aws:iam::111111111111:policy/team/narrow']"), ""},
	"eleven policies":                         {assuming("policyARNs: [" + many(11, "'arn:aws:iam::aws:policy/p%d'") + "]"), "must have at most 10 items"},
	"a role as a policy":                      {assuming("policyARNs: ['" + arn + "']"), noPattern},
	"a policy with a variable":                {assuming("policyARNs: ['arn:aws:iam::111111111111:policy/%RESOURCE_NAME%']"), noPattern},
	"a cache scope":                           {assuming("cacheScope: Namespace"), ""},
	"another cache scope":                     {assuming("cacheScope: Cluster"), "Unsupported value"},
}

var choiceRows = map[string]extension{
	"a name":                    {"spec: {selectorRef: {name: team-a}}", ""},
	"a name and a pin":          {"spec: {selectorRef: {name: team-a, uid: 3f0c6c0e-8a57-4d5d-9a3e-0d4d5b3f2c11}}", ""},
	"a name, a type, a label":   {"spec: {selectorRef: {name: team-a}, resourceTypeSelector: [{apiVersion: s3.services.k8s.aws/v1alpha1, kind: Bucket}], resourceLabelSelector: {matchLabels: {app: x}}}", ""},
	"no spec":                   {"{}", "spec: " + required},
	"no name":                   {"spec: {selectorRef: {}}", "name: " + required},
	"a name that is none":       {"spec: {selectorRef: {name: Team}}", noPattern},
	"an ARN for a name":         {"spec: {selectorRef: {name: 'arn:aws:iam::111111111111:role/x'}}", noPattern},
	"an empty pin":              {"spec: {selectorRef: {name: team-a, uid: ''}}", "uid is not empty"},
	"an ARN beside the name":    {"spec: {selectorRef: {name: team-a}, arn: x}", `unknown field "spec.arn"`},
	"a type of nothing":         {"spec: {selectorRef: {name: team-a}, resourceTypeSelector: [{}]}", "at least one of apiVersion"},
	"a type twice":              {"spec: {selectorRef: {name: team-a}, resourceTypeSelector: [{kind: K}, {kind: K}]}", "two entries are the same type"},
	"an impossible label":       {"spec: {selectorRef: {name: team-a}, resourceLabelSelector: {matchLabels: {a b: c}}}", "is no label key"},
	"an impossible label value": {"spec: {selectorRef: {name: team-a}, resourceLabelSelector: {matchLabels: {a: b c}}}", noPattern},
}
