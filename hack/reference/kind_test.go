package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const manifest = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: badges.example.dev}
spec:
  group: example.dev
  scope: Cluster
  names: {kind: Badge, plural: badges, shortNames: [bd]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        description: |-
          Badge is
          for this test.
        type: object
        properties:
          spec:
            description: What is wanted.
            type: object
            required: [owner]
            properties:
              owner:
                description: Who | what.
                type: object
                properties:
                  kind: {type: string, enum: [User, Group], default: User}
              names:
                type: array
                items: {type: object, properties: {first: {type: string}}}
                x-kubernetes-validations:
                - {rule: "true", message: names are unique}
`

// TestAKindOfWhichNothingIsSaidHereHasAPage is of the worked example's.
func TestAKindOfWhichNothingIsSaidHereHasAPage(t *testing.T) {
	manifest := must.Get(os.ReadFile("../../internal/testkit/worked/testdata/mailbox.yaml"))(t)
	kind, page, err := kindPage(manifest)
	if err != nil || kind != "Mailbox" || !strings.Contains(page, "\n| `bucket` | string |  | The bucket's name. |\n") {
		t.Errorf("the page of %s, %v:\n%s", kind, err, page)
	}
}

func TestKindPageListsEveryFieldWithTypeDefaultAndRules(t *testing.T) {
	kind, got, err := kindPage([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"# Badge", "",
		"`apiVersion: example.dev/v1`, cluster, short name `bd`.", "",
		"Badge is for this test.", "",
		"## spec", "",
		"What is wanted.", "",
		"| Field | Type | Default | Meaning |",
		"| --- | --- | --- | --- |",
		"| `names` | list of object |  | Rule: names are unique. |",
		"| `names[].first` | string |  |  |",
		`| ` + "`owner`" + ` | object | required | Who \| what. |`,
		"| `owner.kind` | `User` or `Group` | `\"User\"` |  |",
		"",
	}, "\n")
	if kind != "Badge" {
		t.Errorf("kind %q, want Badge", kind)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
}

func TestKindPageRefusesWhatIsNoCRD(t *testing.T) {
	for name, text := range map[string]string{
		"no YAML":            "{",
		"an unknown field":   "specification: {}",
		"no version":         "kind: CustomResourceDefinition",
		"a version and none": "spec: {versions: [{name: v1}]}",
	} {
		t.Run(name, func(t *testing.T) {
			if _, page, err := kindPage([]byte(text)); err == nil {
				t.Errorf("got the page %q, want an error", page)
			}
		})
	}
}
