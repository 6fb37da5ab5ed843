package oidc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	strict "github.com/go-jose/go-jose/v4/json"
)

// readObject reads a JSON object whose members have different names, at every
// depth, letter by letter: of two readers of an object with a name twice, each may
// see another token.
func readObject(text []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil || members == nil {
		return nil, errors.New("no JSON object")
	}
	// go-jose's decoder refuses a name that an object has twice, at any depth.
	whole, decoder := any(nil), strict.NewDecoder(bytes.NewReader(text))
	decoder.SetNumberType(strict.UnmarshalJSONNumber)
	if err := decoder.Decode(&whole); err != nil {
		return nil, fmt.Errorf("%.100s", err.Error()) // the name may be as long as a token
	}
	return members, nil
}
