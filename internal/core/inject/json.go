package inject

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// decodeStrictly reads JSON and refuses unknown fields.
func decodeStrictly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return explain(decoder.Decode(into))
}

// explain says what is wrong with a document in the terms of JSON, not of Go.
func explain(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &wrong):
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	field := wrong.Field
	if field == "" {
		field = "it"
	}
	kind, value, _ := strings.Cut(wrong.Value, " ") // such as "number 1.5"
	if value != "" {
		return fmt.Errorf("%s is the %s %.40s, expected %s", field, kind, value, expected(wrong.Type))
	}
	return fmt.Errorf("%s is %s %s, expected %s", field, article(kind), kind, expected(wrong.Type))
}

func article(kind string) string {
	if strings.HasPrefix(kind, "a") || strings.HasPrefix(kind, "o") {
		return "an" // array, object
	}
	return "a"
}

// expected says what JSON has for a type of Go.
func expected(of reflect.Type) string {
	switch of.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "an array"
	default:
		return "an object"
	}
}
