package confine_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/confine"
)

// escape is one attempt to leave the sandbox. The script runs in the work tree, in the agent's
// sandbox, and exits with 0 if it got out. In any case no file of the user may have changed, and
// the key must not be in its output.
type escape struct {
	name   string
	script string
	level  confine.Level // the first at which it is stopped
	bwrap  bool          // with bubblewrap only
	// scopes are the sandboxes at which it is stopped only where the kernel scopes, see
	// System.Lacks.
	scopes []string
}

// escapes are known attempts. $VICTIM is a process of the same user outside, as Pawl is.
var escapes = []escape{
	{name: "write outside", script: `echo x > "$HOME/new"`, level: confine.Tree},
	{name: "write outside by ..", script: `echo x > ../new`, level: confine.Tree},
	{name: "append to a start-up file", script: `echo x >> "$HOME/.bashrc"`, level: confine.Tree},
	{name: "empty a file", script: `: > "$HOME/.bashrc"`, level: confine.Tree},
	{name: "truncate a file", script: `truncate -s 0 "$HOME/.bashrc"`, level: confine.Tree},
	{name: "remove a file", script: `rm -f "$HOME/.bashrc"`, level: confine.Tree},
	{name: "write through a symbolic link", script: `ln -s "$HOME/.bashrc" l && echo x >> l`, level: confine.Tree},
	{name: "write through a linked folder", script: `ln -s "$HOME" d && echo x > d/new`, level: confine.Tree},
	{name: "move a file out", script: `echo x > f && mv f "$HOME/new"`, level: confine.Tree},
	{name: "move a file in", script: `mv "$HOME/.bashrc" f`, level: confine.Tree},
	{name: "change by a hard link", script: `ln "$HOME/.bashrc" h && echo x >> h`, level: confine.Tree},
	{name: "make a folder", script: `mkdir "$HOME/bin"`, level: confine.Tree},
	{name: "bind a socket outside", script: `cd "$HOME" && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("s")'`, level: confine.Tree},
	{name: "write Pawl's state", script: `echo '{"type":"forged"}' >> "$STATE/journal.jsonl"`, level: confine.Tree},
	{name: "leave a message for Pawl", script: `mkdir -p "$STATE/inbox" && echo '{}' > "$STATE/inbox/grant"`, level: confine.Tree},
	{name: "write the policy of the sandbox", script: `for f in "$STATE"/confine/*/policy.json; do echo '{}' > "$f" || exit 1; done`, level: confine.Tree},
	{name: "plant start-up code of gradle", script: `mkdir -p "$GRADLE_USER_HOME/init.d" && echo x > "$GRADLE_USER_HOME/init.d/x.gradle"`, level: confine.Tree},
	{name: "write gradle's properties", script: `echo x >> "$GRADLE_USER_HOME/gradle.properties"`, level: confine.Tree},
	{name: "plant a plugin of sbt", script: `mkdir -p "$HOME/.sbt/1.0/plugins" && echo x > "$HOME/.sbt/1.0/plugins/x.sbt"`, level: confine.Tree},
	{name: "plant a program beside dart's cache", script: `mkdir -p "$HOME/.pub-cache/bin" && echo x > "$HOME/.pub-cache/bin/x"`, level: confine.Tree},
	{name: "put another folder in its place", script: `mv "$HOME/.pub-cache/bin" "$HOME/.pub-cache/hosted/b" && mkdir "$HOME/.pub-cache/bin"`, level: confine.Tree},
	{name: "plant a program of yarn", script: `mkdir -p "$HOME/.yarn/bin" && echo x > "$HOME/.yarn/bin/x"`, level: confine.Tree},
	{name: "plant a program of pnpm", script: `echo x > "$HOME/.local/share/pnpm/x"`, level: confine.Tree},
	{name: "write the agent's settings", script: `echo '{"hooks":{}}' > "$HOME/.claude/settings.json"`, level: confine.Tree},
	{name: "plant settings of the agent", script: `echo '{"hooks":{}}' > "$HOME/.claude/settings.local.json"`, level: confine.Tree},
	{name: "plant a command of the agent", script: `mkdir -p "$HOME/.claude/commands" && echo x > "$HOME/.claude/commands/x.md"`, level: confine.Tree},
	{name: "plant settings in the project", script: `mkdir -p .claude; echo '{"hooks":{}}' > .claude/settings.local.json`, level: confine.Tree, bwrap: true},
	{name: "plant a git hook", script: `echo 'touch x' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit`, level: confine.Tree, bwrap: true},
	{name: "replace the folder of hooks", script: `mv .git/hooks .git/old && mkdir .git/hooks`, level: confine.Tree, bwrap: true},
	{name: "configure git", script: `git config core.fsmonitor /tmp/evil`, level: confine.Tree, bwrap: true},
	{name: "write git's configuration", script: `echo '[core] fsmonitor = /tmp/evil' >> .git/config`, level: confine.Tree, bwrap: true},
	{name: "give git attributes", script: `echo '* filter=evil' > .git/info/attributes`, level: confine.Tree, bwrap: true},
	{name: "replace the repository", script: `mv .git .old && git init -q .`, level: confine.Tree, bwrap: true},
	{name: "write a checkpoint", script: `git update-ref refs/pawl/x/1 HEAD`, level: confine.Tree, bwrap: true},
	{name: "write the index that Pawl commits from", script: `echo x > .git/pawl/index-1`, level: confine.Tree, bwrap: true},
	{name: "lead git elsewhere", script: `ln -s /tmp .git/hooks2 && mv -T .git/hooks2 .git/hooks`, level: confine.Tree, bwrap: true},
	{name: "write a table of cron", script: `echo '* * * * * true' | crontab -`, level: confine.Tree},
	{name: "start a service", script: `systemd-run --user true`, level: confine.Tree, bwrap: true},
	{name: "become root by a setuid program", script: `test "$(./suid -u)" = 1`, level: confine.Tree},
	{name: "read a process' memory", script: `"$SELF" attack memory $VICTIM`, level: confine.Tree},
	{name: "trace a process", script: `"$SELF" attack trace $VICTIM`, level: confine.Tree},
	{name: "read a process' environment", script: `tr '\0' '\n' < /proc/$VICTIM/environ | grep VICTIM`, level: confine.Tree},
	{name: "go through a process' root", script: `echo x > /proc/$VICTIM/root$HOME/new`, level: confine.Tree},
	{name: "go through a process' folder", script: `echo x > /proc/$VICTIM/cwd/new`, level: confine.Tree},
	{name: "go through the parent's root", script: `echo x > /proc/$PPID/root$HOME/new`, level: confine.Tree},
	{name: "send a process a signal", script: `kill -CONT $VICTIM`, level: confine.Tree, scopes: []string{"landlock tree"}},
	{name: "mount over it", script: `mount -t tmpfs none "$HOME"`, level: confine.Tree},
	{name: "make it writable again", script: `mount -o remount,rw,bind "$HOME"; echo x > "$HOME/new"`, level: confine.Tree},
	{name: "a namespace of its own", script: `unshare -Urm sh -c 'mount -o remount,rw,bind / && echo x > "$HOME/new"'`, level: confine.Tree},
	{name: "a file of the kernel's", script: `f=/proc/sys/kernel/core_pattern; v=$(cat $f) && echo "$v" > $f`, level: confine.Tree},
	{name: "a disk", script: `d=$(ls /dev/[svx]d[a-z] /dev/nvme0n1 2>/dev/null | head -1); dd if=/dev/zero of="${d:-/dev/none}" count=0 conv=notrunc,nocreat`, level: confine.Tree},
	{name: "a socket below /tmp", script: `"$SELF" attack connect unix "$SOCKET"`, level: confine.Tree, bwrap: true},
	{name: "an abstract socket", script: `"$SELF" attack connect unix "@$ABSTRACT"`, level: confine.Tree, scopes: []string{"landlock tree", "bubblewrap tree"}},
	{name: "the container engine", script: `"$SELF" attack connect unix /var/run/docker.sock`, level: confine.Tree, bwrap: true},
	{name: "type into the terminal", script: `python3 -c 'import fcntl,termios; fcntl.ioctl(open("/dev/tty"), termios.TIOCSTI, "x")'`, level: confine.Tree},
	{name: "a service of the machine", script: `"$SELF" attack connect tcp "$SERVICE"`, level: confine.Strict},
	{name: "the network", script: `"$SELF" attack connect tcp 1.1.1.1:443`, level: confine.Strict},
	{name: "a name server", script: `"$SELF" attack connect tcp 1.1.1.1:53; "$SELF" attack lookup example.com`, level: confine.Strict},
	{name: "read a key", script: `cat "$HOME/.ssh/id_ed25519"`, level: confine.Strict},
	{name: "read a password", script: `grep KEY "$HOME/.netrc"`, level: confine.Strict},
	{name: "read a token", script: `grep KEY "$HOME/.npmrc"`, level: confine.Strict},
	{name: "read a key through a link", script: `ln -s "$HOME/.ssh" s && cat s/id_ed25519`, level: confine.Strict},
	{name: "read a secret variable", script: `echo "$MY_SECRET_TOKEN" | grep KEY`, level: confine.Strict},
	{name: "read a password variable", script: `echo "$PGPASSWORD" | grep KEY`, level: confine.Strict},
	{name: "read a password in an address", script: `echo "$DATABASE_URL" | grep KEY`, level: confine.Strict},
	{name: "read a secret variable of the sandbox", script: `cat /proc/*/environ | tr '\0' '\n' | grep MY_SECRET_TOKEN`, level: confine.Strict},
}

func TestSandboxedProcessCannotEscape(t *testing.T) {
	t.Parallel()
	for _, sandbox := range []struct {
		mechanism confine.Mechanism
		level     confine.Level
	}{{confine.Bubblewrap, confine.Tree}, {confine.Bubblewrap, confine.Strict}, {confine.Landlock, confine.Tree}} {
		t.Run(fmt.Sprintf("%s %s", sandbox.mechanism, sandbox.level), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sandbox.mechanism, sandbox.level, nil)
			w.surround()
			for _, e := range agenttest.PartOf(escapes) {
				if e.bwrap && sandbox.mechanism != confine.Bubblewrap || e.level == confine.Strict && sandbox.level != confine.Strict {
					continue
				}
				if slices.Contains(e.scopes, fmt.Sprintf("%s %s", sandbox.mechanism, sandbox.level)) && !confine.Scopes() {
					t.Logf("%s: not stopped by a kernel before Linux 6.12", e.name)
					continue
				}
				before := w.picture()
				out, code := w.shell(e.script)
				if code == 0 {
					t.Errorf("%s: %s\n%s", e.name, e.script, indent(out))
				}
				if strings.Contains(out, "-----KEY-----") {
					t.Errorf("%s: the key is read: %s", e.name, e.script)
				}
				if after := w.picture(); after != before {
					t.Errorf("%s: %s\nbefore\n%s\nafter\n%s", e.name, e.script, indent(before), indent(after))
				}
				w.outside("sh", "-c", `git clean -fdxq -e suid -e .claude . && git checkout -q .`)
			}
		})
	}
}

func TestAnOlderKernelIsToldOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		landlock int
		bwrap    string
		level    confine.Level
		abstract bool
	}{
		{5, "/bwrap", confine.Tree, true},
		{0, "/bwrap", confine.Tree, true},
		{5, "/bwrap", confine.Strict, false},
		{6, "/bwrap", confine.Tree, false},
		{5, "", confine.Tree, true},
		{6, "", confine.Tree, false},
		{0, "", confine.Tree, false},
		{5, "/bwrap", confine.Off, false},
	} {
		sys := confine.OfVersion(c.landlock, c.bwrap)
		said := strings.Contains(strings.Join(sys.Lacks(c.level), "; "), "abstract sockets")
		line, _ := sys.Summary()
		if said != c.abstract || c.abstract && !strings.Contains(line, "abstract sockets") {
			t.Errorf("%+v: %q, %q", c, sys.Lacks(c.level), line)
		}
	}
}

// Without a sandbox most attempts succeed; otherwise they would prove nothing.
func TestMostEscapeWithoutASandbox(t *testing.T) {
	t.Parallel()
	some := agenttest.PartOf(escapes)
	out := 0
	for _, e := range some {
		if strings.Contains(e.script, "/proc/sys") || strings.Contains(e.script, "mount ") || strings.Contains(e.script, "dd ") || strings.Contains(e.script, "crontab") {
			continue // would be felt outside the test
		}
		w := newWorld(t, confine.Bubblewrap, confine.Tree, nil)
		w.surround()
		if _, code := w.run(nil, "sh", "-c", e.script); code == 0 {
			out++
		}
	}
	if 3*out < len(some) {
		t.Errorf("%d escapes of %d succeed without a sandbox; want a third of them at least", out, len(some))
	}
}

// surround starts the targets of the attacks.
func (w *world) surround() {
	w.t.Helper()
	victim := exec.Command("sleep", "300")
	victim.Dir, victim.Env = w.home, append(os.Environ(), "VICTIM=secret")
	if err := victim.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = victim.Process.Kill()
		_ = victim.Wait()
	})
	temp, err := os.MkdirTemp("/tmp", "pawl-s-")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = os.RemoveAll(temp) })
	w.env = append(w.env,
		fmt.Sprintf("VICTIM=%d", victim.Process.Pid),
		"SOCKET="+w.listen("unix", filepath.Join(temp, "s")),
		"ABSTRACT="+strings.TrimPrefix(w.listen("unix", "@pawl-"+filepath.Base(temp)), "@"),
		"SERVICE="+w.listen("tcp", "127.0.0.1:0"),
	)
	// A program that would run as its owner, if it were allowed to gain anything.
	if os.Getuid() == 0 {
		w.outside("sh", "-c", `cp "$(command -v id)" suid && chown 1:1 suid && chmod 6755 suid`)
	}
}

// listen serves connections until the end of the test.
func (w *world) listen(network, address string) string {
	w.t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}
