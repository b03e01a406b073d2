package redact

import (
	"encoding/base64"
	"strings"
)

// Lengths in bytes of secrets without a name or a prefix.
const (
	awsSecretLength = 40 // the secret key of an AWS account
	pemLineLength   = 64 // a line of a private key
)

// withoutBare removes words of these lengths that consist of base64 characters and look random. A
// hash in hexadecimal digits has no capitals; a name or a path changes less often between
// capitals, small letters and digits. It also removes words that are base64 of text with a secret.
func (r *Redactor) withoutBare(s string, rules []rule) string {
	var out strings.Builder
	kept := 0 // the length of s that is already in out
	for i := 0; i < len(s); i++ {
		if charClass(s[i]) == outside {
			continue
		}
		end := i + 1
		for end < len(s) && charClass(s[end]) != outside {
			end++
		}
		// In JSON a line ends with \n, whose n would begin the next word.
		begin := i
		if i > 0 && s[i-1] == '\\' {
			begin++
		}
		if word := s[begin:end]; isBare(word) && !strings.HasSuffix(s[:begin], "sha384-") || r.encodes(word, rules) {
			out.WriteString(s[kept:begin])
			out.WriteString(Mark)
			kept = end
		}
		i = end
	}
	if kept == 0 {
		return s
	}
	out.WriteString(s[kept:])
	return out.String()
}

// encodes reports whether a word is base64 of text that contains a secret.
func (r *Redactor) encodes(word string, rules []rule) bool {
	const shortestWord, head = 12, 8
	if len(word) < shortestWord || !isText(word[:head]) {
		return false // the first bytes exclude most words
	}
	text, ok := decoded(word)
	return ok && r.without(text, rules) != text
}

// isText reports whether a word is base64 of text.
func isText(word string) bool {
	_, ok := decoded(word)
	return ok
}

// decoded returns the text that a word encodes in base64, and false if it encodes no text.
func decoded(word string) (text string, ok bool) {
	b, err := base64.RawStdEncoding.DecodeString(word)
	for _, c := range b {
		if c >= 0x7f || c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return "", false
		}
	}
	return string(b), err == nil
}

// isBare reports whether a word looks like a secret by its length and randomness.
func isBare(word string) bool {
	if len(word) != awsSecretLength && len(word) != pemLineLength {
		return false
	}
	var has [symbol + 1]int // how often a run of each class begins
	changes := 0
	for i := range len(word) {
		if i == 0 || charClass(word[i]) != charClass(word[i-1]) {
			has[charClass(word[i])]++
			changes++
		}
	}
	// A random word of 40 bytes changes 25 times and has digits in five places.
	return has[capital] > 0 && has[small] > 0 && has[digit] >= 3 && changes*2 >= len(word)
}

// The classes of base64 characters.
const (
	outside = iota
	capital
	small
	digit
	symbol
)

func charClass(b byte) int {
	switch {
	case 'A' <= b && b <= 'Z':
		return capital
	case 'a' <= b && b <= 'z':
		return small
	case '0' <= b && b <= '9':
		return digit
	case b == '+' || b == '/':
		return symbol
	}
	return outside
}
