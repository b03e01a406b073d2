package guard

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

func operands(args []word) []word { return shell.Operands(args) }

// hasOption reports whether the arguments contain a long option, or one of these short letters. As
// in git, a prefix of the long option suffices.
func hasOption(args []word, long, short string) bool {
	return hasOptionAmongValued(args, long, short, "")
}

// hasOptionAmongValued is hasOption for commands whose short options valueLetters take a value.
// Letters after such an option, in the same word, are its value.
func hasOptionAmongValued(args []word, long, short, valueLetters string) bool {
	for _, w := range args {
		if w.Text == "--" {
			return false
		}
		name, _, _ := strings.Cut(w.Text, "=")
		switch {
		case strings.HasPrefix(name, "--"):
			if long != "" && len(name) >= 5 && strings.HasPrefix(long, name) {
				return true
			}
		case strings.HasPrefix(name, "-"):
			letters := name[1:]
			if at := strings.IndexAny(letters, valueLetters); at >= 0 {
				letters = letters[:at+1]
			}
			if strings.ContainsAny(letters, short) {
				return true
			}
		}
	}
	return false
}

// optionValue returns the value of an option: the next word, or the rest of its own word.
func optionValue(args []word, short, long string) (word, bool) {
	for i, w := range args {
		value, joined := strings.CutPrefix(w.Text, long+"=")
		switch {
		case w.Text == "--":
			return word{}, false
		case (w.Text == short || w.Text == long || endsBundle(w.Text, short)) && i+1 < len(args):
			return args[i+1], true
		case joined && long != "":
			return w.Part(value), true
		case short != "" && len(w.Text) > 2 && strings.HasPrefix(w.Text, short) && w.Text[1] != '-':
			return w.Part(w.Text[2:]), true
		}
	}
	return word{}, false
}

// endsBundle reports whether a word bundles short options and ends with this one, which takes a
// value.
func endsBundle(s, short string) bool {
	return len(short) == 2 && len(s) > 2 && s[0] == '-' && s[1] != '-' && s[1] != short[1] && s[len(s)-1] == short[1]
}

// operandsAmongValued is operands for commands with options that take a value as the next word:
// short options by their letters, long options blank-separated.
func operandsAmongValued(args []word, letters, long string) []word {
	out := make([]word, 0, len(args))
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		if t == "--" {
			out = append(out, args[i:]...)
			break
		}
		if len(t) == 2 && t[0] == '-' && strings.IndexByte(letters, t[1]) >= 0 || strings.HasPrefix(t, "-") && inList(long, t) {
			i++
			continue
		}
		out = append(out, args[i])
	}
	return operands(out)
}

// startWith reports whether words start with those of a blank-separated list, in which * matches
// any word.
func startWith(words []word, list string) bool {
	for f := range strings.FieldsSeq(list) {
		if len(words) == 0 || f != "*" && words[0].Text != f {
			return false
		}
		words = words[1:]
	}
	return true
}
