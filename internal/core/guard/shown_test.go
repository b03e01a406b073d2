package guard_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// checkEditAfter returns the verdict on an edit of a file after other calls.
func checkEditAfter(file string, before ...toolcall.Call) guard.Verdict {
	var k guard.ShownFiles
	r := rules()
	r.KnowsContent = k.Has
	for _, c := range before {
		if v := guard.Check(c, r); v.Decision == guard.Allow {
			k.Add(v.Touched...)
		}
	}
	return guard.Check(toolcall.Call{Kind: toolcall.Edit, Path: file, Dir: "/w/repo"}, r)
}

func runCall(command string) toolcall.Call {
	return toolcall.Call{Kind: toolcall.Run, Command: command, Dir: "/w/repo"}
}

func toolCall(tool, key string, value any) toolcall.Call {
	return codec.ToolCall(tool, map[string]any{key: value}, "/w/repo")
}

// A call that may have shown src/cart.py makes it editable.
func TestCallsThatShowFileAllowEdit(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"cat src/cart.py", "cat /w/repo/src/cart.py", "cd src && sed -n 1,80p cart.py", "head -n 40 src/cart.py | grep def", "cat src/*.py",
		"grep -n total src/cart.py", "grep -rn total .", "grep -rn total", "grep -R --include='*.py' total src", "grep -n total src/*",
		"rg total", "rg -n total src", "rg -e total src/", "git grep -n total", "git grep total -- src",
		"git diff", "git diff src/cart.py", "git diff HEAD~1 -- src", "git diff --stat -p", "git show", "git show HEAD~2", "git show HEAD:src/cart.py",
		"cd src && git show HEAD:./cart.py", "git -C src diff cart.py", "git log -p -3", "git log -L 1,9:src/cart.py", "git blame src/cart.py", "git stash show -p",
		"cat $(git ls-files)", "for f in $(ls src); do cat src/$f; done", `f=src/cart.py; cat "$f"`, "cat src/$NAME", "for f in src/*.py; do cat $f; done",
		"find . -name '*.py' -exec cat {} +", "find src -type f | xargs head -20", "rg -l total | xargs cat", "while read -r f; do nl $f; done < list",
		"python3 tools/show.py src/cart.py", "pytest src/cart.py", "tool --file=src/cart.py", "$PAGER src/cart.py", "cd \"$DIR\" && cat cart.py",
		"cp src/old.py src/cart.py", "echo 'x = 1' > src/cart.py", "sed -i s/a/b/ src/cart.py", "python3 -c 'print(open(\"src/cart.py\").read())'",
		"python3 - <<'EOF'\nfor n in ['cart']:\n    print(open(f'src/{n}.py').read())\nEOF", "node -e 'for (const f of fs.readdirSync(\"src\")) show(f)'",
		"bash -c \"$WHAT\"", "diff -r src other", "cat < src/cart.py", "cat SRC/Cart.py",
	} {
		if v := checkEditAfter("src/cart.py", runCall(command)); v.Decision != guard.Allow {
			t.Errorf("%s\n%s", command, v.Reason)
		}
	}
	for _, c := range []toolcall.Call{
		toolCall("Read", "file_path", "/w/repo/src/cart.py"), toolCall("Read", "file_path", "src/cart.py"),
		toolCall("Grep", "path", "src/cart.py"), toolCall("Write", "file_path", "src/cart.py"),
		{Kind: toolcall.Search, Path: "/w/repo/src", Lines: true},
		{Kind: toolcall.Search, Lines: true},
		toolCall("mcp__files__read_file", "path", "/w/repo/src/cart.py"), toolCall("mcp__files__read_files", "paths", []any{"src/cart.py", 1}),
	} {
		before := []toolcall.Call{c}
		if c.Tool == "Write" { // Write itself needs the file to be known
			before = append([]toolcall.Call{runCall("cat src/cart.py")}, c)
		}
		if v := checkEditAfter("src/cart.py", before...); v.Decision != guard.Allow {
			t.Errorf("%+v\n%s", c, v.Reason)
		}
	}
}

// Naming src/cart.py without showing it, or showing another file, does not make it editable.
func TestCallsThatDoNotShowFileDenyEdit(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"ls -la src", "ls src/cart.py", "cat src/other.py", "cat src/cart.p", "find . -name '*.py'", "grep -rl total src", "rg --files", "git status", "git log --oneline -5",
		"git diff --stat", "git show --name-only HEAD", "git diff src/other.py", "make test", "go test ./...", "wc -l src/*.py", "echo src/cart.py",
		"cat docs/*.py", "rg total docs", "git push; cat src/cart.py", "python3 -c 'print(1)'", "cd src && cat other.py", "git grep -l total",
	} {
		if v := checkEditAfter("src/cart.py", runCall(command)); v.Rule != guard.RuleUnread {
			t.Errorf("%s: %s %s", command, v.Decision, v.Rule)
		}
	}
	for _, c := range []toolcall.Call{toolCall("Glob", "pattern", "src/*.py"), toolCall("Grep", "path", "/w/repo/src"), toolCall("LS", "path", "src"), toolCall("TodoWrite", "todos", []any{})} {
		if v := checkEditAfter("src/cart.py", c); v.Rule != guard.RuleUnread {
			t.Errorf("%+v: %s %s", c, v.Decision, v.Rule)
		}
	}
}

// Files outside the work tree, instruction files of clients, and files that the settings allow
// need no reading.
func TestFilesEditableWithoutReading(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"/tmp/notes.txt", "CLAUDE.md", "sub/AGENTS.md", ".claude/skills/x/SKILL.md"} {
		if v := checkEditAfter(file); v.Decision != guard.Allow {
			t.Errorf("%s: %s", file, v.Reason)
		}
	}
	for _, entry := range []string{"unread", "write:src/**"} {
		p, err := guard.ParsePattern(entry)
		if err != nil {
			t.Fatal(err)
		}
		r := rules()
		r.KnowsContent, r.Allow = func(string) bool { return false }, []guard.Pattern{p}
		if v := guard.Check(toolcall.Call{Kind: toolcall.Edit, Path: "src/cart.py"}, r); v.Decision != guard.Allow {
			t.Errorf("allow %s: %s", entry, v.Reason)
		}
	}
}

// A file that was read by a link may be edited by its own name, and the reverse.
func TestFileReadThroughLinkIsEditable(t *testing.T) {
	t.Parallel()
	for _, way := range [][2]string{{"link.py", "src/cart.py"}, {"src/cart.py", "link.py"}, {"link.py", "link.py"}} {
		var k guard.ShownFiles
		r := rules()
		r.KnowsContent = k.Has
		r.ResolveLinks = func(p string) string {
			if p == "/w/repo/link.py" {
				return "/w/repo/src/cart.py"
			}
			return p
		}
		k.Add(guard.Check(toolCall("Read", "file_path", way[0]), r).Touched...)
		if v := guard.Check(toolCall("Edit", "file_path", way[1]), r); v.Decision != guard.Allow {
			t.Errorf("read %s, edit %s: %s", way[0], way[1], v.Reason)
		}
	}
}

func TestFilesMentionedInPromptCountAsShown(t *testing.T) {
	t.Parallel()
	var k guard.ShownFiles
	k.AddMentions("Fix @src/cart.py, then (see @docs/a.md) tell ann@example.org of src/other.py.", "/w/repo")
	for file, want := range map[string]bool{"src/cart.py": true, "docs/a.md": true, "src/other.py": false, "example.org": false} {
		if got := k.Has("/w/repo/" + file); got != want {
			t.Errorf("%s: %v", file, got)
		}
	}
}

// A call that names too many files counts as showing all files.
func TestCallNamingTooManyFilesShowsAll(t *testing.T) {
	t.Parallel()
	if v := checkEditAfter("src/cart.py", runCall("cat {1..200}.a {1..200}.b {1..200}.c {1..200}.d {1..200}.e {1..200}.f src/cart.py")); v.Decision != guard.Allow {
		t.Error(v.Reason)
	}
}
