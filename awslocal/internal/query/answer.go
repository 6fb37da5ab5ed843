package query

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

// Time is how the query protocol writes an instant.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// Serve reads a call, has the named operation run, and writes its answer.
func Serve(w http.ResponseWriter, c *call.Call, namespace string, run func(name string, form Form) (any, *call.Fault)) {
	form, fault := Read(c)
	if fault != nil {
		Refuse(w, c, namespace, fault)
		return
	}
	name := form.Get("Action")
	c.Entry.Operation = name
	if fault := c.Interrupted(name); fault != nil {
		Refuse(w, c, namespace, fault)
		return
	}
	result, fault := run(name, form)
	if fault != nil {
		Refuse(w, c, namespace, fault)
		return
	}
	Result(w, c, namespace, name, result)
}

// Result answers success. A nil result is an operation without output.
func Result(w http.ResponseWriter, c *call.Call, namespace, operation string, result any) {
	if wantsJSON(c.HTTP) {
		writeJSON(w, http.StatusOK, map[string]any{operation + "Response": map[string]any{
			operation + "Result": result,
			"ResponseMetadata":   map[string]string{"RequestId": c.ID},
		}})
		return
	}
	var body strings.Builder
	encoder := xml.NewEncoder(&body)
	fmt.Fprintf(&body, `<%sResponse xmlns="%s">`, operation, namespace)
	if result != nil {
		if err := encoder.EncodeElement(result, xml.StartElement{Name: xml.Name{Local: operation + "Result"}}); err != nil {
			Refuse(w, c, namespace, &call.Fault{Code: "ServiceFailure", Status: http.StatusInternalServerError, Message: "The answer could not be written: " + err.Error()})
			return
		}
	}
	fmt.Fprintf(&body, `<ResponseMetadata><RequestId>%s</RequestId></ResponseMetadata></%sResponse>`, c.ID, operation)
	writeXML(w, http.StatusOK, body.String())
}

// Refuse answers an error and notes it in the journal's entry.
func Refuse(w http.ResponseWriter, c *call.Call, namespace string, fault *call.Fault) {
	c.Entry.Error = fault.Code
	kind := "Sender"
	if fault.Status >= http.StatusInternalServerError {
		kind = "Receiver"
	}
	if wantsJSON(c.HTTP) {
		writeJSON(w, fault.Status, map[string]any{
			"Error":     map[string]string{"Code": fault.Code, "Message": fault.Message, "Type": kind},
			"RequestId": c.ID,
		})
		return
	}
	writeXML(w, fault.Status, fmt.Sprintf(`<ErrorResponse xmlns="%s"><Error><Type>%s</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>`,
		namespace, kind, escape(fault.Code), escape(fault.Message), c.ID))
}

func wantsJSON(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "application/json")
}

// A client that has gone away is nothing to report: writes are not checked.
func writeXML(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func escape(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a strings.Builder never fails
	return out.String()
}

// Denied is AWS's answer to a decision that is not allow: who, what, on which
// resource, and the one kind of policy that decided.
func Denied(caller, action, resource string, decision iampolicy.Decision) *call.Fault {
	names := map[iampolicy.Kind]string{
		iampolicy.IdentityPolicy: "identity-based policy",
		iampolicy.ResourcePolicy: "resource-based policy",
		iampolicy.TrustPolicy:    "resource-based policy",
		iampolicy.BoundaryPolicy: "permissions boundary",
		iampolicy.SessionPolicy:  "session policy",
	}
	message := fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s", caller, action, resource)
	name := names[decision.Kind]
	switch {
	case name == "":
	case decision.Effect == iampolicy.ExplicitDeny:
		article := "a"
		if strings.HasPrefix(name, "identity") {
			article = "an"
		}
		message += " with an explicit deny in " + article + " " + name
	default:
		message += " because no " + name + " allows the " + action + " action"
	}
	return AccessDenied(message)
}

// AccessDenied is the refusal with a text of the caller's.
func AccessDenied(message string) *call.Fault {
	return &call.Fault{Code: "AccessDenied", Status: http.StatusForbidden, Message: message}
}

// UnknownOperation names the action that a service does not serve.
func UnknownOperation(action, version string) *call.Fault {
	return &call.Fault{Code: "InvalidAction", Status: http.StatusBadRequest, Message: fmt.Sprintf("Could not find operation %s for version %s", action, version)}
}

// Unsupported refuses a parameter that AWS has and the local AWS has not, since
// leaving it out silently would be another request than the caller's.
func Unsupported(operation, parameter string) *call.Fault {
	return &call.Fault{Code: "NotImplemented", Status: http.StatusNotImplemented,
		Message: fmt.Sprintf("The local AWS does not support the parameter %s of %s; leave it out, or use AWS itself.", parameter, operation)}
}
