package issuer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
	"github.com/tabard-dev/tabard/test/e2e"
)

// testLooking asks the program for the state of a healthy issuer, of one whose cluster
// signs with a key that is not published, and of one whose keys document is gone.
func (s scenario) testLooking() {
	url := s.Env["TABARD_ISSUER_URL"]
	s.ready()
	s.wantSaid(0, "Ready: yes "+s.ProviderARN(s.AccountID), "status", e2e.IssuerName)
	s.wantSaid(0, `"ready": true`, "status", "-o", "json")
	s.wantSaid(0, "it verifies against the published documents", "verify", e2e.IssuerName)
	s.wantSaid(0, `"verified": true`, "verify", url, "-o", "json")
	s.wantSaid(2, "expected one of: "+e2e.IssuerName, "status", "nothing")
	s.wantSaid(2, "expected one of: "+e2e.IssuerName, "verify", "nothing")
	s.wantSaid(1, "names the issuer", "verify", url+"/") // of others it would be taken as it is
	s.wantSaid(2, "expected table, json, yaml or jsonpath=TEMPLATE", "verify", url, "-o", "name")
	s.wantSaid(1, "no token could be requested", "verify", e2e.IssuerName, "--service-account", "nothing")

	s.stopOperator()
	s.replaceSigningKey()
	s.wantSaid(1, "which the published keys document does not hold", "verify", e2e.IssuerName)
	s.wantSaid(0, "OK", "verify", url)
	s.must(s.bootstrap())
	s.wantSaid(0, "it verifies against the published documents", "verify", e2e.IssuerName)

	// The Service kubernetes has an address that this machine does not reach.
	slice := filepath.Join(s.TempDir(), "slice.yaml")
	must.Do(s, os.WriteFile(slice, []byte(unreachable), 0o600))
	s.must(s.Kubectl(s.Context(), "apply", "-f", slice))
	s.wantSaid(0, "token of the API server https:// it verifies against the published documents", "verify", e2e.IssuerName)

	_, err := s3.NewFromConfig(s.Admin).DeleteObject(s.Context(), &s3.DeleteObjectInput{Bucket: aws.String(s.Env["TABARD_ISSUER_BUCKET"]), Key: aws.String(core.KeysPath)})
	s.must("", err)
	s.wantSaid(1, "expected 200", "verify", url)
	s.wantSaid(1, "it was not verified", "verify", e2e.IssuerName)

	s.must(s.Kubectl(s.Context(), "delete", "-f", slice))
	s.must(s.bootstrap())
	s.startOperator()
	s.ready()
}

// unreachable is an API server at an address that is for documentation only (RFC 5737).
const unreachable = `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: outside, namespace: default, labels: {kubernetes.io/service-name: kubernetes}}
addressType: IPv4
endpoints: [{addresses: [192.0.2.1]}]
ports: [{name: https, port: 6443, protocol: TCP}]
`

// wantSaid runs tabard issuer, and demands an exit code and the words of a text, in their order.
func (s scenario) wantSaid(code int, words string, args ...string) {
	s.Helper()
	said, err := s.RunTabard(s.Context(), append([]string{"issuer"}, args...)...)
	got := 0
	if ended, is := errors.AsType[*onlab.RefusedError](err); is {
		got = ended.Code
	} else if err != nil {
		s.Fatal(err)
	}
	if err != nil {
		said += err.Error()
	}
	rest := said
	for word := range strings.FieldsSeq(words) {
		_, after, found := strings.Cut(rest, word)
		if !found {
			s.Errorf("%v: it does not say %q of %q:\n%s", args, word, words, said)
			break
		}
		rest = after
	}
	if got != code || strings.Contains(said, "eyJ") {
		s.Errorf("%v: exit code %d, want %d, and no token:\n%s", args, got, code, said)
	}
}
