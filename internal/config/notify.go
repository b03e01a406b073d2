package config

import (
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/notice"
)

// Notify holds the receivers of a loop's notices; see notice.Settings. A list of a higher layer
// replaces the list of the same name in a lower one. Commands and remote receivers in a
// repository's file need trust.
type Notify notice.Settings

// normalizeNotify replaces a plain list of receivers, which get every event, by a table with this
// list as "to". It empties the other lists of receivers, which overrides lower layers and
// their sources.
func normalizeNotify(values map[string]any) {
	v, set := values["notify"]
	if _, table := v.(map[string]any); table || !set {
		return
	}
	table := map[string]any{"to": v}
	Notify{}.lists(func(key string, _ []string) {
		if key != "to" {
			table[key] = []any{}
		}
	})
	values["notify"] = table
}

func (n *Notify) decode(at string, v any, lines map[string]int) error {
	table, ok := v.(map[string]any)
	if !ok {
		return wantError(at, "receivers, or a table of them", v)
	}
	if err := decodeTable(n, at, table, lines); err != nil {
		return err
	}
	if err := notice.CheckQuietHours(n.Quiet); err != nil {
		return &problem{path: join(at, "quiet"), message: err.Error()}
	}
	var bad error
	n.each(func(key, text string) {
		if _, err := notice.ParseReceiver(text); err != nil && bad == nil {
			bad = &problem{path: join(at, key), message: fmt.Sprintf("%q: %v", text, err)}
		}
	})
	for _, text := range n.Answers {
		if _, err := notice.ParseAnswers(text); err != nil && bad == nil {
			bad = &problem{path: join(at, "answers"), message: fmt.Sprintf("%q: %v", text, err)}
		}
	}
	return bad
}

// each calls do with every receiver and the key of its list.
func (n Notify) each(do func(key, text string)) {
	n.lists(func(key string, receivers []string) {
		for _, text := range receivers {
			do(key, text)
		}
	})
}

// lists calls do with every list of receivers and its key.
func (n Notify) lists(do func(key string, receivers []string)) {
	do("to", n.To)
	do("ended", n.Ended)
	do("needs_you", n.NeedsYou)
	do("wait", n.Wait)
	do("budget", n.Budget)
}
