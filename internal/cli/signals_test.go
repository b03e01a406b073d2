package cli

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A second signal ends the process after a grace, whatever the loop waits for. One signal or a closed
// terminal does not.
func TestSecondSignalEndsProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signals []os.Signal
		ends    bool // the loop ends in time
		want    int  // exit code, 0 = the process continues
	}{
		"one":                       {[]os.Signal{syscall.SIGTERM}, false, 0},
		"Ctrl-C twice":              {[]os.Signal{os.Interrupt, os.Interrupt}, false, 130},
		"Ctrl-C, then TERM":         {[]os.Signal{os.Interrupt, syscall.SIGTERM}, false, 143},
		"many":                      {[]os.Signal{syscall.SIGTERM, syscall.SIGTERM, os.Interrupt, os.Interrupt}, false, 143},
		"the terminal, again":       {[]os.Signal{syscall.SIGHUP, syscall.SIGHUP, os.Interrupt}, false, 0},
		"twice, and the loop ended": {[]os.Signal{os.Interrupt, os.Interrupt}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				code := 0
				e := &signalHandler{causes: make(chan string, 4), done: make(chan struct{}), exit: func(c int) { code = c }}
				for _, s := range c.signals {
					e.handle(s)
				}
				time.Sleep(lastGrace / 2)
				synctest.Wait()
				if code != 0 {
					t.Errorf("it was given no time to end: %d", code)
				}
				if c.ends {
					close(e.done)
				}
				time.Sleep(lastGrace)
				synctest.Wait()
				if code != c.want {
					t.Errorf("exit code %d, want %d", code, c.want)
				}
			})
		})
	}
}
