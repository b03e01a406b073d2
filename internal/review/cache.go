package review

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/prompt"
)

// Answers are cached in files. Errors of the cache are ignored: the reviewer is asked again.

// cacheKey hashes everything that an answer depends on, without the receipts' ids, which differ
// each time.
func (r *Reviewer) cacheKey(q Request, d prompt.ReviewData) string {
	d.Gates = nil
	b, err := json.Marshal([]any{1, q.Base, q.Tree, q.Gate.Agent, q.Gate.AgentCommand, q.Gate.Model, d})
	if err != nil { // texts and numbers always have a JSON form
		b = fmt.Appendf(nil, "%#v %#v", q, d)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

func (r *Reviewer) cachePath(key string) string { return filepath.Join(r.Dir, key+".json") }

type cachedAnswer struct {
	Result   gate.Result `json:"result"`
	Findings []string    `json:"findings,omitempty"`
	Approved []string    `json:"approved,omitempty"`
}

func (r *Reviewer) loadAnswer(key string) (Answer, bool) {
	var k cachedAnswer
	if atomicfile.ReadJSON(r.cachePath(key), &k) != nil || k.Result.Status != gate.Pass && k.Result.Status != gate.Fail {
		return Answer{}, false
	}
	return Answer{Result: k.Result, Findings: k.Findings, Approved: k.Approved}, true
}

func (r *Reviewer) saveAnswer(key string, a Answer) {
	if os.MkdirAll(r.Dir, 0o700) == nil {
		_ = atomicfile.WriteJSON(r.cachePath(key), cachedAnswer{Result: a.Result, Findings: a.Findings, Approved: a.Approved})
	}
}

// logPrompt writes the reviewer's prompt to the iteration's folder, and returns the prefix of its
// files: the first that is free.
func (r *Reviewer) logPrompt(q Request, text string) (string, error) {
	if err := os.MkdirAll(q.LogDir, 0o700); err != nil {
		return "", fmt.Errorf("keep the prompt of a review: %w", err)
	}
	for n := 1; ; n++ {
		base := filepath.Join(q.LogDir, fmt.Sprintf("review-%d", n))
		f, err := os.OpenFile(base+".md", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if os.IsExist(err) && n < 1000 {
			continue
		}
		if err == nil {
			if _, err = f.WriteString(text); err == nil {
				err = f.Close()
			} else {
				_ = f.Close() // the write's error says more
			}
		}
		if err != nil {
			return "", fmt.Errorf("keep the prompt of a review: %w", err)
		}
		return base, nil
	}
}
