package proc_test

import (
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/internal/proc"
)

// A sweep leaves alone what is just being started for somebody else: until exec is
// through, such a process shows no tag. Alone, since orphans without a tag, as other
// tests have them, go with whichever sweep is next.
func TestASweepSparesWhatIsBeingStarted(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if e := proc.Run(t.Context(), proc.Spec{Argv: []string{"/bin/sh", "-c", "exit 3"}}); e.Code != 3 || e.Swept != 0 {
					t.Errorf("%+v", e)
				}
			}
		})
	}
	all.Wait()
}
