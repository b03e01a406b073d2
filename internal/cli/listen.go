package cli

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// ears turn signals into cancellations: the first ends the turn cleanly, the
// second ends the loop at once. None is left to end the process in mid-write.
type ears struct {
	causes  chan string
	signals chan os.Signal
	pipes   chan os.Signal
	done    chan struct{}
	hungUp  sync.Once
}

// listen begins to hear; stop ends it.
func listen() *ears {
	e := &ears{
		causes: make(chan string, 4), signals: make(chan os.Signal, 4), pipes: make(chan os.Signal, 1), done: make(chan struct{}),
	}
	signal.Notify(e.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// Nobody reads these: a program of ours that ends before it has read its input
	// raises them too. Which pipe broke is told by the write, see writer.
	signal.Notify(e.pipes, syscall.SIGPIPE)
	go func() {
		for {
			select {
			case s := <-e.signals:
				e.hear(s)
			case <-e.done:
				return
			}
		}
	}()
	return e
}

func (e *ears) hear(s os.Signal) {
	switch s {
	case syscall.SIGHUP:
		e.gone()
	case syscall.SIGTERM:
		e.tell(loop.ByTerm)
	default:
		e.tell(loop.ByInterrupt)
	}
}

// gone: a terminal or pipe that goes away says so more than once (the kernel, the
// shell, each write), and is heard once.
func (e *ears) gone() { e.hungUp.Do(func() { e.tell(loop.ByHangup) }) }

// tell passes a cause on; past the second, which ends the loop at once, none is
// missed.
func (e *ears) tell(cause string) {
	select {
	case e.causes <- cause:
	default:
	}
}

func (e *ears) stop() {
	signal.Stop(e.signals)
	signal.Stop(e.pipes)
	close(e.done)
}

// writer hears when what it writes to has no reader any more.
func (e *ears) writer(w io.Writer) io.Writer { return heard{w, e} }

type heard struct {
	io.Writer
	ears *ears
}

func (h heard) Write(p []byte) (int, error) {
	n, err := h.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		h.ears.gone()
	}
	return n, err
}
