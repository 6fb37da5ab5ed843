package clock

import (
	"fmt"
	"time"
)

// Snapshot is how far the clock was moved and what its offsets are, as durations
// such as "1h30m0s"; empty for none.
type Snapshot struct {
	Advanced         string `json:"advanced,omitempty"`
	TokenOffset      string `json:"tokenOffset,omitempty"`
	CredentialOffset string `json:"credentialOffset,omitempty"`
	SignatureOffset  string `json:"signatureOffset,omitempty"`
}

// Snapshot is how the clock differs from its base.
func (c *Clock) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Snapshot{text(c.offset), text(c.offsets.Tokens), text(c.offsets.Credentials), text(c.offsets.Signatures)}
}

func text(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// Restore checks a snapshot and returns the function that moves the clock so.
func (c *Clock) Restore(from Snapshot) (replace func(), err error) {
	var advanced time.Duration
	var offsets Offsets
	for text, into := range map[*string]*time.Duration{
		&from.Advanced: &advanced, &from.TokenOffset: &offsets.Tokens,
		&from.CredentialOffset: &offsets.Credentials, &from.SignatureOffset: &offsets.Signatures,
	} {
		if *text == "" {
			continue
		}
		if *into, err = time.ParseDuration(*text); err != nil {
			return nil, fmt.Errorf("%q is no duration such as \"1h30m0s\"", *text)
		}
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.offset, c.offsets = advanced, offsets
	}, nil
}
