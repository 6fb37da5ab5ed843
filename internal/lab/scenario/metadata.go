package scenario

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// metadata is the instance metadata service of the node, which gives its role to whoever asks
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html).
type metadata struct {
	listener net.Listener
	server   *http.Server
}

// metadata starts one on this machine.
func (s *shop) metadata(ctx context.Context) (*metadata, error) {
	arn := strings.TrimSuffix(s.role, RoleName) + NodeRoleName
	given, err := s.sts.AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: &arn, RoleSessionName: aws.String("i-0123456789abcdef0")})
	if err != nil {
		return nil, err
	}
	credentials, err := json.Marshal(map[string]any{
		"Code": "Success", "Type": "AWS-HMAC", "LastUpdated": time.Now().UTC().Format(time.RFC3339), "Expiration": given.Credentials.Expiration.UTC().Format(time.RFC3339),
		"AccessKeyId": given.Credentials.AccessKeyId, "SecretAccessKey": given.Credentials.SecretAccessKey, "Token": given.Credentials.SessionToken,
	})
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	const path = "/latest/meta-data/iam/security-credentials/"
	answers := http.NewServeMux()
	answer := func(pattern string, text []byte) {
		answers.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
			_, _ = w.Write(text)
		})
	}
	answer("PUT /latest/api/token", []byte("of-the-lab"))
	answer("GET "+path+"{$}", []byte(NodeRoleName))
	answer("GET "+path+NodeRoleName, credentials)
	out := &metadata{listener, &http.Server{Handler: answers, ReadHeaderTimeout: time.Second}}
	go func() { _ = out.server.Serve(listener) }() // until it is closed
	return out, nil
}

func (m *metadata) url() string { return "http://" + m.listener.Addr().String() }

func (m *metadata) close() { _ = m.server.Close() }
