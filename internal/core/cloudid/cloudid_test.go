package cloudid_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/cloudid"
)

func TestWhatMayBeAnID(t *testing.T) {
	const id = "11111111-2222-3333-4444-55555555555A"
	for name, c := range map[string]struct {
		is       func(string) bool
		yes, not []string
	}{
		"an id of Azure":   {cloudid.IsUUID, []string{id, strings.ToLower(id)}, []string{"", id + "0", "{" + id + "}", id[1:], "g" + id[1:]}},
		"zeros":            {cloudid.IsZero, []string{"00000000-0000-0000-0000-000000000000"}, []string{id}},
		"a resource group": {cloudid.IsResourceGroup, []string{"a", "my-group_(1)", "a.b", strings.Repeat("a", 90)}, []string{"", "a.", "a b", "a/b", strings.Repeat("a", 91)}},
		"a region":         {cloudid.IsAzureRegion, []string{"westeurope", "eastus2"}, []string{"", "West Europe", "west-europe", strings.Repeat("a", 65)}},
		"a number":         {cloudid.IsProjectNumber, []string{"1", "123456789012"}, []string{"", "-1", "project-one", strings.Repeat("1", 21)}},
		"a project":        {cloudid.IsProject, []string{"abc-12", strings.Repeat("a", 30)}, []string{"", "abcde", "1bcdef", "abcde-", "Abcdef", strings.Repeat("a", 31)}},
		"a service account": {
			cloudid.IsServiceAccount,
			[]string{"keeper", strings.Repeat("a", 30)},
			[]string{"", "short", "1bcdef", "abcde-", "a_bcdef", strings.Repeat("a", 31)},
		},
		"a pool":         {cloudid.IsPool, []string{"pool", "gcp-pool", "1-2-", strings.Repeat("a", 32)}, []string{"", "abc", "Pool", "a_bcd", strings.Repeat("a", 33)}},
		"a pool's owner": {cloudid.IsReserved, []string{"gcp-pool"}, []string{"pool", "gcp", "my-gcp-pool"}},
		"an e-mail": {
			cloudid.IsEmail,
			[]string{"keeper@project-one.iam.gserviceaccount.com", "keeper@project.example.com:one.iam.gserviceaccount.com"},
			[]string{"", "keeper@example.com", "me@project-one.iam.gserviceaccount.com", "keeper@project-one.iam-gserviceaccount.com", "keeper@project-one.iam.gserviceaccount.com.example", "keeper@a/b.iam.gserviceaccount.com"},
		},
	} {
		for _, text := range c.yes {
			if !c.is(text) {
				t.Errorf("%s: %q is none", name, text)
			}
		}
		for _, text := range c.not {
			if c.is(text) || c.is(text+"\n") {
				t.Errorf("%s: %q is one", name, text)
			}
		}
	}
}

func TestNamesOfGoogleCloud(t *testing.T) {
	if got := cloudid.Email("keeper", "project-one"); got != "keeper@project-one.iam.gserviceaccount.com" || !cloudid.IsEmail(got) {
		t.Error(got)
	}
	const want = "//iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/pool/providers/provider"
	if got := cloudid.Audience("123", "pool", "provider"); got != want {
		t.Error(got)
	}
	for _, text := range []string{want, "https:" + want} {
		if number, pool, provider, ok := cloudid.OfAudience(text); !ok || number != "123" || pool != "pool" || provider != "provider" {
			t.Errorf("%q: %q %q %q %v", text, number, pool, provider, ok)
		}
	}
	for _, text := range []string{"", "http:" + want, want + "/", want + "\n/", "x" + want, "//iam.googleapis.com/projects/1", strings.Replace(want, ".", "x", 1)} {
		if number, pool, provider, ok := cloudid.OfAudience(text); ok || number+pool+provider != "" {
			t.Errorf("%q: %q %q %q %v", text, number, pool, provider, ok)
		}
	}
}
