package iampolicy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The naive evaluator decides from the JSON of sound documents, rule by rule,
// and shares nothing with the real one, so that the two can be compared.

// Elements stand as an object, or as one value or a list of values.
func naiveMap(value any) map[string]any {
	object, _ := value.(map[string]any)
	return object
}

func naiveList(value any) []any {
	if list, isList := value.([]any); isList || value == nil {
		return list
	}
	return []any{value}
}

func naiveTexts(value any) (texts []string) {
	for _, element := range naiveList(value) {
		texts = append(texts, fmt.Sprint(element))
	}
	return texts
}

// A wildcard stands as one of these once a pattern has been read; an asterisk
// or a question mark that is left is literal text. A colon of a variable's
// value does not part a resource's segments.
const naiveMany, naiveOne, naiveColon = "\ue000", "\ue001", "\ue002"

// How strongly a Principal element means the caller, weakest first.
const naiveNone, naiveAccount, naiveWild, naiveRole, naiveExact = 0, 1, 2, 3, 4

var (
	naiveWildcards = strings.NewReplacer("*", naiveMany, "?", naiveOne)
	naivePlain     = strings.NewReplacer(naiveMany, "*", naiveOne, "?")
	naiveTrust     = regexp.MustCompile(`(?i)^sts:(AssumeRole|TagSession$|SetSourceIdentity$)`) // always needs the role's trust policy
	naiveMulti     = regexp.MustCompile(`(?i)^(aws:(CalledVia|TagKeys|PrincipalServiceNamesList|(Principal|Resource|Source|Vpce)OrgPaths)|sts:(TransitiveTagKeys|RequestContextProviders)|eks:.*s|.*:amr)$`)
	naiveDecimal   = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?$`)
	naiveOperator  = regexp.MustCompile(`^(?:(ForAllValues|ForAnyValue):)?` +
		`(Null|Bool|BinaryEquals|(?:Not)?IpAddress|String(?:Not)?(?:Equals|EqualsIgnoreCase|Like)|Arn(?:Not)?(?:Equals|Like)|` +
		`(?:Numeric|Date)(?:Equals|NotEquals|(?:Less|Greater)Than(?:Equals)?))(IfExists)?$`)
)

func naiveDecide(request *Request, world documents) Effect {
	identityDeny, identity := naiveJudge(world.Identity, false, world, request)
	boundaryDeny, boundary := naiveJudge([]string{world.Boundary}, false, world, request)
	sessionDeny, session := naiveJudge(world.Session, false, world, request)
	resourceDeny, r := naiveJudge([]string{world.Resource}, true, world, request)
	bd := world.Boundary == "" || boundary != naiveNone
	sp := len(world.Session) == 0 || session != naiveNone
	who := request.Principal
	own := who.Kind == Root || identity != naiveNone && bd && sp
	effect := map[bool]Effect{true: Allow, false: ImplicitDeny}
	switch {
	case strings.EqualFold(request.Action, "sts:GetCallerIdentity") && who.Kind != Anonymous:
		return Allow
	case resourceDeny, (identityDeny || boundaryDeny || sessionDeny) && who.Kind != Root:
		return ExplicitDeny
	case who.Kind == Anonymous:
		return effect[r == naiveWild && !world.Restricted]
	case who.Kind == Service, who.Kind == Federated:
		return effect[r != naiveNone]
	case who.AccountID != request.ResourceAccountID:
		return effect[own && r != naiveNone && !world.Restricted]
	case r == naiveExact, r == naiveRole && bd && sp, r == naiveWild && (who.Kind == User || bd && sp):
		return Allow
	case r == naiveNone && naiveTrust.MatchString(request.Action):
		return ImplicitDeny
	}
	return effect[own]
}

// naiveJudge says whether a Deny applies, and how strongly an Allow does.
func naiveJudge(documents []string, isResource bool, world documents, request *Request) (deny bool, allow int) {
	for _, document := range documents {
		var policy map[string]any
		decoder := json.NewDecoder(strings.NewReader(document))
		decoder.UseNumber()
		if err := decoder.Decode(&policy); err != nil && document != "" {
			panic(err)
		}
		for _, statement := range naiveList(policy["Statement"]) {
			s := naiveMap(statement)
			if !naiveApplies(s, policy["Version"] == "2012-10-17", isResource && strings.HasPrefix(request.Action, "sts:"), request) {
				continue
			}
			strength := naiveMeans(s, isResource, request.Principal, world.Boundary != "")
			deny = deny || s["Effect"] == "Deny" && strength != naiveNone
			if s["Effect"] == "Allow" {
				allow = max(allow, strength)
			}
		}
	}
	return deny, allow
}

// naiveApplies looks at everything but the Principal element.
func naiveApplies(s map[string]any, variables, isTrust bool, request *Request) bool {
	action := func(pattern string) bool {
		return naiveGlob(naiveWildcards.Replace(strings.ToLower(pattern)), strings.ToLower(request.Action))
	}
	resource := func(text string) bool { return naiveResource(text, variables, false, request) }
	notResource := func(text string) bool { return naiveResource(text, variables, true, request) }
	for operator, keys := range naiveMap(s["Condition"]) {
		for key, wants := range naiveMap(keys) {
			if !naiveCondition(operator, key, naiveTexts(wants), variables, request.Context) {
				return false
			}
		}
	}
	actionFits := slices.ContainsFunc(naiveTexts(s["Action"]), action) ||
		s["NotAction"] != nil && !slices.ContainsFunc(naiveTexts(s["NotAction"]), action)
	resourceFits := slices.ContainsFunc(naiveTexts(s["Resource"]), resource) ||
		s["NotResource"] != nil && !slices.ContainsFunc(naiveTexts(s["NotResource"]), notResource) ||
		s["Resource"] == nil && s["NotResource"] == nil && isTrust
	return actionFits && resourceFits
}

// naiveMeans is how strongly a statement means the caller.
func naiveMeans(s map[string]any, isResource bool, who Principal, bounded bool) int {
	switch deny := s["Effect"] == "Deny"; {
	case !isResource:
		return naiveExact
	case s["NotPrincipal"] == nil && deny: // a Deny for everybody means federated callers too
		return max(naiveStrength(s["Principal"], who), naiveStrength(s["Principal"], Principal{}))
	case s["NotPrincipal"] == nil:
		return naiveStrength(s["Principal"], who)
	case deny && (bounded || naiveStrength(s["NotPrincipal"], who) < naiveWild):
		return naiveExact
	}
	return naiveNone
}

func naiveStrength(listed any, who Principal) int {
	if listed == "*" {
		listed = map[string]any{"AWS": "*"}
	}
	has := func(kind, name string) bool {
		return name != "" && slices.Contains(naiveTexts(naiveMap(listed)[kind]), name)
	}
	element := map[PrincipalKind]string{User: "AWS", RoleSession: "AWS", Root: "AWS", Service: "Service", Federated: "Federated"}
	partition := strings.Split(who.ARN+":", ":")[1]
	switch {
	case has(element[who.Kind], who.ARN):
		return naiveExact
	case who.Kind == Federated:
		return naiveNone
	case has("AWS", who.RoleARN):
		return naiveRole
	case has("AWS", "*"):
		return naiveWild
	case has("AWS", who.AccountID), has("AWS", "arn:"+partition+":iam::"+who.AccountID+":root"):
		return naiveAccount
	}
	return naiveNone
}

// naiveResource says ifUnresolved of a pattern with a variable that has no value.
func naiveResource(text string, variables, ifUnresolved bool, request *Request) bool {
	pattern, resolved := naiveExpand(text, variables, request.Context)
	if !resolved {
		return ifUnresolved
	}
	want := strings.SplitN(pattern, ":", 6)
	got := strings.SplitN(request.Resource, ":", len(want)) // a short pattern's last "*" runs over colons
	long := len(want) == 6 || strings.HasSuffix(text, "*")
	return text == "*" || long && slices.EqualFunc(want, got, naiveGlob)
}

func naiveGlob(pattern, text string) bool {
	_, p := utf8.DecodeRuneInString(pattern)
	_, t := utf8.DecodeRuneInString(text)
	switch first := pattern[:p]; {
	case first == naiveMany:
		return naiveGlob(pattern[p:], text) || t > 0 && naiveGlob(pattern, text[t:])
	case p == 0 || t == 0:
		return p == t
	case first == naiveOne, first == text[:t], first == naiveColon && text[:t] == ":":
		return naiveGlob(pattern[p:], text[t:])
	}
	return false
}

// naiveExpand reads a pattern with variables; false when one has no value.
func naiveExpand(text string, variables bool, context Context) (string, bool) {
	before, rest, found := strings.Cut(text, "${")
	if !found || !variables {
		return naiveWildcards.Replace(text), true
	}
	variable, after, closed := strings.Cut(rest, "}")
	tail, resolved := naiveExpand(after, variables, context)
	if !closed || !resolved {
		return "", false
	}
	key, fallback, hasFallback := strings.Cut(variable, ",")
	values, _ := context.Get(strings.TrimSpace(key))
	value := strings.Join(values, "")
	switch {
	case variable == "*" || variable == "?" || variable == "$":
		value = variable
	case naiveMulti.MatchString(strings.TrimSpace(key)): // whatever it holds now
		return "", false
	case len(values) == 0 && hasFallback:
		value = strings.Trim(strings.TrimSpace(fallback), "'")
	case len(values) != 1:
		return "", false
	}
	return naiveWildcards.Replace(before) + strings.ReplaceAll(value, ":", naiveColon) + tail, true
}

func naiveCondition(name, key string, wants []string, variables bool, context Context) bool {
	parts := naiveOperator.FindStringSubmatch(name)
	if parts == nil {
		return false
	}
	set, operator, ifExists := parts[1], parts[2], parts[3] != ""
	positive := strings.Replace(operator, "Not", "", 1)
	negated := positive != operator
	values, _ := context.Get(key)
	switch {
	case operator == "Null":
		return slices.ContainsFunc(wants, func(want string) bool { return strings.EqualFold(want, fmt.Sprint(len(values) == 0)) })
	case len(values) == 0:
		return set == "ForAllValues" || set == "" && (ifExists || negated)
	case len(values) > 1 && set == "":
		return false
	}
	passed := 0
	for _, value := range values {
		matched, sound := false, true
		for _, want := range wants {
			match, valid := naiveCompare(positive, want, value, variables, context)
			matched, sound = matched || match && valid, sound && valid
		}
		if !negated && matched || negated && !matched && sound {
			passed++
		}
	}
	return passed == len(values) || set == "ForAnyValue" && passed > 0
}

// naiveCompare is valid where both values could be resolved and parsed.
func naiveCompare(operator, want, got string, variables bool, context Context) (match, valid bool) {
	pattern, resolved := naiveExpand(want, variables, context)
	pattern = strings.ReplaceAll(pattern, naiveColon, ":") // a variable may be a whole ARN
	text := naivePlain.Replace(pattern)
	switch operator {
	case "Bool":
		return strings.EqualFold(want, got), true
	case "StringEquals":
		return text == got, resolved
	case "StringEqualsIgnoreCase":
		return strings.EqualFold(text, got), resolved
	case "StringLike":
		return naiveGlob(pattern, got), resolved
	case "ArnEquals", "ArnLike":
		wants, gots := strings.SplitN(pattern, ":", 6), strings.SplitN(got, ":", 6)
		return slices.EqualFunc(wants, gots, naiveGlob), resolved && len(wants) == 6 && len(gots) == 6
	case "BinaryEquals":
		wantBytes, wantErr := base64.StdEncoding.DecodeString(want)
		gotBytes, gotErr := base64.StdEncoding.DecodeString(got)
		return string(wantBytes) == string(gotBytes), wantErr == nil && gotErr == nil
	case "IpAddress":
		if single, err := netip.ParseAddr(want); err == nil {
			want = netip.PrefixFrom(single, single.BitLen()).String()
		}
		network, wantErr := netip.ParsePrefix(want)
		address, gotErr := netip.ParseAddr(got)
		return network.Contains(address), wantErr == nil && gotErr == nil
	}
	wantNumber, wantValid := naiveNumber(want, strings.HasPrefix(operator, "Date"))
	gotNumber, gotValid := naiveNumber(got, strings.HasPrefix(operator, "Date"))
	order := gotNumber.Cmp(wantNumber)
	return order < 0 && strings.Contains(operator, "Less") || order > 0 && strings.Contains(operator, "Greater") ||
		order == 0 && strings.HasSuffix(operator, "Equals"), wantValid && gotValid
}

// naiveNumber reads a decimal number, or a date as its seconds since 1970.
func naiveNumber(text string, isDate bool) (*big.Rat, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", time.DateOnly, "2006-01"} {
		if date, err := time.Parse(layout, text); isDate && err == nil {
			return big.NewRat(date.UnixMicro(), 1e6), true
		}
	}
	if !naiveDecimal.MatchString(text) || isDate && strings.Contains(text, ".") {
		return new(big.Rat), false
	}
	return new(big.Rat).SetString(text)
}
