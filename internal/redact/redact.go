// Package redact removes secrets from text before it is written anywhere: to a
// journal, a report, a notification, a prompt.
//
//	r := redact.New(os.Environ())
//	r.String("password=hunter2hunter2") // "password=[redacted]"
//	w := r.Writer(logFile)              // the same for a stream; Close it
//
// It knows the shapes of common keys and tokens, private keys, passwords in URLs
// and assignments, and the values of environment variables whose names say that
// they are secret. What merely looks random (hashes, encoded data) is left alone,
// but for what is as long as a secret key of AWS or a line of a private key
// (bare.go): a log without its hashes is of no use. It is a net, not a wall; a
// secret of no known shape passes.
package redact

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Mark is what stands in place of a secret.
const Mark = "[redacted]"

// rule finds one shape of secret. Its expression is tried only on text with one
// of the hints, in small letters: a search for a few words costs a fraction of
// an expression. The first group, if there is one, stays; the rest is replaced.
type rule struct {
	hints []string
	re    *regex.Regex
}

// A token whose prefix is plain enough is found also behind a letter; "sk-" alone
// is not: it ends "task-". The last is the one that prose can look like.
var rules = [...]rule{
	{[]string{"private key"}, regex.New(`-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)`)},
	{[]string{"ls0tls1crudjt"}, regex.New(`LS0tLS1CRUdJT[A-Za-z0-9+/_-]{20,}=*`)}, // one in base64
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
	values []string // of the environment, the longest first
}

// shortest is the length below which a variable's value is not taken for a
// secret: short ones stand in too much honest text.
const shortest = 8

// New makes a redactor that knows the values of those variables in env
// (NAME=value) whose names speak of secrets, and the passwords of addresses. A
// password that is a mere word stays where it stands alone: log lines hold words.
func New(env []string) *Redactor {
	var values []string
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if password := passwordIn(value); len(password) >= shortest && strings.ContainsFunc(password, noLetter) {
			values = append(values, password)
		}
		if !secretName(name) || strings.HasPrefix(value, "/") { // a path, as in SSH_AUTH_SOCK
			continue
		}
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= shortest {
				values = append(values, line)
			}
		}
	}
	// The longest first: one value may begin with another.
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	return &Redactor{values: values}
}

// secretName reports whether a variable's name speaks of secrets, by its words or
// by how one of them ends: PGPASSWORD, MYSQL_PWD, npm_config__authToken.
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

// SecretVariable reports whether a variable, NAME=value, holds a secret: by its
// name, or because its value is an address with a password in it.
func SecretVariable(variable string) bool {
	name, value, _ := strings.Cut(variable, "=")
	return secretName(name) || passwordIn(value) != ""
}

// passwordIn is the password of a value that is an address, "" if it has none.
// It is read by hand: a password that people write need not be a valid part of a
// URL.
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

// String is s without its secrets.
func (r *Redactor) String(s string) string { return r.without(s, rules[:]) }

// Prose is text of a user's without what is certainly a secret: "the token: it
// ends a line" is what they mean, and no assignment; "password=hunter2hunter2" is one.
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

// call is code that gets a secret from elsewhere, and so holds none.
var call = regex.New(`^[A-Za-z_][\w.:]*\($`)

// replace keeps what is before the secret (password=) and behind it (@).
func (r rule) replace(found string) string {
	kept := ""
	if m := r.re.FindStringSubmatch(found); len(m) > 1 {
		kept = m[1]
	}
	secret := found[len(kept):]
	switch {
	case call.MatchString(secret):
		return found
	case kept != "" && strings.HasSuffix(secret, "@"):
		return kept + Mark + "@"
	}
	return kept + Mark
}
