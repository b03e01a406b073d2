package verify

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/atomicfile"
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

func (v *Verifier) keep(ctx context.Context, g gate.Gate, w where, results []gate.Result) {
	for _, file := range v.keptFiles(ctx, g, w) {
		if b, err := json.Marshal(results); err == nil && os.MkdirAll(filepath.Dir(file), 0o700) == nil {
			_ = atomicfile.Swap(file, b, 0o600)
		}
	}
}

// keptFiles are those of a gate's results: in the work tree also the one to be found when
// nothing can be run there any more.
func (v *Verifier) keptFiles(ctx context.Context, g gate.Gate, w where) []string {
	w.gone = false
	files := []string{keptFile(v.Dir, v.key(ctx, g, w))}
	if w.gone = w.place == ""; w.gone {
		files = append(files, keptFile(v.Dir, v.key(ctx, g, w)))
	}
	return files
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
			v.keep(ctx, g, w.of(g), []gate.Result{r})
		}
	}
	return v.all(ctx, gates, w)
}

// forget removes what is kept of gates on a tree.
func (v *Verifier) forget(ctx context.Context, gates []gate.Gate, w where) {
	for _, g := range gates {
		for _, file := range v.keptFiles(ctx, g, w.of(g)) {
			_ = os.Remove(file)
		}
	}
}
