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

// Enter replaces this process by a command in the sandbox of a policy. It returns only if
// that fails, with ErrNoCommand if the command does not exist.
//
// With bubblewrap, Enter runs twice: outside it executes bubblewrap, which starts pawl again
// inside, where Enter executes the command.
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
		// A TERM to the process group would end bubblewrap at once, and the command with it.
		// So bubblewrap ignores TERM and ends after the command. Inside, this program receives
		// TERM again.
		signal.Ignore(syscall.SIGTERM)
		inner := append([]string{self, "confined", "--inside", "--policy", policy, "--"}, argv...)
		return execute(p.Program, slices.Concat([]string{"bwrap"}, p.bwrapArgs(dir, inner)), p.environ(env))
	case p.Mechanism == Bubblewrap:
		ways, err := p.Net.openListeners()
		if err != nil {
			return err
		}
		program, err := findProgram(argv[0])
		if err != nil {
			return err
		}
		if err := restrictScope(); err != nil {
			return err
		}
		return execute(program, argv, append(env, ways...))
	case p.Mechanism == Landlock:
		runtime.LockOSThread() // the restrictions of this thread pass to the command
		defer runtime.UnlockOSThread()
		program, err := findProgram(argv[0])
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

// ErrNoCommand means that the command to run does not exist.
var ErrNoCommand = errors.New("no such command")

// findProgram finds the command before the restrictions apply, so that ErrNoCommand never means a
// hidden command.
func findProgram(name string) (string, error) {
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

// environ returns the environment of the command. TMPDIR names a writable folder, and no variable
// leads out of the sandbox.
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

// keepsVariable reports whether a variable is kept although it looks like a secret.
func (p Policy) keepsVariable(name string) bool {
	return slices.ContainsFunc(p.Keep, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return err == nil && ok
	})
}

// restrictScope denies abstract sockets outside the sandbox, if the kernel supports it. They
// belong to no file system. A private network has its own only.
func restrictScope() error {
	if landlockVersion() < landlockScopes {
		return nil
	}
	c := landlock.Config{Scoped: landlock.V6.Scoped}
	if err := c.RestrictScoped(); err != nil {
		return fmt.Errorf("confine by Landlock: %w", err)
	}
	return nil
}

// landlockWriteRights are the rights that Landlock denies everywhere except below Write.
const landlockWriteRights = ll.AccessFSWriteFile | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeChar | ll.AccessFSMakeDir |
	ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock | ll.AccessFSMakeSym |
	ll.AccessFSRefer | ll.AccessFSTruncate

// applyLandlock confines this process, all its threads, and all processes that it starts.
func (p Policy) applyLandlock() error {
	v := landlockVersion()
	if v < landlockTruncates {
		return fmt.Errorf("confine by Landlock: this kernel's is too old (version %d)", v)
	}
	c := landlock.Config{HandledAccessFS: landlockWriteRights}
	if v >= landlockScopes {
		c.Scoped = landlock.V6.Scoped
	}
	const file = ll.AccessFSWriteFile | ll.AccessFSTruncate
	rules := []landlock.Rule{
		landlock.PathAccess(file, "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts").IgnoreIfMissing(),
	}
	for _, path := range p.Write {
		rights := landlock.AccessFSSet(landlockWriteRights)
		if !isDir(path) {
			rights = file
		}
		rules = append(rules, landlock.PathAccess(rights, path).IgnoreIfMissing())
	}
	if err := c.Restrict(rules...); err != nil {
		return fmt.Errorf("confine by Landlock: %w", err)
	}
	return dropCapabilities()
}

// dropCapabilities drops the capabilities of this thread, which executes the command. They cannot
// be regained.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop privileges: %w", err)
	}
	return nil
}
