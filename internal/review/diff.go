package review

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/prompt"
)

// maxDiffBytes limits how much of a diff is read.
const maxDiffBytes = 8 << 20

// promptData returns the data of the reviewer's prompt.
func (r *Reviewer) promptData(ctx context.Context, q Request) (prompt.ReviewData, error) {
	d := prompt.ReviewData{
		Goal: q.Goal, Tasks: q.Tasks, Rubric: q.Gate.Rubric, Answer: q.Answer, Gates: q.Receipts, Labels: q.Labels,
	}
	if q.Gate.ApprovesTests {
		d.Tests = q.Tests
	}
	if q.Answer != "" {
		d.Answer = r.redacted(q.Answer)
		return d, nil
	}
	changes, err := r.Repo.Diff(ctx, q.Base, q.Tree)
	if err != nil {
		return d, fmt.Errorf("compare the work with what was there before: %w", err)
	}
	for _, c := range changes {
		d.Changes = append(d.Changes, fmt.Sprintf("%c %s", c.Status, c.Path))
	}
	whole, err := r.Repo.DiffText(ctx, q.Base, q.Tree, git.DiffOptions{MaxBytes: maxDiffBytes})
	if err != nil {
		return d, fmt.Errorf("compare the work with what was there before: %w", err)
	}
	d.Diff = truncateFairly(r.redacted(whole), prompt.MaxDiff)
	d.Cut = len(d.Diff) < len(whole)
	return d, nil
}

// truncateFairly cuts a diff to a size so that each file keeps its share. Otherwise a long file
// that was changed for no reason would hide the others.
func truncateFairly(diff string, most int) string {
	if len(diff) <= most {
		return diff
	}
	files := splitFiles(diff)
	sizes := make([]int, len(files))
	for i, f := range files {
		sizes[i] = len(f)
	}
	share := fairShare(sizes, most)
	var b strings.Builder
	for _, f := range files {
		if len(f) <= share {
			b.WriteString(f)
			continue
		}
		const mark = "\n[… cut here: read the file …]\n"
		b.WriteString(strings.ToValidUTF8(f[:max(0, share-len(mark))], ""))
		b.WriteString(mark)
	}
	return b.String()
}

// splitFiles splits a diff before each line that begins a file. No other line looks like it: those
// of a file begin with a blank, a sign, or an @.
func splitFiles(diff string) []string {
	var files []string
	from := 0
	for at := 0; at < len(diff); {
		if at > from && strings.HasPrefix(diff[at:], "diff --git ") {
			files, from = append(files, diff[from:at]), at
		}
		next := strings.IndexByte(diff[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return append(files, diff[from:])
}

// fairShare returns the limit for each size so that all together fit into room: what the small ones
// leave goes to the others.
func fairShare(sizes []int, room int) int {
	sorted := slices.Sorted(slices.Values(sizes))
	for i, size := range sorted {
		share := room / (len(sorted) - i)
		if size > share {
			return share
		}
		room -= size
	}
	return room
}
