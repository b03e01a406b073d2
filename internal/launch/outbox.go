package launch

import (
	"os"
	"time"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// lastNoticeTimeout is how long Close waits for notices that are being sent.
const lastNoticeTimeout = 5 * time.Second

// outbox returns the outbox that sends the loop's notices. It sends nothing if the path of
// this program is unknown.
func (d *Driver) outbox(l *store.Loop, env environment.Environment) *notify.Outbox {
	box := &notify.Outbox{Dir: l.Dir, Loop: l.ID, Vars: env.Vars}
	if self, err := os.Executable(); err == nil {
		box.Tool, box.Settings = []string{self}, d.Spec.Notify
	}
	return box
}

// Listen starts a process that receives answers to the questions of an ended loop.
func Listen(l *store.Loop, env environment.Environment) error {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return err
	}
	return (&Driver{Spec: spec}).outbox(l, env).Listen()
}
