package failure

import "strings"

// Nearest is the name that was probably meant by what was written: one that begins
// or ends so, or differs little; "" if there is none. Hyphens and underscores, small
// and capital letters are the same.
func Nearest(written string, names []string) string {
	written = plain(written)
	best, bestDistance := "", max(2, len(written)/3)+1
	for _, name := range names {
		d := nearness(written, plain(name))
		if d < bestDistance {
			best, bestDistance = name, d
		}
	}
	return best
}

func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "_")) }

// nearness is the distance of what was written from a name. Few people mistype the
// first letter and another: that is another word.
func nearness(written, name string) int {
	d := distance(written, name)
	switch {
	case len(written) > 2 && (strings.HasPrefix(name, written) || strings.HasSuffix(name, "_"+written)):
		return min(d, 1)
	case d > 1 && (len(written) < 4 || name == "" || written[0] != name[0]):
		return len(written) + len(name)
	}
	return d
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
