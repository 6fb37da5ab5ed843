package line

import "fmt"

// Count is a number with the form of its noun: "1 pod", "2 pods".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
