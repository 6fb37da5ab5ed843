package oldmodules_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awsauth/kube"
	"github.com/tabard-dev/tabard/awsauth/metric"
	"github.com/tabard-dev/tabard/awslocal"
)

// TestProgramBecomesSomebodyByASecret with awsauth, on its own client-go and with one
// client of its own SDK that follows the Secret.
func TestProgramBecomesSomebodyByASecret(t *testing.T) {
	server, err := awslocal.New(awslocal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.StartPlain("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	key := server.Administrator(awslocal.DefaultAccount)
	client := fake.NewSimpleDynamicClient(scheme, &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "aws", ResourceVersion: "1"},
		Data: map[string][]byte{"aws_access_key_id": []byte(key.AccessKeyID), "aws_secret_access_key": []byte(key.SecretAccessKey)},
	})
	environment := map[string]string{"AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": server.PlainURL()}
	auth, err := awsauth.New(awsauth.Options{
		Source: kube.New(t.Context(), kube.Options{Client: client}), Tokens: kube.Tokens{Client: client},
		Observer: metric.New("author"), Getenv: func(name string) string { return environment[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	config, err := auth.Follow(t.Context(), identity.Identity{Base: identity.Secret, Secret: identity.SecretRef{Namespace: "team-a", Name: "aws"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := sts.NewFromConfig(config).GetCallerIdentity(t.Context(), nil)
	if err != nil || !strings.HasSuffix(aws.ToString(out.Arn), ":user/administrator") {
		t.Errorf("the caller is %v: %v", out, err)
	}
}
