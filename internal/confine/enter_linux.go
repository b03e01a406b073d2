package confine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/redact"
)

// Enter replaces this process by a command behind the wall of a policy. It
// returns only if that fails; ErrNoCommand says that the command is not there.
//
// With bubblewrap it is called twice: outside it becomes bubblewrap, which starts
// it again inside, where it becomes the command.
func Enter(policy string, insideIt bool, argv, env []string) error {
	p, err := readPolicy(policy)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	switch {
	case p.Mechanism == Bubblewrap && !insideIt:
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
		// Whoever ends the command sends its group a TERM. Bubblewrap would die of it
		// at once, and the command with it; so it does not hear it, and ends when the
		// command has. (This program hears it again, inside.)
		signal.Ignore(syscall.SIGTERM)
		inner := append([]string{self, "confined", "--inside", "--policy", policy, "--"}, argv...)
		return execute(p.Program, slices.Concat([]string{"bwrap"}, p.bwrapArgs(dir, inner)), p.environ(env))
	case p.Mechanism == Bubblewrap:
		ways, err := p.Net.hand()
		if err != nil {
			return err
		}
		program, err := find(argv[0])
		if err != nil {
			return err
		}
		if err := scoped(); err != nil {
			return err
		}
		return execute(program, argv, append(env, ways...))
	case p.Mechanism == Landlock:
		runtime.LockOSThread() // what becomes the command is a thread
		defer runtime.UnlockOSThread()
		program, err := find(argv[0])
		if err != nil {
			return err
		}
		if err := p.applyLandlock(); err != nil {
			return err
		}
		return execute(program, argv, p.environ(env))
	}
	return fmt.Errorf("policy %s names no mechanism", policy)
}

// ErrNoCommand says that the command to run is not there.
var ErrNoCommand = errors.New("no such command")

// find looks for the command before the wall stands, so that "not there" never
// means that the wall kept it from being seen.
func find(name string) (string, error) {
	program, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoCommand, err)
	}
	return program, nil
}

func execute(program string, argv, env []string) error {
	if err := syscall.Exec(program, argv, env); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	return nil
}

// environ is what the command finds of an environment: temporary files go where
// they may, and nothing leads out of the wall.
func (p Policy) environ(env []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(p.Unset, name) || name == "TMPDIR" || p.Net != nil && slices.Contains(proxyVars(), strings.ToUpper(name)) ||
			p.DropSecrets && redact.SecretVariable(kv) && !p.keepsVariable(name)
	})
	temp := "/tmp"
	if p.Mechanism == Landlock {
		temp = p.Temp
	}
	return append(out, "TMPDIR="+temp)
}

// keepsVariable reports whether a variable stays though it looks like a secret.
func (p Policy) keepsVariable(name string) bool {
	return slices.ContainsFunc(p.Keep, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return err == nil && ok
	})
}

// scoped keeps abstract sockets in, which belong to no file system, where the
// kernel can. In a network of its own there are none but its own.
func scoped() error {
	if landlockVersion() < landlockScopes {
		return nil
	}
	c := landlock.Config{Scoped: landlock.V6.Scoped}
	if err := c.RestrictScoped(); err != nil {
		return fmt.Errorf("confine by Landlock: %w", err)
	}
	return nil
}

// writing are the rights that Landlock takes away everywhere but below Write.
const writing = ll.AccessFSWriteFile | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeChar | ll.AccessFSMakeDir |
	ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock | ll.AccessFSMakeSym |
	ll.AccessFSRefer | ll.AccessFSTruncate

// applyLandlock confines this process, all its threads, and all that it starts.
func (p Policy) applyLandlock() error {
	v := landlockVersion()
	if v < landlockTruncates {
		return fmt.Errorf("confine by Landlock: this kernel's is too old (version %d)", v)
	}
	c := landlock.Config{HandledAccessFS: writing}
	if v >= landlockScopes {
		c.Scoped = landlock.V6.Scoped
	}
	const file = ll.AccessFSWriteFile | ll.AccessFSTruncate
	rules := []landlock.Rule{
		landlock.PathAccess(file, "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts").IgnoreIfMissing(),
	}
	for _, path := range p.Write {
		rights := landlock.AccessFSSet(writing)
		if !isDir(path) {
			rights = file
		}
		rules = append(rules, landlock.PathAccess(rights, path).IgnoreIfMissing())
	}
	if err := c.Restrict(rules...); err != nil {
		return fmt.Errorf("confine by Landlock: %w", err)
	}
	return powerless()
}

// powerless gives up what root may beyond others, for good: privileges cannot be
// gained any more. It is for this thread, the one that becomes the command.
func powerless() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	return nil
}
