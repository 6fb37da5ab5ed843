package webhook

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

const aSelector = `{"kind":"IAMRoleSelector","metadata":{"name":"new"},"spec":{"arn":"arn:aws:iam::111122223333:role/new","namespaceSelector":{"names":[%q]}}}`

// knownSelectors is a server's knowledge of selectors of the namespace prod.
func knownSelectors(names ...string) *overlaps {
	o := newOverlaps(newIntake(boundsOf(0, 0)), logr.Discard())
	for _, name := range names {
		o.index.Set(roleselector.Compile(&v1alpha1.IAMRoleSelector{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: &v1alpha1.IAMRoleSelectorSpec{
				ARN: "arn:aws:iam::111122223333:role/" + name, NamespaceSelector: &v1alpha1.NamespaceSelector{Names: []string{"prod"}},
			},
		}))
	}
	o.index.MarkSynced(roleselector.Everything)
	return o
}

func TestWarningsOfSelectorsRefuseNothing(t *testing.T) {
	review := func(object string) string {
		return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","object":` + object + `}}`
	}
	allowed := func(warning string) string {
		text := `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true`
		if warning != "" {
			text += fmt.Sprintf(`,"warnings":[%q]`, warning)
		}
		return text + "}}"
	}
	inProd, elsewhere := review(fmt.Sprintf(aSelector, "prod")), review(fmt.Sprintf(aSelector, "dev"))
	for name, c := range map[string]struct {
		known  *overlaps
		body   string
		status int
		want   string
	}{
		"nobody else":  {knownSelectors(), inProd, 200, allowed("")},
		"elsewhere":    {knownSelectors("a"), elsewhere, 200, allowed("")},
		"itself":       {knownSelectors("new"), inProd, 200, allowed("")},
		"two":          {knownSelectors("b", "a"), inProd, 200, allowed("overlaps with a, b: resources that both select are in conflict")},
		"many":         {knownSelectors("g", "b", "c", "d", "e", "f", "a"), inProd, 200, allowed("overlaps with a, b, c, d, e (and 2 more): resources that both select are in conflict")},
		"not read yet": {newOverlaps(newIntake(boundsOf(0, 0)), logr.Discard()), inProd, 200, allowed("it is not known whether it overlaps with others: the IAMRoleSelectors have not been read yet")},
		"no selector":  {knownSelectors("a"), review(`"text"`), 200, allowed("")},
		"no object":    {knownSelectors("a"), `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u"}}`, 200, allowed("")},
		"no review":    {knownSelectors("a"), `{}`, 400, "bad content: expected an AdmissionReview with a request\n"},
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequest(http.MethodPost, selectorPath, strings.NewReader(c.body))
			request.Header.Set("Content-Type", "application/json")
			response := httptest.NewRecorder()
			c.known.ServeHTTP(response, request)
			if response.Code != c.status || response.Body.String() != c.want {
				t.Errorf("answer %d %s\nwant %d %s", response.Code, response.Body, c.status, c.want)
			}
		})
	}
}

// TestNoHookKeepsAConnectionWherePlacesAreFew: whoever asks comes anew, over a connection of then.
func TestNoHookKeepsAConnectionWherePlacesAreFew(t *testing.T) {
	few := newPlaces(4)
	for held, want := range map[int]string{2: "", 3: "close"} {
		few.held = held
		from := context.WithValue(t.Context(), connectionKey{}, &connection{door: &door{}, of: &few})
		request := httptest.NewRequestWithContext(from, http.MethodPost, selectorPath, http.NoBody)
		request.ContentLength = maxReview + 1
		request.Header.Set("Content-Type", "application/json")
		response := httptest.NewRecorder()
		knownSelectors().ServeHTTP(response, request)
		if got := response.Header().Get("Connection"); response.Code != http.StatusRequestEntityTooLarge || got != want {
			t.Errorf("%d of 4 places held: answer %d, and Connection is %q, want %q", held, response.Code, got, want)
		}
	}
}
