package growth

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/hack/load/capacity/stage"
	"github.com/tabard-dev/tabard/internal/lab"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// aging brings credentials of an hour to their last minute, in which whoever asks
// next replaces them. Not to their end: what nobody asked for in an hour is
// forgotten, and a list that is being read meanwhile would make an exchange for
// itself, beside that of all others.
const aging = 59 * time.Minute

// renew lets the credentials grow old and replaces the token and the certificates.
// The first turn finds nothing to renew.
func renew(t *testing.T, g *growth, i int) turn {
	t.Helper()
	if i > 0 {
		must.Do(t, g.stage.Advance(t.Context(), aging))
		must.Do(t, g.stage.WriteToken(t.Context()))
	}
	g.replaceBundle(t)
	return turn{caller: sessionOf("capacity"), exchanges: 1}
}

// sessionOf begins the ARNs of a role's sessions.
func sessionOf(role string) string {
	return "arn:aws:sts::" + lab.AccountID + ":assumed-role/" + role + "/"
}

// replaceBundle makes the controller trust another bundle, which wakes all
// objects.
func (g *growth) replaceBundle(t *testing.T) {
	t.Helper()
	g.bundles++
	bundle := must.Get(os.ReadFile(g.stage.Environment(false)["AWS_CA_BUNDLE"]))(t)
	applyObject(t, g.stage, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "openshift-config-managed", "name": "kube-cloud-config"},
		"data": map[string]any{"ca-bundle.pem": fmt.Sprintf("# bundle %d\n%s", g.bundles, bundle)},
	})
}

// applyObject makes an object this.
func applyObject(t *testing.T, s *stage.Stage, object map[string]any) {
	t.Helper()
	text := must.Get(json.Marshal(object))(t)
	target := &unstructured.Unstructured{Object: object}
	must.Do(t, s.Cluster.Patch(t.Context(), target.DeepCopy(), client.RawPatch(types.ApplyPatchType, text), client.FieldOwner("growth")))
}

// replaceSecret puts another identity into the Secret: a role, then keys, then
// another role, then other keys. A role is become by one exchange.
func replaceSecret(t *testing.T, s *stage.Stage) func(*testing.T, *growth, int) turn {
	t.Helper()
	var contents []map[string]any
	var turns []turn
	for _, name := range []string{"capacity-a", "capacity-b"} {
		role := must.Get(s.CreateRole(t.Context(), name))(t)
		contents = append(contents, map[string]any{"credentials": encode(fmt.Sprintf(
			"[default]\nsts_regional_endpoints = regional\nrole_arn = %s\nweb_identity_token_file = %s\n", role, s.TokenFile))})
		turns = append(turns, turn{caller: sessionOf(name), exchanges: 1})
		key := must.Get(s.CreateUser(t.Context(), name))(t)
		contents = append(contents, map[string]any{"aws_access_key_id": encode(key.AccessKeyID), "aws_secret_access_key": encode(key.SecretAccessKey)})
		turns = append(turns, turn{caller: "arn:aws:iam::" + lab.AccountID + ":user/" + name})
	}
	return func(t *testing.T, _ *growth, i int) turn {
		t.Helper()
		applyObject(t, s, map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": stage.Namespace, "name": stage.SecretName},
			"data": contents[i%len(contents)],
		})
		return turns[i%len(turns)]
	}
}

// encode writes a text as the values of a Secret are written.
func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
