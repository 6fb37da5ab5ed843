package sts

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/iam"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	minDuration     = 900
	maxDuration     = 43200
	defaultDuration = 3600
	// chainLimit is the longest session that a role's session may make.
	chainLimit = time.Hour
	// packedSpace is the room for a packed session policy, in bytes. AWS's way
	// of packing is its own; about half the size of the text is what is seen.
	packedSpace = 1024
	packedRatio = 0.55
)

var (
	sessionPattern    = regexp.MustCompile(`^[\w+=,.@-]*$`)
	externalIDPattern = regexp.MustCompile(`^[\w+=,.@:\/-]*$`)
	rolePattern       = regexp.MustCompile(`^arn:aws:iam::(\d{12}):role/(.+)$`)
)

// wanted is what both ways of assuming a role ask for.
type wanted struct {
	roleARN  string
	session  string
	duration time.Duration
	text     string
	policy   *iampolicy.Policy
	// packed is how much of its room the session policy takes, in percent.
	packed int
}

// readWanted checks the parameters that both ways share, and adds what it finds
// to the validation.
func readWanted(form query.Form, v *query.Validation) (wanted, *call.Fault) {
	seconds, fault := form.Int("DurationSeconds", defaultDuration)
	if fault != nil {
		return wanted{}, fault
	}
	want := wanted{
		roleARN:  v.Text(form, "RoleArn", 20, 2048, nil),
		session:  v.Text(form, "RoleSessionName", 2, 64, sessionPattern),
		text:     v.Optional(form, "Policy", 1, 2048, nil),
		duration: time.Duration(seconds) * time.Second,
	}
	v.Number("DurationSeconds", seconds, minDuration, maxDuration)
	return want, nil
}

func unsupported(form query.Form, operation string, parameters ...string) *call.Fault {
	for _, name := range parameters {
		if form.Has(name) {
			return query.Unsupported(operation, name)
		}
	}
	return nil
}

// role finds the role of an ARN. The ARN's path must be the role's own.
func (s *Service) role(arn string) (iam.Role, bool) {
	m := rolePattern.FindStringSubmatch(arn)
	if m == nil {
		return iam.Role{}, false
	}
	role, known := s.options.Directory.Role(m[1], m[2][strings.LastIndex(m[2], "/")+1:])
	return role, known && strings.EqualFold(role.ARN, arn)
}

func (s *Service) assumeRole(c *call.Call, form query.Form) (any, *call.Fault) {
	var v query.Validation
	want, fault := readWanted(form, &v)
	if fault != nil {
		return nil, fault
	}
	external := v.Optional(form, "ExternalId", 2, 1224, externalIDPattern)
	if fault := v.Fault(); fault != nil {
		return nil, fault
	}
	c.Entry.Resource = want.roleARN
	if fault := unsupported(form, "AssumeRole", "PolicyArns", "Tags", "TransitiveTagKeys", "SourceIdentity", "SerialNumber", "TokenCode", "ProvidedContexts"); fault != nil {
		return nil, fault
	}
	role, known := s.role(want.roleARN)
	if !known || !mayAssume(c, role, want, external) {
		return nil, mayNotAssume(c.Caller.Principal.ARN, want.roleARN)
	}
	if c.Caller.Principal.Kind == iampolicy.RoleSession && want.duration > chainLimit {
		return nil, tooLong(textChained)
	}
	if fault := want.finish(role); fault != nil {
		return nil, fault
	}
	return s.grant(role, want, ""), nil
}

func mayAssume(c *call.Call, role iam.Role, want wanted, external string) bool {
	context := want.context(role)
	if external != "" {
		context.Set("sts:ExternalId", external)
	}
	side := call.Side{AccountID: role.AccountID, Policy: role.Trust}
	return c.Authorize("sts:AssumeRole", role.ARN, side, context).Allowed()
}

// context has STS's own condition keys.
func (w *wanted) context(role iam.Role) iampolicy.Context {
	context := iampolicy.Context{}
	context.Set("sts:RoleSessionName", w.session)
	context.Set("sts:DurationSeconds", strconv.Itoa(int(w.duration.Seconds())))
	for _, tag := range role.Tags {
		context.Set("aws:ResourceTag/"+tag.Key, tag.Value)
		context.Set("iam:ResourceTag/"+tag.Key, tag.Value)
	}
	return context
}

// finish makes the checks that come after the caller's right: duration, then
// session policy.
func (w *wanted) finish(role iam.Role) *call.Fault {
	if w.duration > role.MaxSession {
		return tooLong(textTooLong)
	}
	if w.text == "" {
		return nil
	}
	policy, err := iampolicy.Parse([]byte(w.text))
	if err == nil {
		err = policy.Validate(iampolicy.SessionPolicy)
	}
	if err != nil {
		return malformedPolicy(message(err))
	}
	w.policy = policy
	w.packed = packed(w.text)
	if w.packed > 100 {
		return packedTooLarge(w.packed)
	}
	return nil
}

func message(err error) string {
	var all iampolicy.Errors
	if errors.As(err, &all) {
		return all.Text(iampolicy.SessionPolicy)
	}
	return err.Error()
}

func packed(text string) int {
	var small bytes.Buffer
	if json.Compact(&small, []byte(text)) != nil {
		small.WriteString(text)
	}
	return max(1, int(float64(small.Len())*packedRatio*100/packedSpace))
}

// merge returns the keys of both; those of extra win.
func merge(base, extra iampolicy.Context) iampolicy.Context {
	out := iampolicy.Context{}
	maps.Copy(out, base)
	maps.Copy(out, extra)
	return out
}
