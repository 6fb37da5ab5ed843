package operator

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestARoleIsOfOneCloud(t *testing.T) {
	const id = "11111111-2222-3333-4444-555555555555"
	azure := Azure{Client: id, Tenant: id, Subscription: id}
	const audience = "//iam.googleapis.com/projects/12/locations/global/workloadIdentityPools/pool/providers/provider"
	const arn = "arn:aws:iam::111122223333:role/keeper"
	for name, c := range map[string]struct {
		given Given
		want  string // the variables, or a part of the error
		err   error
	}{
		"none":                     {Given{}, "", ErrNoRole},
		"AWS":                      {Given{ARN: arn}, "ROLEARN", nil},
		"AWS, another partition":   {Given{ARN: strings.Replace(arn, "aws", "aws-cn", 1)}, "expected the partition aws", nil},
		"Azure":                    {Given{Azure: azure}, "CLIENTID SUBSCRIPTIONID TENANTID", nil},
		"Azure, a part":            {Given{Azure: Azure{Region: "westeurope"}}, "the client id is", nil},
		"Google Cloud":             {Given{Audience: audience, ServiceAccount: "keeper@project.iam.gserviceaccount.com"}, "AUDIENCE POOL_ID PROJECT_NUMBER PROVIDER_ID SERVICE_ACCOUNT_EMAIL", nil},
		"Google Cloud, no account": {Given{Audience: audience}, "the service account is", nil},
		"Google Cloud, no pool":    {Given{ServiceAccount: "keeper@project.iam.gserviceaccount.com"}, "the audience is", nil},
		"two":                      {Given{ARN: arn, Azure: azure}, "", ErrSeveralRoles},
		"three":                    {Given{ARN: arn, Azure: azure, Audience: audience}, "", ErrSeveralRoles},
	} {
		t.Run(name, func(t *testing.T) {
			values, err := c.given.Values("aws")
			got := strings.Join(slices.Sorted(maps.Keys(values)), " ")
			if err != nil {
				got = err.Error()
			}
			if c.err != nil && !errors.Is(err, c.err) || !strings.Contains(got, c.want) || (values == nil) != (err != nil) {
				t.Errorf("%v, %v, want %q %v", values, err, c.want, c.err)
			}
		})
	}
}
