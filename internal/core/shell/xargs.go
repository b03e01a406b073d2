package shell

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// runXargs runs a command with the words of its input as further arguments.
func (r *reader) runXargs(c *Command) {
	w := wrapper{valueLetters: "adEILnPsS", valueOptions: "--arg-file --delimiter --max-args --max-procs --replace --max-lines"}
	args := w.stripOptions(c.Args[1:])
	if len(args) == 0 {
		return
	}
	unknown := Word{Text: Unknown, Source: "what xargs reads", From: c.In.From}
	words := append(slices.Clip(c.In.found), unknown)
	options := c.Args[1 : len(c.Args)-len(args)]
	fromFile := slices.ContainsFunc(options, func(a Word) bool { return strings.HasPrefix(a.Text, "-a") || strings.HasPrefix(a.Text, "--arg-file") })
	if c.In.Text != "" && len(c.In.found) == 0 && !fromFile {
		words = nil
		for i, f := range strings.FieldsFunc(c.In.Text, inputDelimiter(options)) {
			switch {
			case i >= maxFields:
			case strings.Contains(f, Unknown):
				words = append(words, unknown)
			default:
				words = append(words, Word{Text: f, Source: f, Static: true, From: c.In.From})
			}
		}
	}
	mark := ""
	for i, a := range c.Args {
		if t := a.Text; strings.HasPrefix(t, "-I") && len(t) > 2 {
			mark = t[2:]
		} else if t == "-I" && i+1 < len(c.Args) {
			mark = c.Args[i+1].Text
		}
	}
	if mark == "" && takesOneWord(options) {
		for _, word := range words {
			r.runWithWords(c, args, mark, []Word{word})
		}
		return
	}
	r.runWithWords(c, args, mark, words)
}

// takesOneWord reports whether xargs runs its command for each word: -n1, -L 1, --max-args=1.
func takesOneWord(options []Word) bool {
	text := " " + Join(options).Text + " "
	for _, option := range []string{" -n1 ", " -n 1 ", " -L1 ", " -L 1 ", " --max-args=1 ", " --max-lines=1 "} {
		if strings.Contains(text, option) {
			return true
		}
	}
	return false
}

// inputDelimiter returns a function that reports whether a character separates the words of xargs'
// input.
func inputDelimiter(args []Word) func(r rune) bool {
	for i, a := range args {
		value, joined := strings.CutPrefix(a.Text, "-d")
		switch {
		case a.Text == "-0" || a.Text == "--null" || isBundle(a.Text, '0'):
			return func(r rune) bool { return r == 0 || r == '\n' } // the output of find has newlines here
		case a.Text == "-d" && i+1 < len(args):
			value = args[i+1].Text
		case !joined:
			if value, joined = strings.CutPrefix(a.Text, "--delimiter="); !joined {
				continue
			}
		}
		return func(r rune) bool { return strings.ContainsRune(unescape(value), r) }
	}
	return unicode.IsSpace
}

// runWithWords runs a command once for each word, in place of the mark. Without a mark it runs the
// command once, with all words appended.
func (r *reader) runWithWords(c *Command, args []Word, mark string, words []Word) {
	sub := r.copy()
	at := slices.IndexFunc(args, func(a Word) bool { return mark != "" && strings.Contains(a.Text, mark) })
	if at < 0 {
		sub.runInner(c, append(slices.Clip(args), words...))
		return
	}
	for _, x := range words {
		filled := make([]Word, len(args))
		for i, a := range args {
			if strings.Contains(a.Text, mark) {
				a.From, a.Glob = union(a.From, x.From), a.Glob || x.Glob
			}
			a.Text = replaceMark(a.Text, mark, x.Text)
			a.Static = a.Static && !strings.Contains(a.Text, Unknown)
			filled[i] = a
		}
		sub.runInner(c, filled)
	}
}

// maxWordGroups is the highest number of ::: groups that are combined.
const maxWordGroups = 8

// runParallel runs a script for each word after :::, or for each line of the input. The words
// replace {}, or {1} for the first :::, or else follow the script.
func (r *reader) runParallel(c *Command) {
	w := wrapper{
		valueLetters: "aCEIjLnNPsS",
		valueOptions: "--arg-file --colsep --delay --jobs --joblog --max-args --max-procs --results --retries --timeout --tmpdir --workdir --sshlogin",
	}
	args := w.stripOptions(c.Args[1:])
	first := slices.IndexFunc(args, func(a Word) bool { return a.Text == ":::" || a.Text == ":::+" })
	if first < 0 {
		first = len(args)
		lines := []Word{{Text: Unknown, Source: "what parallel reads", From: c.In.From}}
		if c.In.Static && c.In.Text != "" {
			lines = lines[:0]
			for line := range strings.Lines(c.In.Text) {
				lines = append(lines, literal(strings.TrimSpace(line)))
			}
		}
		if len(args) > 1 && !c.In.Static { // each word remains one argument
			r.runWithWords(c, args, "{}", lines)
			return
		}
		args = append(append(slices.Clip(args), literal(":::")), lines...)
	}
	sub := r.copy()
	for _, given := range combineGroups(args[first:]) {
		sub.runScript(c, fillTemplate(args[:first], given), Word{Static: true})
	}
}

// replaceMark replaces a mark in a text. It returns a hole if the result would be too long.
func replaceMark(s, mark, text string) string {
	if len(s)+strings.Count(s, mark)*len(text) > maxScriptBytes {
		return Unknown
	}
	return strings.ReplaceAll(s, mark, text)
}

// combineGroups returns the combinations of the words of ::: groups, up to the limits.
func combineGroups(args []Word) [][]Word {
	all := [][]Word{nil}
	for len(args) > 0 && len(all[0]) < maxWordGroups {
		args = args[1:]
		end := slices.IndexFunc(args, func(a Word) bool { return strings.HasPrefix(a.Text, ":::") })
		if end < 0 {
			end = len(args)
		}
		var next [][]Word
		for _, have := range all {
			for _, a := range args[:end] {
				if len(next) < maxFields {
					next = append(next, append(slices.Clip(have), a))
				}
			}
		}
		if args = args[end:]; len(next) > 0 {
			all = next
		}
	}
	return all
}

// fillTemplate returns the script for one combination of words.
func fillTemplate(template, given []Word) Word {
	if len(template) == 0 {
		return Join(given)
	}
	script := Join(template)
	text := replaceMark(script.Text, "{}", quoteWords(given))
	for i := range given {
		text = replaceMark(text, "{"+strconv.Itoa(i+1)+"}", quoteWords(given[i:i+1]))
	}
	if text == script.Text {
		text += " " + quoteWords(given)
	}
	return Word{Text: text, Source: script.Source, Static: script.Static && Join(given).Static && text != Unknown, From: script.From}
}
