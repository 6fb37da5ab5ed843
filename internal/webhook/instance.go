package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// The instance metadata service of EC2. AWS: EC2 user guide, "Use the Instance
// Metadata Service", and "Instance identity documents". The variable is that of
// the AWS SDKs.
const (
	metadataEndpoint         = "http://169.254.169.254"
	metadataEndpointVariable = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
	metadataTimeout          = 5 * time.Second
	maxMetadata              = 64 << 10
)

// instance is what EC2 says of the machine.
type instance struct {
	AccountID string `json:"accountId"`
	Region    string `json:"region"`
}

// askInstance fills in what role ARNs are composed with, if nobody has said it:
// the account of the instance that the webhook runs on, and its partition.
func (o *Options) askInstance(ctx context.Context) error {
	if !o.ComposeRoleARN || o.AccountID != "" {
		return nil
	}
	found, err := readInstance(ctx, cmp.Or(os.Getenv(metadataEndpointVariable), metadataEndpoint))
	if err != nil {
		return fmt.Errorf("--compose-role-arn without --account-id and --partition asks EC2 for them: %w", err)
	}
	o.Settings.ComposeIn(found.AccountID, found.Region)
	return nil
}

// readInstance reads the instance identity document.
func readInstance(ctx context.Context, endpoint string) (instance, error) {
	ctx, cancel := context.WithTimeout(ctx, metadataTimeout)
	defer cancel()
	endpoint = strings.TrimSuffix(endpoint, "/")
	token, err := askMetadata(ctx, http.MethodPut, endpoint+"/latest/api/token", "X-aws-ec2-metadata-token-ttl-seconds", "60")
	if err != nil {
		return instance{}, err
	}
	text, err := askMetadata(ctx, http.MethodGet, endpoint+"/latest/dynamic/instance-identity/document", "X-aws-ec2-metadata-token", string(token))
	if err != nil {
		return instance{}, err
	}
	var found instance
	if err := json.Unmarshal(text, &found); err != nil {
		return instance{}, fmt.Errorf("the instance identity document is no JSON object: %w", err)
	}
	if found.AccountID == "" || found.Region == "" {
		return instance{}, fmt.Errorf("the instance identity document names account %q and region %q, expected both", found.AccountID, found.Region)
	}
	return found, nil
}

// askMetadata asks with one header. The service is on this machine: no proxy may
// see the question.
func askMetadata(ctx context.Context, method, url, header, value string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set(header, value)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	text, err := io.ReadAll(io.LimitReader(response.Body, maxMetadata))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s answers %s", method, url, response.Status)
	}
	return text, err
}
