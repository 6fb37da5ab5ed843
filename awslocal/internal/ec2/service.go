// Package ec2 is the part of Amazon EC2 that tells what there is: instance types
// and regions. Both operations accept only Resource "*".
package ec2

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/region"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	smallestPage = 5
	largestPage  = 100
	// maxMembers bounds a list, so that a form of a few bytes cannot ask for much.
	maxMembers = 1000
)

// Service answers EC2's calls. It is safe for concurrent use.
type Service struct{ regions *region.Book }

// New returns the service. The book knows which regions accounts have disabled;
// nil: none.
func New(regions *region.Book) *Service { return &Service{regions: regions} }

// form is the parameters of one call.
type form struct{ url.Values }

// list returns NAME.1, NAME.2, … up to the first that is missing.
func (f form) list(name string) []string {
	var out []string
	for i := 1; i <= maxMembers && f.Has(fmt.Sprintf("%s.%d", name, i)); i++ {
		out = append(out, f.Get(fmt.Sprintf("%s.%d", name, i)))
	}
	return out
}

// operation answers a call with what is to be written, or a fault.
type operation func(*Service, *call.Call, form) (any, *call.Fault)

var operations = map[string]operation{
	"DescribeInstanceTypes": (*Service).describeInstanceTypes,
	"DescribeRegions":       (*Service).describeRegions,
}

// Serve answers one call.
func (s *Service) Serve(w http.ResponseWriter, c *call.Call) {
	raw := c.HTTP.URL.RawQuery
	if c.HTTP.Method != http.MethodGet {
		raw = string(c.Payload)
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		Refuse(w, c, bad("MalformedQueryString", "The parameters are no valid application/x-www-form-urlencoded text."))
		return
	}
	f := form{values}
	c.Entry.Operation = f.Get("Action")
	run, known := operations[c.Entry.Operation]
	if !known {
		Refuse(w, c, unknownOperation(c.Entry.Operation, f.Get("Version")))
		return
	}
	fault := c.Interrupted(c.Entry.Operation)
	var answer any
	if fault == nil {
		answer, fault = s.admitted(c, f, run)
	}
	if fault != nil {
		Refuse(w, c, fault)
		return
	}
	write(w, http.StatusOK, answer)
}

// admitted asks the policies first, then runs the operation, unless it was only
// to be tried.
func (s *Service) admitted(c *call.Call, f form, run operation) (any, *call.Fault) {
	action := "ec2:" + c.Entry.Operation
	c.Entry.Resource = "*"
	caller := c.Caller.Principal
	decision := c.Authorize(action, "*", call.Side{AccountID: caller.AccountID}, iampolicy.NewContext())
	if !decision.Allowed() {
		return nil, unauthorized(caller.ARN, action, reason(decision, action))
	}
	if f.Get("DryRun") == "true" {
		return nil, dryRun()
	}
	return run(s, c, f)
}

func reason(d iampolicy.Decision, action string) string {
	kind := map[iampolicy.Kind]string{
		iampolicy.BoundaryPolicy: "permissions boundary", iampolicy.SessionPolicy: "session policy",
	}[d.Kind]
	if kind == "" {
		kind = "identity-based policy"
	}
	if d.Effect == iampolicy.ExplicitDeny {
		return "with an explicit deny in an " + kind
	}
	return "because no " + kind + " allows the " + action + " action"
}

func (s *Service) describeInstanceTypes(c *call.Call, f form) (any, *call.Fault) {
	all, err := catalogue()
	if err != nil {
		return nil, &call.Fault{Code: "InternalError", Status: http.StatusInternalServerError, Message: err.Error()}
	}
	chosen, fault := named(all, f.list("InstanceType"))
	if fault != nil {
		return nil, fault
	}
	if chosen, fault = filtered(chosen, f, filters); fault != nil {
		return nil, fault
	}
	shown, next, fault := paged(chosen, f)
	if fault != nil {
		return nil, fault
	}
	answer := instanceTypesAnswer{Namespace: namespace, RequestID: c.ID, NextToken: next}
	for _, one := range shown {
		answer.Types = append(answer.Types, one.item())
	}
	return answer, nil
}

// named picks types by their names; all if none is named.
func named(all []instanceType, names []string) ([]instanceType, *call.Fault) {
	if len(names) == 0 {
		return all, nil
	}
	if len(names) > largestPage {
		return nil, bad("InvalidParameterValue", "The maximum number of instance types that you can specify is 100")
	}
	var out []instanceType
	var unknown []string
	for _, name := range names {
		i, found := slices.BinarySearchFunc(all, name, func(t instanceType, name string) int { return strings.Compare(t.name, name) })
		if !found {
			unknown = append(unknown, name)
			continue
		}
		out = append(out, all[i])
	}
	if len(unknown) > 0 {
		return nil, unknownTypes(unknown)
	}
	return out, nil
}

// paged cuts a page and returns the token of the next.
func paged(all []instanceType, f form) ([]instanceType, string, *call.Fault) {
	size := largestPage
	if text := f.Get("MaxResults"); text != "" {
		if f.Has("InstanceType.1") {
			return nil, "", badCombination()
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < smallestPage || n > largestPage {
			return nil, "", badSize(text)
		}
		size = n
	}
	if token := f.Get("NextToken"); token != "" {
		after, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			return nil, "", badToken()
		}
		all = slices.DeleteFunc(slices.Clone(all), func(t instanceType) bool { return t.name <= string(after) })
	}
	if len(all) <= size {
		return all, "", nil
	}
	return all[:size], base64.RawURLEncoding.EncodeToString([]byte(all[size-1].name)), nil
}
