package sts

import (
	"maps"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/iam"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	minDuration     = 900
	maxDuration     = 43200
	defaultDuration = 3600
	// maxPolicyText is how many characters the inline session policy and the
	// ARNs of the managed ones may have together.
	maxPolicyText = 2048
	// chainLimit is the longest session that a role's session may make.
	chainLimit = time.Hour

	assumeRoleAction = "sts:AssumeRole"
)

var (
	sessionPattern    = pattern.New(`^[\w+=,.@-]*$`)
	externalIDPattern = pattern.New(`^[\w+=,.@:\/-]*$`)
	rolePattern       = pattern.New(`^arn:aws[a-z-]*:iam::(\d{12}):role/(.+)$`)
)

// wanted is what both ways of assuming a role ask for.
type wanted struct {
	roleARN  string
	session  string
	duration time.Duration
	// timed says that the caller chose the duration.
	timed bool
	// text is the inline session policy, arns are the managed ones.
	text string
	arns []string
	// documents are all of them, once they are found and parsed.
	documents []iam.Document
	// passed is what the caller passes, carried is that and what its own
	// session hands on.
	passed, carried attributes
	// packed is how much of their room policies and tags take, in percent; zero
	// where there are none.
	packed int
}

// readWanted checks the parameters that both ways share, and adds what it finds
// to the validation.
func readWanted(form query.Form, v *query.Validation) wanted {
	seconds := call.Must(form.Int("DurationSeconds", defaultDuration))
	want := wanted{
		roleARN:  v.Text(form, "RoleArn", 20, 2048, nil),
		session:  v.Text(form, "RoleSessionName", 2, 64, sessionPattern),
		text:     v.Optional(form, "Policy", 1, maxPolicyText, nil),
		arns:     readPolicyARNs(form, v),
		duration: time.Duration(seconds) * time.Second,
		timed:    form.Has("DurationSeconds"),
	}
	v.Number("DurationSeconds", seconds, minDuration, maxDuration)
	return want
}

// check makes the checks of parameters that concern their meaning.
func (w *wanted) check() {
	length := utf8.RuneCountInString(w.text)
	for _, arn := range w.arns {
		length += len(arn)
	}
	switch {
	case !rolePattern.MatchString(w.roleARN):
		call.Refuse(badRequest("ValidationError", textBadARN))
	case length > maxPolicyText:
		call.Refuse(badRequest("ValidationError", textTogether))
	}
}

func unsupported(form query.Form, operation string, parameters ...string) {
	for _, name := range parameters {
		if form.Has(name) {
			call.Refuse(query.Unsupported(operation, name))
		}
	}
}

// accountOf is the account of a role's ARN, empty for no such ARN.
func accountOf(roleARN string) string {
	if m := rolePattern.FindStringSubmatch(roleARN); m != nil {
		return m[1]
	}
	return ""
}

// role finds the role of an ARN, which must be the role's own to the letter: names
// are unique without regard to case, and ARNs are compared with it.
func (s *Service) role(arn string) (iam.Role, bool) {
	m := rolePattern.FindStringSubmatch(arn)
	if m == nil {
		return iam.Role{}, false
	}
	role, known := s.options.Directory.Role(m[1], m[2][strings.LastIndex(m[2], "/")+1:])
	return role, known && role.ARN == arn
}

func (s *Service) assumeRole(c *call.Call, form query.Form) any {
	var v query.Validation
	want := readWanted(form, &v)
	external := v.Optional(form, "ExternalId", 2, 1224, externalIDPattern)
	want.passed = readAttributes(form, &v)
	call.Check(v.Fault())
	c.Entry.Resource = want.roleARN
	want.check()
	unsupported(form, "AssumeRole", "SerialNumber", "TokenCode", "ProvidedContexts")
	want.carried = want.passed.clone()
	problem := want.carried.inherit(s.attributesOf(c))
	role, known := s.role(want.roleARN)
	if !known {
		c.NoRole(assumeRoleAction, want.roleARN)
		call.Refuse(mayNot(c.Caller.Principal.ARN, assumeRoleAction, want.roleARN))
	}
	if action := refusedAction(c, role, want, external); action != "" {
		call.Refuse(mayNot(c.Caller.Principal.ARN, action, want.roleARN))
	}
	s.inRegion(c, role.AccountID)
	if c.Caller.Principal.Kind == iampolicy.RoleSession && want.duration > chainLimit {
		call.Refuse(tooLong(textChained))
	}
	s.finish(&want, role)
	call.Check(problem)
	return s.grant(role, want, "")
}

// inRegion refuses to make a session of an account in a region that the account
// has disabled. That the caller's own account has the region is a matter of the
// caller's keys.
func (s *Service) inRegion(c *call.Call, account string) {
	if !s.options.Regions.Enabled(account, c.Region) {
		call.Refuse(regionDisabled(account))
	}
}

// refusedAction is the first of the actions which assuming a role takes that the
// policies do not allow; empty where they allow all.
func refusedAction(c *call.Call, role iam.Role, want wanted, external string) string {
	context := merge(want.context(role), want.passed.context())
	if external != "" {
		context.Set("sts:ExternalId", external)
	}
	side := call.Side{AccountID: role.AccountID, Policy: role.Trust}
	for _, action := range append([]string{assumeRoleAction}, want.carried.needs()...) {
		if !c.Authorize(action, role.ARN, side, context).Allowed() {
			return action
		}
	}
	return ""
}

// context has STS's own condition keys, of what the caller sent.
func (w *wanted) context(role iam.Role) iampolicy.Context {
	context := iampolicy.Context{}
	context.Set("sts:RoleSessionName", w.session)
	if w.timed {
		context.Set("sts:DurationSeconds", strconv.Itoa(int(w.duration.Seconds())))
	}
	for _, tag := range role.Tags {
		context.Set("aws:ResourceTag/"+tag.Key, tag.Value)
		context.Set("iam:ResourceTag/"+tag.Key, tag.Value)
	}
	return context
}

// finish makes the checks that come after the caller's right: duration, session
// policies, then tags.
func (s *Service) finish(want *wanted, role iam.Role) {
	if want.duration > role.MaxSession {
		call.Refuse(tooLong(textTooLong))
	}
	s.limit(want, role)
}

// limit finds the session policies and makes the checks of them and of tags.
func (s *Service) limit(want *wanted, role iam.Role) {
	s.resolve(want, role)
	call.Check(want.passed.check())
	if len(want.documents) == 0 && len(want.carried.tags) == 0 {
		return
	}
	if want.packed = want.pack(); want.packed > 100 {
		call.Refuse(packedTooLarge(want.packed))
	}
}

// merge returns the keys of both; those of extra win.
func merge(base, extra iampolicy.Context) iampolicy.Context {
	out := iampolicy.Context{}
	maps.Copy(out, base)
	maps.Copy(out, extra)
	return out
}
