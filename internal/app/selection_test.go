package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChoose(t *testing.T) {
	known := []string{"capacity", "certificate", "issuer", "role"}
	on := []string{"certificate", "issuer", "role"}
	cases := map[string]struct {
		flag    string
		want    []string
		refused bool
	}{
		"a star is all of them":                      {flag: "*", want: on},
		"a name is that one":                         {flag: "issuer", want: []string{"issuer"}},
		"order and blanks do not matter":             {flag: " role , issuer", want: []string{"issuer", "role"}},
		"what is off is in by its name":              {flag: "capacity", want: []string{"capacity"}},
		"what is off is added to all by its name":    {flag: "*,capacity", want: known},
		"a minus takes one out of the star":          {flag: "*,-issuer", want: []string{"certificate", "role"}},
		"a minus alone takes one out of all":         {flag: "-issuer", want: []string{"certificate", "role"}},
		"an unknown name is refused":                 {flag: "isuer", refused: true},
		"an unknown name cannot be taken out either": {flag: "-isuer", refused: true},
		"nothing chosen is refused":                  {flag: "", refused: true},
		"everything taken out is refused":            {flag: "issuer,-issuer", refused: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := choose(tc.flag, known, []string{"capacity"})
			if (err != nil) != tc.refused {
				t.Fatalf("choose(%q) error = %v, want refused %v", tc.flag, err, tc.refused)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
