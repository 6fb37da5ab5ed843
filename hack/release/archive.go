package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// member is a file of an archive.
type member struct {
	name, path string
	mode       int64
}

// folder lists the files below a folder, by name.
func folder(dir string) (members []member, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		members = append(members, member{name: filepath.ToSlash(name), path: path, mode: 0o644})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the files of an archive: %w", err)
	}
	return members, nil
}

// tarball packs files. All belong to root and are of one time, so that the archive depends
// on the files alone.
func (r release) tarball(members []member) ([]byte, error) {
	var packed bytes.Buffer
	zipper, err := gzip.NewWriterLevel(&packed, r.compression)
	if err != nil {
		return nil, err
	}
	writer := tar.NewWriter(zipper)
	for _, m := range members {
		content, err := os.ReadFile(m.path)
		if err != nil {
			return nil, fmt.Errorf("read a file of an archive: %w", err)
		}
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: m.name, Mode: m.mode, Size: int64(len(content)), ModTime: epoch(r.created), Format: tar.FormatUSTAR,
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack %s: %w", m.name, err)
		}
		if _, err := writer.Write(content); err != nil {
			return nil, fmt.Errorf("pack %s: %w", m.name, err)
		}
	}
	if err := errors.Join(writer.Close(), zipper.Close()); err != nil {
		return nil, fmt.Errorf("pack an archive: %w", err)
	}
	return packed.Bytes(), nil
}

// zipped packs files as tarball does, for Windows.
func (r release) zipped(members []member) ([]byte, error) {
	var packed bytes.Buffer
	writer := zip.NewWriter(&packed)
	for _, m := range members {
		content, err := os.ReadFile(m.path)
		if err != nil {
			return nil, fmt.Errorf("read a file of an archive: %w", err)
		}
		header := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: epoch(r.created)}
		header.SetMode(fs.FileMode(m.mode))
		into, err := writer.CreateHeader(header)
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", m.name, err)
		}
		if _, err := into.Write(content); err != nil {
			return nil, fmt.Errorf("pack %s: %w", m.name, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("pack an archive: %w", err)
	}
	return packed.Bytes(), nil
}

// epoch is a time in UTC, and 1980 for none: zip has no earlier one.
func epoch(modified time.Time) time.Time {
	if modified.IsZero() {
		return time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	return modified.UTC()
}
