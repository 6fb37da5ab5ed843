package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// api reads from an API server, in protobuf only. It is this small because the
// general clients cost more memory than all else that the server knows.
type api struct {
	client *http.Client
	base   *url.URL
	// large has a place for each who reads a large object.
	large chan struct{}
}

func newAPI(config *rest.Config) (*api, error) {
	config = rest.CopyConfig(config)
	config.Timeout = 0 // a watch lasts; every request has a time of its own
	// Lists are compressed unless told not to: that costs both sides more time
	// than the network saves within a cluster.
	config.DisableCompression = true
	if config.UserAgent == "" {
		config.UserAgent = "tabard-webhook"
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	hasTLS := len(config.CAData) > 0 || config.CAFile != "" || config.Insecure
	base, _, err := rest.DefaultServerURL(config.Host, "", schema.GroupVersion{}, hasTLS)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return &api{client: client, base: base, large: make(chan struct{}, largeObjects)}, nil
}

// statusError is an answer of the API server other than 200.
type statusError struct {
	code    int
	message string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the API server answers %d: %s", e.code, e.message)
}

// hasCode says that the API server gave that answer.
func hasCode(err error, code int) bool {
	status, ok := errors.AsType[*statusError](err)
	return ok && status.code == code
}

// get asks for a path. The caller closes the body.
func (a *api) get(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
	target := a.base.JoinPath(path)
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", runtime.ContentTypeProtobuf)
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, errors.Join(explain(response), response.Body.Close())
	}
	if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, runtime.ContentTypeProtobuf) {
		return nil, errors.Join(fmt.Errorf("the API server answers in %.100q, expected %s", kind, runtime.ContentTypeProtobuf), response.Body.Close())
	}
	return response.Body, nil
}

// explain is the error that an answer tells.
func explain(response *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return &statusError{response.StatusCode, err.Error()}
	}
	message, err := opened(text)
	if err != nil {
		return &statusError{response.StatusCode, fmt.Sprintf("%.500q", text)}
	}
	return readStatus(message, response.StatusCode)
}

// readStatus reads a metav1.Status.
func readStatus(message []byte, code int) error {
	var status metav1.Status
	if err := status.Unmarshal(message); err != nil {
		return &statusError{code, err.Error()}
	}
	if status.Code != 0 {
		code = int(status.Code)
	}
	return &statusError{code, status.Message}
}
