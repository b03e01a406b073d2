package statefile

import (
	"strings"
	"testing"
)

// A process that writes into the channel all the time does not cause endless prompts: its messages
// are in the next turns, and a stop is received at once.
func TestThBoundsTheChannel(t *testing.T) {
	t.Parallel()
	p := thProject(t)
	if err := p.loop().UpdateProgress(memoryAt(3), later()); err != nil {
		t.Fatal(err)
	}
	notes := 0
	for range 3 * maxReadsPerTurn {
		p.add(thV1, "more\n")
		notes += len(p.receive(later()).Notes)
	}
	if notes != maxReadsPerTurn {
		t.Errorf("%d notes for one turn", notes)
	}
	if err := p.loop().UpdateProgress(memoryAt(4), later()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(texts(p.receive(later())), "more"); got != 2*maxReadsPerTurn {
		t.Errorf("%d of the rest are told", got)
	}
	for range maxReadsPerTurn {
		p.add(thV1, "more\n")
		p.receive(later())
	}
	p.add(thV1, "stop\n")
	if w := p.receive(later()); w.Stop == "" {
		t.Errorf("heard %+v", w)
	}
}
