package webhook

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-logr/logr"

	core "github.com/tabard-dev/tabard/internal/core/certificate"
)

// probePath is where the probe hook asks.
const probePath = "/probe"

// probeFor is the probe certificate if it holds that name, else nil.
func (c *certificate) probeFor(name string) *tls.Certificate {
	if probe := c.probe.Load(); probe != nil && name != "" && probe.Leaf.VerifyHostname(name) == nil {
		return probe
	}
	return nil
}

// loadProbe takes over the probe certificate of a Secret, or that it has none.
func (c *certificate) loadProbe(secret []byte) error {
	chain, key, err := readPair(secret, core.ProbeKey, core.ProbePrivate)
	if err != nil || len(chain) == 0 {
		c.probe.Store(nil)
		return err
	}
	loaded, err := tls.X509KeyPair(chain, key)
	if err != nil {
		c.probe.Store(nil)
		return fmt.Errorf("probe certificate: expected a PEM chain and its key: %w", err)
	}
	c.probe.Store(&loaded)
	return nil
}

// prober answers /probe: it writes into the controller's dry-run pod which probe
// certificate the API server has just accepted. There is nothing to learn or to
// change by asking it.
type prober struct {
	serving *certificate
	intake  *intake
	log     logr.Logger
}

// ServeHTTP answers one review. The connection ends with it, so that the next
// question begins with a handshake, in which the certificate of then is judged.
func (p prober) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	if r.TLS == nil {
		http.Error(w, "nothing is proved without TLS", http.StatusNotFound)
		return
	}
	probe := p.serving.probeFor(r.TLS.ServerName)
	if probe == nil {
		http.Error(w, "there is no probe certificate for "+r.TLS.ServerName, http.StatusNotFound)
		return
	}
	body, leave, heard := p.intake.hear(w, r)
	defer leave()
	if !heard {
		return
	}
	question, err := readReview(body)
	reply := answer{}
	if err != nil {
		reply.refusal = err.Error()
	} else {
		reply.patch = markProbed(core.Fingerprint(probe.Leaf.Raw))
	}
	reply.send(w, question, p.log)
}

// markProbed is the patch that says which certificate was accepted. The
// controller's pods have the annotation, still empty; others are not to be sent
// here, and cannot be patched so.
func markProbed(fingerprint string) []byte {
	text, err := json.Marshal([]map[string]string{{
		"op": "replace", "path": "/metadata/annotations/" + strings.ReplaceAll(core.ProbeAnnotation, "/", "~1"), "value": fingerprint,
	}})
	if err != nil {
		return nil // not reached: texts can always be written
	}
	return text
}
