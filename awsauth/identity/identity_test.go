package identity_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

func TestDecideFollowsTheTable(t *testing.T) {
	const role, file = "arn:aws:iam::123456789012:role/a", "/token"
	secret := identity.SecretRef{Namespace: "ns", Name: "keys"}
	const (
		onlyRole = "AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing"
		onlyFile = "AWS_WEB_IDENTITY_TOKEN_FILE is set but AWS_ROLE_ARN is missing"
		nothing  = "no AWS credentials configured: neither IRSA environment variables nor credentialsSecret specified"
	)
	cases := map[string]struct {
		env  identity.Environment
		wish identity.Wish
		want identity.Identity
		fail string
		code string
	}{
		"both variables are the web identity": {
			env:  identity.Environment{RoleARN: role, TokenFile: file},
			want: identity.Identity{Base: identity.WebIdentity},
		},
		"the web identity goes before all else": {
			env:  identity.Environment{RoleARN: role, TokenFile: file, Container: true},
			wish: identity.Wish{Secret: secret, AllowContainer: true, AllowDefaultChain: true},
			want: identity.Identity{Base: identity.WebIdentity},
		},
		"only the role is an error": {
			env: identity.Environment{RoleARN: role}, fail: onlyRole, code: identity.CodeWebIdentityIncomplete,
		},
		"only the role is an error before the Secret and the rest": {
			env:  identity.Environment{RoleARN: role, Container: true},
			wish: identity.Wish{Secret: secret, AllowContainer: true, AllowDefaultChain: true},
			fail: onlyRole, code: identity.CodeWebIdentityIncomplete,
		},
		"only the token file is an error": {
			env: identity.Environment{TokenFile: file}, fail: onlyFile, code: identity.CodeWebIdentityIncomplete,
		},
		"only the token file is an error before the Secret and the rest": {
			env:  identity.Environment{TokenFile: file, Container: true},
			wish: identity.Wish{Secret: secret, AllowContainer: true, AllowDefaultChain: true},
			fail: onlyFile, code: identity.CodeWebIdentityIncomplete,
		},
		"the Secret otherwise": {
			env:  identity.Environment{Container: true},
			wish: identity.Wish{Secret: secret, AllowContainer: true, AllowDefaultChain: true},
			want: identity.Identity{Base: identity.Secret, Secret: secret},
		},
		"the container's credentials if they are asked for": {
			env:  identity.Environment{Container: true},
			wish: identity.Wish{AllowContainer: true, AllowDefaultChain: true},
			want: identity.Identity{Base: identity.Container},
		},
		"nothing if nobody asked for the container's": {
			env: identity.Environment{Container: true}, fail: nothing, code: identity.CodeCredentialsMissing,
		},
		"nothing if the container has none": {
			wish: identity.Wish{AllowContainer: true}, fail: nothing, code: identity.CodeCredentialsMissing,
		},
		"the default chain if it is asked for": {
			wish: identity.Wish{AllowDefaultChain: true}, want: identity.Identity{Base: identity.DefaultChain},
		},
		"nothing otherwise": {fail: nothing, code: identity.CodeCredentialsMissing},
		"nothing, and for which object": {
			wish: identity.Wish{For: "machineSet workers"}, code: identity.CodeCredentialsMissing,
			fail: "no AWS credentials configured for machineSet workers: neither IRSA environment variables nor credentialsSecret specified",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := identity.Decide(c.env, c.wish)
			if got != c.want {
				t.Errorf("identity %+v, want %+v", got, c.want)
			}
			if c.fail == "" {
				if err != nil {
					t.Errorf("error %v", err)
				}
				return
			}
			var known *identity.Error
			if !errors.As(err, &known) || known.Error() != c.fail || known.Code != c.code {
				t.Errorf("error %v, want %s: %s", err, c.code, c.fail)
			}
		})
	}
}

func TestIdentitiesAreValues(t *testing.T) {
	role := func() identity.Role {
		return identity.Role{
			ARN: "arn:aws:iam::123456789012:role/a", ExternalID: "x", Tags: map[string]string{"b": "2", "a": "1"},
			PolicyARNs: []string{"arn:aws:iam::aws:policy/ReadOnlyAccess"},
		}
	}
	urls := map[string]string{"ec2": "https://ec2.example", "sts": "https://sts.example"}
	make := func() identity.Identity {
		endpoints, err := identity.NewEndpoints(urls)
		if err != nil {
			t.Fatal(err)
		}
		return identity.Identity{Base: identity.WebIdentity, Endpoints: endpoints}.Via(role()).In("us-east-1")
	}
	one, two := make(), make()
	if one != two {
		t.Errorf("equal identities differ: %v and %v", one, two)
	}
	if diff := cmp.Diff([]identity.Role{role()}, one.Roles.Roles()); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
	changed := role()
	changed.Tags["a"] = "other"
	if one == two.Via(role()) || one == (identity.Identity{Base: one.Base, Region: one.Region, Endpoints: one.Endpoints}).Via(changed) {
		t.Error("different chains are equal")
	}
}

func TestRolesAreAssumedInTheOrderGiven(t *testing.T) {
	id := identity.Identity{}.Assuming("").Assuming("first").Assuming("second")
	var got []string
	for _, role := range id.Roles.Roles() {
		got = append(got, role.ARN)
	}
	if diff := cmp.Diff([]string{"first", "second"}, got); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
	if id.RoleARN() != "second" || (identity.Identity{}).RoleARN() != "" {
		t.Errorf("the last role is %q, without any %q", id.RoleARN(), identity.Identity{}.RoleARN())
	}
}

func TestEndpointsAreFoundByEveryNameOfAService(t *testing.T) {
	endpoints, err := identity.NewEndpoints(map[string]string{
		"elasticloadbalancing": "https://elb.example", "tagging": "https://tag.example/path", "route53": "https://r53.example",
	})
	if err != nil {
		t.Fatal(err)
	}
	for service, want := range map[string]string{
		"Elastic Load Balancing": "https://elb.example", "Elastic Load Balancing v2": "https://elb.example",
		"Resource Groups Tagging API": "https://tag.example/path", "Route 53": "https://r53.example", "EC2": "",
	} {
		if got := endpoints.URL(service); got != want {
			t.Errorf("%s: %q, want %q", service, got, want)
		}
	}
	if only := endpoints.Only("route53"); only.URL("Route 53") == "" || only.URL("tagging") != "" {
		t.Errorf("only Route 53 is %v", only)
	}
}

func TestUnusableEndpointsAreRefused(t *testing.T) {
	for _, url := range []string{"http://sts.example", "sts.example", "https://", "https://u:hush@sts.example", "https://sts.example?a=b", "https://sts.example#a", ":"} {
		_, err := identity.NewEndpoints(map[string]string{"sts": url})
		if err == nil {
			t.Errorf("%s was taken", url)
		} else if strings.Contains(err.Error(), "hush") {
			t.Errorf("the error holds a password: %v", err)
		}
	}
	if _, err := identity.NewEndpoints(map[string]string{" ": "https://sts.example"}); err == nil {
		t.Error("an endpoint of no service was taken")
	}
}

func TestPartitionsAreToldByTheRegionsShape(t *testing.T) {
	for region, want := range map[string][2]string{
		"us-east-1": {"aws", "amazonaws.com"}, "ap-southeast-5": {"aws", "amazonaws.com"}, "us-isometric-1": {"aws", "amazonaws.com"},
		"cn-north-1": {"aws-cn", "amazonaws.com.cn"}, "us-gov-west-1": {"aws-us-gov", "amazonaws.com"},
		"us-iso-east-1": {"aws-iso", "c2s.ic.gov"}, "us-isob-east-1": {"aws-iso-b", "sc2s.sgov.gov"},
		"eu-isoe-west-1": {"aws-iso-e", "cloud.adc-e.uk"}, "us-isof-south-1": {"aws-iso-f", "csp.hci.ic.gov"}, "eusc-de-east-1": {"aws-eusc", "amazonaws.eu"},
	} {
		if got := [2]string{identity.Partition(region), identity.DNSSuffix(region)}; got != want {
			t.Errorf("%s: %s, want %s", region, got, want)
		}
	}
}

func TestAnARNIsTakenApartAndWritten(t *testing.T) {
	for text, want := range map[string]identity.ARN{
		"arn:aws-cn:iam::123456789012:role/a":       {Partition: "aws-cn", Service: "iam", Account: "123456789012", Resource: "role/a"},
		"arn:aws:s3:::b/k":                          {Partition: "aws", Service: "s3", Resource: "b/k"},
		"arn:aws:eks:eu-west-1:1:a:b:c":             {Partition: "aws", Service: "eks", Region: "eu-west-1", Account: "1", Resource: "a:b:c"},
		"arn:::::":                                  {},
		"":                                          {},
		"arn:aws:iam::123456789012":                 {},
		"ARN:aws:iam::123456789012:role/a":          {},
		"arn :aws:iam::123456789012:role/a":         {},
		"xarn:aws:iam::123456789012:role/a:b:c:d:e": {},
	} {
		got, ok := identity.ParseARN(text)
		if got != want || ok && got.String() != text || ok != (want != identity.ARN{} || text == "arn:::::") {
			t.Errorf("%q: %+v %t, want %+v", text, got, ok, want)
		}
		if partition := identity.PartitionOfARN(text); partition != want.Partition {
			t.Errorf("%q: partition %q, want %q", text, partition, want.Partition)
		}
	}
}

func TestRegionsAreOneLabelOfAHost(t *testing.T) {
	for text, want := range map[string]bool{
		"us-east-1": true, "local": true, "": false, "us-east-1.evil.example": false, "evil.example/#": false, "-a": false, "a-": false, "US": false, "a@b": false,
	} {
		if got := identity.IsRegion(text); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}
