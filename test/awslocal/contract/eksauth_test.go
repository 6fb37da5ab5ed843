package contract_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// eksAuth asks EKS Auth, whose client in the SDK cannot be had here: its one
// request is signed by the SDK's signer, and refusals are errors as the SDK's.
type eksAuth struct{ config aws.Config }

func (c eksAuth) assumeRoleForPodIdentity(ctx context.Context, cluster, token string) error {
	body, err := json.Marshal(map[string]string{"token": token})
	if err != nil {
		return err
	}
	url := *c.config.BaseEndpoint + "/clusters/" + cluster + "/assume-role-for-pod-identity"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	key, err := c.config.Credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, key, r, hex.EncodeToString(sum[:]), "eks-auth", region, time.Now()); err != nil {
		return err
	}
	response, err := c.config.HTTPClient.Do(r)
	if err != nil {
		return err
	}
	return errors.Join(outcome(response), response.Body.Close())
}

// outcome is the error that an answer says, nil for success.
func outcome(response *http.Response) error {
	var answer struct {
		Message     string
		Credentials struct{ SessionToken string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	if response.StatusCode == http.StatusOK {
		if answer.Credentials.SessionToken == "" {
			return errors.New("the answer has no session token")
		}
		return nil
	}
	return &awshttp.ResponseError{
		RequestID: response.Header.Get("X-Amzn-RequestId"),
		ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: response},
			Err:      &smithy.GenericAPIError{Code: response.Header.Get("X-Amzn-ErrorType"), Message: answer.Message},
		},
	}
}
