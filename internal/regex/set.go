package regex

import "strings"

// Set are expressions of which few match a text. It tells in one pass over the text which
// of them may: most need a word that most texts do not have.
type Set struct {
	always []int                 // what may match without a word that is known
	begins [256][4]uint64        // a bit for each two bytes that a word begins with
	words  map[[2]byte][]indexed // by these
}

type indexed struct {
	word string
	of   int
}

// NewSet makes a set of what is looked for: each of the things is found by any of its
// expressions; nil ones are skipped, and what has none is not found.
func NewSet(things [][]*Regex) *Set {
	s := &Set{words: map[[2]byte][]indexed{}}
	for i, expressions := range things {
		s.add(i, expressions)
	}
	return s
}

func (s *Set) add(thing int, expressions []*Regex) {
	var all []string
	for _, re := range expressions {
		if re == nil {
			continue
		}
		words := wordsOf(re.expression)
		if shortest(words) < 2 {
			s.always = append(s.always, thing)
			return
		}
		all = append(all, words...)
	}
	for _, word := range all {
		at := [2]byte{word[0], word[1]}
		s.begins[at[0]][at[1]/64] |= 1 << (at[1] % 64)
		s.words[at] = append(s.words[at], indexed{word, thing})
	}
}

// Mark sets which of the things may be in a text, and leaves the others as they are.
func (s *Set) Mark(text string, may []bool) {
	for _, thing := range s.always {
		may[thing] = true
	}
	for i := 1; i < len(text); i++ {
		first, second := text[i-1], text[i]
		if s.begins[first][second/64]&(1<<(second%64)) == 0 {
			continue
		}
		for _, w := range s.words[[2]byte{first, second}] {
			if !may[w.of] && strings.HasPrefix(text[i-1:], w.word) {
				may[w.of] = true
			}
		}
	}
}
