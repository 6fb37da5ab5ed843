package image

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"strings"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// rootsFile is where Go, OpenSSL and curl look for the root certificates.
const rootsFile = "etc/ssl/certs/ca-certificates.crt"

const (
	passwd = "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/nonexistent:/sbin/nologin\n"
	group  = "root:x:0:\nnonroot:x:65532:\n"
)

// file is a file of the image, or a folder if its name ends with a slash. All of
// them belong to root.
type file struct {
	name string
	mode int64
	data []byte
}

// baseFiles are the files that every image has.
func baseFiles() []file {
	return []file{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, data: []byte(group)},
		{name: "etc/passwd", mode: 0o644, data: []byte(passwd)},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: rootsFile, mode: 0o644, data: roots()},
		{name: "tmp/", mode: 0o1777},
	}
}

// roots returns the root certificates that Mozilla trusts, as PEM. They come
// with the module and not from the machine that builds. A root that is trusted
// only for certificates issued before some day is left out: PEM cannot say that,
// and a root without its limit would be trusted for more than it is.
func roots() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return text.Bytes()
}

// pack writes the files into a tar archive. Owner and times are fixed, so that
// the archive depends on the files alone.
func pack(files []file) ([]byte, error) {
	var packed bytes.Buffer
	for _, f := range files {
		packed.Grow(len(f.data)) // programs are large
	}
	writer := tar.NewWriter(&packed)
	for _, f := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data)),
			ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR,
		}
		if strings.HasSuffix(f.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := writer.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
