package shell

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// xargs runs a command with what it reads as further words.
func (r *reader) xargs(c *Command) {
	w := wrapper{valued: "adEILnPsS", long: "--arg-file --delimiter --max-args --max-procs --replace --max-lines"}
	args := w.strip(c.Args[1:])
	if len(args) == 0 {
		return
	}
	words := []Word{{Text: Hole, Source: "what xargs reads", From: c.In.From}}
	words = append(slices.Clip(c.In.found), words...)
	options := c.Args[1 : len(c.Args)-len(args)]
	fromFile := slices.ContainsFunc(options, func(a Word) bool { return strings.HasPrefix(a.Text, "-a") || strings.HasPrefix(a.Text, "--arg-file") })
	if c.In.Static && c.In.Text != "" && !fromFile {
		words = nil
		for i, f := range strings.FieldsFunc(c.In.Text, delimiter(options)) {
			if i < maxFields {
				words = append(words, literal(f))
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
	r.with(c, args, mark, words)
}

// delimiter tells what stands between the words that xargs reads.
func delimiter(args []Word) func(r rune) bool {
	for i, a := range args {
		value, joined := strings.CutPrefix(a.Text, "-d")
		switch {
		case a.Text == "-0" || a.Text == "--null" || bundle(a.Text, '0'):
			return func(r rune) bool { return r == 0 }
		case a.Text == "-d" && i+1 < len(args):
			value = args[i+1].Text
		case !joined:
			if value, joined = strings.CutPrefix(a.Text, "--delimiter="); !joined {
				continue
			}
		}
		return func(r rune) bool { return strings.ContainsRune(ansi(value), r) }
	}
	return unicode.IsSpace
}

// with runs a command with each of some words in the place of its mark, or with all
// of them behind it.
func (r *reader) with(c *Command, args []Word, mark string, words []Word) {
	sub := r.copy()
	at := slices.IndexFunc(args, func(a Word) bool { return mark != "" && strings.Contains(a.Text, mark) })
	if at < 0 {
		sub.inner(c, append(slices.Clip(args), words...))
		return
	}
	for _, x := range words {
		filled := make([]Word, len(args))
		for i, a := range args {
			if strings.Contains(a.Text, mark) {
				a.From, a.Glob = union(a.From, x.From), a.Glob || x.Glob
			}
			a.Text = replaced(a.Text, mark, x.Text)
			a.Static = a.Static && !strings.Contains(a.Text, Hole)
			filled[i] = a
		}
		sub.inner(c, filled)
	}
}

const maxGroups = 8 // that ::: begins

// parallel runs a script for each of the words behind :::, or of the lines that it
// reads. They stand where {} does, or {1} for the first :::, or else behind all.
func (r *reader) parallel(c *Command) {
	w := wrapper{
		valued: "aCEIjLnNPsS",
		long:   "--arg-file --colsep --delay --jobs --joblog --max-args --max-procs --results --retries --timeout --tmpdir --workdir --sshlogin",
	}
	args := w.strip(c.Args[1:])
	first := slices.IndexFunc(args, func(a Word) bool { return a.Text == ":::" || a.Text == ":::+" })
	if first < 0 {
		first = len(args)
		lines := []Word{{Text: Hole, Source: "what parallel reads", From: c.In.From}}
		if c.In.Static && c.In.Text != "" {
			lines = lines[:0]
			for line := range strings.Lines(c.In.Text) {
				lines = append(lines, literal(strings.TrimSpace(line)))
			}
		}
		if len(args) > 1 && !c.In.Static { // a word is passed on as one
			r.with(c, args, "{}", lines)
			return
		}
		args = append(append(slices.Clip(args), literal(":::")), lines...)
	}
	sub := r.copy()
	for _, given := range combined(args[first:]) {
		sub.script(c, instance(args[:first], given), Word{Static: true})
	}
}

// replaced puts a text in the place of a mark; the result cannot be told where it
// would be too long.
func replaced(s, mark, text string) string {
	if len(s)+strings.Count(s, mark)*len(text) > maxScript {
		return Hole
	}
	return strings.ReplaceAll(s, mark, text)
}

// combined gives each combination of the words of groups that ::: begins, as far as
// anybody would write them.
func combined(args []Word) [][]Word {
	all := [][]Word{nil}
	for len(args) > 0 && len(all[0]) < maxGroups {
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

// instance makes the script of one combination of words.
func instance(template, given []Word) Word {
	if len(template) == 0 {
		return Join(given)
	}
	script := Join(template)
	text := replaced(script.Text, "{}", Quote(given))
	for i := range given {
		text = replaced(text, "{"+strconv.Itoa(i+1)+"}", Quote(given[i:i+1]))
	}
	if text == script.Text {
		text += " " + Quote(given)
	}
	return Word{Text: text, Source: script.Source, Static: script.Static && Join(given).Static && text != Hole, From: script.From}
}
