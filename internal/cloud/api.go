package cloud

import (
	"errors"
	"fmt"

	"github.com/aws/smithy-go"

	"github.com/tabard-dev/tabard/internal/core/fault"
)

// CodeNoBucket is S3's for a bucket that is not there.
const CodeNoBucket = "NoSuchBucket"

// API is an AWS service, as faults name it.
type API string

// Fault is an error of an operation as a fault.Fault; nil stays nil.
func (a API) Fault(operation string, err error) error { return Error(string(a), operation, err) }

// UnlessGone is the error's fault; nil if what was to go is not there: by the class
// of the fault, or by one of these codes of an answer.
func (a API) UnlessGone(operation string, err error, codes ...string) error {
	known := a.Fault(operation, err)
	if HasCode(err, codes...) || len(codes) == 0 && Is(known, fault.Gone) {
		return nil
	}
	return known
}

// Foreign is the fault of a thing that is there and lacks its owner's tag.
func (a API) Foreign(operation, thing string, owner Tag) error {
	return fault.Fault{
		Class: fault.Exists, Service: string(a), Operation: operation,
		Message: fmt.Sprintf("%s is there and is not tagged %s=%s; tag it so only if it is that owner's", thing, owner.Key, owner.Value),
	}
}

// HasCode says whether an error is a fault or an answer of one of the codes.
func HasCode(err error, codes ...string) bool {
	code := ""
	var known fault.Fault
	var answer smithy.APIError
	switch {
	case errors.As(err, &known):
		code = known.Code
	case errors.As(err, &answer):
		code = answer.ErrorCode()
	}
	for _, one := range codes {
		if code == one {
			return true
		}
	}
	return false
}
