// Package spelling tells which known word somebody meant.
package spelling

// Distance is how many bytes have to be put in, taken out or exchanged to make one text of
// another (Levenshtein). It takes time and no memory to speak of in proportion to the product
// of both lengths: bound what strangers write.
func Distance(a, b string) int {
	costs := make([]int, len(b)+1) // of making the first letters of b from those of a that were read
	for j := range costs {
		costs[j] = j
	}
	for i := range len(a) {
		before := costs[0]
		costs[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = costs[j+1]
			costs[j+1] = min(change, costs[j]+1, before+1)
		}
	}
	return costs[len(b)]
}
