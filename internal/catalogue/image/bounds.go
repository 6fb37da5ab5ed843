package image

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// bounds are what an image may have at most.
type bounds struct {
	// read are the bytes of all layers together, decompressed.
	read int64
	// disk are the bytes of the temporary files.
	disk int64
	// manifest are the bytes of a manifest, an index or a config.
	manifest int64
	// entries are those of all tars, kept the bytes of the names that are remembered.
	entries, kept int64
	layers        int
}

// defaults are generous: a large vendor's catalogue has 100 MB, its image with the cache of the
// server and a base system 1 to 2 GB. Registries take manifests of 4 MiB, and container runtimes
// images of 128 layers. To read over 8 GiB takes about a minute, which is where a person gives up.
var defaults = bounds{read: 8 << 30, disk: 4 << 30, manifest: 4 << 20, entries: 1_000_000, kept: 64 << 20, layers: 500}

// errTooMuch is a bomb, or no catalogue.
func errTooMuch(most int64) error {
	return fmt.Errorf("the layers have more than %d MiB when decompressed, expected 2048 MiB at most of a large vendor's; "+
		"if the image is to be trusted, unpack its catalogue and read it with --catalogue DIRECTORY", most>>20)
}

// counted counts what is decompressed.
type counted struct {
	w  *reading
	in io.Reader
}

func (c *counted) Read(p []byte) (int, error) {
	if err := c.w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.in.Read(p)
	if c.w.decompressed += int64(n); c.w.decompressed > c.w.bounds.read {
		return 0, errTooMuch(c.w.bounds.read)
	}
	return n, err
}

// decompressed is the tar in a layer or an archive.
func decompressed(in io.Reader) (io.ReadCloser, error) {
	out, _, err := decompressor(in)
	return out, err
}

// decompressor also says whether it is compressed. The first bytes tell how: what a manifest says
// may be wrong.
func decompressor(in io.Reader) (out io.ReadCloser, compressed bool, err error) {
	// A window of zstd takes memory before anything is decompressed: its format recommends that
	// 8 MiB are supported, and its best levels use more.
	const window = 32 << 20
	buffered := bufio.NewReaderSize(in, 64<<10)
	magic, err := buffered.Peek(4)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, false, err
	case len(magic) >= 2 && magic[0] == 0x1f && magic[1] == 0x8b:
		out, err := gzip.NewReader(buffered)
		return out, true, err
	case string(magic) == "\x28\xb5\x2f\xfd":
		decoder, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, true, err
		}
		return decoder.IOReadCloser(), true, nil
	}
	return io.NopCloser(buffered), false, nil
}
