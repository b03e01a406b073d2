package statefile

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// FuzzStateFile checks any state file: it is proposed, refused, or an error. Updates only change
// the lines with the values and not what the file asks for. A file that cannot be read stays.
func FuzzStateFile(f *testing.F) {
	all, formats := samples(), Formats()
	for i, format := range formats {
		s := all[format.Name()]
		for _, text := range editorVariants(s.files[s.state]) {
			f.Add(byte(i), []byte(text), 7)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte, n int) {
		format := formats[int(which)%len(formats)]
		s := all[format.Name()]
		if s.state == "" {
			return
		}
		p := s.write(t, format)
		p.put(p.state, string(data))
		n = max(n%1000, 0)
		asked, err := p.asked()
		_, unheard := p.loop().ReceiveChanges(time.Now())
		wentOn := p.loop().UpdateProgress(memoryAt(n), time.Now())
		text := p.tree()[p.state]
		switch {
		case unheard != nil:
			_ = p.loop().MarkEnded(ended("cancelled"), "s1")
			if now, there := p.tree()[p.state]; !there || now != string(data) {
				t.Errorf("what cannot be read (%v) has become %q", unheard, now)
			}
			return
		case wentOn != nil:
			t.Error(wentOn)
		case p.values != nil && !p.sameBut(string(data), text):
			t.Error(cmp.Diff(string(data), text))
		}
		again, err2 := p.asked()
		asked.CountedIterations, again.CountedIterations = 0, 0
		if p.fills {
			return
		}
		if diff := cmp.Diff(asked, again); err == nil && (err2 != nil || diff != "") {
			t.Errorf("it asks for something else now: %v %s", err2, diff)
		}
	})
}
