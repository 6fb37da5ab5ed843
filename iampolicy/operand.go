package iampolicy

import (
	"bytes"
	"encoding/base64"
	"net/netip"
	"strings"
	"time"
)

// operand is one value of a condition, made ready for comparison.
type operand interface {
	// match compares a value of the request. ok is false where either side
	// cannot be resolved or read: such a comparison counts for nothing, for a
	// negated operator too.
	match(value string, context Context) (matched, ok bool)
}

// textOperand compares texts, letter by letter or by its wildcards.
type textOperand struct{ want template }

func (o *textOperand) match(value string, context Context) (bool, bool) {
	matched := o.want.fits(value, context)
	return matched, matched || o.want.resolves(context)
}

// textual makes the compiler of a text operator.
func textual(wild mode) compileOperand {
	return func(s string, variables bool) operand {
		return &textOperand{want: compileTemplate(s, variables, wild)}
	}
}

// foldedOperand compares texts without regard to case.
type foldedOperand struct{ want template }

func (o *foldedOperand) match(value string, context Context) (bool, bool) {
	want, ok := o.want.resolve(context)
	return ok && strings.EqualFold(want, value), ok
}

func compileFolded(s string, variables bool) operand {
	return &foldedOperand{want: compileTemplate(s, variables, literal)}
}

// arnOperand compares ARNs part by part (AWS: ARN condition operators). Unlike a resource it is cut after its
// variables are resolved, because a variable may stand for a whole ARN.
type arnOperand struct{ want template }

func (o *arnOperand) match(value string, context Context) (bool, bool) {
	resolved, ok := o.want.resolve(context)
	if !ok {
		return false, false
	}
	want, have := cutARN(resolved), cutARN(value)
	if !want.isWhole() || !have.isWhole() {
		return false, false
	}
	return matchARN(&want, &have), true
}

func compileARN(s string, variables bool) operand {
	return &arnOperand{want: compileTemplate(s, variables, wildcard)}
}

// parsedOperand compares values of a type of their own.
type parsedOperand[T any] struct {
	want  T
	valid bool
	parse func(string) (T, bool)
	holds func(want, value T) bool
}

func (o *parsedOperand[T]) match(value string, _ Context) (bool, bool) {
	if !o.valid {
		return false, false
	}
	have, ok := o.parse(value)
	return ok && o.holds(o.want, have), ok
}

// parsed makes the compiler of an operator with a type of its own; these take
// no variables.
func parsed[T any](parse func(string) (T, bool), holds func(want, value T) bool) compileOperand {
	return func(s string, _ bool) operand {
		want, valid := parse(s)
		return &parsedOperand[T]{want: want, valid: valid, parse: parse, holds: holds}
	}
}

// ordered makes the compiler of an operator that compares sizes: accept gets
// less than, equal to or greater than zero as the request's value is less than,
// equal to or greater than the policy's.
func ordered[T any](parse func(string) (T, bool), compare func(a, b T) int, accept func(int) bool) compileOperand {
	return parsed(parse, func(want, value T) bool { return accept(compare(value, want)) })
}

// decimal is a number kept as text, so that no digit is lost: sign, the digits
// before the point without leading zeros, those after it without trailing ones.
type decimal struct {
	negative        bool
	whole, fraction string
}

// parseDecimal reads digits with a sign and a fraction. AWS documents no
// exponents.
func parseDecimal(s string) (decimal, bool) {
	d := decimal{}
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		d.negative, s = true, rest
	} else {
		s = strings.TrimPrefix(s, "+")
	}
	whole, fraction, point := strings.Cut(s, ".")
	if whole == "" || digits(whole) != len(whole) || digits(fraction) != len(fraction) || point && fraction == "" {
		return decimal{}, false
	}
	d.whole, d.fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if d.whole == "" && d.fraction == "" {
		d.negative = false
	}
	return d, true
}

// compareDecimals orders numbers.
func compareDecimals(a, b decimal) int {
	if a.negative != b.negative {
		if a.negative {
			return -1
		}
		return 1
	}
	order := len(a.whole) - len(b.whole)
	if order == 0 {
		order = strings.Compare(a.whole, b.whole)
	}
	if order == 0 {
		order = strings.Compare(a.fraction, b.fraction)
	}
	if a.negative {
		return -order
	}
	return order
}

// dateLayouts are the forms of ISO 8601 that the W3C's note on dates lists. A
// year alone is not among them: digits alone are epoch seconds.
var dateLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02", "2006-01",
}

// parseDate reads an ISO 8601 date or epoch seconds (AWS: date condition
// operators).
func parseDate(s string) (time.Time, bool) {
	if seconds, ok := parseEpoch(s); ok {
		return time.Unix(seconds, 0), true
	}
	for _, layout := range dateLayouts {
		if at, err := time.Parse(layout, s); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// parseEpoch reads seconds. Fifteen digits are thirty million years.
func parseEpoch(s string) (int64, bool) {
	s, negative := strings.CutPrefix(s, "-")
	if s == "" || len(s) > 15 || digits(s) != len(s) {
		return 0, false
	}
	var seconds int64
	for _, digit := range []byte(s) {
		seconds = seconds*10 + int64(digit-'0')
	}
	if negative {
		seconds = -seconds
	}
	return seconds, true
}

// parseRange reads an address or a range of addresses.
func parseRange(s string) (netip.Prefix, bool) {
	if !strings.Contains(s, "/") {
		address, err := netip.ParseAddr(s)
		if err != nil || address.Zone() != "" {
			return netip.Prefix{}, false
		}
		address = address.Unmap()
		return netip.PrefixFrom(address, address.BitLen()), true
	}
	prefix, err := netip.ParsePrefix(s)
	return prefix.Masked(), err == nil
}

// compileRange makes the operand of the address operators (AWS: IP address
// condition operators). The families never match each other.
func compileRange(s string, _ bool) operand {
	want, valid := parseRange(s)
	return &rangeOperand{want: want, valid: valid}
}

type rangeOperand struct {
	want  netip.Prefix
	valid bool
}

func (o *rangeOperand) match(value string, _ Context) (bool, bool) {
	address, err := netip.ParseAddr(value)
	if !o.valid || err != nil || address.Zone() != "" {
		return false, false
	}
	return o.want.Contains(address.Unmap()), true
}

// parseBinary reads base64.
func parseBinary(s string) ([]byte, bool) {
	decoded, err := base64.StdEncoding.DecodeString(s)
	return decoded, err == nil
}

var compileBinary = parsed(parseBinary, bytes.Equal)

// parseWord takes any text: Bool compares words without regard to case (AWS:
// Boolean condition operators).
func parseWord(s string) (string, bool) { return s, true }

var compileBool = parsed(parseWord, strings.EqualFold)

// compareDates orders instants.
func compareDates(a, b time.Time) int { return a.Compare(b) }
