package snapshot

import (
	"encoding/json"
	"testing"
)

func TestTextsComeBackAsTheyWere(t *testing.T) {
	cases := map[Text]string{
		"":              `""`,
		"plain \"x\"":   `"plain \"x\""`,
		"ünïcödé\u2028": `"ünïcödé\u2028"`,
		"caf\xe9":       `{"base64":"Y2Fm6Q=="}`,
	}
	for text, want := range cases {
		got, err := json.Marshal(text)
		if err != nil || string(got) != want {
			t.Errorf("%q is written as %s, %v, want %s", text, got, err, want)
		}
		var back Text
		if err := json.Unmarshal(got, &back); err != nil || back != text {
			t.Errorf("%s is read as %q, %v, want %q", got, back, err, text)
		}
	}
}

func TestOtherThingsAreNoTexts(t *testing.T) {
	for _, wrong := range []string{`1`, `[]`, `{}`, `{"base64":""}`, `{"base64":"?"}`} {
		var text Text
		if err := json.Unmarshal([]byte(wrong), &text); err == nil {
			t.Errorf("%s is read as %q", wrong, text)
		}
	}
}
