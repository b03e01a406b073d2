package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/term"
)

// A shell waits for the process that it started, and no process can leave it. So on a
// terminal a loop is driven by a second process below the first: when the user presses
// d, the first ends, and the second goes on without the terminal.

// secondFlag is the flag that tells the second process that it is one.
type secondFlag struct {
	Second bool `hidden:"" help:"internal: a process waits for this one, and ends when it leaves the terminal"`
}

// detachKey is the key that detaches.
const detachKey = 'd'

// leavable is what the second process has of the first.
type leavable struct {
	leaves *os.File // a byte written to it ends the first process
	first  *os.File // read from: it ends when the first process does
}

// takeTerminal has this process be the second one, if the flag says so. Programs that it
// starts get nothing of it.
func (f secondFlag) takeTerminal(a *app) {
	if !f.Second || !proc.CanLeave {
		return
	}
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	l := &leavable{leaves: os.NewFile(3, "leaves"), first: os.NewFile(4, "first")}
	if l.leaves != nil && l.first != nil {
		a.leavable = l
	}
}

// startsSecond reports whether a loop that is shown so is to be driven by a second
// process: where keys can be read, and its terminal be left.
func (a *app) startsSecond(mode term.Mode) bool {
	return proc.CanLeave && mode == term.Live && attended(a.In) && attended(a.Err) && proc.InForeground(a.In)
}

// second runs this command once more, as the process that drives the loop, and ends with
// its exit code, or when it leaves the terminal.
func (a *app) second(command string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	leaves, left, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start the loop: %w", err)
	}
	defer leaves.Close()
	first, life, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start the loop: %w", errors.Join(err, left.Close()))
	}
	defer life.Close()
	args := slices.Insert(slices.Clone(a.args), slices.Index(a.args, command)+1, "--second")
	cmd := exec.Command(self, args...) //nolint:noctx // it ends by what the user types
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.In, a.Out, a.Err
	cmd.ExtraFiles = []*os.File{left, first}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	err = cmd.Start()
	if err = errors.Join(err, left.Close(), first.Close()); err != nil {
		return fmt.Errorf("start the loop: %w", err)
	}
	return awaitSecond(cmd, leaves, signals)
}

// awaitSecond waits for the second process. What is typed reaches both; a signal for the
// first alone is passed on where that cannot count twice.
func awaitSecond(cmd *exec.Cmd, leaves *os.File, signals <-chan os.Signal) error {
	detached, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		if n, _ := leaves.Read(make([]byte, 1)); n == 1 {
			close(detached)
		}
	}()
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case <-detached:
			return nil
		case s := <-signals:
			if s != os.Interrupt {
				_ = cmd.Process.Signal(s)
			}
		case err := <-ended:
			if exit := new(exec.ExitError); errors.As(err, &exit) {
				if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
					return signalled{signal: status.Signal()}
				}
				return exitCode(exit.ExitCode())
			}
			return err
		}
	}
}

// hears has the loop of this process leave its terminal when the user presses the key,
// and end, or go on without it, when the first process is killed. stop gives the keys
// back.
func (l *leavable) hears(a *app, d *launch.Driver, handler *signalHandler, screen term.Printer) (keys *proc.Keys, stop func()) {
	keys = proc.ReadKeys(a.In)
	done, quit := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case key := <-keys.C:
				if key == detachKey {
					keys.Close()
					a.leave(d, handler, screen)
					return
				}
			case <-quit:
				keys.Close()
				return
			}
		}
	}()
	go func() {
		if _, err := l.first.Read(make([]byte, 1)); err != nil && !handler.left.Load() {
			handler.gone()
		}
	}()
	return keys, func() { close(quit); <-done }
}

// leave goes on without the terminal and ends the first process. What this one says from
// now on stands in run.log.
func (a *app) leave(d *launch.Driver, handler *signalHandler, screen term.Printer) {
	log, err := os.OpenFile(filepath.Join(d.Loop.Dir, "run.log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		defer log.Close()
		err = d.Owner.Detach()
	}
	if err != nil {
		screen.Print(term.Note{Level: term.Warn, Text: fmt.Sprintf("it stays in this terminal: %v", err)})
		return
	}
	handler.keepsOn.Store(true)
	handler.left.Store(true)
	_ = screen.Close()
	a.sayDetached(d.Loop.ID)
	if err := proc.LeaveTerminal(log); err != nil {
		term.Warnf(a.Err, "%v", err)
	}
	_, _ = a.leavable.leaves.Write([]byte{detachKey})
}

// sayDetached says how the user comes back to a loop.
func (a *app) sayDetached(id string) {
	words := fmt.Sprintf("detached: %s continues. It is shown again by  pawl attach %[1]s  and ended by  pawl stop %[1]s\n", id)
	_, _ = io.WriteString(a.Err, a.text(term.Wrap(words, a.columns)))
}
