package redact_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/redact"
)

// Secrets here are written in halves, so that no scanner takes this file
// for a leak.
var (
	anthropic = "sk-ant-" + "api03-abcdefghijklmnopqrstuvwxyz0123456789"
	github    = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
	jwt       = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	pem       = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabc=\n-----END RSA " + "PRIVATE KEY-----"
)

func env() []string {
	return []string{
		"MY_API_KEY=correct horse battery", "DEPLOY_TOKEN=tok-12345", "DEPLOY_TOKEN_2=tok-12345-longer",
		"HOME=/home/anna-maria", "SSH_AUTH_SOCK=/tmp/agent.sock", "PIN_SECRET=1234", "PWD=/home/anna-maria/app",
		"MULTI_SECRET=first-line-of-it\nsecond-line-of-it", "KEYBOARD=qwertzuiop",
		"PGPASSWORD=pg-horse-1", "MYSQL_PWD=my-horse-1", "DATABASE_URL=postgres://app:url-horse-1@db/x", "TEST_DATABASE_URL=postgres://postgres:postgres@db/x",
		"MONKEY=capuchin-1", "OLDPWD=capuchin-2", "TOKENIZERS_PARALLELISM=capuchin-3",
	}
}

func TestSecretsAreTakenOut(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{"Anthropic", "key " + anthropic + ".", "key [redacted]."},
		{"OpenAI", "sk-proj-" + strings.Repeat("a1B2", 10), "[redacted]"},
		{"Stripe", "sk_live_" + strings.Repeat("a1B2", 6), "[redacted]"},
		{"GitHub", "git clone https://" + github + "@github.com/a/b", "git clone https://[redacted]@github.com/a/b"},
		{"GitHub, fine-grained", "github_pat_" + strings.Repeat("aB3_", 20), "[redacted]"},
		{"GitLab", "glpat-" + strings.Repeat("x", 20), "[redacted]"},
		{"npm", "//registry/:_authToken=npm_" + strings.Repeat("a", 36), "//registry/:_authToken=[redacted]"},
		{"Slack", "xoxb-1234567890-abcdef", "[redacted]"},
		{"AWS", "id=AKIA" + "IOSFODNN7EXAMPLE,", "id=[redacted],"},
		{"Google", "AIza" + strings.Repeat("b", 35), "[redacted]"},
		{"Google, OAuth", "ya29." + strings.Repeat("aB_3", 8), "[redacted]"},
		{"Slack webhook", "https://hooks.slack.com/services/" + "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", "https://hooks.slack.com/services/[redacted]"},
		{"Discord webhook", "https://discord.com/api/webhooks/" + "123456789012345678/" + strings.Repeat("aB-3", 17), "https://discord.com/api/webhooks/[redacted]"},
		{"Hugging Face", "hf_" + strings.Repeat("aBcD", 9), "[redacted]"},
		{"PyPI", "pypi-" + "AgEIcHlwaS5vcmc" + strings.Repeat("aB_3", 12), "[redacted]"},
		{"SendGrid", "SG." + strings.Repeat("a", 22) + "." + strings.Repeat("b", 43), "[redacted]"},
		{"Docker", "dckr_pat_" + strings.Repeat("aB-3", 7), "[redacted]"},
		{"DigitalOcean", "dop_v1_" + strings.Repeat("0a", 32), "[redacted]"},
		{"Vault", "hvs." + strings.Repeat("aB3_", 8), "[redacted]"},
		{"age", "AGE-SECRET-KEY-" + "1" + strings.Repeat("QP", 29), "[redacted]"},
		{"Shopify", "shpat_" + strings.Repeat("0a", 16), "[redacted]"},
		{"Linear", "lin_api_" + strings.Repeat("aB3d", 10), "[redacted]"},
		{"Telegram", "https://api.telegram.org/bot123456789:" + "AA" + strings.Repeat("b", 33) + "/getMe", "https://api.telegram.org/bot[redacted]/getMe"},
		{"Telegram, alone", "123456789:" + "AA" + strings.Repeat("b", 33), "[redacted]"},
		{"Azure", "AccountName=a;AccountKey=" + strings.Repeat("aB3d", 21) + "==;EndpointSuffix=x", "AccountName=a;AccountKey=[redacted];EndpointSuffix=x"},
		{"JWT", "cookie: " + jwt + "; path=/", "cookie: [redacted]; path=/"},
		{"bearer", "Authorization: Bearer abcdefghijklmnop123==", "Authorization: Bearer [redacted]"},
		{"basic", `"Authorization": "Basic dXNlcjpwYXNzd29yZA=="`, `"Authorization": "Basic [redacted]"`},
		{"private key", "a\n" + pem + "\nb", "a\n[redacted]\nb"},
		{"private key in JSON", `{"key":"` + strings.ReplaceAll(pem, "\n", `\n`) + `","a":1}`, `{"key":"[redacted]","a":1}`},
		{"private key cut off", pem[:60], "[redacted]"},
		{"URL", "postgres://app:hunter22@db:5432/x", "postgres://app:[redacted]@db:5432/x"},
		{"password", "password=hunter2hunter2 next", "password=[redacted] next"},
		{"password in JSON", `{"password": "hunter2hunter2"}`, `{"password": "[redacted]"}`},
		{"password in JSON in JSON", `{\"db_password\":\"hunter2hunter2\"}`, `{\"db_password\":\"[redacted]\"}`},
		{"YAML", "api_key: 0123456789abcdef", "api_key: [redacted]"},
		{"variable", "it is correct horse battery, really", "it is [redacted], really"},
		{"variable that another begins with", "tok-12345-longer tok-12345", "[redacted] [redacted]"},
		{"variables whose names end so", "pg-horse-1 my-horse-1", "[redacted] [redacted]"},
		{"password of a variable's address", "login failed: url-horse-1", "login failed: [redacted]"},
		{"variable of several lines", "see second-line-of-it", "see [redacted]"},
	}
	r := redact.New(env())
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, r.String(c.text)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.want, r.String(r.String(c.text))); diff != "" {
				t.Errorf("twice is not once: %s", diff)
			}
			if diff := cmp.Diff(c.want, written(t, r, c.text, 3)); diff != "" {
				t.Errorf("in pieces: %s", diff)
			}
		})
	}
}

func TestHonestTextIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := redact.New(env())
	for _, text := range []string{
		"commit fa5c58942b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGqZ anna@example.org",
		"-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG\n-----END PUBLIC KEY-----\n",
		"-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG\n-----END CERTIFICATE-----\n",
		`password := readPassword(os.Stdin)`,
		`password = os.Getenv("DB_PASSWORD")`,
		`token: ${{ secrets.TOKEN }}`,
		`password: <your password>`,
		"the password is asked for; bearer of bad news; basic income",
		"https://example.org:8080/a@b",
		"git@github.com:pawl-dev/pawl.git",
		"input_tokens: 120345678 task-list risk-averse-programming-of-things",
		"/home/anna-maria/app 1234 qwertzuiop /tmp/agent.sock",
		"capuchin-1 capuchin-2 capuchin-3 postgres",
		"hooks.slack.com/services/ discord.com/api/webhooks/ hf_transfer pypi-AgE SG.md hvs.go dop_v1_ AccountKey=",
		"12345678:AAPL xai-org/grok gsk_test shpat_ lin_api_key ya29.",
		"550e8400-e29b-41d4-a716-446655440000",
		"",
	} {
		if got := r.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// Prose keeps a user's text unless it is certainly a secret.
func TestProseKeepsWhatMayBeMeant(t *testing.T) {
	t.Parallel()
	r := redact.New(env())
	for text, want := range map[string]string{
		"the token: identifiers end a line":              "the token: identifiers end a line",
		"log in with password=hunter2hunter2hunter2":     "log in with password=[redacted]",
		"parse token=identifier pairs":                   "parse token=identifier pairs",
		"take LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZ":  "take [redacted]",
		"push with " + github:                            "push with [redacted]",
		"it is correct horse battery":                    "it is [redacted]",
		"clone https://me:hunter2hunter2@example.com/x":  "clone https://me:[redacted]@example.com/x",
		"send Authorization: Bearer abcdefghijklmnopqrs": "send Authorization: Bearer [redacted]",
	} {
		if got := r.Prose(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestVariablesThatHoldSecrets(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]bool{
		"PGPASSWORD=a": true, "MYSQL_PWD=a": true, "npm_config__authToken=a": true, "npm_config_//registry/:_authToken=a": true,
		"GITHUB_TOKEN=a": true, "GhToken=a": true, "OPENAI_APIKEY=a": true, "CLIENTSECRET=a": true, "db_passwd=a": true, "SECRET_KEY2=a": true,
		"DATABASE_URL=postgres://app:pw@db:5432/x": true, "REDIS_URL=redis://:pw@cache:6379/0": true, "AMQP=amqp://a:p@w@mq": true,
		"KEYBOARD=a": false, "PWD=/x": false, "OLDPWD=/x": false, "MONKEY=a": false, "TOKENIZERS_PARALLELISM=true": false, "MAX_TOKENS=1": false,
		"COMPAT=1": false, "BYPASS=1": false, "AUTHOR=a": false, "PATH=/bin": false, "SECRETARY=a": false,
		"DATABASE_URL=postgres://db:5432/x": false, "HOMEPAGE=https://example.org:8080/a:b@c": false, "REMOTE=git@example.org:a/b": false,
		"USER_URL=https://anna@example.org/": false, "NOTE=see a: b://c:d@e": false, "=": false, "": false,
	} {
		if got := redact.SecretVariable(variable); got != want {
			t.Errorf("%s: %t", variable, got)
		}
	}
}

func TestStreamsOfAnyLength(t *testing.T) {
	t.Parallel()
	r := redact.New(env())
	words := strings.Repeat("word ", 40_000) // 200 kB without a line end
	blob := strings.Repeat("x", 200_000)
	key := "-----BEGIN PRIVATE " + "KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEA\n", 10_000)
	keyEnd := "-----END PRIVATE " + "KEY-----"
	cases := []struct{ name, text, want string }{
		{"a long line", words + anthropic + " " + words, words + "[redacted] " + words},
		{"a long word", blob + " " + anthropic + "\n", blob + " [redacted]\n"},
		{"a long key", "a\n" + key + keyEnd + "\nb\n", "a\n[redacted]\nb\n"},
		{"a long key without an end", "a\n" + key, "a\n[redacted]"},
		{"a secret of the environment across a cut", strings.Repeat("correct horse battery ", 10_000), strings.Repeat("[redacted] ", 10_000)},
		{"lines", strings.Repeat("a\n", 10), strings.Repeat("a\n", 10)},
		{"no line end", "a", "a"},
		{"nothing", "", ""},
		{"the beginning of something else", "-----BEGIN CERTIFICATE-----\nabc\n", "-----BEGIN CERTIFICATE-----\nabc\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1000, 4096, 1 << 20} {
				if got := written(t, r, c.text, size); got != c.want {
					t.Errorf("in pieces of %d: %d bytes, want %d; %.80q…", size, len(got), len(c.want), got)
				}
			}
		})
	}
}

func TestWriterReportsAndHoldsBack(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	w := redact.New(nil).Writer(failing{full})
	if _, err := w.Write([]byte("half")); err != nil {
		t.Errorf("half a line was written: %v", err)
	}
	if _, err := w.Write([]byte(" a line\n")); !errors.Is(err, full) {
		t.Errorf("error = %v, want %v", err, full)
	}
	if err := w.Close(); !errors.Is(err, full) {
		t.Errorf("error = %v, want %v", err, full)
	}
}

// Invented secrets without a name, in halves.
const (
	bareAWS = "q8Zk3nT0+vB5xR7yLw2" + "Jd9cFhM1sGpQeU4aKoN6t"
	barePEM = "MIIEowIBAAKCAQEAx7Vt3kQ9pL0sZ2bR" + "8nYd4uWf1GhJ6mXc5EoTiSaKvBqPyNrM"
)

func TestBareSecretsAreTakenOut(t *testing.T) {
	t.Parallel()
	r := redact.New(env())
	for text, want := range map[string]string{
		bareAWS:                                          redact.Mark,
		"key " + bareAWS + ", region eu":                 "key " + redact.Mark + ", region eu",
		barePEM + "\n" + barePEM + "\nabc=":              redact.Mark + "\n" + redact.Mark + "\nabc=",
		`{"text":"a\n` + barePEM + `\n` + bareAWS + `"}`: `{"text":"a\n` + redact.Mark + `\n` + redact.Mark + `"}`,
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, secret := range []string{bareAWS, "aws_secret = " + bareAWS + "\n", github, "password=hunter2hunter2", pem, "correct horse battery"} {
		text := base64.StdEncoding.EncodeToString([]byte(secret))
		if got, want := r.String("it: "+text+"."), "it: "+redact.Mark+strings.Repeat("=", strings.Count(text, "="))+"."; got != want && got != "it: "+redact.Mark+"." {
			t.Errorf("%q in base64 became %q", secret, got)
		}
	}
	for _, honest := range []string{
		base64.StdEncoding.EncodeToString([]byte("The quick brown fox jumps over the lazy dog, 7 times.")), base64.StdEncoding.EncodeToString([]byte{0, 1, 2, 200, 7, 8, 9, 10, 11, 12}),
		"da39a3ee5e6b4b0d3255bfef95601890afd80709", strings.Repeat("9f86d081", 8), strings.Repeat("9F86D081", 8),
		"TestTheLoopEndsAfter25TurnsAndIsOpenedXY", "internal/Core/Loop/Step12/TheMachineIsIt",
		"sha384-" + barePEM, bareAWS + "A", bareAWS[1:],
		"docs/reference/2026/11/Reviews/FaultsA1B", "GCMMakeRefundAndCaptureOrder2OfCustomerX",
	} {
		if got := r.String(honest); got != honest {
			t.Errorf("%q became %q", honest, got)
		}
	}
}

// Redacting twice has the effect of redacting once, and a stream gives the same text as String.
func FuzzString(f *testing.F) {
	f.Add("password=hunter2hunter2\n"+pem+"\n", 5)
	f.Add("https://a:bbb@c "+anthropic+"\n", 1)
	f.Add("https://a:bb}}}}b@c"+anthropic+"\n", -69)
	f.Add("bearer "+jwt+"\n-----BEGIN \n", 9)
	r := redact.New(env())
	f.Fuzz(func(t *testing.T, text string, size int) {
		once := r.String(text)
		if twice := r.String(once); twice != once {
			t.Errorf("%q became %q and then %q", text, once, twice)
		}
		for _, secret := range []string{anthropic, github, "correct horse battery"} {
			if strings.Contains(once, secret) || strings.Contains(written(t, r, text, size), secret) {
				t.Errorf("%q still holds a secret", once)
			}
		}
	})
}

func BenchmarkHonestLine(b *testing.B) {
	r := redact.New(env())
	line := `{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat("Now the tests of the parser. ", 30) + `"}]}}` + "\n"
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		r.String(line)
	}
}

func written(t *testing.T, r *redact.Redactor, text string, size int) string {
	t.Helper()
	var out bytes.Buffer
	w := r.Writer(&out)
	for rest := text; rest != ""; {
		n := min(max(size, 1), len(rest))
		if _, err := w.Write([]byte(rest[:n])); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
