package awslocal

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
)

const (
	// adminTokenFile is the file of Options.Dir that holds the admin API's secret.
	adminTokenFile = "admin-token"
	// maxAdminToken bounds what is read of a file that may be anything.
	maxAdminToken = 4 << 10
)

// loadAdminToken makes the process's admin API want a secret, that of a file where
// one is named. Without any it is one that nobody is told: then health is all that
// the admin API answers.
func (o *RunOptions) loadAdminToken() error {
	if o.AdminToken != "" {
		return nil
	}
	if o.AdminTokenFile == "" && o.Dir != "" {
		o.AdminTokenFile = filepath.Join(o.Dir, adminTokenFile)
	}
	if o.AdminTokenFile == "" {
		o.AdminToken = rand.Text()
		return nil
	}
	token, err := readAdminToken(o.AdminTokenFile)
	if errors.Is(err, fs.ErrNotExist) {
		token = rand.Text()
		err = makeAdminToken(o.AdminTokenFile, token)
	}
	if err != nil {
		return fmt.Errorf("awslocal: the admin API's token: %w", err)
	}
	o.AdminToken = token
	return nil
}

func makeAdminToken(path, token string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return replaceFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, token+"\n")
		return err
	})
}

// readAdminToken refuses a file that others may read or write, and one without a
// secret that is worth the name.
func readAdminToken(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it is only read
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	// Windows has no such bits.
	if others := info.Mode().Perm() & 0o077; others != 0 && runtime.GOOS != "windows" {
		return "", fmt.Errorf("%s has the mode %04o and must be its owner's alone; type \"chmod 600 %s\", or remove it to get a new one", path, info.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxAdminToken))
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if !adminTokenForm.MatchString(token) {
		return "", fmt.Errorf("%s does not hold one word of 20 or more letters, digits and - . _ ~ + / =; remove it to get a new one", path)
	}
	return token, nil
}

// adminTokenForm is what RFC 6750 lets a bearer token be, and long enough that
// nobody guesses it.
var adminTokenForm = pattern.New(`^[A-Za-z0-9._~+/-]{20,}=*$`)

// mayAdminister says whether a request has the admin API's secret. That the server
// is there is no secret: who waits for its start has the secret only afterwards.
func (s *Server) mayAdminister(r *http.Request) bool {
	if s.options.AdminToken == "" || r.URL.Path == adminPath+"health" {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	// Of equal lengths, so that the time does not even tell how long it is.
	got, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.options.AdminToken))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// refuseStranger answers who has not the admin API's secret.
func refuseStranger(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	http.Error(w, "The admin API wants the header \"Authorization: Bearer TOKEN\". TOKEN is what the file admin-token "+
		"in the server's folder (--dir, or the file of --admin-token-file) holds; \"tabard lab env\" prints it as AWSLOCAL_ADMIN_TOKEN.", http.StatusUnauthorized)
}
