package verify

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/checkout"
	"github.com/pawl-dev/pawl/internal/core/gate"
)

// Results are cached in files, one per key: the first result, and that of a repeat. An unreadable
// file counts as missing; a failed write only costs another run.

func cacheFile(dir, key string) string {
	return filepath.Join(dir, "results", key+".json")
}

// cachedResults returns this Verifier's results, or else those of Options.Known.
func (v *Verifier) cachedResults(ctx context.Context, g gate.Gate, w runTarget) []gate.Result {
	key := v.cacheKey(ctx, g, w.forGate(g))
	results := readCache(v.Dir, key)
	if len(results) == 0 && v.Known != "" {
		results = readCache(v.Known, key)
	}
	return results
}

func readCache(dir, key string) []gate.Result {
	var results []gate.Result
	if _, err := checkout.ReadRecord(cacheFile(dir, key), &results); err != nil {
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

// cacheFiles returns the files of a gate's results. Results of the work tree also get a key without
// environment, for when the gate cannot run there again.
func (v *Verifier) cacheFiles(ctx context.Context, g gate.Gate, w runTarget) []string {
	w = w.forGate(g)
	w.cacheOnly = false
	files := []string{cacheFile(v.Dir, v.cacheKey(ctx, g, w))}
	if w.cacheOnly = w.checkout == ""; w.cacheOnly {
		files = append(files, cacheFile(v.Dir, v.cacheKey(ctx, g, w)))
	}
	return files
}

// claimResults returns the results of a claim. It repeats a gate that failed once, at an earlier
// claim of the same tree: the failure may be flaky.
func (v *Verifier) claimResults(ctx context.Context, gates []gate.Gate, w runTarget) ([]gate.Result, error) {
	for _, g := range gates {
		kept := v.cachedResults(ctx, g, w)
		if len(kept) != 1 || kept[0].Status != gate.Fail {
			continue
		}
		again := w
		again.uncached = true
		r, err := v.cachedOrRun(ctx, g, again)
		if err != nil {
			return nil, err
		}
		if r.Status == gate.Pass {
			r.Flaky = true
			v.cacheResults(ctx, g, w, []gate.Result{r})
		}
	}
	return v.runAll(ctx, gates, w)
}

// dropCached removes cached results of gates on a tree.
func (v *Verifier) dropCached(ctx context.Context, gates []gate.Gate, w runTarget) {
	for _, g := range gates {
		for _, file := range v.cacheFiles(ctx, g, w) {
			_ = os.Remove(file)
		}
	}
}
