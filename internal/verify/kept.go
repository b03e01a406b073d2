package verify

import (
	"context"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// Kept results are files, one for each question: the first result, and that of
// a repeat where there was one. They are a cache: what cannot be read is not
// there, what cannot be written is found out again.

func keptFile(dir, key string) string {
	return filepath.Join(dir, "results", key+".json")
}

// kept are the results of our own, or else those that another Verifier knows.
func (v *Verifier) kept(key string) []gate.Result {
	results := keptIn(v.Dir, key)
	if len(results) == 0 && v.Known != "" {
		results = keptIn(v.Known, key)
	}
	return results
}

func keptIn(dir, key string) []gate.Result {
	var results []gate.Result
	if _, err := readState(keptFile(dir, key), &results); err != nil {
		return nil
	}
	return results
}

func (v *Verifier) keep(key string, results []gate.Result) {
	_ = writeState(keptFile(v.Dir, key), results)
}

// claimed gives the results of a claim. A red that was seen once, at an earlier claim of
// the same tree, may be chance: the gate runs again, and a second red is kept.
func (v *Verifier) claimed(ctx context.Context, gates []gate.Gate, w where) ([]gate.Result, error) {
	for _, g := range gates {
		kept := v.kept(v.key(ctx, g, w.of(g)))
		if len(kept) != 1 || kept[0].Status != gate.Fail {
			continue
		}
		again := w
		again.uncached = true
		r, err := v.result(ctx, g, again)
		if err != nil {
			return nil, err
		}
		if r.Status == gate.Pass {
			r.Flaky = true
			at := w.of(g)
			v.keep(v.key(ctx, g, at), []gate.Result{r})
			if at.gone = at.place == ""; at.gone {
				v.keep(v.key(ctx, g, at), []gate.Result{r})
			}
		}
	}
	return v.all(ctx, gates, w)
}

// forget removes what is kept of gates on a tree.
func (v *Verifier) forget(ctx context.Context, gates []gate.Gate, w where) {
	for _, g := range gates {
		at := w.of(g)
		_ = os.Remove(keptFile(v.Dir, v.key(ctx, g, at)))
		at.gone = at.place == ""
		_ = os.Remove(keptFile(v.Dir, v.key(ctx, g, at)))
	}
}
