package git

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReplant(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	cases := map[string]struct {
		others string // changes of the commit before
		want   []string
	}{
		"other files":   {"more.txt", []string{"Grace|mine|why", "start"}},
		"the same file": {"mine.txt", nil},
	}
	for name, c := range cases {
		b := newRepo(t, "mine.txt", "one\n")
		base := b.git("rev-parse", "HEAD")
		b.write(c.others, "others\n")
		b.git("add", "-A")
		b.git("commit", "-qm", "others")
		b.write("mine.txt", "two\n")
		b.git("commit", "-qam", "mine", "-m", "why", "--author", "Grace <grace@example.com>")
		tip := b.git("rev-parse", "HEAD")
		line, err := b.repo.FirstParentCommits(ctx, base, tip)
		if b.must(err); len(line) != 2 || line[1] != tip {
			t.Fatalf("%s: line %q", name, line)
		}
		planted, err := b.repo.Replant(ctx, "l", "main", base, line[1:])
		b.must(err)
		if c.want == nil {
			if planted != "" || b.git("rev-parse", "HEAD") != tip {
				t.Errorf("%s: moved to %q", name, planted)
			}
			continue
		}
		if got := b.git("log", "-1", "--format=%an|%s|%b") + "\n" + b.git("log", "-1", "--format=%s", "HEAD^"); cmp.Diff(strings.Join(c.want, "\n"), got) != "" {
			t.Errorf("%s: commits %s", name, got)
		}
		if got := b.git("diff", "--name-only", "HEAD^", "HEAD") + "; " + b.git("status", "--porcelain"); got != "mine.txt; ?? more.txt" {
			t.Errorf("%s: changed and left over: %s", name, got)
		}
		if kept := b.git("rev-parse", "refs/pawl/l/squashed/1"); kept != tip {
			t.Errorf("%s: kept %s, want %s", name, kept, tip)
		}
	}
}

// A replanted merge is still a merge with all its changes.
func TestReplantAMerge(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t, "a.txt", "one\n")
	base := b.git("rev-parse", "HEAD")
	b.git("switch", "-qc", "feature")
	for _, name := range []string{"f.txt", "g.txt"} {
		b.write(name, "feature\n")
		b.git("add", "-A")
		b.git("commit", "-qm", name)
	}
	feature := b.git("rev-parse", "HEAD")
	b.git("switch", "-q", "main")
	b.write("others.txt", "others\n")
	b.git("add", "-A")
	b.git("commit", "-qm", "others")
	b.git("merge", "-q", "--no-edit", "feature")
	tip := b.git("rev-parse", "HEAD")
	line, err := b.repo.FirstParentCommits(ctx, base, tip)
	if b.must(err); len(line) != 2 || line[1] != tip {
		t.Fatalf("line %q", line)
	}
	planted, err := b.repo.Replant(ctx, "l", "main", base, line[1:])
	b.must(err)
	if got := b.git("log", "-1", "--format=%P", planted); got != base+" "+feature {
		t.Errorf("parents %s, want %s %s", got, base, feature)
	}
	if got := b.git("diff", "--name-only", base, planted) + "; " + b.git("status", "--porcelain"); got != "f.txt\ng.txt; ?? others.txt" {
		t.Errorf("changed and left over: %s", got)
	}
}

// A replanted commit loses its signature, which would be wrong.
func TestReplantDropsSignature(t *testing.T) {
	t.Parallel()
	raw := "tree 1\nparent 2\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\ngpgsig -----BEGIN\n abc\n -----END\nencoding latin1\n\nsubject\n\nbody\n"
	want := "tree 3\nparent 4\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\nencoding latin1\n\nsubject\n\nbody\n"
	if diff := cmp.Diff(want, string(rewriteCommit([]byte(raw), "3", "4"))); diff != "" {
		t.Error(diff)
	}
}
