package credentials_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestKubectlGetShowsHowFarARequestIs: what the API server prints for kubectl, of one that is
// ready and of one that is not.
func TestKubectlGetShowsHowFarARequestIs(t *testing.T) {
	f := newFixture(t)
	f.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "taken", Annotations: map[string]string{core.RoleAnnotation: "arn:aws:iam::" + testAccount + ":role/theirs"}}})
	fits, waits := f.request("fits", "app"), f.request("waits", "taken")
	f.Make(fits, waits)
	role := f.until(fits, isReady).Status.Role.Name
	f.until(waits, has(core.TypeReady, metav1.ConditionFalse, string(core.ReasonServiceAccountHasRole)))
	got := f.table("/apis/cloudcredential.openshift.io/v1/namespaces/" + f.namespace + "/credentialsrequests")
	for _, want := range []string{
		"Name=fits Ready=true Reason=<nil> Role=" + role + " Message=<nil>",
		"Name=waits Ready=false Reason=CredentialsProvisionFailure Role=<nil> Message=failed to grant creds: Delivered: ServiceAccount " + f.namespace + "/taken has the role",
	} {
		if !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("kubectl shows %q, want a line that begins with %q", got, want)
		}
	}
}

// table is what kubectl get -o wide shows, but for ages.
func (f *fixture) table(path string) (lines []string) {
	f.Helper()
	request := must.Get(http.NewRequestWithContext(f.Context(), http.MethodGet, f.config.Host+path, nil))(f)
	request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	response, err := must.Get(rest.HTTPClientFor(f.config))(f).Do(request)
	must.Do(f, err)
	defer func() { must.Do(f, response.Body.Close()) }()
	var table metav1.Table
	must.Do(f, json.Unmarshal(must.Get(io.ReadAll(response.Body))(f), &table))
	for _, row := range table.Rows {
		var cells []string
		for i, column := range table.ColumnDefinitions {
			if column.Name != "Age" {
				cells = append(cells, fmt.Sprintf("%s=%v", column.Name, row.Cells[i]))
			}
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return lines
}
