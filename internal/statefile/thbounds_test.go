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
	if err := p.loop().GoesOn(stands(3), later()); err != nil {
		t.Fatal(err)
	}
	notes := 0
	for range 3 * readsMax {
		p.add(thV1, "more\n")
		notes += len(p.hear(later()).Notes)
	}
	if notes != readsMax {
		t.Errorf("%d notes for one turn", notes)
	}
	if err := p.loop().GoesOn(stands(4), later()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(texts(p.hear(later())), "more"); got != 2*readsMax {
		t.Errorf("%d of the rest are told", got)
	}
	for range readsMax {
		p.add(thV1, "more\n")
		p.hear(later())
	}
	p.add(thV1, "stop\n")
	if w := p.hear(later()); w.Stop == "" {
		t.Errorf("heard %+v", w)
	}
}
