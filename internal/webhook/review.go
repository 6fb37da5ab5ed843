package webhook

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-logr/logr"

	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// review is the question of an API server. Kubernetes: AdmissionReview of
// admission.k8s.io, v1 or v1beta1; what matters of them is the same.
type review struct {
	// apiVersion, kind and uid are echoed as they were written.
	apiVersion, kind, uid raw.Value
	namespace             string
	object                raw.Value
}

// readReview takes a question apart. Also where it fails, what could be read is
// there, so that the refusal reaches who asked.
func readReview(body []byte) (review, error) {
	value, err := raw.Parse(body)
	if err != nil {
		return review{}, fmt.Errorf("the body is no AdmissionReview: %w", err)
	}
	var found review
	var request raw.Value
	for c := value.Walk(); c.Next(); {
		switch string(c.Name()) {
		case "apiVersion":
			found.apiVersion = c.Value()
		case "kind":
			found.kind = c.Value()
		case "request":
			request = c.Value()
		}
	}
	for c := request.Walk(); c.Next(); {
		switch string(c.Name()) {
		case "uid":
			found.uid = c.Value()
		case "namespace":
			found.namespace = c.Value().Text()
		case "object":
			found.object = c.Value()
		}
	}
	if request.Kind() != raw.Object {
		return found, errors.New("bad content: expected an AdmissionReview with a request")
	}
	return found, nil
}

// answer is what the API server is told.
type answer struct {
	patch    []byte
	warnings []string
	// refusal says why the pod is refused; empty lets it pass.
	refusal string
}

// send answers a question.
func (a answer) send(w http.ResponseWriter, question review, log logr.Logger) {
	w.Header()["Content-Type"] = jsonType
	if _, err := w.Write(a.appendTo(nil, question)); err != nil {
		log.V(1).Info("the API server hung up", "error", err.Error())
	}
}

// appendTo writes the answer to a question.
func (a answer) appendTo(text []byte, question review) []byte {
	text = append(text, '{')
	text = appendEcho(text, `"kind":`, question.kind)
	text = appendEcho(text, `"apiVersion":`, question.apiVersion)
	text = append(text, `"response":{`...)
	text = appendEcho(text, `"uid":`, question.uid)
	text = append(text, `"allowed":`...)
	text = strconv.AppendBool(text, a.refusal == "")
	if a.refusal != "" {
		text = appendJSON(append(text, `,"status":{"code":400,"message":`...), a.refusal)
		text = append(text, '}')
	}
	if a.patch != nil {
		text = append(text, `,"patchType":"JSONPatch","patch":"`...)
		text = base64.StdEncoding.AppendEncode(text, a.patch)
		text = append(text, '"')
	}
	if len(a.warnings) > 0 {
		text = appendJSON(append(text, `,"warnings":`...), a.warnings)
	}
	return append(text, `}}`...)
}

// appendEcho gives a string back as it came; anything else is left out.
func appendEcho(text []byte, name string, value raw.Value) []byte {
	if value.Kind() != raw.String {
		return text
	}
	text = append(text, name...)
	text = append(text, value.Bytes()...)
	return append(text, ',')
}

// appendJSON writes text or texts.
func appendJSON[T string | []string](text []byte, value T) []byte {
	written, err := json.Marshal(value)
	if err != nil {
		return append(text, "null"...) // not reached: texts can always be written
	}
	return append(text, written...)
}
