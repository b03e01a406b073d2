package arch

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documents are the texts a user reads about the repository.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	walk(t, func(p string) {
		if strings.HasSuffix(p, ".md") && (!strings.Contains(p, "/") || strings.HasPrefix(p, "docs/")) {
			texts[p] = string(read(t, p))
		}
	})
	return texts
}

var (
	goFile = regexp.MustCompile(`[\w./-]*\w\.go\b`)
	link   = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
)

// deadPaths finds Go files that text names and links to files that are not
// there. A path with a folder is looked up from the root and beside the
// document; a bare name must be the name of some file.
func deadPaths(repository fs.FS, doc, text string) []string {
	var faults []string
	exists := func(p string) bool {
		_, err := fs.Stat(repository, path.Clean(p))
		return err == nil
	}
	for _, p := range goFile.FindAllString(text, -1) {
		if strings.Contains(p, "/") && !exists(p) && !exists(path.Join(path.Dir(doc), p)) {
			faults = append(faults, fmt.Sprintf("%s names %s, which is not there", doc, p))
		}
	}
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
			continue
		}
		if !exists(path.Join(path.Dir(doc), m[1])) {
			faults = append(faults, fmt.Sprintf("%s links to %s, which is not there", doc, m[1]))
		}
	}
	return faults
}

func TestDocumentsNameWhatIsThere(t *testing.T) {
	t.Parallel()
	repository := os.DirFS(root(t))
	for doc, text := range documents(t) {
		report(t, deadPaths(repository, doc, text))
	}
}

func TestDeadPathsAreFound(t *testing.T) {
	t.Parallel()
	text := "See `internal/arch/doc.go`, internal/gone/gone.go, [rules](../arch/doc.go), " +
		"[nothing](gone.md#part) and [elsewhere](https://example.org/x.md). A name.go alone is free."
	got := deadPaths(os.DirFS(root(t)), "internal/arch/x.md", text)
	want := "internal/arch/x.md names internal/gone/gone.go, which is not there\n" +
		"internal/arch/x.md links to gone.md, which is not there"
	if strings.Join(got, "\n") != want {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), want)
	}
}

// decisionPage matches the title and the sections of a decision.
var decisionPage = regexp.MustCompile(`^# (\d{3}): [^\n]+\n\n## Decision\n(?s:.+)\n## Why\n(?s:.+)\n## Alternatives refused\n(?s:.+)\n## Price\n`)

func TestDecisionsHaveOneForm(t *testing.T) {
	t.Parallel()
	const dir = "docs/explanation/decisions/"
	index, pages := string(read(t, dir+"README.md")), 0
	for doc, text := range documents(t) {
		name, ok := strings.CutPrefix(doc, dir)
		if !ok || name == "README.md" {
			continue
		}
		pages++
		if m := decisionPage.FindStringSubmatch(text); m == nil || !strings.HasPrefix(name, m[1]+"-") {
			t.Errorf("%s: its title or its sections are not those of %sREADME.md", doc, dir)
		}
		if !strings.Contains(index, "]("+name+")") {
			t.Errorf("%sREADME.md does not link to %s", dir, name)
		}
	}
	if pages < 23 {
		t.Errorf("%d decisions", pages)
	}
}

// private matches what holds on one machine only: the folder of this checkout,
// the one around it, and hosts that packages come from (a lock file with them
// works nowhere else).
func private(t *testing.T) *regexp.Regexp {
	t.Helper()
	var words []string
	home, _ := os.UserHomeDir()
	here := root(t)
	for _, dir := range []string{here, filepath.Dir(here)} {
		if dir != home && dir != filepath.Clean(os.TempDir()) && dir != filepath.Dir(dir) {
			words = append(words, `(?:^|[^\w./~\n-])`+regexp.QuoteMeta(filepath.ToSlash(dir)+"/"))
		}
	}
	for _, host := range [][]string{
		{"registry", "npmjs", "org"},
		{"registry", "yarnpkg", "com"},
		{"proxy", "golang", "org"},
		{"sum", "golang", "org"},
		{"deb", "debian", "org"},
	} {
		words = append(words, strings.Join(host, `\.`))
	}
	return regexp.MustCompile("(?m)" + strings.Join(words, "|"))
}

func TestNothingNamesThisMachine(t *testing.T) {
	t.Parallel()
	machine := private(t)
	walk(t, func(p string) {
		text := read(t, p)
		if at := machine.FindIndex(text); at != nil {
			t.Errorf("%s:%d: names %s", p, 1+bytes.Count(text[:at[0]], []byte("\n")), bytes.TrimSpace(text[at[0]:at[1]]))
		}
	})
	if found := machine.FindString("cd " + root(t) + "/x"); found == "" {
		t.Error("the folder of this checkout is not found where it stands")
	}
}

// symptom matches the first cell of a row of the page on troubles: words of a message.
var symptom = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// The words that a reader looks up are those of Pawl's messages.
func TestTroublesAreThoseOfMessages(t *testing.T) {
	t.Parallel()
	var source bytes.Buffer
	walk(t, func(p string) {
		if strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go") && strings.HasPrefix(p, "internal/") {
			source.Write(read(t, p))
		}
	})
	rows := symptom.FindAllSubmatch(read(t, "docs/how-to/troubleshooting.md"), -1)
	if len(rows) < 10 {
		t.Errorf("only %d rows", len(rows))
	}
	for _, row := range rows {
		if !bytes.Contains(source.Bytes(), row[1]) {
			t.Errorf("no message says %q", row[1])
		}
	}
}
