// Package restjson speaks AWS's REST-JSON protocol, which EKS and EKS Auth
// share: method and path name the operation, JSON goes in and out, and an error
// stands in a header.
package restjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

// Time is an instant as the protocol writes it: seconds since 1970, a number
// with up to three decimals.
type Time time.Time

// MarshalJSON writes the number.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(strconv.FormatFloat(float64(time.Time(t).UnixMilli())/1000, 'f', -1, 64)), nil
}

// Read reads a body into a struct; an empty body is an empty object. A member
// that the struct has not is refused by name: leaving it out silently would be
// another request than the caller's.
func Read(operation string, payload []byte, into any) *call.Fault {
	if len(payload) == 0 {
		return nil
	}
	if !utf8.Valid(payload) {
		return malformed(errors.New("it is not in UTF-8"))
	}
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil {
		if _, rest := decoder.Token(); !errors.Is(rest, io.EOF) {
			err = errors.New("something follows the object")
		}
	}
	if err == nil {
		return nil
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return query.Unsupported(operation, strings.Trim(name, `"`))
	}
	return malformed(err)
}

func malformed(err error) *call.Fault {
	return &call.Fault{Code: "SerializationException", Status: http.StatusBadRequest, Message: fmt.Sprintf("The body is no JSON object of the operation: %v", err)}
}

// Write answers success.
func Write(w http.ResponseWriter, body any) { write(w, http.StatusOK, body) }

// Refuse answers an error and notes it in the journal's entry. The members are
// those of the error's body besides its message; nil for none.
func Refuse(w http.ResponseWriter, c *call.Call, fault *call.Fault, members map[string]string) {
	c.Entry.Error = fault.Code
	body := map[string]string{"message": fault.Message}
	maps.Copy(body, members)
	w.Header().Set("X-Amzn-Errortype", fault.Code)
	write(w, fault.Status, body)
}

// A client that has gone away is nothing to report: writes are not checked.
func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// Denied is the protocol's answer to a decision that is not allow. The status
// is the service's own.
func Denied(caller, action, resource string, decision iampolicy.Decision, status int) *call.Fault {
	fault := query.Denied(caller, action, resource, decision)
	fault.Code, fault.Status = "AccessDeniedException", status
	return fault
}
