package image

import (
	"errors"
	"fmt"
	"hash"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// verified reads a blob. What it has must not be believed before finish.
type verified struct {
	in        io.Reader
	sum       hash.Hash
	want      v1.Hash
	size, got int64
}

// verified reads what should have this digest and size. A digest that is zero is not compared.
func (w *reading) verified(in io.Reader, want v1.Hash, size int64) (*verified, error) {
	v := &verified{in: in, want: want, size: size}
	if size < 0 || size > w.bounds.read {
		return nil, fmt.Errorf("the manifest says that it has %d bytes, expected 0 to %d", size, w.bounds.read)
	}
	if want == (v1.Hash{}) {
		return v, nil
	}
	sum, err := v1.Hasher(want.Algorithm)
	if err != nil {
		return nil, err
	}
	v.sum = sum
	return v, nil
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.in.Read(p)
	if v.got += int64(n); v.got > v.size {
		return 0, fmt.Errorf("it has more bytes than the %d that the manifest says; fetch the image again", v.size)
	}
	if v.sum != nil {
		_, _ = v.sum.Write(p[:n]) // A hash never fails.
	}
	return n, err
}

// finish reads the rest, and compares.
func (v *verified) finish() error {
	if _, err := io.Copy(io.Discard, v); err != nil {
		return err
	}
	if v.got != v.size {
		return fmt.Errorf("it has %d bytes, expected %d as the manifest says; fetch the image again", v.got, v.size)
	}
	if v.sum == nil {
		return nil
	}
	if got := fmt.Sprintf("%x", v.sum.Sum(nil)); got != v.want.Hex {
		return fmt.Errorf("it has the digest %s:%s, expected %s; fetch the image again", v.want.Algorithm, got, v.want)
	}
	return nil
}

// blob is all of a small blob.
func (w *reading) blob(open func(v1.Descriptor) (io.ReadCloser, error), what string, of v1.Descriptor) (_ []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("the %s %s: %w", what, of.Digest, err)
		}
	}()
	if err := w.small(of.Size); err != nil {
		return nil, err
	}
	if of.Digest == (v1.Hash{}) {
		return nil, errors.New("it has no digest, expected sha256:… in what names it")
	}
	opened, err := open(of)
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }() // It was only read.
	in, err := w.verified(opened, of.Digest, of.Size)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	return text, in.finish()
}

// small refuses what is held in memory and too large.
func (w *reading) small(size int64) error {
	if size < 0 || size > w.bounds.manifest {
		return fmt.Errorf("it has %d bytes, expected 0 to %d", size, w.bounds.manifest)
	}
	return nil
}
