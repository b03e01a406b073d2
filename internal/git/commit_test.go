package git

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
)

func (b *sandbox) commit(q CommitRequest) Committed {
	b.Helper()
	if q.Loop == "" {
		q.Loop = "brisk-otter"
	}
	if q.Message == "" {
		q.Message = "feat(US-001): do it"
	}
	done, err := b.repo.Commit(context.Background(), q)
	b.must(err)
	return done
}

func (b *sandbox) overlay(base, from string, paths ...string) string {
	b.Helper()
	tree, err := b.repo.Overlay(context.Background(), base, from, paths)
	b.must(err)
	return tree
}

func TestCommitLeavesACleanStatus(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "a", "b", "b")
	base := b.git("rev-parse", "HEAD")
	b.write("mine", "untracked before the loop")
	b.write("a", "changed")
	b.write("new", "x")
	b.remove("b")
	b.git("add", "new")
	tree := b.overlay(b.snapshot(), base, "mine")
	date := time.Date(2024, 5, 1, 12, 0, 0, 0, time.FixedZone("", 2*3600))
	done := b.commit(CommitRequest{
		Branch: "main", Parent: base, Tree: tree, Date: date,
		Message:  "feat(US-001): do it\n\nSigned-off-by: Ada <ada@example.com>",
		Trailers: []Trailer{{"Pawl-Loop", "brisk-otter"}, {"Pawl-Task", "US-001\nEvil: yes"}},
	})

	if got := b.git("status", "--porcelain"); got != "?? mine" {
		t.Errorf("status:\n%s", got)
	}
	if got := b.git("diff", "--name-status", base, "HEAD"); got != "M\ta\nD\tb\nA\tnew" {
		t.Errorf("committed:\n%s", got)
	}
	got := b.git("log", "-1", "--format=%H %an <%ae> %cn %aI%n%B")
	want := done.Commit + " Ada <ada@example.com> Ada 2024-05-01T12:00:00+02:00\nfeat(US-001): do it\n\n" +
		"Signed-off-by: Ada <ada@example.com>\nPawl-Loop: brisk-otter\nPawl-Task: US-001 Evil: yes\n"
	if diff := cmp.Diff(want, got+"\n"); diff != "" {
		t.Errorf("commit (-want +got):\n%s", diff)
	}
	trailers, err := b.repo.Trailers(context.Background(), done.Commit)
	b.must(err)
	if len(trailers) != 3 || trailers[1] != (Trailer{"Pawl-Loop", "brisk-otter"}) {
		t.Errorf("trailers %v", trailers)
	}
	if done.Squashed != "" {
		t.Errorf("squashed %q", done.Squashed)
	}
}

func TestCommitSquashesTheAgentsCommits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		agent func(b *sandbox)
		want  string // subjects of kept commits, newest first
	}{
		"one of its own":       {func(b *sandbox) { b.write("a", "2"); b.git("commit", "-qam", "wip") }, "wip"},
		"an amended base":      {func(b *sandbox) { b.write("a", "2"); b.git("commit", "-qa", "--amend", "-m", "amended") }, "amended"},
		"a base reset away":    {func(b *sandbox) { b.git("reset", "-q", "--soft", "HEAD~1") }, ""},
		"an unfinished merge":  {func(b *sandbox) { b.mergeHalfway() }, "ours"},
		"nothing of the agent": {func(b *sandbox) {}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t, "a", "1")
			b.write("n", "n")
			b.git("add", "-A")
			b.git("commit", "-qm", "base")
			base := b.git("rev-parse", "HEAD")
			tc.agent(b)
			b.write("work", "x")
			done := b.commit(CommitRequest{Branch: "main", Parent: base, Tree: b.snapshot()})
			if got := b.git("log", "--format=%s", "-2"); got != "feat(US-001): do it\nbase" {
				t.Errorf("log:\n%s", got)
			}
			if got := b.git("status", "--porcelain"); got != "" {
				t.Errorf("status:\n%s", got)
			}
			kept := ""
			if done.Squashed != "" {
				kept = b.git("log", "-1", "--format=%s", done.Squashed)
			}
			if kept != tc.want {
				t.Errorf("kept %q, want %q", kept, tc.want)
			}
		})
	}
}

// mergeHalfway leaves conflict entries in the index, as an agent may.
func (b *sandbox) mergeHalfway() {
	b.Helper()
	b.git("checkout", "-q", "-b", "other")
	b.write("a", "theirs")
	b.git("commit", "-qam", "theirs")
	b.git("checkout", "-q", "main")
	b.write("a", "ours")
	b.git("commit", "-qam", "ours")
	if mergeConflict(b) == nil {
		b.Fatalf("no conflict")
	}
}

func TestSquashMovesTheBranchAndNoFile(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "1")
	base := b.git("rev-parse", "HEAD")
	b.write("a", "2")
	b.write("n", "n")
	b.git("add", "-A")
	b.git("commit", "-qm", "agent")
	agent, tree := b.git("rev-parse", "HEAD"), b.snapshot()
	for _, want := range []string{"refs/pawl/brisk-otter/squashed/1", ""} {
		kept, err := b.repo.Squash(context.Background(), "brisk-otter", "main", base)
		b.must(err)
		if kept != want {
			t.Errorf("kept %q, want %q", kept, want)
		}
	}
	if got := b.git("rev-parse", "HEAD", "refs/pawl/brisk-otter/squashed/1"); got != base+"\n"+agent {
		t.Errorf("HEAD and kept: %s", got)
	}
	if b.snapshot() != tree {
		t.Error("the work tree changed")
	}
	if got := b.git("status", "--porcelain"); got != " M a\n?? n" {
		t.Errorf("status:\n%s", got)
	}
	b.git("update-ref", "refs/heads/main", agent)
	again, err := b.repo.Squash(context.Background(), "brisk-otter", "main", base)
	b.must(err)
	if again != "refs/pawl/brisk-otter/squashed/1" {
		t.Errorf("the same commits are kept twice: %q", again)
	}
	points, err := b.repo.Checkpoints(context.Background(), "brisk-otter")
	b.must(err)
	if len(points) != 0 {
		t.Errorf("squashed commits are listed as checkpoints: %v", points)
	}
}

func TestFindCommitMakesCommitsIdempotent(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	base := b.git("rev-parse", "HEAD")
	find := func(value string) string {
		sha, ok, err := b.repo.FindCommit(context.Background(), "main", base, Trailer{"Pawl-Receipt", value})
		b.must(err)
		if ok != (sha != "") {
			t.Fatalf("sha %q, ok %v", sha, ok)
		}
		return sha
	}
	if got := find("r1"); got != "" {
		t.Errorf("found %s in an empty range", got)
	}
	b.write("a", "a")
	one := b.commit(CommitRequest{Branch: "main", Parent: base, Tree: b.snapshot(), Trailers: []Trailer{{"Pawl-Receipt", "r1"}}})
	two := b.commit(CommitRequest{Branch: "main", Parent: one.Commit, Tree: b.snapshot(), Trailers: []Trailer{{"Pawl-Receipt", "r2"}}})
	for value, want := range map[string]string{"r1": one.Commit, "r2": two.Commit, "r": ""} {
		if got := find(value); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

func TestCommitSaysWhatStoppedIt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		arrange    func(b *sandbox, q *CommitRequest)
		want, hint string
	}{
		"no identity": {func(b *sandbox, q *CommitRequest) {
			b.git("config", "user.name", "")
		}, "whose commits", "user.name"},
		"empty message":  {func(b *sandbox, q *CommitRequest) { q.Message = " \n\x00" }, "message is empty", ""},
		"hostile branch": {func(b *sandbox, q *CommitRequest) { q.Branch = "--force" }, "cannot be the name", "fine"},
		"bad branch":     {func(b *sandbox, q *CommitRequest) { q.Branch = "a..b" }, "cannot be the name", "fine"},
		"another branch": {func(b *sandbox, q *CommitRequest) { b.git("checkout", "-q", "--detach") }, `HEAD is on "no branch"`, ""},
		"no such tree":   {func(b *sandbox, q *CommitRequest) { q.Tree = "none" }, "no such revision", ""},
		"hostile loop": {func(b *sandbox, q *CommitRequest) {
			b.git("commit", "-q", "--allow-empty", "-m", "x")
			q.Loop = "../../heads/main"
		}, "invalid loop id", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t)
			base := b.git("rev-parse", "HEAD")
			q := CommitRequest{Loop: "brisk-otter", Branch: "main", Parent: base, Tree: b.snapshot(), Message: "m"}
			tc.arrange(b, &q)
			before := b.untouchable()
			_, err := b.repo.Commit(context.Background(), q)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want %q", err, tc.want)
			}
			if !strings.Contains(failure.Hint(err), tc.hint) {
				t.Errorf("hint %q, want %q", failure.Hint(err), tc.hint)
			}
			if b.untouchable() != before {
				t.Error("something changed all the same")
			}
		})
	}
}

func TestCommitIsUnsignedOnlyWhereSigningFails(t *testing.T) {
	t.Parallel()
	for program, unsigned := range map[string]bool{
		"#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho SIGNED\n": false,
		"#!/bin/sh\necho 'no secret key' >&2\nexit 2\n":                              true,
	} {
		b := newRepo(t)
		b.write(".git/gpg", program)
		b.must(os.Chmod(b.path(".git/gpg"), 0o755))
		b.git("config", "commit.gpgsign", "true")
		b.git("config", "gpg.program", b.path(".git/gpg"))
		b.write("a", "a")
		done := b.commit(CommitRequest{Branch: "main", Parent: "HEAD", Tree: b.snapshot()})
		signed := strings.Contains(b.git("cat-file", "commit", done.Commit), "gpgsig")
		if signed == unsigned || (done.Unsigned != "") != unsigned {
			t.Errorf("signed %v, reason %q", signed, done.Unsigned)
		}
	}
}

func TestCommitUserChanges(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "a", "b", "b", "c", "c")
	b.git("update-index", "--skip-worktree", "c")
	b.write("c", "hidden, and never committed")
	head := b.git("rev-parse", "HEAD")
	none, err := b.repo.CommitUserChanges(context.Background(), "brisk-otter", "wip")
	b.must(err)
	if none != "" {
		t.Errorf("a clean tree was committed: %s", none)
	}
	b.write("a", "staged")
	b.git("add", "a")
	b.write("a", "staged, then changed")
	b.remove("b")
	b.write("added", "x")
	b.git("add", "added")
	b.write("untracked", "x")
	before := b.git("status", "--porcelain")
	sha, err := b.repo.CommitUserChanges(context.Background(), "brisk-otter", "Work in progress before pawl loop brisk-otter")
	b.must(err)
	if got := b.git("status", "--porcelain"); got != "?? untracked" {
		t.Errorf("status:\n%s", got)
	}
	if got := b.git("show", "HEAD:c"); got != "c" {
		t.Errorf("c = %q", got)
	}
	if got := b.git("log", "-1", "--format=%H %an %s"); got != sha+" Ada Work in progress before pawl loop brisk-otter" {
		t.Errorf("commit: %s", got)
	}
	b.git("reset", "-q", "--soft", head)
	b.git("read-tree", "--reset", "refs/pawl/brisk-otter/staged")
	if got := b.git("status", "--porcelain"); got != before {
		t.Errorf("after taking it back:\n%s\nwant:\n%s", got, before)
	}
}

func TestAnotherGitsLockIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	lock := b.path(".git/index.lock")
	b.write(".git/index.lock", "")
	b.write("a", "a")
	q := CommitRequest{Loop: "l", Branch: "main", Parent: "HEAD", Tree: b.snapshot(), Message: "m"}
	b.repo.lockWait = 50 * time.Millisecond
	_, err := b.repo.Commit(context.Background(), q)
	if err == nil || !strings.Contains(err.Error(), "another git holds the lock "+lock+", which is ") || !strings.Contains(failure.Hint(err), "rm '"+lock+"'") {
		t.Fatalf("error %v, hint %q", err, failure.Hint(err))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	b.repo.lockWait = lockWait
	if _, err := b.repo.Squash(ctx, "l", "main", "HEAD~1"); err == nil || ctx.Err() == nil {
		t.Errorf("error %v: the wait does not obey its context", err)
	}
	b.write(".git/index.lock", "")
	freed := time.AfterFunc(30*time.Millisecond, func() { _ = os.Remove(lock) })
	defer freed.Stop()
	q.Parent, q.Tree = "HEAD", b.snapshot()
	b.commit(q)
	if got := b.git("status", "--porcelain"); got != "" {
		t.Errorf("status:\n%s", got)
	}
}

func TestHeldLocks(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	lock := b.path(".git/index.lock")
	b.write(".git/index.lock", "")
	b.repo.lockWait = 50 * time.Millisecond
	held := b.repo.HeldLocks(t.Context())
	if len(held) != 1 || !strings.Contains(held[0].Error(), "another git holds the lock "+lock) || !strings.Contains(failure.Hint(held[0]), "rm '"+lock+"'") {
		t.Fatalf("held: %v", held)
	}
	b.repo.lockWait = lockWait
	freed := time.AfterFunc(100*time.Millisecond, func() { _ = os.Remove(lock) })
	defer freed.Stop()
	if held := b.repo.HeldLocks(t.Context()); len(held) != 0 {
		t.Errorf("a lock that its git lets go of: %v", held)
	}
}

func TestCommitMadeAgainAfterACrashFindsItself(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "1")
	base := b.git("rev-parse", "HEAD")
	b.write("a", "2")
	q := CommitRequest{Branch: "main", Parent: base, Tree: b.snapshot(), Trailers: []Trailer{{"Pawl-Receipt", "r1"}}}
	index := b.read(".git/index")
	done := b.commit(q)
	b.write(".git/index", index) // the crash came before the index was updated
	if again := b.commit(q); again.Commit != done.Commit {
		t.Errorf("a second commit: %s", again.Commit)
	}
	if got := b.git("status", "--porcelain"); got != "" {
		t.Errorf("status:\n%s", got)
	}
	b.write("a", "3")
	index = b.read(".git/index")
	if sha, err := b.repo.CommitUserChanges(context.Background(), "l", "wip"); err != nil || sha == "" {
		t.Fatalf("commit %q, %v", sha, err)
	}
	b.write(".git/index", index)
	if sha, err := b.repo.CommitUserChanges(context.Background(), "l", "wip"); err != nil || sha != "" {
		t.Errorf("a second commit: %q, %v", sha, err)
	}
	if got := b.git("status", "--porcelain") + b.git("rev-list", "--count", "HEAD"); got != "3" {
		t.Errorf("status and commits:\n%s", got)
	}
}

func TestCommitLeavesHiddenFilesToTheUser(t *testing.T) {
	t.Parallel()
	for mark, tag := range map[string]string{"--assume-unchanged": "h", "--skip-worktree": "S"} {
		b := newRepo(t, "a", "a", "config", "shared")
		b.git("update-index", mark, "config")
		b.write("config", "my own")
		status, err := b.repo.Status(context.Background())
		b.must(err)
		b.write("a", "work")
		b.commit(CommitRequest{Branch: "main", Parent: "HEAD", Tree: b.overlay(b.snapshot(), "HEAD", status.Hidden...)})
		if got := b.git("diff-tree", "--name-only", "HEAD~1", "HEAD"); got != "a" {
			t.Errorf("%s: committed %q", mark, got)
		}
		if got := b.git("ls-files", "-v", "config"); got != tag+" config" {
			t.Errorf("%s: the mark is now %q", mark, got)
		}
		if got := b.read("config"); got != "my own" {
			t.Errorf("%s: config = %q", mark, got)
		}
	}
}
