package awslocal

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/region"
)

func TestEveryHostOfThePartitionHasACertificate(t *testing.T) {
	for in, hosts := range map[string]map[string]bool{
		"us-east-1": {
			"localhost": true, "b.s3.localhost": true, "awslocal.test": true,
			"sts.amazonaws.com": true, "iam.amazonaws.com": true, "s3.amazonaws.com": true, "b.s3.amazonaws.com": true,
			"sts.us-east-1.amazonaws.com": true, "sts.eu-west-1.amazonaws.com": true, "STS.EU-West-1.amazonaws.com": true, "sts-fips.us-west-2.amazonaws.com": true,
			"b.s3.ap-south-1.amazonaws.com": true, "s3.ap-south-1.amazonaws.com": true, "b.s3-us-west-2.amazonaws.com": true, "b.s3.dualstack.eu-west-1.amazonaws.com": true,
			"123456789012.s3-control.eu-west-1.amazonaws.com": true,
			"eks.eu-central-1.amazonaws.com":                  true, "eks-auth.eu-central-1.api.aws": true, "ec2.sa-east-1.amazonaws.com": true,
			"sts.mars-1.amazonaws.com": false, "sts.cn-north-1.amazonaws.com.cn": false, "a.b.s3.eu-west-1.amazonaws.com": false, "example.com": false, "amazonaws.com": false,
		},
		"cn-north-1": {"sts.cn-northwest-1.amazonaws.com.cn": true, "b.s3.cn-north-1.amazonaws.com.cn": true, "sts.eu-west-1.amazonaws.com": false},
	} {
		server, err := New(Options{Region: in, Hosts: []string{"awslocal.test"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start("127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close(context.WithoutCancel(t.Context())) })
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(server.CACertificate())
		for host, want := range hosts {
			conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: pool, ServerName: host}}).DialContext(t.Context(), "tcp", server.URL()[len("https://"):])
			if got := err == nil; got != want {
				t.Errorf("in %s, %s has a certificate: %v, want %v: %v", in, host, got, want, err)
			}
			if err == nil {
				_ = conn.Close()
			}
		}
	}
}

// TestNamesOfHostsCostNothing asks for ten thousand hosts.
func TestNamesOfHostsCostNothing(t *testing.T) {
	server, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := newCertificates(server.authority, "aws", server.hosts(":0"))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(host string) *tls.Certificate {
		got, err := all.get(&tls.ClientHelloInfo{ServerName: host})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	shown := map[*tls.Certificate]bool{}
	for i := range 10_000 {
		shown[ask(fmt.Sprintf("b%d.s3.eu-west-1.amazonaws.com", i))] = true
		shown[ask(fmt.Sprintf("sts.x-y-%d.amazonaws.com", i))] = true
		shown[ask(fmt.Sprintf("%d.example", i))] = true
	}
	if len(shown) != 2 || len(all.issued) != 1 {
		t.Errorf("for hosts of one region and others, %d certificates are shown and %d were made", len(shown), len(all.issued))
	}
	for _, one := range region.Of("aws") {
		shown[ask("sts."+one.Name+".amazonaws.com")] = true
	}
	if want := len(region.Of("aws")); len(shown) != want {
		t.Errorf("for all regions %d certificates are shown, want %d", len(shown), want)
	}
}
