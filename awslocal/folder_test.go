package awslocal

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runIn runs a server in a folder until stop is called, which returns Run's error.
func runIn(t *testing.T, dir, listen string) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, RunOptions{Options: Options{Dir: dir, Region: "eu-west-1", Accounts: []string{"222222222222", "111111111111"}}, Listen: listen, Stdout: writer})
		_ = writer.Close()
	}()
	if _, err := reader.Read(make([]byte, 1)); err != nil {
		t.Fatalf("it did not start: %v, %v", err, <-done)
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	return func() error { cancel(); return <-done }
}

func TestAFolderLeadsToTheServerThatRunsInIt(t *testing.T) {
	dir := t.TempDir()
	for _, listen := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		stop := runIn(t, dir, listen)
		folder, err := ReadFolder(t.Context(), dir)
		if err != nil || folder.Region != "eu-west-1" || strings.Join(folder.Accounts, " ") != "111111111111 222222222222" || !strings.HasPrefix(folder.URL, "https://127.0.0.1:") {
			t.Errorf("read %+v, %v", folder, err)
		}
		key, err := folder.Administrator("222222222222")
		if err != nil || !strings.HasPrefix(key.AccessKeyID, "AKIA") || key.SecretAccessKey == "" {
			t.Errorf("the administrator: %q, %v", key.AccessKeyID, err)
		}
		if _, err := folder.Administrator("333333333333"); err == nil || !strings.Contains(err.Error(), "333333333333") {
			t.Errorf("an account that it does not have: %v", err)
		}
		if entries, err := folder.Journal(t.Context()); err != nil || entries == nil {
			t.Errorf("the journal: %v, %v", entries, err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
	if _, err := ReadFolder(t.Context(), dir); !errors.Is(err, ErrNotServing) {
		t.Errorf("after its end: %v", err)
	}
}

func TestAFolderThatAKilledServerLeft(t *testing.T) {
	dir := t.TempDir()
	stop := runIn(t, dir, "127.0.0.1:0")
	left, err := os.ReadFile(filepath.Join(dir, serverFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, serverFile), left, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFolder(t.Context(), dir); !errors.Is(err, ErrNotServing) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("read %v", err)
	}
}

// A server that ends does not take back what another one in its folder has written.
func TestAnEndingServerLeavesTheAddressOfAnother(t *testing.T) {
	dir := t.TempDir()
	first := runIn(t, dir, "127.0.0.1:0")
	second := runIn(t, dir, "127.0.0.1:0")
	if err := first(); err != nil {
		t.Error(err)
	}
	if _, err := ReadFolder(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if err := second(); err != nil {
		t.Error(err)
	}
}

func TestBrokenAdministratorsAreTold(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{"[": "remove the file", "{}": "names no administrator"} {
		if err := os.WriteFile(filepath.Join(dir, administratorsFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (Folder{Dir: dir}).Administrator("1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
