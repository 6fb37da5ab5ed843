package awslocal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/authority"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
)

// The files of Options.Dir.
const (
	certificateFile    = "ca.crt"
	keyFile            = "ca.key"
	administratorsFile = "administrators.json"
)

// storedKey is an administrator's key as it stands in its file.
type storedKey struct {
	AccessKeyID     string `json:"accessKeyID"`
	SecretAccessKey string `json:"secretAccessKey"`
}

// load reads the authority and the administrators' keys, and makes and keeps
// what is missing.
func (s *Server) load(identifiers *identifier.Source) error {
	if s.options.Dir != "" {
		if err := os.MkdirAll(s.options.Dir, 0o700); err != nil {
			return fmt.Errorf("awslocal: making the state folder: %w", err)
		}
	}
	if err := s.loadAuthority(); err != nil {
		return err
	}
	return s.loadAdministrators(identifiers)
}

// loadAuthority replaces an authority that has expired: its clients would fail
// either way, and this way a fresh copy of its certificate helps.
func (s *Server) loadAuthority() error {
	certificate, err := s.readFile(certificateFile)
	if err != nil {
		return err
	}
	key, err := s.readFile(keyFile)
	if err != nil {
		return err
	}
	if certificate != nil && key != nil {
		s.authority, err = authority.Load(certificate, key)
		if err != nil {
			return fmt.Errorf("awslocal: %w; remove %s and %s from %s to get a new one", err, certificateFile, keyFile, s.options.Dir)
		}
		if time.Now().Before(s.authority.Expires()) {
			return nil
		}
	}
	if s.authority, err = authority.New(); err != nil {
		return fmt.Errorf("awslocal: %w", err)
	}
	certificate, key, err = s.authority.Encode()
	if err != nil {
		return fmt.Errorf("awslocal: %w", err)
	}
	return errors.Join(s.writeFile(keyFile, key), s.writeFile(certificateFile, certificate))
}

func (s *Server) loadAdministrators(identifiers *identifier.Source) error {
	stored := map[string]storedKey{}
	text, err := s.readFile(administratorsFile)
	if err != nil {
		return err
	}
	if text != nil {
		if err := json.Unmarshal(text, &stored); err != nil {
			return fmt.Errorf("awslocal: reading %s: %w; remove the file to get new keys", filepath.Join(s.options.Dir, administratorsFile), err)
		}
	}
	s.administrators = map[string]Credentials{}
	for _, account := range s.options.Accounts {
		key, known := stored[account]
		if !known || key.AccessKeyID == "" || key.SecretAccessKey == "" {
			key = storedKey{AccessKeyID: identifiers.Unique(identifier.LongLivedKey), SecretAccessKey: identifiers.Secret()}
			stored[account] = key
		}
		s.administrators[account] = Credentials(key)
	}
	text, err = json.MarshalIndent(stored, "", "  ")
	if err != nil {
		return fmt.Errorf("awslocal: encoding the administrators' keys: %w", err)
	}
	return s.writeFile(administratorsFile, append(text, '\n'))
}

// readFile returns nil for a file that does not exist, and where nothing is
// kept.
func (s *Server) readFile(name string) ([]byte, error) {
	if s.options.Dir == "" {
		return nil, nil
	}
	content, err := os.ReadFile(filepath.Join(s.options.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("awslocal: reading the state folder: %w", err)
	}
	return content, nil
}

// writeFile replaces a file in one step: a process killed half-way leaves the
// old one.
func (s *Server) writeFile(name string, content []byte) error {
	if s.options.Dir == "" {
		return nil
	}
	path := filepath.Join(s.options.Dir, name)
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return fmt.Errorf("awslocal: writing the state folder: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("awslocal: writing the state folder: %w", err)
	}
	return nil
}
