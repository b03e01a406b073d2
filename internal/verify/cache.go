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

func cacheFile(dir, key string) string {
	return filepath.Join(dir, "results", key+".json")
}

// cachedResults are the results of our own, or else those that another Verifier knows.
func (v *Verifier) cachedResults(key string) []gate.Result {
	results := readCache(v.Dir, key)
	if len(results) == 0 && v.Known != "" {
		results = readCache(v.Known, key)
	}
	return results
}

func readCache(dir, key string) []gate.Result {
	var results []gate.Result
	if _, err := readState(cacheFile(dir, key), &results); err != nil {
		return nil
	}
	return results
}

func (v *Verifier) cacheResults(ctx context.Context, g gate.Gate, w runTarget, results []gate.Result) {
	for _, file := range v.cacheFiles(ctx, g, w) {
		if b, err := json.Marshal(results); err == nil && os.MkdirAll(filepath.Dir(file), 0o700) == nil {
			_ = atomicfile.Swap(file, b, 0o600)
		}
	}
}

// cacheFiles are those of a gate's results: in the work tree also the one to be found when
// nothing can be run there any more.
func (v *Verifier) cacheFiles(ctx context.Context, g gate.Gate, w runTarget) []string {
	w.gone = false
	files := []string{cacheFile(v.Dir, v.key(ctx, g, w))}
	if w.gone = w.place == ""; w.gone {
		files = append(files, cacheFile(v.Dir, v.key(ctx, g, w)))
	}
	return files
}

// claimed gives the results of a claim. A red that was seen once, at an earlier claim of
// the same tree, may be chance: the gate runs again, and a second red is kept.
func (v *Verifier) claimed(ctx context.Context, gates []gate.Gate, w runTarget) ([]gate.Result, error) {
	for _, g := range gates {
		kept := v.cachedResults(v.key(ctx, g, w.of(g)))
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
			v.cacheResults(ctx, g, w.of(g), []gate.Result{r})
		}
	}
	return v.all(ctx, gates, w)
}

// forget removes what is kept of gates on a tree.
func (v *Verifier) forget(ctx context.Context, gates []gate.Gate, w runTarget) {
	for _, g := range gates {
		for _, file := range v.cacheFiles(ctx, g, w.of(g)) {
			_ = os.Remove(file)
		}
	}
}
