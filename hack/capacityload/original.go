package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/hack/capacityload/stage"
)

// original plays how capa-annotator asks AWS, and nothing else of it. Each
// reconcile makes its clients anew, so each exchanges the token anew. The list of
// regions is kept by access key, which is another one each time; the list of
// types is kept by region for a day. For regions that its SDK knew it asked for no
// list of regions.
type original struct {
	stage *stage.Stage
	roots *x509.CertPool
	// endpoint is that of all services.
	endpoint, region string
	regions          map[string]bool
	// listed is when the list of types was read.
	listed time.Time
}

// originalHour plays as many reconciles as there are resyncs of all objects.
func originalHour(ctx context.Context, s settings, on *stage.Stage) (int, error) {
	env := on.Environment(true)
	authority, err := os.ReadFile(env["AWS_CA_BUNDLE"])
	if err != nil {
		return 0, err
	}
	o := &original{stage: on, roots: x509.NewCertPool(), endpoint: env["AWS_ENDPOINT_URL"], region: env["AWS_REGION"], regions: map[string]bool{}}
	o.roots.AppendCertsFromPEM(authority)
	passes := 0
	for i := range looks {
		if i > 0 {
			if err := on.Advance(ctx, resync); err != nil {
				return passes, err
			}
		}
		for range s.hourly {
			if err := o.reconcile(ctx); err != nil {
				return passes, err
			}
			passes++
		}
	}
	return passes, nil
}

func (o *original) reconcile(ctx context.Context) error {
	// The original leaves its connections open; this program would run out of them.
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: o.roots, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	token, err := os.ReadFile(o.stage.TokenFile)
	if err != nil {
		return err
	}
	got, err := sts.New(sts.Options{Region: o.region, BaseEndpoint: &o.endpoint, HTTPClient: client}).AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &o.stage.RoleARN, RoleSessionName: aws.String("original"), WebIdentityToken: aws.String(string(token)),
	})
	if err != nil {
		return err
	}
	key := got.Credentials
	asker := ec2.New(ec2.Options{
		Region: o.region, BaseEndpoint: &o.endpoint, HTTPClient: client,
		Credentials: credentials.NewStaticCredentialsProvider(*key.AccessKeyId, *key.SecretAccessKey, *key.SessionToken),
	})
	if !o.regions[*key.AccessKeyId] {
		if _, err := asker.DescribeRegions(ctx, &ec2.DescribeRegionsInput{AllRegions: aws.Bool(true)}); err != nil {
			return err
		}
		o.regions[*key.AccessKeyId] = true
	}
	if o.stage.Now().Sub(o.listed) < 24*time.Hour {
		return nil
	}
	pages := ec2.NewDescribeInstanceTypesPaginator(asker, &ec2.DescribeInstanceTypesInput{})
	for pages.HasMorePages() {
		if _, err := pages.NextPage(ctx); err != nil {
			return err
		}
	}
	o.listed = o.stage.Now()
	return nil
}
