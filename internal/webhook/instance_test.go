package webhook

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// metadata plays the instance metadata service: it wants a token, and has one
// document.
func metadata(t *testing.T, document string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token" && r.Header.Get("X-aws-ec2-metadata-token-ttl-seconds") != "":
			_, _ = w.Write([]byte("token"))
		case r.Method != http.MethodGet || r.Header.Get("X-aws-ec2-metadata-token") != "token":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path != "/latest/dynamic/instance-identity/document" || document == "":
			http.NotFound(w, r)
		default:
			_, _ = w.Write([]byte(document))
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func TestRoleARNsAreComposedWithTheInstancesAccount(t *testing.T) {
	tests := map[string]struct {
		args, document, problem string
		want                    [2]string // account and partition
	}{
		"its account and partition": {args: "--compose-role-arn", document: `{"accountId":"111122223333","region":"cn-north-1","version":"2017-09-30"}`,
			want: [2]string{"111122223333", "aws-cn"}},
		"its account in the partition that is said": {args: "--compose-role-arn --partition=aws", document: `{"accountId":"111122223333","region":"cn-north-1"}`,
			want: [2]string{"111122223333", "aws"}},
		"an account that is said":  {args: "--compose-role-arn --account-id=444455556666 --partition=aws", want: [2]string{"444455556666", "aws"}},
		"nothing is composed":      {want: [2]string{"", ""}},
		"no document":              {args: "--compose-role-arn", problem: "answers 404"},
		"a document that is none":  {args: "--compose-role-arn", document: "[]", problem: "the instance identity document is no JSON object"},
		"a document without these": {args: "--compose-role-arn", document: `{"region":"eu-west-1"}`, problem: `names account "" and region "eu-west-1", expected both`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata(t, test.document).URL+"/")
			o, err := parse(strings.Fields(test.args)...)
			if err != nil {
				t.Fatal(err)
			}
			must.Do(t, o.completeRoleARNs())
			err = o.askInstance(t.Context())
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) || !strings.Contains(err.Error(), "--compose-role-arn without --account-id") {
					t.Errorf("error %v, want %s", err, test.problem)
				}
				return
			}
			if diff := cmp.Diff(test.want, [2]string{o.Settings.ComposeAccount, o.Settings.Partition}); diff != "" || err != nil {
				t.Errorf("error %v; account and partition (-want +got):\n%s", err, diff)
			}
		})
	}
}
