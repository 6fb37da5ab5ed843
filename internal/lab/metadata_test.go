package lab

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// The SDK is the judge of whether a program without credentials asks the metadata
// service of the machine.
func TestTheSDKNeverAsksTheMachinesMetadataService(t *testing.T) {
	for name, variables := range map[string][]Variable{
		"with both variables":                     MetadataVariables(),
		"where the first is not known to the SDK": MetadataVariables()[1:],
	} {
		t.Run(name, func(t *testing.T) {
			setEnvironment(t, nil)
			for _, variable := range variables {
				t.Setenv(variable.Name, variable.Value)
			}
			t.Setenv("AWS_MAX_ATTEMPTS", "1")
			loaded := must.Get(config.LoadDefaultConfig(t.Context(), config.WithRegion(Region)))(t)
			err := credentialsError(t.Context(), loaded)
			if err == nil || strings.Contains(err.Error(), "169.254") || !strings.Contains(err.Error(), "127.0.0.1:1") && !strings.Contains(err.Error(), "disabled") {
				t.Errorf("the SDK says %v; want that the metadata service is disabled or refuses at 127.0.0.1:1", err)
			}
		})
	}
}

func credentialsError(ctx context.Context, loaded aws.Config) error {
	_, err := loaded.Credentials.Retrieve(ctx)
	return err
}
