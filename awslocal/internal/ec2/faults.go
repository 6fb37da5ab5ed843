package ec2

import (
	"net/http"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

func bad(code, message string) *call.Fault {
	return &call.Fault{Code: code, Status: http.StatusBadRequest, Message: message}
}

func unknownOperation(name, version string) *call.Fault {
	return bad("InvalidAction", "The action "+name+" is not valid for this web service: this local AWS does not have it (version "+version+").")
}

func unknownTypes(names []string) *call.Fault {
	return bad("InvalidInstanceType", "The following supplied instance types do not exist: ["+strings.Join(names, ", ")+"]")
}

func unknownFilter(name string) *call.Fault {
	return bad("InvalidParameterValue", "The filter '"+name+"' is invalid")
}

func unknownRegion(name string) *call.Fault {
	return bad("InvalidParameterValue", "Invalid region provided: "+name)
}

func badCombination() *call.Fault {
	return bad("InvalidParameterCombination", "The parameter instanceTypes cannot be used with the parameter maxResults")
}

func badSize(text string) *call.Fault {
	return bad("InvalidParameterValue", "Value ( "+text+" ) for parameter maxResults is invalid. Expecting a value between 5 and 100.")
}

func badToken() *call.Fault {
	return bad("InvalidParameterValue", "Unable to parse pagination token")
}

func dryRun() *call.Fault {
	return &call.Fault{Code: "DryRunOperation", Status: http.StatusPreconditionFailed, Message: "Request would have succeeded, but DryRun flag is set."}
}

// unauthorized is EC2's refusal, with the reason as other services give it.
func unauthorized(caller, action, reason string) *call.Fault {
	return &call.Fault{
		Code: "UnauthorizedOperation", Status: http.StatusForbidden,
		Message: "You are not authorized to perform this operation. User: " + caller + " is not authorized to perform: " + action + " " + reason,
	}
}
