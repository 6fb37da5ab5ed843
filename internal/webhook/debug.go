package webhook

import (
	"encoding/json"
	"net/http"
)

// denial is a review of v1beta1 that refuses whatever it is asked.
const denial = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{"uid":"","allowed":false,"status":{"metadata":{},"message":"Test deny message"}}}`

// addDenials adds answers with which a failure policy can be tried out.
func (s *server) addDenials(mux *http.ServeMux) {
	if s.known == nil {
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

// addCache adds a look into the cache: the annotations that matter of every
// ServiceAccount, by NAMESPACE/NAME. They are no secrets.
func (s *server) addCache(mux *http.ServeMux) {
	if s.known == nil {
		return
	}
	mux.HandleFunc("/debug/alpha/cache", func(w http.ResponseWriter, _ *http.Request) {
		text, err := json.Marshal(s.known.dump())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header()["Content-Type"] = jsonType
		s.say(w, string(text))
	})
}

// dump is all that is known, by NAMESPACE/NAME.
func (s *store) dump() map[string]map[string]string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make(map[string]map[string]string, len(s.entries))
	for name, found := range s.entries {
		all[name] = found.notes.account().Annotations
	}
	return all
}
