package git

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Trailers are added and found as git does.
func TestTrailersAreAddedAndFoundAsGitDoes(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	ours := []Trailer{{"Pawl-Loop", "brisk-otter"}, {"Pawl-Task", "2"}, {"Pawl-Empty", ""}}
	for _, text := range []string{
		"title",
		"Title: like a trailer",
		"title\n\nbody of\ntwo lines",
		"title\n\nbody: with a colon\nand a line",
		"title\n\nFixes: #1",
		"title\n\nFixes: #1\nPawl-Task: 2",
		"title\n\nFixes: #1\n continues\nReviewed-by : Ada",
		"title\n\nFixes: #1\n \nRefs: #2",
		"title\n\nsome words\nSigned-off-by: Ada <a@b>",
		"title\n\nsome words\nmore\nmore\nmore\nSigned-off-by: Ada <a@b>",
		"title\n\nSee: this\n(cherry picked from commit 1234)",
		"title\n\n(cherry picked from commit 1234)",
		"title\n\nhttp://example.com/x",
		"title\n\n---\nnotes",
		"title\n\nFixes: #1\n\n\n",
		"title\n\n not: a trailer\nFixes: #1",
		"title\n\nUmlaut-\u00e4: x",
	} {
		got, err := withTrailers(text, ours)
		b.must(err)
		args := []string{"-c", "trailer.ifexists=addIfDifferent", "interpret-trailers", "--no-divider"}
		for _, o := range ours {
			args = append(args, "--trailer="+o.Key+": "+o.Value)
		}
		ask := func(in string, args ...string) string {
			cmd := exec.Command("git", args...)
			cmd.Dir, cmd.Stdin = b.dir, strings.NewReader(in)
			out, err := cmd.Output()
			b.must(err)
			return string(out)
		}
		// Git also changes spaces in existing trailers.
		tidy := func(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), " ", "") }
		if diff := cmp.Diff(tidy(ask(strings.TrimSpace(text)+"\n", args...)), tidy(got)); diff != "" {
			t.Errorf("%q (-git +added):\n%s", text, diff)
		}
		commit, err := b.repo.ownCommit(context.Background(), ownCommit{tree: b.git("rev-parse", "HEAD^{tree}"), message: got})
		b.must(err)
		found, err := b.repo.Trailers(context.Background(), commit)
		b.must(err)
		var lines []string
		for _, f := range found {
			lines = append(lines, f.Key+": "+f.Value)
		}
		if diff := cmp.Diff(tidy(b.git("log", "-1", "--format=%(trailers:only,unfold)", commit)), tidy(strings.Join(lines, "\n"))); diff != "" {
			t.Errorf("%q (-git +found):\n%s", got, diff)
		}
	}
}
