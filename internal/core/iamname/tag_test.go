package iamname

import (
	"strings"
	"testing"
)

func TestParseTags(t *testing.T) {
	tests := map[string]struct {
		tags []string
		want string
		err  string
	}{
		"none":                           {nil, "", ""},
		"one":                            {[]string{"env=test"}, "env=test", ""},
		"it is split at the first sign":  {[]string{"a=b=c"}, "a=b=c", ""},
		"the value may be empty":         {[]string{"a="}, "a=", ""},
		"given twice":                    {[]string{"a=b", "a=b"}, "a=b", ""},
		"given twice, differently":       {[]string{"a=b", "a=c"}, "", "given twice"},
		"no sign":                        {[]string{"env"}, "", "KEY=VALUE"},
		"no key":                         {[]string{"=test"}, "", "no key"},
		"a key of AWS":                   {[]string{"AWS:env=test"}, "", "only AWS"},
		"a key of Tabard":                {[]string{OwnTags + "managed-cluster=cluster1/uid"}, "", "what it made"},
		"a key of Tabard in other cases": {[]string{"Tabard.dev/hub=x"}, "", "what it made"},
		"a long key":                     {[]string{strings.Repeat("a", 129) + "=b"}, "", "too long"},
		"a character of none":            {[]string{"a=b;c"}, "", "refuses"},
		"a long value":                   {[]string{"a=" + strings.Repeat("b", 257)}, "", "too long"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseTags(test.tags)
			text := ""
			for key, value := range got {
				text += key + "=" + value
			}
			if text != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("the tags are %q, %v, want %q, %q", text, err, test.want, test.err)
			}
		})
	}
	var many []string
	for i := range 41 {
		many = append(many, strings.Repeat("a", i+1)+"=b")
	}
	if _, err := ParseTags(many); err == nil {
		t.Error("41 tags are taken")
	}
}
