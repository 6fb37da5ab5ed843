package bed

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/internal/lab"
)

// Token is what a kubelet has put into a pod. It is never to be logged; its claims
// are no secret.
type Token struct {
	Raw string `json:"-"`
	// ID tells one token of a kubelet from the next.
	ID             string `json:"jti"`
	IssuedSeconds  int64  `json:"iat"`
	ExpiresSeconds int64  `json:"exp"`
}

// Issued is when the API server signed it.
func (token Token) Issued() time.Time { return time.Unix(token.IssuedSeconds, 0) }

// Expires is when it ends.
func (token Token) Expires() time.Time { return time.Unix(token.ExpiresSeconds, 0) }

// String is what may be logged of it.
func (token Token) String() string {
	return fmt.Sprintf("token %s of %s for %s", token.ID, token.Issued().Format(time.TimeOnly), token.Expires().Sub(token.Issued()))
}

// Token reads the AWS token of a pod as the kubelet has it on the node: from there,
// not from the pod, in which nothing but the SDK reads it.
func (b *Bed) Token(podUID string) (Token, error) {
	running, err := lab.Load(b.Dir)
	if err != nil {
		return Token{}, err
	}
	holder, _, err := running.Processes().Get(lab.Holder)
	if err != nil {
		return Token{}, err
	}
	// The file is on a file system that is mounted on the node alone.
	path := filepath.Join("/proc", strconv.Itoa(holder.PID), "root", b.Dir, "node", "kubelet", "pods", podUID,
		"volumes", "kubernetes.io~projected", "aws-iam-token", "token")
	text, err := os.ReadFile(path)
	if err != nil {
		return Token{}, err
	}
	parts := strings.Split(string(text), ".")
	if len(parts) != 3 {
		return Token{}, fmt.Errorf("the token has %d parts, want 3", len(parts))
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return Token{}, fmt.Errorf("the token's claims: %w", err)
	}
	token := Token{Raw: string(text)}
	if err := json.Unmarshal(claims, &token); err != nil {
		return Token{}, fmt.Errorf("the token's claims: %w", err)
	}
	return token, nil
}
