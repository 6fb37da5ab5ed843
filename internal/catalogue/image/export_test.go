package image

// Small is a reader with small bounds: MiB that are decompressed and on the disk, and entries.
func Small(read, disk, entries int64) Reader {
	b := defaults
	b.read, b.disk, b.entries = read<<20, disk<<20, entries
	return Reader{bounds: &b}
}
