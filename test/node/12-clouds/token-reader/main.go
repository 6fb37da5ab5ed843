// Command token-reader prints, as JSON, its user and for whom the tokens are that it
// finds by the variables that the SDKs of AWS, Azure and Google Cloud read. It fails
// if it may not read one of them.
package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	found := map[string]string{"user": strconv.Itoa(os.Getuid())}
	var errs [3]error
	found["aws"], errs[0] = audience(os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"))
	found["azure"], errs[1] = audience(os.Getenv("AZURE_FEDERATED_TOKEN_FILE"))
	found["gcp"], errs[2] = googleAudience(os.Getenv("GOOGLE_APPLICATION_CREDENTIALS"))
	if err := errors.Join(append(errs[:], json.NewEncoder(os.Stdout).Encode(found))...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// googleAudience is that of the token which a credential file names.
func googleAudience(credentials string) (string, error) {
	text, err := os.ReadFile(credentials)
	if err != nil {
		return "", err
	}
	var named struct {
		Source struct {
			File string `json:"file"`
		} `json:"credential_source"`
	}
	if err := json.Unmarshal(text, &named); err != nil {
		return "", fmt.Errorf("%s: %w", credentials, err)
	}
	return audience(named.Source.File)
}

// audience is whom the token in a file is for. Nothing else of it is said.
func audience(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	parts := strings.Split(string(text), ".")
	if len(parts) != 3 {
		return "", fmt.Errorf("the token in %s has %d parts, want 3", file, len(parts))
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", fmt.Errorf("the claims of the token in %s: %w", file, err)
	}
	var named struct {
		Audience []string `json:"aud"`
	}
	if err := json.Unmarshal(claims, &named); err != nil {
		return "", fmt.Errorf("the claims of the token in %s: %w", file, err)
	}
	return strings.Join(named.Audience, " "), nil
}
