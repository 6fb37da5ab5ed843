package docs

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.RunAsProgram(m, standInForAWS)) }

// standInForAWS does with the SDK what the examples have the aws command line do, which not
// every machine has. make conformance types them with the real one.
func standInForAWS(args []string) error {
	ctx := context.Background() //nolint:forbidigo // this is a program, and ends by itself
	cfg, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(awshttp.NewBuildableClient()))
	if err != nil {
		return err
	}
	const makePolicy = "iam create-policy --policy-name platform --policy-document "
	switch line := strings.Join(args, " "); {
	case strings.HasPrefix(line, makePolicy):
		document := strings.TrimPrefix(line, makePolicy)
		_, err := iam.NewFromConfig(cfg).CreatePolicy(ctx, &iam.CreatePolicyInput{PolicyName: aws.String("platform"), PolicyDocument: &document})
		return err
	case line == "sts get-caller-identity":
		out, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, nil)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(map[string]*string{"UserId": out.UserId, "Account": out.Account, "Arn": out.Arn})
	case line == "iam get-role --role-name app --query Role.AssumeRolePolicyDocument":
		out, err := iam.NewFromConfig(cfg).GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("app")})
		if err != nil {
			return err
		}
		document, err := url.QueryUnescape(aws.ToString(out.Role.AssumeRolePolicyDocument))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(os.Stdout, document)
		return err
	default:
		return fmt.Errorf("the stand-in for aws does not know %q", line)
	}
}
