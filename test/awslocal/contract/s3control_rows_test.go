package contract_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// s3Control asks S3 Control about the account. Its client in the SDK puts the
// account before the host's name, which no address can have: the requests are
// signed by the SDK's signer, and refusals are errors as the SDK's.
type s3Control struct{ config aws.Config }

func (c s3Control) accountBlock(ctx context.Context, method, body string) error {
	url := *c.config.BaseEndpoint + "/v20180820/configuration/publicAccessBlock"
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(body))
	hash := hex.EncodeToString(sum[:])
	r.Header.Set("X-Amz-Content-Sha256", hash)
	r.Header.Set("X-Amz-Account-Id", account)
	key, err := c.config.Credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	if err := v4.NewSigner().SignHTTP(ctx, key, r, hash, "s3", region, time.Now()); err != nil {
		return err
	}
	response, err := c.config.HTTPClient.Do(r)
	if err != nil {
		return err
	}
	return errors.Join(controlOutcome(response), response.Body.Close())
}

// controlOutcome is the error that an answer says, nil for success.
func controlOutcome(response *http.Response) error {
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode < http.StatusMultipleChoices {
		return err
	}
	var answer struct {
		Error struct{ Code, Message string }
	}
	if err := xml.Unmarshal(text, &answer); err != nil {
		return err
	}
	return &awshttp.ResponseError{
		RequestID: response.Header.Get("X-Amz-Request-Id"),
		ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: response},
			Err:      &smithy.GenericAPIError{Code: answer.Error.Code, Message: answer.Error.Message},
		},
	}
}

const blockPolicies = `<PublicAccessBlockConfiguration xmlns="http://awss3control.amazonaws.com/doc/2018-08-20/"><BlockPublicPolicy>true</BlockPublicPolicy></PublicAccessBlockConfiguration>`

var controlRows = []row{{
	operation: "PutAccountPublicAccessBlock",
	call:      func(w *world) error { return w.s3control.accountBlock(w.ctx, http.MethodPut, blockPolicies) },
}, {
	operation: "GetAccountPublicAccessBlock",
	needs:     []string{"PutAccountPublicAccessBlock"},
	call:      func(w *world) error { return w.s3control.accountBlock(w.ctx, http.MethodGet, "") },
	absent:    "NoSuchPublicAccessBlockConfiguration",
}, {
	operation: "DeleteAccountPublicAccessBlock",
	needs:     []string{"PutAccountPublicAccessBlock"},
	call:      func(w *world) error { return w.s3control.accountBlock(w.ctx, http.MethodDelete, "") },
}}
