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

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

// A shell waits for the process that it started. So on a terminal, that process only waits in the
// foreground, and a child drives the loop. When the user presses d, the foreground process ends and
// the driver continues without the terminal.

// driverFlag marks a process as the driver.
type driverFlag struct {
	Driver bool `hidden:"" help:"internal: drive the loop for a process that waits in the foreground"`
}

// detachKey is the key that detaches.
const detachKey = 'd'

// foreground is the driver's connection to the process that waits in the foreground.
type foreground struct {
	end  *os.File // writing a byte to it ends that process
	dies *os.File // reading from it blocks until that process ends
}

// connect opens the connection to the foreground process, if the flag is set. Child processes do not
// inherit it.
func (f driverFlag) connect(a *app) {
	if !f.Driver || !proc.CanLeaveTerminal {
		return
	}
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	if end, dies := os.NewFile(3, "end"), os.NewFile(4, "dies"); end != nil && dies != nil {
		a.foreground = &foreground{end, dies}
	}
}

// screenOptions returns how a loop is shown on standard output.
func (a *app) screenOptions(mode term.Mode) term.Options {
	return term.Options{
		Out: a.Out, Mode: mode, Color: !a.env.NoColor && mode == term.Live, ASCII: a.env.ASCII, Size: term.SizeOf(a.Out),
		InBackground: func() bool { return proc.InBackground(a.Out) },
	}
}

// canDetach reports whether the user can detach a loop by a key: Pawl must be able to read keys and to
// leave the terminal.
func (a *app) canDetach(mode term.Mode) bool {
	return proc.CanLeaveTerminal && mode == term.Live && isTerminal(a.In) && isTerminal(a.Err) && proc.InForeground(a.In)
}

// runDriver runs this command again as the loop's driver. It returns its exit code, or nil once the
// driver leaves the terminal.
func (a *app) runDriver(command string) error {
	ends, end, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start the loop: %w", err)
	}
	defer ends.Close()
	dies, alive, err := os.Pipe() // nothing is written: it only closes when this process ends
	if err != nil {
		return fmt.Errorf("start the loop: %w", errors.Join(err, end.Close()))
	}
	defer alive.Close()
	args := slices.Insert(slices.Clone(a.args), slices.Index(a.args, command)+1, "--driver")
	cmd := exec.Command(a.self, args...) //nolint:noctx // it ends by what the user types
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.In, a.Out, a.Err
	cmd.ExtraFiles = []*os.File{end, dies}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	err = cmd.Start()
	if err = errors.Join(err, end.Close(), dies.Close()); err != nil {
		return fmt.Errorf("start the loop: %w", err)
	}
	return awaitDriver(cmd, ends, signals)
}

// awaitDriver waits until the driver ends or leaves the terminal. Ctrl-C reaches both processes. Other
// signals are passed on, because they may be sent to this process only.
func awaitDriver(cmd *exec.Cmd, ends *os.File, signals <-chan os.Signal) error {
	detached, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		if n, _ := ends.Read(make([]byte, 1)); n == 1 {
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
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
					return signalled{signal: status.Signal()}
				}
				return exitCode(exit.ExitCode())
			}
			return err
		}
	}
}

// listen makes the driver leave its terminal when the user presses the key. If the foreground process
// is killed, the terminal counts as closed. stop releases the keyboard.
func (f *foreground) listen(a *app, d *launch.Driver, handler *signalHandler, screen term.Printer) (keys *proc.Keys, stop func()) {
	keys = proc.ReadKeys(a.In)
	done, quit := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case key := <-keys.C:
				if key == detachKey {
					keys.Close()
					f.leave(a, d, handler, screen)
					return
				}
			case <-quit:
				keys.Close()
				return
			}
		}
	}()
	go func() {
		if _, err := f.dies.Read(make([]byte, 1)); err != nil && !handler.detached.Load() {
			handler.hangUp(loop.ByHangup)
		}
	}()
	return keys, func() { close(quit); <-done }
}

// leave continues without the terminal and ends the foreground process. From then on, the driver
// writes to run.log.
func (f *foreground) leave(a *app, d *launch.Driver, handler *signalHandler, screen term.Printer) {
	log, err := os.OpenFile(filepath.Join(d.Loop.Dir, store.RunnerLog), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		defer log.Close()
		err = d.Owner.Detach()
	}
	if err != nil {
		screen.Print(term.Note{Level: term.Warn, Text: fmt.Sprintf("it stays in this terminal: %v", err)})
		return
	}
	handler.mayDetach.Store(true)
	handler.detached.Store(true)
	_ = screen.Close()
	a.printDetached(d.Loop.ID)
	if err := proc.LeaveTerminal(log); err != nil {
		term.Warnf(a.Err, "%v", err)
	}
	_, _ = f.end.Write([]byte{detachKey})
}

// printDetached says how to attach to the loop again.
func (a *app) printDetached(id string) {
	words := fmt.Sprintf("detached: %s continues. It is shown again by  pawl attach %[1]s  and ended by  pawl stop %[1]s\n", id)
	_, _ = io.WriteString(a.Err, a.text(term.Wrap(words, a.columns)))
}
