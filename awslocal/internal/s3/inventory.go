package s3

import "slices"

// Operations are the names of all operations that the service plays, those of
// S3 Control among them, sorted.
func Operations() []string {
	names := make([]string, 0, len(operations))
	for _, op := range operations {
		names = append(names, op.name)
	}
	for _, op := range controlOperations {
		names = append(names, op.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
