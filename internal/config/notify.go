package config

import (
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/notice"
)

// Notify says who is told what about a loop, see notice.Settings. A list of a higher layer
// replaces the one of the same name below it. A command, or a receiver on another machine,
// that a repository's file names needs trust.
type Notify notice.Settings

// spreadNotify makes a table of a list of receivers that get every event. Its other lists
// are empty, so that nothing of a lower layer remains, nor its source.
func spreadNotify(values map[string]any) {
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
		return want(at, "receivers, or a table of them", v)
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

// each calls do with every receiver and the key of the list that names it.
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
