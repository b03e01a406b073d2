package statefile

import (
	"strings"
	"testing"
)

// A process that writes into the channel all the time makes no prompt without an
// end: what it wrote is told with the next turns, and a stop is heard at once.
func TestThBoundsTheChannel(t *testing.T) {
	t.Parallel()
	p := thProject(t)
	if err := p.loop().UpdateProgress(stands(3), later()); err != nil {
		t.Fatal(err)
	}
	notes := 0
	for range 3 * maxReadsPerTurn {
		p.add(thV1, "more\n")
		notes += len(p.hear(later()).Notes)
	}
	if notes != maxReadsPerTurn {
		t.Errorf("%d notes for one turn", notes)
	}
	if err := p.loop().UpdateProgress(stands(4), later()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(texts(p.hear(later())), "more"); got != 2*maxReadsPerTurn {
		t.Errorf("%d of the rest are told", got)
	}
	for range maxReadsPerTurn {
		p.add(thV1, "more\n")
		p.hear(later())
	}
	p.add(thV1, "stop\n")
	if w := p.hear(later()); w.Stop == "" {
		t.Errorf("heard %+v", w)
	}
}
