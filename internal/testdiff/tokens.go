package testdiff

import "github.com/pawl-dev/pawl/internal/regex"

var (
	tokens = regex.New(`[A-Za-z_]\w*|\d+|[^\s\w]`)
	number = regex.New(`^\d+$`)
	// escape matches an escape in a string, with a color of a terminal as a whole.
	escape = regex.New(`^\\(?:(?:x1[bB]|033|e|u001[bB])\[[\d;]*m|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{3}|[a-zA-Z0\\"'])`)
	// escaped matches the rest of a word that begins with the letter of an escape.
	escaped = regex.New(`\\[a-zA-Z0](\w+)`)
	// keepsQuote matches what keeps a quote from ending a string, where the string has escapes.
	keepsQuote = regex.New(`^\\[\\"']`)
	// raw matches what stands before the quote of a string without escapes.
	raw = regex.New(`^(?:[rR]|br|rb|@)$`)
)

// tokenIndexes returns where the words, numbers and punctuation of a text are. An escape in quotes
// is a token, so "\nBest" has the word Best.
func tokenIndexes(text string) (all [][]int) {
	quote, plain, before := "", false, ""
	for from := 0; ; {
		at := tokens.FindStringIndex(text[from:])
		if at == nil {
			return all
		}
		start, end := from+at[0], from+at[1]
		if text[start:end] == `\` && quote != "" {
			found := escape.FindString(text[start:])
			if without := plain || quote == "`"; !without || !keepsQuote.MatchString(found) {
				end = max(end, start+len(found))
			}
		}
		token := text[start:end]
		if quote == "" {
			plain = raw.MatchString(before)
		}
		quote = quoted(quote, token)
		all, before, from = append(all, []int{start, end}), token, end
	}
}

// tokensOf returns the words, numbers and punctuation of a text.
func tokensOf(text string) (all []string) {
	for _, at := range tokenIndexes(text) {
		all = append(all, text[at[0]:at[1]])
	}
	return all
}

// Words returns the words and numbers of a text. A word behind the letter of an escape counts with
// this letter and without it.
func Words(text string) map[string]bool {
	all := map[string]bool{}
	add := func(word string) {
		if isName(word) || number.MatchString(word) {
			all[word] = true
		}
	}
	for _, token := range tokens.FindAllString(text, -1) {
		add(token)
	}
	for _, m := range escaped.FindAllStringSubmatch(text, -1) {
		add(m[1])
	}
	return all
}

func isName(token string) bool { return identifier.MatchString(token) }

var identifier = regex.New(`^[A-Za-z_]`)

// quoted returns the quote that a token is in, given the one before it.
func quoted(quote, token string) string {
	switch {
	case quote == "" && quotes.MatchString(token):
		return token
	case quote == token:
		return ""
	}
	return quote
}

// quotes matches a quotation mark.
var quotes = regex.New("^[\"'`]$")
