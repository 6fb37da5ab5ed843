package webhook

import (
	"encoding/json"
	"net/http"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// denial is a review of v1beta1 that refuses whatever it is asked.
const denial = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{"uid":"","allowed":false,"status":{"metadata":{},"message":"Test deny message"}}}`

// addDenials adds answers with which a failure policy can be tried out.
func (s *server) addDenials(mux *http.ServeMux) {
	if s.debugging == nil {
		return
	}
	mux.HandleFunc("/debug/alpha/deny", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = jsonType
		s.say(w, denial)
	})
	mux.HandleFunc("/debug/alpha/500", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "test error", http.StatusInternalServerError)
	})
}

// addCache adds a look into the cache, which holds no secrets, and a way to have
// it read anew. It is not emptied before: pods may come in between.
func (s *server) addCache(mux *http.ServeMux) {
	if s.debugging == nil {
		return
	}
	mux.HandleFunc("/debug/alpha/cache", func(w http.ResponseWriter, r *http.Request) {
		if s.roles == nil {
			s.off(r.URL.Path, cloudAWS).ServeHTTP(w, r)
			return
		}
		text, err := json.Marshal(s.debugging.dump(s.roles))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header()["Content-Type"] = jsonType
		s.say(w, string(text))
	})
	mux.HandleFunc("/debug/alpha/cache/clear", func(w http.ResponseWriter, _ *http.Request) {
		s.debugging.follower.relist()
		s.say(w, "ok")
	})
}

// dump is what every ServiceAccount's annotations ask for, by NAMESPACE/NAME.
func (s *store) dump(injector *inject.Injector) map[string]inject.Request {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make(map[string]inject.Request, len(s.entries))
	for name, found := range s.entries {
		all[name] = injector.Request(found.notes.account())
	}
	return all
}
