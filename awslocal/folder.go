package awslocal

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

const (
	// serverFile is the file of Options.Dir that says where the process of Run listens.
	serverFile = "server.json"
	// healthTimeout is plenty for a server on the same machine.
	healthTimeout = 5 * time.Second
	// maxHealth bounds what is read of a server that may be any.
	maxHealth = 4 << 10
)

// ErrNotServing says that no process of Run serves from a folder.
var ErrNotServing = errors.New("no local AWS serves from this folder")

// Folder is what clients need to know of a process of Run: where it listens, and the
// files that it keeps in RunOptions.Dir.
type Folder struct {
	// Dir is the folder's absolute path.
	Dir string `json:"-"`
	// URL is where the server listens, with TLS if it does; a host that means all
	// addresses of the machine is replaced by 127.0.0.1.
	URL string `json:"url"`
	// Region is that of calls that name none.
	Region string `json:"region"`
	// Accounts are the IDs of the accounts, sorted.
	Accounts []string `json:"accounts"`
	// AdminTokenFile is the path of the file with the admin API's secret.
	AdminTokenFile string `json:"adminTokenFile"`
}

// ReadFolder reads where the process that serves from a folder listens, and asks it
// whether it is there. ErrNotServing if none answers.
func ReadFolder(ctx context.Context, dir string) (Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Folder{}, fmt.Errorf("awslocal: the folder %q: %w", dir, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, serverFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Folder{}, fmt.Errorf("awslocal: %w: %s has no file %s", ErrNotServing, dir, serverFile)
	}
	if err != nil {
		return Folder{}, fmt.Errorf("awslocal: %w", err)
	}
	folder := Folder{Dir: dir}
	if err := json.Unmarshal(text, &folder); err != nil {
		return Folder{}, fmt.Errorf("awslocal: reading %s: %w", filepath.Join(dir, serverFile), err)
	}
	return folder, folder.checkHealth(ctx)
}

// CAFile is the path of the certificate, in PEM, that clients must trust.
func (f Folder) CAFile() string { return filepath.Join(f.Dir, certificateFile) }

// AdminToken reads the secret of the admin API.
func (f Folder) AdminToken() (string, error) {
	token, err := readAdminToken(f.AdminTokenFile)
	if err != nil {
		return "", fmt.Errorf("awslocal: the admin API's token: %w", err)
	}
	return token, nil
}

// Administrator reads the access key of an account's administrator.
func (f Folder) Administrator(account string) (Credentials, error) {
	path := filepath.Join(f.Dir, administratorsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return Credentials{}, fmt.Errorf("awslocal: reading the administrators' keys: %w", err)
	}
	stored, err := parseAdministrators(path, text)
	if err != nil {
		return Credentials{}, err
	}
	key, known := stored[account]
	if !known {
		return Credentials{}, fmt.Errorf("awslocal: %s names no administrator of account %q", path, account)
	}
	return Credentials{AccessKeyID: key.ID, SecretAccessKey: key.Secret}, nil
}

// Client is an HTTP client that trusts the server.
func (f Folder) Client() (*http.Client, error) {
	ca, err := os.ReadFile(f.CAFile())
	if err != nil {
		return nil, fmt.Errorf("awslocal: reading the certificate authority: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}
	return &http.Client{Transport: transport}, nil
}

// Journal asks the server for its journal.
func (f Folder) Journal(ctx context.Context) ([]Entry, error) {
	token, err := f.AdminToken()
	if err != nil {
		return nil, err
	}
	answer, err := f.admin(ctx, "journal", token)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it is only read
	var entries []Entry
	if err := json.NewDecoder(answer.Body).Decode(&entries); err != nil {
		return nil, fmt.Errorf("awslocal: reading the journal: %w", err)
	}
	return entries, nil
}

// admin asks the admin API, with its secret if one is given. The answer is 200.
func (f Folder) admin(ctx context.Context, path, token string) (*http.Response, error) {
	client, err := f.Client()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL+adminPath+path, nil)
	if err != nil {
		return nil, fmt.Errorf("awslocal: %w", err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("awslocal: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(answer.Body, maxHealth)) // what there is of it helps
		_ = answer.Body.Close()
		return nil, fmt.Errorf("awslocal: %s answered %s: %s", request.URL, answer.Status, said)
	}
	return answer, nil
}

// checkHealth finds a file that a killed process has left behind.
func (f Folder) checkHealth(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	answer, err := f.admin(ctx, "health", "")
	if err != nil {
		return fmt.Errorf("awslocal: %w: %w", ErrNotServing, err)
	}
	return answer.Body.Close()
}

// announce writes for clients where the server listens. What it returns takes that
// back, unless another process has written its own since.
func (s *Server) announce(options RunOptions) (withdraw func() error, err error) {
	none := func() error { return nil }
	if options.Dir == "" {
		return none, nil
	}
	token, err := filepath.Abs(options.AdminTokenFile)
	if err != nil {
		return none, fmt.Errorf("awslocal: the file of the admin API's token: %w", err)
	}
	text, err := json.MarshalIndent(Folder{URL: reachable(s.URL()), Region: s.options.Region, Accounts: s.options.Accounts, AdminTokenFile: token}, "", "  ")
	if err != nil {
		return none, fmt.Errorf("awslocal: encoding where it listens: %w", err)
	}
	if err := s.writeFile(serverFile, text); err != nil {
		return none, err
	}
	return func() error {
		if found, err := s.readFile(serverFile); err != nil || string(found) != string(text) {
			return err
		}
		return os.Remove(filepath.Join(options.Dir, serverFile))
	}, nil
}

// reachable is an address at which the server's certificate is good, where it listens
// on all of them.
func reachable(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(parsed.Hostname()); ip != nil && ip.IsUnspecified() {
		parsed.Host = net.JoinHostPort("127.0.0.1", parsed.Port())
	}
	return parsed.String()
}
