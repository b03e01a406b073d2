package config

import "strings"

// nearest is the key that was probably meant by what was written: it begins so,
// or differs little; "" if there is none.
func nearest(written string, fields []field) string {
	written = strings.ToLower(strings.ReplaceAll(written, "-", "_"))
	best, bestDistance := "", max(2, len(written)/3)+1
	for _, f := range fields {
		d := distance(written, f.key)
		if len(written) > 2 && strings.HasPrefix(f.key, written) {
			d = min(d, 1)
		}
		if d < bestDistance {
			best, bestDistance = f.key, d
		}
	}
	return best
}

// distance is how many bytes must be put in, taken out, replaced or swapped with
// their neighbour to make b of a.
func distance(a, b string) int {
	var before []int // the row before the last
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, replaced)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
