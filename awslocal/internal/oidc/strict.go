package oidc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// readObject reads a JSON object whose members have different names, at every
// depth, letter by letter: of two readers of an object with a name twice, each may
// see another token.
func readObject(text []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil || members == nil {
		return nil, errors.New("no JSON object")
	}
	if name, twice := repeated(text); twice {
		return nil, fmt.Errorf("the member %.64q is there twice", name)
	}
	return members, nil
}

// repeated finds a name that an object of a sound JSON document has twice.
func repeated(text []byte) (name string, twice bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	// open are the objects and lists around what is read next; a list has no names.
	var open []map[string]bool
	isName := false
	for {
		token, err := decoder.Token()
		if err != nil {
			return "", false
		}
		delimiter, _ := token.(json.Delim)
		switch text, isText := token.(string); {
		case delimiter == '}' || delimiter == ']':
			open = open[:len(open)-1]
		case isText && isName:
			names := open[len(open)-1]
			if names[text] {
				return text, true
			}
			names[text], isName = true, false
			continue
		case delimiter == '{':
			open = append(open, map[string]bool{})
		case delimiter == '[':
			open = append(open, nil)
		}
		isName = len(open) > 0 && open[len(open)-1] != nil
	}
}
