package sigv4

import (
	"fmt"
	"time"
)

// Skew is how far a request's date may be from the server's clock. AWS's own
// texts show 5 and 15 minutes; the wider one is taken.
const Skew = 15 * time.Minute

// CheckScope wants the scope's service to be the one asked, its day to be the
// day of the signing, and its region not to be empty.
func (s *Signature) CheckScope(service string) error {
	if s.Service != service {
		return &Error{Kind: Scope, Part: Service, Values: []any{s.Service, service}, Presigned: s.Presigned,
			Detail: fmt.Sprintf("Credential should be scoped to correct service: '%s'.", service)}
	}
	if day := s.Time.Format(dayLayout); s.Day != day {
		return &Error{Kind: Scope, Part: Day, Values: []any{s.Day, s.Time.Format(dayLayout)}, Presigned: s.Presigned, Detail: fmt.Sprintf("Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '%s' != '%s', from '%s'.", s.Day, day, s.Time.Format(timeLayout))}
	}
	if s.Region == "" {
		return &Error{Kind: Scope, Part: Region, Presigned: s.Presigned, Detail: textRegion}
	}
	return nil
}

// RefuseRegion refuses the scope's region; another is expected.
func (s *Signature) RefuseRegion(expected string) *Error {
	return &Error{Kind: Scope, Part: WrongRegion, Values: []any{s.Region, expected}, Presigned: s.Presigned, Detail: textRegion}
}

const textRegion = "Credential should be scoped to a valid region. "

// CheckTime wants the signing to be within Skew of now. A presigned URL of
// Amazon S3 is good from Skew before its date until its own expiry; of any other
// service, as any signed request, whatever expiry it asks for.
func (s *Signature) CheckTime(now time.Time) error {
	if s.Time.After(now.Add(Skew)) {
		return &Error{Kind: Early, Presigned: s.Presigned, Values: s.skewed(now), Detail: fmt.Sprintf("Signature not yet current: %s is still later than %s (%s + %d min.)",
			s.Time.Format(timeLayout), stamp(now.Add(Skew)), stamp(now), int(Skew.Minutes()))}
	}
	if s.Presigned && s.Service == "s3" {
		if now.After(s.Time.Add(s.Expires)) {
			return &Error{Kind: Expired, Presigned: true, Detail: "Request has expired",
				Values: []any{int(s.Expires.Seconds()), iso(s.Time.Add(s.Expires)), iso(now)}}
		}
		return nil
	}
	if s.Time.Before(now.Add(-Skew)) {
		return &Error{Kind: Late, Presigned: s.Presigned, Values: s.skewed(now), Detail: fmt.Sprintf("Signature expired: %s is now earlier than %s (%s - %d min.)",
			s.Time.Format(timeLayout), stamp(now.Add(-Skew)), stamp(now), int(Skew.Minutes()))}
	}
	return nil
}

// skewed are the values of an Early or Late refusal.
func (s *Signature) skewed(now time.Time) []any {
	return []any{stamp(s.Time), iso(now), Skew.Milliseconds()}
}

// iso is an instant as Amazon S3 writes it.
func iso(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func stamp(t time.Time) string { return t.UTC().Format(timeLayout) }
