package awslocal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/authority"
	"github.com/tabard-dev/tabard/awslocal/internal/iam"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
)

// The files of Options.Dir.
const (
	certificateFile    = "ca.crt"
	keyFile            = "ca.key"
	administratorsFile = "administrators.json"
)

// load reads the authority and the administrators' keys, and makes and keeps
// what is missing.
func (s *Server) load(identifiers *identifier.Source) (map[string]iam.Key, error) {
	if s.options.Dir != "" {
		if err := os.MkdirAll(s.options.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("awslocal: making the state folder: %w", err)
		}
	}
	if err := s.loadAuthority(); err != nil {
		return nil, err
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

func (s *Server) loadAdministrators(identifiers *identifier.Source) (map[string]iam.Key, error) {
	stored, err := s.readAdministrators()
	if err != nil {
		return nil, err
	}
	administrators := map[string]iam.Key{}
	for _, account := range s.options.Accounts {
		key, known := stored[account]
		if !known || key.ID == "" || key.Secret == "" {
			key = iam.Key{ID: identifiers.Unique(identifier.LongLivedKey), Secret: identifiers.Secret()}
			stored[account] = key
		}
		administrators[account] = key
	}
	return administrators, s.writeAdministrators(stored)
}

// keepAdministrators makes the folder have other keys for some accounts.
func (s *Server) keepAdministrators(accounts []iam.AccountSnapshot) error {
	stored, err := s.readAdministrators()
	if err != nil {
		return err
	}
	for _, one := range accounts {
		stored[one.ID] = one.Administrator
	}
	return s.writeAdministrators(stored)
}

// readAdministrators reads the keys of all accounts that ever used the folder.
func (s *Server) readAdministrators() (map[string]iam.Key, error) {
	text, err := s.readFile(administratorsFile)
	if text == nil || err != nil {
		return map[string]iam.Key{}, err
	}
	return parseAdministrators(filepath.Join(s.options.Dir, administratorsFile), text)
}

func parseAdministrators(path string, text []byte) (map[string]iam.Key, error) {
	stored := map[string]iam.Key{}
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, fmt.Errorf("awslocal: reading %s: %w; remove the file to get new keys", path, err)
	}
	return stored, nil
}

func (s *Server) writeAdministrators(stored map[string]iam.Key) error {
	text, err := json.MarshalIndent(stored, "", "  ")
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
	err := replaceFile(filepath.Join(s.options.Dir, name), func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return fmt.Errorf("awslocal: writing the state folder: %w", err)
	}
	return nil
}

// replaceFile writes a file that only its owner may read. It is there in full or
// as it was before, also when the process is killed or the machine stops.
func replaceFile(path string, write func(io.Writer) error) error {
	made := path + ".new"
	// One that was left behind could be open to others.
	if err := os.Remove(made); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(made, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(file, 1<<20)
	err = write(buffered)
	if err == nil {
		err = errors.Join(buffered.Flush(), file.Sync())
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(made, path)
}
