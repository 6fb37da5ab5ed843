package roleselector

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

func someSubject() Subject {
	return Subject{
		ClusterID: "cluster-7", ControllerNamespace: "ack-system", Service: "s3", Kind: "Bucket",
		Namespace: "prod", NamespaceUID: "namespace-uid", NamespaceLabels: map[string]string{"safe.example.com/team": "a", "team": "b"},
		Name: "logs", UID: "resource-uid", Labels: map[string]string{"app": "x"},
	}
}

func assuming(a v1alpha1.AssumeRole) *Selector {
	return Compile(made("a", func(s *spec) { s.AssumeRole = &a }))
}

func value(text string) *v1alpha1.Text    { return &v1alpha1.Text{Value: text} }
func template(text string) *v1alpha1.Text { return &v1alpha1.Text{Template: text} }

func tag(key string, text *v1alpha1.Text) v1alpha1.SessionTag {
	return v1alpha1.SessionTag{Key: key, Text: *text}
}

func TestARoleIsAssumedAsItsSelectorSays(t *testing.T) {
	duration := int32(1800)
	const name = "ack-s3-ca978112-9b4b3a46"
	protect := Settings{ProtectedLabels: []string{"safe.example.com/"}}
	for what, c := range map[string]struct {
		spec     v1alpha1.AssumeRole
		settings Settings
		want     identity.Role
		scope    v1alpha1.CacheScope
	}{
		"nothing": {want: identity.Role{SessionName: name}},
		"everything": {
			spec: v1alpha1.AssumeRole{
				ExternalID: template("ack/%CLUSTER_ID%"), SessionName: template("ack-%SERVICE%-%KIND%"), DurationSeconds: &duration,
				SessionTags:       []v1alpha1.SessionTag{tag("ack-selector", template("%SELECTOR_NAME%")), tag("cost", value("42"))},
				TransitiveTagKeys: []string{"cost", "ack-selector"}, SourceIdentity: template("%SERVICE%-%CONTROLLER_NAMESPACE%"),
				PolicyARNs: []string{"arn:aws:iam::aws:policy/ReadOnlyAccess", "arn:aws:iam::111122223333:policy/a"},
			},
			want: identity.Role{
				ExternalID: "ack/cluster-7", SessionName: "ack-s3-Bucket", Duration: 30 * time.Minute, SourceIdentity: "s3-ack-system",
				Tags: map[string]string{"ack-selector": "a", "cost": "42"}, TransitiveTags: []string{"ack-selector", "cost"},
				PolicyARNs: []string{"arn:aws:iam::111122223333:policy/a", "arn:aws:iam::aws:policy/ReadOnlyAccess"},
			},
		},
		"a namespace's external ID": {
			spec:  v1alpha1.AssumeRole{ExternalID: template("%K8S_NAMESPACE%/%K8S_NAMESPACE_UID%/%SELECTOR_UID%")},
			want:  identity.Role{ExternalID: "prod/namespace-uid/uid-1", SessionName: name},
			scope: v1alpha1.NamespaceScope,
		},
		"a protected label": {
			spec:     v1alpha1.AssumeRole{SessionTags: []v1alpha1.SessionTag{tag("ack-team", template("%NAMESPACE_LABEL(safe.example.com/team)%"))}},
			settings: protect,
			want:     identity.Role{Tags: map[string]string{"ack-team": "a"}, SessionName: name},
			scope:    v1alpha1.NamespaceScope,
		},
		"a resource's session name": {
			spec:  v1alpha1.AssumeRole{SessionName: template("%K8S_NAMESPACE%.%RESOURCE_NAME%")},
			want:  identity.Role{SessionName: "prod.logs"},
			scope: v1alpha1.ResourceScope,
		},
		"a user's tag": {
			spec:  v1alpha1.AssumeRole{SessionTags: []v1alpha1.SessionTag{tag("ack-user-app", template("%RESOURCE_LABEL(app)%"))}},
			want:  identity.Role{Tags: map[string]string{"ack-user-app": "x"}, SessionName: name},
			scope: v1alpha1.ResourceScope,
		},
		"a long session name is shortened": {
			spec: v1alpha1.AssumeRole{SessionName: value(strings.Repeat("n", 70))},
			want: identity.Role{SessionName: strings.Repeat("n", 55) + "-" + digest(strings.Repeat("n", 70))},
		},
		"a narrower scope": {
			spec:  v1alpha1.AssumeRole{CacheScope: v1alpha1.NamespaceScope},
			want:  identity.Role{SessionName: name + "-" + digest("prod")},
			scope: v1alpha1.NamespaceScope,
		},
		"the narrowest scope": {
			spec:  v1alpha1.AssumeRole{CacheScope: v1alpha1.ResourceScope, SessionName: value("mine")},
			want:  identity.Role{SessionName: "mine-" + digest("s3/Bucket/prod/logs")},
			scope: v1alpha1.ResourceScope,
		},
		"defaults of flags": {
			settings: Settings{ExternalID: "%CLUSTER_ID%", SessionName: "flag-%SERVICE%", SessionTags: []v1alpha1.SessionTag{tag("ack-namespace", template("%K8S_NAMESPACE%"))}},
			want:     identity.Role{ExternalID: "cluster-7", SessionName: "flag-s3", Tags: map[string]string{"ack-namespace": "prod"}},
			scope:    v1alpha1.NamespaceScope,
		},
		"a selector goes before flags": {
			spec: v1alpha1.AssumeRole{ExternalID: value("own"), SessionName: value("own"), SessionTags: []v1alpha1.SessionTag{tag("cost", value("1"))}},
			settings: Settings{
				ExternalID: "%CLUSTER_ID%", SessionName: "flag", Locked: []Field{SessionTagsField},
				SessionTags: []v1alpha1.SessionTag{tag("stage", value("a"))},
			},
			want: identity.Role{ExternalID: "own", SessionName: "own", Tags: map[string]string{"cost": "1", "stage": "a"}},
		},
		"a tag with an empty value": {
			spec: v1alpha1.AssumeRole{SessionTags: []v1alpha1.SessionTag{tag("cost", value(""))}},
			want: identity.Role{Tags: map[string]string{"cost": ""}, SessionName: name},
		},
	} {
		t.Run(what, func(t *testing.T) {
			c.want.ARN = someARN
			if c.want.Duration == 0 {
				c.want.Duration = 15 * time.Minute
			}
			if c.scope == "" {
				c.scope = v1alpha1.SelectorScope
			}
			got, problems := assuming(c.spec).AssumeRole(someSubject(), c.settings)
			if diff := cmp.Diff(Input{c.want, c.scope}, got); diff != "" || problems != nil {
				t.Errorf("AssumeRole() has the problems %v and differs (-want +got):\n%s", problems, diff)
			}
		})
	}
}

func TestWhatSTSOrTheAdministratorRefusesIsAProblem(t *testing.T) {
	short, long := int32(899), int32(3601)
	var many []v1alpha1.SessionTag
	for i := range 51 {
		many = append(many, tag(strings.Repeat("k", i+1), value("v")))
	}
	tagged := func(tags ...v1alpha1.SessionTag) v1alpha1.AssumeRole { return v1alpha1.AssumeRole{SessionTags: tags} }
	for what, c := range map[string]struct {
		spec     v1alpha1.AssumeRole
		settings Settings
		field    string
		late     bool // it shows only for a subject
	}{
		"an unknown variable":                 {v1alpha1.AssumeRole{ExternalID: template("%CLUSTER%")}, Settings{}, atExternalID, false},
		"a variable in lower case":            {v1alpha1.AssumeRole{ExternalID: template("%cluster_id%")}, Settings{}, atExternalID, false},
		"half a variable":                     {v1alpha1.AssumeRole{ExternalID: template("a%CLUSTER_ID")}, Settings{}, atExternalID, false},
		"a key where none is":                 {v1alpha1.AssumeRole{SessionName: template("%KIND(a)%")}, Settings{}, atSessionName, false},
		"no key where one is":                 {v1alpha1.AssumeRole{SessionName: template("%RESOURCE_LABEL%")}, Settings{}, atSessionName, false},
		"value and template":                  {v1alpha1.AssumeRole{ExternalID: &v1alpha1.Text{Value: "a", Template: "b"}}, Settings{}, atExternalID, false},
		"neither":                             {v1alpha1.AssumeRole{ExternalID: &v1alpha1.Text{}}, Settings{}, atExternalID, true},
		"a resource in the external ID":       {v1alpha1.AssumeRole{ExternalID: template("%RESOURCE_NAME%")}, Settings{}, atExternalID, false},
		"a resource label in the external ID": {v1alpha1.AssumeRole{ExternalID: template("%RESOURCE_LABEL(app)%")}, Settings{}, atExternalID, false},
		"a label in the external ID":          {v1alpha1.AssumeRole{ExternalID: template("%NAMESPACE_LABEL(team)%")}, Settings{ProtectedLabels: []string{"t"}}, atExternalID, false},
		"a kind in the external ID":           {v1alpha1.AssumeRole{ExternalID: template("%KIND%")}, Settings{}, atExternalID, false},
		"a resource in the source identity":   {v1alpha1.AssumeRole{SourceIdentity: template("%RESOURCE_UID%")}, Settings{}, atSourceIdentity, false},
		"a resource in a tag":                 {tagged(tag("ack-name", template("%RESOURCE_NAME%"))), Settings{}, atSessionTags + "[ack-name]", false},
		"a label that is not protected":       {tagged(tag("a", template("%NAMESPACE_LABEL(team)%"))), Settings{ProtectedLabels: []string{"safe.example.com/"}}, atSessionTags + "[a]", true},
		"a label that is not there":           {tagged(tag("a", template("%NAMESPACE_LABEL(safe.example.com/x)%"))), Settings{ProtectedLabels: []string{"safe.example.com/"}}, atSessionTags + "[a]", true},
		"a resource label that is not there":  {v1alpha1.AssumeRole{SessionName: template("n-%RESOURCE_LABEL(none)%")}, Settings{}, atSessionName, true},
		"an external ID of one letter":        {v1alpha1.AssumeRole{ExternalID: value("a")}, Settings{}, atExternalID, true},
		"an external ID with a blank":         {v1alpha1.AssumeRole{ExternalID: value("a b")}, Settings{}, atExternalID, true},
		"an external ID that is too long":     {v1alpha1.AssumeRole{ExternalID: value(strings.Repeat("a", 1225))}, Settings{}, atExternalID, true},
		"a session name with a slash":         {v1alpha1.AssumeRole{SessionName: value("a/b")}, Settings{}, atSessionName, true},
		"a source identity that is too long":  {v1alpha1.AssumeRole{SourceIdentity: value(strings.Repeat("a", 65))}, Settings{}, atSourceIdentity, true},
		"a short duration":                    {v1alpha1.AssumeRole{DurationSeconds: &short}, Settings{}, "spec.assumeRole.durationSeconds", false},
		"a long duration":                     {v1alpha1.AssumeRole{DurationSeconds: &long}, Settings{}, "spec.assumeRole.durationSeconds", false},
		"keys that differ in case":            {tagged(tag("Cost", value("1")), tag("cost", value("1"))), Settings{}, atSessionTags + "[cost]", false},
		"a key of AWS":                        {tagged(tag("AWS:x", value("1"))), Settings{}, atSessionTags + "[AWS:x]", false},
		"an empty key":                        {tagged(tag("", value("1"))), Settings{}, atSessionTags + "[]", false},
		"a key with a star":                   {tagged(tag("a*", value("1"))), Settings{}, atSessionTags + "[a*]", false},
		"a value with a star":                 {tagged(tag("a", value("*"))), Settings{}, atSessionTags + "[a]", true},
		"a value that is too long":            {tagged(tag("a", value(strings.Repeat("v", 257)))), Settings{}, atSessionTags + "[a]", true},
		"too many tags":                       {tagged(many...), Settings{}, atSessionTags, false},
		"too many tags with those of flags":   {tagged(many[:50]...), Settings{SessionTags: []v1alpha1.SessionTag{tag("z", value("1"))}}, atSessionTags, true},
		"a transitive key without its tag":    {v1alpha1.AssumeRole{TransitiveTagKeys: []string{"a"}}, Settings{}, atTransitive, true},
		"a policy that is a role":             {v1alpha1.AssumeRole{PolicyARNs: []string{someARN}}, Settings{}, "spec.assumeRole.policyARNs", false},
		"too many policies":                   {v1alpha1.AssumeRole{PolicyARNs: slices.Repeat([]string{"arn:aws:iam::aws:policy/a"}, 11)}, Settings{}, "spec.assumeRole.policyARNs", false},
		"an unknown scope":                    {v1alpha1.AssumeRole{CacheScope: "Cluster"}, Settings{}, atCacheScope, false},
		"a scope that is wider":               {v1alpha1.AssumeRole{CacheScope: v1alpha1.SelectorScope, ExternalID: template("%K8S_NAMESPACE%")}, Settings{}, atCacheScope, true},
		"a locked external ID":                {v1alpha1.AssumeRole{ExternalID: value("mine")}, Settings{Locked: []Field{ExternalIDField}}, atExternalID, true},
		"a locked session name":               {v1alpha1.AssumeRole{SessionName: value("mine")}, Settings{Locked: []Field{SessionNameField}}, atSessionName, true},
		"a locked tag":                        {tagged(tag("Cost", value("1"))), Settings{Locked: []Field{SessionTagsField}, SessionTags: []v1alpha1.SessionTag{tag("cost", value("2"))}}, atSessionTags + "[Cost]", true},
		"a flag with a resource":              {v1alpha1.AssumeRole{}, Settings{ExternalID: "%RESOURCE_NAME%"}, "--assume-role-external-id", true},
		"a flag with half a variable":         {v1alpha1.AssumeRole{}, Settings{SessionName: "%KIND"}, "--assume-role-session-name", true},
		"a flag with a key of AWS":            {v1alpha1.AssumeRole{}, Settings{SessionTags: []v1alpha1.SessionTag{tag("aws:a", value("1"))}}, "--assume-role-session-tags[aws:a]", true},
		"a lock of nothing":                   {v1alpha1.AssumeRole{}, Settings{Locked: []Field{"arn"}}, "--lock-assume-role-fields", true},
		"a role that is not allowed":          {v1alpha1.AssumeRole{}, Settings{AllowedRoles: []string{"arn:aws:iam::*:role/ack/*", "arn:aws:iam::111111111111:role/other"}}, "spec.arn", true},
		"a pattern of no ARN":                 {v1alpha1.AssumeRole{}, Settings{AllowedRoles: []string{"*"}}, "--allowed-role-arn-patterns", true},
		"an empty protected prefix":           {v1alpha1.AssumeRole{}, Settings{ProtectedLabels: []string{""}}, "--protected-label-prefixes", true},
	} {
		t.Run(what, func(t *testing.T) {
			s := assuming(c.spec)
			input, problems := s.AssumeRole(someSubject(), c.settings)
			if len(problems) != 1 || problems[0].Field != c.field || problems[0].Reason != ReasonAssumeRoleInputInvalid || input.Role.ARN != "" {
				t.Errorf("AssumeRole() = %+v, %v, want no role and one problem with %s", input, problems, c.field)
			}
			want := Invalid
			if c.late {
				want = Use
			}
			if got := fullIndex(Options{}, s).Decide(bucketInProd()); got.Outcome != want {
				t.Errorf("Decide() = %s (%s), want %s", got.Outcome, got.Message(), want)
			}
		})
	}
}

func TestAVariableWithoutAValueIsAProblem(t *testing.T) {
	for name, v := range variables {
		variable := "%" + name + "%"
		if v.keyed {
			variable = "%" + name + "(a.b/c)%"
		}
		o := made("", func(s *spec) { s.AssumeRole = &v1alpha1.AssumeRole{SessionName: template("name-" + variable)} })
		o.UID = ""
		_, problems := Compile(o).AssumeRole(Subject{}, Settings{ProtectedLabels: []string{"a.b/"}})
		if len(problems) != 1 || !strings.Contains(problems[0].Message, variable) {
			t.Errorf("%s: the problems are %v, want one that names it", variable, problems)
		}
	}
	if got := len(slices.Collect(maps.Keys(variables))); got != 12 {
		t.Errorf("there are %d variables, want 12", got)
	}
}

func TestABrokenOrDenyingSelectorHasNoRole(t *testing.T) {
	for _, o := range []*v1alpha1.IAMRoleSelector{broken("a"), denying("a")} {
		if input, problems := Compile(o).AssumeRole(someSubject(), Settings{}); len(problems) == 0 || input.Role.ARN != "" {
			t.Errorf("AssumeRole() = %+v, %v, want a problem", input, problems)
		}
	}
}

// TestPathsOfRolesArePassedOffAsNoOther: IAM lets a path hold what begins a path.
func TestPathsOfRolesArePassedOffAsNoOther(t *testing.T) {
	const arn = "arn:aws:iam::222222222222:role/team-b/:role/ack/team-a"
	if _, ok := identity.ParseRoleARN(arn); !ok {
		t.Fatalf("%s is a role", arn)
	}
	for pattern, want := range map[string]bool{
		"arn:aws:iam::*:role/ack/*": false, "arn:aws:iam::2*:role/ack/team-a": false, "arn:*:role/ack/*": false,
		"arn:aws:iam::*:role/team-b/*": true, arn: true,
	} {
		if got := (Settings{AllowedRoles: []string{pattern}}).allows(arn); got != want {
			t.Errorf("%q allows it: %v, want %v", pattern, got, want)
		}
	}
}

func TestPatternsOfAllowedRoles(t *testing.T) {
	const arn = "arn:aws:iam::111111111111:role/ack/team-a"
	for pattern, want := range map[string]bool{
		arn:                                true,
		"arn:aws:iam::*:role/ack/*":        true,
		"arn:*:iam::111111111111:role/*":   true,
		"arn:*":                            true,
		"arn:aws:iam::*:role/*/team-*":     true,
		"arn:aws:iam::*:role/ack/":         false,
		"arn:aws:iam::*:role/ack/team":     false,
		"arn:aws:iam::*:role/ack/*-b":      false,
		"arn:aws:iam::2*:role/ack/*":       false,
		"arn:aws:iam::*:role/ack/team-a/*": false,
		"arn:aws:iam::*team-a*team-a":      false,
		"arn:*:role/ack/*":                 true,
		"":                                 false,
	} {
		if got := (Settings{AllowedRoles: []string{pattern}}).allows(arn); got != want {
			t.Errorf("%q allows it: %v, want %v", pattern, got, want)
		}
	}
}
