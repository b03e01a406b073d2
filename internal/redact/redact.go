// Package redact removes secrets from text before it is written anywhere: to a
// journal, a report, a notification, a prompt.
//
//	r := redact.New(os.Environ())
//	r.String("password=hunter2hunter2") // "password=[redacted]"
//	w := r.Writer(logFile)              // the same for a stream; Close it
//
// It knows the forms of common keys and tokens, private keys, passwords in URLs and
// assignments, and the values of environment variables whose names suggest secrets.
// It keeps text that merely looks random (hashes, encoded data), because a log
// without its hashes is useless. Exceptions are words as long as an AWS secret key
// or a line of a private key (bare.go). A secret of an unknown form is not found.
package redact

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Mark replaces a secret.
const Mark = "[redacted]"

// rule matches one kind of secret. Its expression runs only on text that contains one of the
// hints, in lower case: a search for a few words costs a fraction of an expression. The first
// group, if any, is kept; the rest is replaced.
type rule struct {
	hints []string
	re    *regex.Regex
}

// rules are the kinds of secrets. A token with a distinctive prefix is also found after a letter;
// "sk-" is not, since "task-" ends with it. The last rule may match prose.
var rules = [...]rule{
	{[]string{"private key"}, regex.New(`-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)`)},
	{[]string{"ls0tls1crudjt"}, regex.New(`LS0tLS1CRUdJT[A-Za-z0-9+/_-]{20,}=*`)}, // a private key in base64
	{[]string{"sk-"}, regex.New(`(?:\bsk-(?:proj-|or-|live-|test-)?|sk-ant-)[A-Za-z0-9_-]{20,}`)},
	{[]string{"k_live_", "k_test_"}, regex.New(`\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}`)},
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, regex.New(`(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})`)},
	{[]string{"glpat-"}, regex.New(`\bglpat-[A-Za-z0-9_-]{20,}`)},
	{[]string{"npm_"}, regex.New(`\bnpm_[A-Za-z0-9]{36}\b`)},
	{[]string{"xox"}, regex.New(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`)},
	{[]string{"akia", "asia"}, regex.New(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`)},
	{[]string{"aiza"}, regex.New(`\bAIza[A-Za-z0-9_-]{35}`)},
	{[]string{"ya29."}, regex.New(`\bya29\.[A-Za-z0-9_-]{20,}`)},
	{[]string{"hooks.slack.com/services/"}, regex.New(`(hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}`)},
	{[]string{"/api/webhooks/"}, regex.New(`(discord(?:app)?\.com/api/webhooks/)\d{15,}/[A-Za-z0-9_-]{40,}`)},
	{[]string{"hf_"}, regex.New(`\bhf_[A-Za-z]{30,}\b`)},
	{[]string{"pypi-age"}, regex.New(`\bpypi-AgE[A-Za-z0-9_-]{40,}`)},
	{[]string{"sg."}, regex.New(`\bSG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{40,46}`)},
	{[]string{"dckr_pat_"}, regex.New(`\bdckr_pat_[A-Za-z0-9_-]{20,}`)},
	{[]string{"dop_v1_", "doo_v1_"}, regex.New(`\bdo[op]_v1_[a-f0-9]{64}\b`)},
	{[]string{"hvs.", "hvb."}, regex.New(`\bhv[sb]\.[A-Za-z0-9_-]{24,}`)},
	{[]string{"age-secret-key-"}, regex.New(`\bAGE-SECRET-KEY-1[0-9A-Z]{40,}`)},
	{[]string{"shpat_", "shpss_", "lin_api_", "gsk_", "xai-"}, regex.New(`\b(?:shp(?:at|ss)_[a-fA-F0-9]{32}|lin_api_[A-Za-z0-9]{32,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,})`)},
	{[]string{":aa"}, regex.New(`(\bbot|\b)\d{8,10}:AA[A-Za-z0-9_-]{33}\b`)},
	{[]string{"accountkey=", "sharedaccesskey="}, regex.New(`(?i)((?:accountkey|sharedaccesskey)=)[A-Za-z0-9+/]{40,}=*`)},
	{[]string{"eyj"}, regex.New(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`)},
	{[]string{"bearer", "basic"}, regex.New(`(?i)\b((?:bearer|authorization\\?["']?\s*[:=]\s*\\?["']?basic)\s+)[A-Za-z0-9._~+/-]{16,}=*`)},
	{[]string{"://"}, regex.New(`(\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@"'<>]*:)[^\s/:@"'<>$\[]{3,}@`)},
	{[]string{"password", "passwd", "secret", "token", "api_key", "api-key", "apikey", "access_key", "private_key"}, regex.New(`(?i)((?:password|passwd|secret|token|api[_-]?key|access_key|private_key)\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\$<>(){}\[\],;*]{8,}\(?`)},
}

// Redactor replaces secrets. It may be used from several goroutines.
type Redactor struct {
	values []string // secret values of the environment, the longest first
}

// minValueLength is the minimum length of a variable's value that counts as a secret. Shorter values
// occur in too much other text.
const minValueLength = 8

// New returns a redactor that knows the values of those variables in env (NAME=value) whose names
// suggest secrets, and the passwords in URLs. A password that consists of letters only is not
// replaced elsewhere in text, because log lines contain words.
func New(env []string) *Redactor {
	var values []string
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if password := passwordIn(value); len(password) >= minValueLength && strings.ContainsFunc(password, noLetter) {
			values = append(values, password)
		}
		if !secretName(name) || strings.HasPrefix(value, "/") { // a path, as in SSH_AUTH_SOCK
			continue
		}
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= minValueLength {
				values = append(values, line)
			}
		}
	}
	// The longest first: one value may begin with another.
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	return &Redactor{values: values}
}

// secretName reports whether a variable's name suggests a secret, by one of its words or the end
// of one: PGPASSWORD, MYSQL_PWD, npm_config__authToken.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	if name == "PWD" || name == "OLDPWD" { // the shell's folders
		return false
	}
	return slices.ContainsFunc(strings.FieldsFunc(name, noLetter), func(word string) bool {
		switch word {
		case "KEY", "PASS", "CREDENTIAL", "CREDENTIALS", "AUTH", "PAT":
			return true
		}
		return slices.ContainsFunc([]string{"PASSWORD", "PASSWD", "PWD", "PASSPHRASE", "TOKEN", "SECRET", "APIKEY"}, func(end string) bool {
			return strings.HasSuffix(word, end)
		})
	})
}

func noLetter(r rune) bool { return !unicode.IsLetter(r) }

// SecretVariable reports whether a variable, NAME=value, holds a secret: its name suggests one, or
// its value is a URL with a password.
func SecretVariable(variable string) bool {
	name, value, _ := strings.Cut(variable, "=")
	return secretName(name) || passwordIn(value) != ""
}

// passwordIn returns the password in a value that is a URL, "" if there is none. It does not use
// net/url, since the passwords that people write may be invalid in a URL.
func passwordIn(value string) string {
	scheme, rest, found := strings.Cut(value, "://")
	if !found || strings.ContainsAny(scheme, " \t\n/@:") {
		return ""
	}
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return ""
	}
	_, password, _ := strings.Cut(authority[:at], ":")
	return password
}

// String returns s without its secrets.
func (r *Redactor) String(s string) string { return r.without(s, rules[:]) }

// Prose returns a user's text without what is certainly a secret. In "the token: it ends a line"
// the colon is no assignment; "password=hunter2hunter2" is one.
func (r *Redactor) Prose(s string) string {
	s = r.without(s, rules[:len(rules)-1])
	assigned := rules[len(rules)-1]
	return assigned.re.ReplaceAllStringFunc(s, func(found string) string {
		m := assigned.re.FindStringSubmatch(found)
		if !strings.HasSuffix(m[1], "=") || !strings.ContainsAny(found[len(m[1]):], "0123456789") {
			return found
		}
		return assigned.replace(found)
	})
}

func (r *Redactor) without(s string, rules []rule) string {
	for _, value := range r.values {
		s = strings.ReplaceAll(s, value, Mark)
	}
	small := strings.ToLower(s)
	for _, rule := range rules {
		if slices.ContainsFunc(rule.hints, func(hint string) bool { return strings.Contains(small, hint) }) {
			s = rule.re.ReplaceAllStringFunc(s, rule.replace)
		}
	}
	return r.withoutBare(s, rules)
}

// callPattern matches code that gets a secret from elsewhere and so contains none.
var callPattern = regex.New(`^[A-Za-z_][\w.:]*\($`)

// replace replaces a secret and keeps the text before it (password=) and after it (@).
func (r rule) replace(found string) string {
	kept := ""
	if m := r.re.FindStringSubmatch(found); len(m) > 1 {
		kept = m[1]
	}
	secret := found[len(kept):]
	switch {
	case callPattern.MatchString(secret):
		return found
	case kept != "" && strings.HasSuffix(secret, "@"):
		return kept + Mark + "@"
	}
	return kept + Mark
}
