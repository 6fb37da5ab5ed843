package api

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	lost   = "the value of a label is null"
	noTerm = "the label selector has no term"
)

// nulls are parts that a template made null because a value was left empty, and what
// becomes of them: a refusal, or what is stored of the spec besides the ARN.
var nulls = map[string]struct{ refused, stored string }{
	// A label whose value is gone.
	"namespaceSelector: {labelSelector: {matchLabels: {team: null}}}":                                   {refused: lost},
	"namespaceSelector: {names: [], labelSelector: {matchLabels: {team: null}}}":                        {refused: lost},
	"namespaceSelector: {names: [prod], labelSelector: {matchLabels: {team: null}}}":                    {refused: lost},
	"namespaceSelector: {labelSelector: {matchLabels: {team: null, env: a}}}":                           {refused: lost},
	"effect: Use, resourceLabelSelector: {matchLabels: {app: null}}":                                    {refused: lost},
	"resourceLabelSelector: {matchLabels: {app: null, tier: web}}":                                      {refused: lost},
	"namespaceSelector: {labelSelector: {matchExpressions: [{key: a, operator: In, values: [null]}]}}":  {refused: "must be of type string"},
	"namespaceSelector: {labelSelector: {matchExpressions: [{key: a, operator: In, values: null}]}}":    {refused: "In and NotIn need values"},
	"namespaceSelector: {labelSelector: {matchExpressions: [{key: a, operator: NotIn, values: null}]}}": {refused: "In and NotIn need values"},
	"namespaceSelector: {labelSelector: {matchExpressions: [{key: null, operator: Exists}]}}":           {refused: required},
	"namespaceSelector: {labelSelector: {matchExpressions: [{key: a, operator: null}]}}":                {refused: required},
	// All terms are gone.
	"namespaceSelector: {labelSelector: {matchLabels: null}}":            {refused: noTerm},
	"namespaceSelector: {names: [], labelSelector: {matchLabels: null}}": {refused: noTerm},
	"namespaceSelector: {labelSelector: {matchExpressions: null}}":       {refused: noTerm},
	"namespaceSelector: {labelSelector: {matchExpressions: [null]}}":     {refused: "must be of type object"},
	"resourceLabelSelector: {matchLabels: null}":                         {refused: noTerm},
	"resourceLabelSelector: {matchExpressions: null}":                    {refused: noTerm},
	"resourceLabelSelector: {matchExpressions: [null]}":                  {refused: "must be of type object"},
	// The names are gone.
	"namespaceSelector: {names: null}":         {refused: "names or labelSelector is required"},
	"namespaceSelector: {names: [null]}":       {refused: "must be of type string"},
	"namespaceSelector: {labelSelector: null}": {refused: "names or labelSelector is required"},
	// All of a type is gone.
	"resourceTypeSelector: [null]":          {refused: "must be of type object"},
	"resourceTypeSelector: [{group: null}]": {refused: "at least one of apiVersion, group, version and kind"},
	// Namespaces are named: it is as if it were left out.
	"namespaceSelector: {names: [prod], labelSelector: {matchLabels: null}}": {
		stored: `{"namespaceSelector":{"labelSelector":{},"names":["prod"]}}`,
	},
	"namespaceSelector: {names: [prod]}, resourceLabelSelector: {matchLabels: null}": {
		stored: `{"namespaceSelector":{"names":["prod"]},"resourceLabelSelector":{}}`,
	},
	// The API server drops these before any rule sees them: warnings and tabard
	// selector test are for them.
	"namespaceSelector: null":                                          {stored: `{}`},
	"resourceLabelSelector: null":                                      {stored: `{}`},
	"resourceTypeSelector: null":                                       {stored: `{}`},
	"namespaceSelector: {names: [], labelSelector: null}":              {stored: `{"namespaceSelector":{"names":[]}}`},
	"resourceTypeSelector: [{group: s3.services.k8s.aws, kind: null}]": {stored: `{"resourceTypeSelector":[{"group":"s3.services.k8s.aws"}]}`},
	"resourceTypeSelector: [{group: null, kind: Bucket}]":              {stored: `{"resourceTypeSelector":[{"kind":"Bucket"}]}`},
	"resourceTypeSelector: [{apiVersion: null, kind: Bucket}]":         {stored: `{"resourceTypeSelector":[{"kind":"Bucket"}]}`},
}

// testNulls: a chart's value that was left empty
// does not make a selector wider in silence.
func (u *user) testNulls() {
	t := u.t
	for _, text := range sorted(nulls) {
		for _, validation := range []string{metav1.FieldValidationIgnore, metav1.FieldValidationStrict} {
			t.Run(text+"/"+validation, func(t *testing.T) {
				stored, err := u.try(selectors, with(text), validation)
				judge(t, err, nulls[text].refused)
				if err != nil || nulls[text].refused != "" {
					return
				}
				spec := stored.Object["spec"].(map[string]any)
				delete(spec, "arn")
				if got, err := json.Marshal(spec); string(got) != nulls[text].stored {
					t.Errorf("%s is stored (%v), want %s", got, err, nulls[text].stored)
				}
			})
		}
	}
	// What helm upgrade and kubectl apply send where the value was there before: a merge
	// patch, in which null removes the label.
	u.create(selectors, "labelled", with("namespaceSelector: {names: [], labelSelector: {matchLabels: {team: a}}}"))
	_, err := u.client.Resource(selectors).Patch(t.Context(), "labelled", "application/merge-patch+json",
		[]byte(`{"spec":{"namespaceSelector":{"labelSelector":{"matchLabels":{"team":null}}}}}`), metav1.PatchOptions{})
	judge(t, err, noTerm)
	_, err = u.try(choices, "spec: {selectorRef: {name: a}, resourceLabelSelector: {matchLabels: {tier: null}}}", metav1.FieldValidationStrict)
	judge(t, err, lost)
}
