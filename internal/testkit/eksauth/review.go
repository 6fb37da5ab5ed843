package eksauth

import (
	"encoding/json"
	"errors"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/tabard-dev/tabard/internal/core/ekstoken"
)

// Path is where reviews are posted.
const Path = "/authenticate"

// longestReview has room for a token of the greatest length and for all else of a review.
const longestReview = 64 << 10

// Handler answers the reviews of API servers: 200 for a user, 403 for a token that lets nobody
// in, which API servers do not remember, and 429 for one that may be good later. It takes
// authentication.k8s.io/v1, and v1beta1, whose reviews have the same fields.
func (a *Authenticator) Handler() http.Handler {
	a.prepare()
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+Path, a.review)
	return mux
}

func (a *Authenticator) review(w http.ResponseWriter, r *http.Request) {
	var review authenticationv1.TokenReview
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, longestReview)).Decode(&review); err != nil {
		http.Error(w, "the body is no TokenReview in JSON", http.StatusBadRequest)
		return
	}
	switch review.APIVersion {
	case authenticationv1.SchemeGroupVersion.String(), "authentication.k8s.io/v1beta1":
	default:
		http.Error(w, "the TokenReview is of another version than authentication.k8s.io/v1 and v1beta1", http.StatusBadRequest)
		return
	}
	user, err := a.Judge(r.Context(), review.Spec.Token)
	review.Spec = authenticationv1.TokenReviewSpec{} // the answer does not repeat the token
	status := http.StatusOK
	switch {
	case err == nil:
		review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: infoOf(user)}
	case errors.Is(err, ekstoken.ErrThrottled):
		status = http.StatusTooManyRequests
	default:
		status = http.StatusForbidden
	}
	if err != nil {
		a.Log.InfoContext(r.Context(), "token refused", "cluster", a.Cluster.Name, "status", status, "err", err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(review) // the API server has gone if it fails
}

func infoOf(user ekstoken.User) authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: user.Username, UID: user.UID, Groups: user.Groups, Extra: map[string]authenticationv1.ExtraValue{}}
	for key, values := range user.Extra {
		info.Extra[key] = values
	}
	return info
}
