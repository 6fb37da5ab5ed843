package build

import (
	"fmt"
	"strconv"
	"time"
)

// Creation reads the variable SOURCE_DATE_EPOCH, in seconds since 1970
// (https://reproducible-builds.org/specs/source-date-epoch). Empty is the zero time.
func Creation(epoch string) (time.Time, error) {
	if epoch == "" {
		return time.Time{}, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, expected seconds since 1970", epoch)
	}
	return time.Unix(seconds, 0), nil
}
