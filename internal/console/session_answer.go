package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/console/api"
)

// beginSession exchanges a code for a session.
func (s *Server) beginSession(w http.ResponseWriter, r *http.Request) {
	var code api.Code
	if err := readBody(r, &code); err != nil {
		s.refuse(w, r, problemOf(err))
		return
	}
	cookie, token, ok := s.sessions.begin(code.Code)
	if !ok {
		s.refuse(w, r, &Problem{Status: http.StatusUnauthorized, Code: "code", Title: "This address is no longer good",
			Detail: "An address opens one browser, once, within a minute.",
			Next:   []string{"press Enter where tabard console runs: it prints another address"}})
		return
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookie(), Value: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	s.write(w, r, api.Opened{CSRF: token})
}

// readBody reads the JSON of a request. What is not known is refused, so that nothing that somebody
// asks for is passed over.
func readBody(r *http.Request, into any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil && decoder.More() {
		err = errors.New("there is more behind the document")
	}
	if err != nil {
		return &Problem{Status: http.StatusBadRequest, Code: "body", Title: "The request cannot be read", Detail: fmt.Sprintf("its body: %.300v", err)}
	}
	return nil
}

// session says who looks at what.
func (s *Server) session(r *http.Request) (any, error) {
	if err := queryOf(r).err(); err != nil {
		return nil, err
	}
	return api.Session{
		User: s.World.User, Cluster: s.World.Cluster, HasCluster: s.World.HasCluster(),
		ReadOnly: s.ReadOnly, Catalogue: s.World.Files, Version: s.Version,
	}, nil
}

// User is what a cluster calls the person; empty where it does not say
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#self-subject-review).
func User(ctx context.Context, client dynamic.Interface) (string, error) {
	review := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}}
	reviews := schema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"}
	said, err := client.Resource(reviews).Create(ctx, review, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil // before Kubernetes 1.28
	}
	if err != nil {
		return "", fmt.Errorf("ask the cluster who you are: %w", err)
	}
	name, _, err := unstructured.NestedString(said.Object, "status", "userInfo", "username")
	return name, err
}
