package store

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestIDWords(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]string{"adjectives": adjectives, "animals": animals} {
		all := strings.Fields(words)
		if len(all) < 64 {
			t.Errorf("%d %s, want 64", len(all), name)
		}
		if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
			t.Errorf("%s are not sorted, or one stands twice", name)
		}
		for _, word := range all {
			if !regexp.MustCompile(`^[a-z]{2,8}$`).MatchString(word) {
				t.Errorf("%q", word)
			}
		}
	}
}
