package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"
	"unicode"
)

// jsonPrinter writes one object per line: {"event": …, "time": …} and the fields of the event.
type jsonPrinter struct {
	mu sync.Mutex
	o  Options
}

func (p *jsonPrinter) Print(e Event) { p.PrintAt(e, p.o.Now()) }

func (p *jsonPrinter) PrintAt(e Event, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line, err := Encode(e, at)
	if err != nil {
		return // events are plain data: only a NaN cost fails
	}
	_, _ = p.o.Out.Write(line)
}

func (p *jsonPrinter) Close() error { return nil }

// Encode returns an event as a line of JSON, as --json prints it.
func Encode(e Event, at time.Time) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.name(), err)
	}
	head := fmt.Sprintf(`{"event":%q,"time":%q`, e.name(), at.UTC().Format(time.RFC3339Nano))
	var b bytes.Buffer
	b.WriteString(head)
	b.WriteByte(',')
	// Every event has a field that is never omitted, hence the comma above. Characters that JSON
	// does not escape but a terminal interprets are escaped here.
	for _, r := range string(body[1:]) {
		if r >= 0x7f && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r <= 0xffff {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// Decode reads a line written by Encode.
func Decode(line []byte) (Event, time.Time, error) {
	var head struct {
		Event string
		Time  time.Time
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, time.Time{}, fmt.Errorf("decode event: %w", err)
	}
	for _, e := range allEvents() {
		if e.name() != head.Event {
			continue
		}
		into := reflect.New(reflect.TypeOf(e))
		if err := json.Unmarshal(line, into.Interface()); err != nil {
			return nil, time.Time{}, fmt.Errorf("decode event %s: %w", head.Event, err)
		}
		out, _ := reflect.TypeAssert[Event](into.Elem())
		return out, head.Time, nil
	}
	return nil, time.Time{}, fmt.Errorf("decode event: there is none called %q", head.Event)
}

// allEvents returns one event of each kind.
func allEvents() []Event {
	return []Event{
		LoopStarted{}, TaskStarted{}, TurnActivity{}, GateFinished{}, ClaimRefused{}, TaskEnded{}, Waiting{}, Question{}, Note{}, LoopEnded{},
	}
}
