package console

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// Errors, tokens and policies are looked at without a cluster.
func TestBrowserTriesWhatIsPasted(t *testing.T) {
	token := awstest.SignToken(t, awstest.RSAKey(t, "key"), map[string]any{
		"iss": issuer, "sub": "system:serviceaccount:shop:checkout", "aud": []string{"sts.amazonaws.com"}, "exp": time.Now().Add(time.Hour).Unix(),
	})
	alone(t)
	start(t, "--catalogue", filepath.Join(root, "examples", "operators", "catalog.json")).plays("try", map[string]string{"token": token})
}
