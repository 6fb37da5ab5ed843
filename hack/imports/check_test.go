package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func own(path string) string { return product + "/" + path }

func TestCheckNamesEachForbiddenImport(t *testing.T) {
	for name, test := range map[string]struct {
		pkg  pkg
		want []string // package, verb and import of each violation
	}{
		"an api package with apimachinery is fine": {
			pkg: pkg{ImportPath: own("api/identity/v1alpha1"), Imports: []string{"time", "k8s.io/apimachinery/pkg/runtime"}},
		},
		"an api package must not reach client-go": {
			pkg: pkg{
				ImportPath: own("api/identity/v1alpha1"), Imports: []string{"k8s.io/api/core/v1"},
				Deps: []string{"k8s.io/api/core/v1", "k8s.io/client-go/rest"},
			},
			want: []string{"./api/identity/v1alpha1 reaches k8s.io/client-go/rest"},
		},
		"iampolicy must not import another module": {
			pkg:  pkg{ImportPath: own("iampolicy"), Imports: []string{"strings", "sigs.k8s.io/yaml"}},
			want: []string{"./iampolicy imports sigs.k8s.io/yaml"},
		},
		"the local AWS may use iampolicy and go-jose": {
			pkg: pkg{ImportPath: own("awslocal/internal/oidc"), Imports: []string{own("iampolicy"), "github.com/go-jose/go-jose/v4/jwt"}},
		},
		"the local AWS must not reach decisions, even through something allowed": {
			pkg: pkg{
				ImportPath: own("awslocal"), Imports: []string{own("iampolicy")},
				Deps: []string{own("iampolicy"), own("internal/core/issuer")},
			},
			want: []string{"./awslocal reaches ./internal/core/issuer"},
		},
		"awsauth must not import Kubernetes": {
			pkg:  pkg{ImportPath: own("awsauth"), Imports: []string{"github.com/aws/aws-sdk-go-v2/aws", "k8s.io/api/core/v1"}},
			want: []string{"./awsauth imports k8s.io/api/core/v1"},
		},
		"a core package must not take a context, read files, log or throw dice": {
			pkg: pkg{ImportPath: own("internal/core/issuer"), Imports: []string{"context", "crypto/rand", "log/slog", "net/http", "os"}},
			want: []string{
				"./internal/core/issuer imports context", "./internal/core/issuer imports crypto/rand",
				"./internal/core/issuer imports log/slog", "./internal/core/issuer imports net/http",
				"./internal/core/issuer imports os",
			},
		},
		"what the standard library does below a core package is its own business": {
			pkg: pkg{ImportPath: own("internal/core/issuer"), Imports: []string{"crypto/ecdsa"}, Deps: []string{"crypto/ecdsa", "context", "os"}},
		},
		"a core package may use go-jose and another core package": {
			pkg: pkg{ImportPath: own("internal/core/issuer"), Imports: []string{"github.com/go-jose/go-jose/v4", own("internal/core/fault")}},
		},
		"the root of cloud may know faults and smithy, not the SDK": {
			pkg: pkg{ImportPath: own("internal/cloud"), Imports: []string{
				own("internal/core/fault"), "github.com/aws/smithy-go", "github.com/aws/aws-sdk-go-v2/aws",
			}},
			want: []string{"./internal/cloud imports github.com/aws/aws-sdk-go-v2/aws"},
		},
		"an adapter knows no decision": {
			pkg: pkg{ImportPath: own("internal/cloud/bucket"), Imports: []string{
				own("internal/core/fault"), own("internal/core/issuer"), own("internal/core/instancetype"), own("api/identity/v1alpha1"),
			}},
			want: []string{
				"./internal/cloud/bucket imports ./api/identity/v1alpha1", "./internal/cloud/bucket imports ./internal/core/instancetype",
				"./internal/cloud/bucket imports ./internal/core/issuer",
			},
		},
		"the adapter of instance types may know what one is": {
			pkg:  pkg{ImportPath: own("internal/cloud/instancetype"), Imports: []string{own("internal/core/instancetype"), own("internal/core/capacity")}},
			want: []string{"./internal/cloud/instancetype imports ./internal/core/capacity"},
		},
		"an adapter must not know another adapter": {
			pkg:  pkg{ImportPath: own("internal/cloud/bucket"), Imports: []string{own("internal/cloud"), own("internal/cloud/iamrole")}},
			want: []string{"./internal/cloud/bucket imports ./internal/cloud/iamrole"},
		},
		"a controller must not know the SDK, an adapter or another controller": {
			pkg: pkg{ImportPath: own("internal/controller/issuer"), Imports: []string{
				"github.com/aws/smithy-go", own("internal/cloud/bucket"), own("internal/controller/certificate"),
				own("internal/controller"), own("internal/cloud"), own("internal/core/issuer"),
			}},
			want: []string{
				"./internal/controller/issuer imports ./internal/cloud/bucket",
				"./internal/controller/issuer imports ./internal/controller/certificate",
				"./internal/controller/issuer imports github.com/aws/smithy-go",
			},
		},
		"the lab must not share the decisions of what it starts": {
			pkg:  pkg{ImportPath: own("internal/lab"), Imports: []string{own("awslocal"), own("internal/core/inject")}},
			want: []string{"./internal/lab imports ./internal/core/inject"},
		},
		"the lab is for its own commands": {
			pkg: pkg{ImportPath: own("internal/cli/lab"), Imports: []string{own("internal/lab")}},
		},
		"the lab is not for the other commands": {
			pkg:  pkg{ImportPath: own("internal/cli/issuer"), Imports: []string{own("internal/lab")}},
			want: []string{"./internal/cli/issuer imports ./internal/lab"},
		},
		"only cmd imports the wiring": {
			pkg:  pkg{ImportPath: own("hack/demo"), Imports: []string{own("internal/app")}},
			want: []string{"./hack/demo imports ./internal/app"},
		},
		"an example uses what others can import, and its own parts": {
			pkg: pkg{
				ImportPath: own("examples/bucket-controller"), Imports: []string{
					own("examples/bucket-controller/bucket"), own("api/services/v1alpha1"), own("awsauth/kube"), own("roleselector/kube"),
					"sigs.k8s.io/controller-runtime",
				},
				XTestImports: []string{own("internal/testkit")},
			},
		},
		"an example must not use what others cannot import, or another example": {
			pkg: pkg{ImportPath: own("examples/keyless-pod"), Imports: []string{
				own("internal/core/fault"), own("awslocal/internal/sts"), own("examples/bucket-controller/bucket"), own("hack/load"),
			}},
			want: []string{
				"./examples/keyless-pod imports ./awslocal/internal/sts",
				"./examples/keyless-pod imports ./examples/bucket-controller/bucket",
				"./examples/keyless-pod imports ./hack/load",
				"./examples/keyless-pod imports ./internal/core/fault",
			},
		},
		"tests use the standard testing package": {
			pkg:  pkg{ImportPath: own("internal/lab"), XTestImports: []string{"testing", "github.com/stretchr/testify/require"}},
			want: []string{"./internal/lab tests with github.com/stretchr/testify/require"},
		},
		"no AGPL, however deep": {
			pkg:  pkg{ImportPath: own("internal/app"), Deps: []string{"github.com/minio/pkg/v3/policy"}},
			want: []string{"./internal/app reaches github.com/minio/pkg/v3/policy"},
		},
		"a module that only begins like the product's path is foreign": {
			pkg:  pkg{ImportPath: own("iampolicy"), Imports: []string{product + "-extra/glob"}},
			want: []string{"./iampolicy imports " + product + "-extra/glob"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range check([]pkg{test.pkg}, rules) {
				if v.Why == "" {
					t.Errorf("no reason given: %+v", v)
				}
				got = append(got, v.Package+" "+v.Verb+" "+v.Import)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryBanHasAReason(t *testing.T) {
	for _, r := range rules {
		if (r.own != nil || r.foreign != nil) && r.why == "" {
			t.Errorf("the rule for %v limits imports and does not say why", r.in)
		}
		for _, b := range r.deny {
			if b.why == "" || len(b.what) == 0 {
				t.Errorf("the rule for %v has a ban without reason or without packages: %+v", r.in, b)
			}
		}
	}
}

func TestCheckNamesRefusesNewRoomsAndVagueNames(t *testing.T) {
	found := checkNames([]pkg{
		{ImportPath: own("internal/core/issuer")}, {ImportPath: own("internal/helper")}, {ImportPath: own("awslocal/internal/call")},
	})
	want := []violation{
		{"./internal/helper", "internal/helper", "opens the room", "a new room below internal needs an ADR and a place in the list of rooms"},
		{"./internal/helper", "helper", "is named", "name the package by the noun that it is about"},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

func TestDecodeReadsWhatGoListPrints(t *testing.T) {
	got := must.Get(decode(strings.NewReader(`{"ImportPath":"a","Imports":["b"]}` + "\n" + `{"ImportPath":"c"}`)))(t)
	if diff := cmp.Diff([]pkg{{ImportPath: "a", Imports: []string{"b"}}, {ImportPath: "c"}}, got); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
	if _, err := decode(strings.NewReader(`{"ImportPath":`)); err == nil {
		t.Error("cut-off output was taken for a list of packages")
	}
}
