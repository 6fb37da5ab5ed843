package image

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// disk is the temporary directory of one reading. It is made when the first file is.
type disk struct {
	most, used int64
	dir        string
	// closers are closed at the end, those of what is read too.
	closers []io.Closer
}

// file is a temporary file that others write into, one after the other.
type file struct {
	disk *disk
	*os.File
	out *bufio.Writer
	// buffer is one for all that is copied: there may be many small files.
	buffer []byte
	end    int64
}

func (d *disk) file() (*file, error) {
	if d.dir == "" {
		dir, err := os.MkdirTemp("", "tabard-catalogue-") // 0700
		if err != nil {
			return nil, err
		}
		d.dir = dir
	}
	opened, err := os.CreateTemp(d.dir, "")
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, opened)
	return &file{disk: d, File: opened, out: bufio.NewWriterSize(opened, 256<<10), buffer: make([]byte, 32<<10)}, nil
}

// add writes all of in, and says where it is. It is readable after flush.
func (f *file) add(in io.Reader) (part part, err error) {
	rest := f.disk.most - f.disk.used
	part.offset = f.end
	// Without its method ReadFrom, by which the writer makes a buffer each time.
	part.size, err = io.CopyBuffer(struct{ io.Writer }{f.out}, io.LimitReader(in, rest+1), f.buffer)
	f.end += part.size
	if f.disk.used += part.size; err == nil && part.size > rest {
		err = fmt.Errorf("more than %d MiB would have to stand in temporary files, expected 100 MiB of a large vendor's catalogue", f.disk.most>>20)
	}
	return part, err
}

func (f *file) flush() error { return f.out.Flush() }

// part is a part of a file.
type part struct{ offset, size int64 }

func (d *disk) remove() error {
	for _, opened := range d.closers {
		_ = opened.Close() // It is not needed any more.
	}
	if d.dir == "" {
		return nil
	}
	return os.RemoveAll(d.dir)
}
