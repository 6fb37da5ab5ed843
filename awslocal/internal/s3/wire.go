package s3

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// namespace is the XML namespace of S3's answers.
const namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

// answer is what is sent back.
type answer struct {
	status int
	header http.Header
	body   []byte
	// value is a document that has yet to be written into body.
	value any
}

// empty is an answer without a body.
func empty(status int) *answer { return &answer{status: status, header: http.Header{}} }

// document is a successful answer in XML. It is written after the lock was
// released: a list of a thousand objects takes long.
func document(value any) (*answer, *fault) {
	a := empty(http.StatusOK)
	a.header.Set("Content-Type", "application/xml")
	a.value = value
	return a, nil
}

// encode writes the answer's document, if it has one.
func (a *answer) encode() *fault {
	if a.value == nil {
		return nil
	}
	body := bytes.NewBufferString(xml.Header)
	if err := xml.NewEncoder(body).Encode(a.value); err != nil {
		return errInternal
	}
	a.body = body.Bytes()
	return nil
}

// faultAnswer is an error as S3 writes it. The request has no bucket where none
// was found.
func faultAnswer(c *call.Call, r *request, f *fault) *answer {
	a := empty(f.Status)
	if r.bucket != nil && (f.Status == http.StatusMovedPermanently || r.operation.name == "HeadBucket") {
		a.header.Set("X-Amz-Bucket-Region", r.bucket.region)
	}
	if f.Status == http.StatusNotModified {
		for _, extra := range f.fields {
			a.header.Set(extra.name, extra.value)
		}
		return a
	}
	a.header.Set("Content-Type", "application/xml")
	a.body = errorDocument(c, f)
	return a
}

// errorDocument is an error in XML. S3 Control wraps it.
func errorDocument(c *call.Call, f *fault) []byte {
	body, wrapped := bytes.NewBufferString(xml.Header), isControl(c.HTTP)
	if wrapped {
		body.WriteString("<ErrorResponse>")
	}
	body.WriteString("<Error>")
	element(body, "Code", f.Code)
	element(body, "Message", f.Message)
	for _, extra := range f.fields {
		element(body, extra.name, extra.value)
	}
	element(body, "Resource", c.HTTP.URL.Path)
	if wrapped {
		body.WriteString("</Error>")
	}
	element(body, "RequestId", c.ID)
	element(body, "HostId", hostID(c.ID))
	if wrapped {
		body.WriteString("</ErrorResponse>")
	} else {
		body.WriteString("</Error>")
	}
	return body.Bytes()
}

// Refuse answers a call that does not come as far as the service. The pairs are
// further elements of the error.
func Refuse(w http.ResponseWriter, c *call.Call, refusal *call.Fault, pairs ...[2]string) {
	c.Entry.Error, c.Entry.Status = refusal.Code, refusal.Status
	f := &fault{Fault: *refusal}
	for _, pair := range pairs {
		f = f.with(pair[0], pair[1])
	}
	write(w, c, faultAnswer(c, &request{}, f))
}

// element writes one element. A bytes.Buffer never fails.
func element(b *bytes.Buffer, name, value string) {
	b.WriteString("<" + name + ">")
	_ = xml.EscapeText(b, []byte(value))
	b.WriteString("</" + name + ">")
}

// hostID is the value of x-amz-id-2, which people quote to AWS's support.
func hostID(requestID string) string {
	sum := sha256.Sum256([]byte("host " + requestID))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// canonicalID is the owner ID that S3 shows for an account.
func canonicalID(accountID string) string {
	sum := sha256.Sum256([]byte("canonical user of " + accountID))
	return hex.EncodeToString(sum[:])
}

// write sends an answer; a HEAD request gets only its headers.
func write(w http.ResponseWriter, c *call.Call, a *answer) {
	header := w.Header()
	for name, values := range a.header {
		header[name] = values
	}
	header.Set("Server", "AmazonS3")
	header.Set("X-Amz-Request-Id", c.ID)
	header.Set("X-Amz-Id-2", hostID(c.ID))
	head := c.HTTP.Method == http.MethodHead
	switch {
	case a.status == http.StatusNoContent || a.status == http.StatusNotModified:
	case head && a.status >= http.StatusMultipleChoices:
		// The length of a body that is not sent would only confuse clients.
	case header.Get("Content-Length") == "":
		header.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	if !head && len(a.body) > 0 {
		// A client that has gone away is no trouble of the server's.
		_, _ = w.Write(a.body)
	}
}

// maxDocument is the longest document that is read: the keys of the largest
// DeleteObjects have room in it.
const maxDocument = 2 << 20

// parseXML reads a request's document, and nothing behind it. It refuses what it
// does not expect: a misspelt switch must not count as one that is off.
func parseXML(payload []byte, into any) *fault {
	if len(payload) > maxDocument {
		return errDocumentTooLong.with("MaxMessageLengthBytes", strconv.Itoa(maxDocument))
	}
	decoder := xml.NewDecoder(bytes.NewReader(payload))
	if err := decoder.Decode(into); err != nil {
		return errMalformedXML
	}
	for {
		switch token, err := decoder.Token(); token := token.(type) {
		case nil:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return errMalformedXML
		case xml.Comment, xml.ProcInst:
		case xml.CharData:
			if len(bytes.TrimSpace(token)) > 0 {
				return errMalformedXML
			}
		default:
			return errMalformedXML
		}
	}
}

// timestamp is an instant as S3 writes it in XML.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
