// Package snapshot has what the services' snapshots are made of: forms in which
// every value comes back from JSON as it went in.
package snapshot

import (
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// Text is a string that a client chose. In JSON it is a string, or an object
// with its bytes where these are no UTF-8, which JSON's strings cannot hold.
type Text string

// octets is a text that is no UTF-8.
type octets struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON writes the text down.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(octets{[]byte(t)})
}

// UnmarshalJSON reads a text in either form.
func (t *Text) UnmarshalJSON(data []byte) error {
	var plain string
	if json.Unmarshal(data, &plain) == nil {
		*t = Text(plain)
		return nil
	}
	var raw octets
	if err := json.Unmarshal(data, &raw); err != nil || len(raw.Base64) == 0 {
		return errors.New(`a text must be a string, or an object with its bytes as base64`)
	}
	*t = Text(raw.Base64)
	return nil
}
