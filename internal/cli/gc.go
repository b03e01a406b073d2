package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/retention"
	"github.com/pawl-dev/pawl/internal/term"
)

type gcCmd struct {
	OlderThan string `default:"30d" placeholder:"AGE" help:"delete loops that ended longer ago: 30d, 12h"`
	MaxSize   string `placeholder:"SIZE" help:"also delete the oldest ones until the rest is smaller: 500MB, 2GB"`
	All       bool   `help:"include the loops of every repository"`
	Yes       bool   `short:"y" help:"delete; without it, only show what would be deleted"`
}

// Run lists the loops to delete, and deletes them with --yes.
func (c *gcCmd) Run(ctx context.Context, a *app) error {
	rule, err := c.rule()
	if err != nil {
		return err
	}
	root := a.root()
	if c.All {
		root = ""
	}
	loops, err := retention.Find(ctx, a.store, root)
	if err != nil {
		return err
	}
	expired := rule.Expired(loops, time.Now())
	var bytes int64
	var failed error
	removed, ids, outcomes := 0, 0, 0
	for _, l := range expired {
		ids, outcomes = max(ids, len(l.ID)), max(outcomes, len(l.Outcome))
	}
	for _, l := range expired {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if c.Yes {
			if err := retention.Remove(ctx, l); err != nil {
				failed = errors.Join(failed, err)
				term.Warnf(a.Err, "%s stays: %s", l.ID, err)
				continue
			}
		}
		removed++
		bytes += l.Bytes
		a.printf("%-*s  %s  %-*s  %7s  %s\n", ids, l.ID, l.EndedAt.Local().Format(time.DateOnly), outcomes, l.Outcome, figure.Bytes(l.Bytes), plan.OneLine(l.Goal, 60))
	}
	if c.Yes {
		failed = errors.Join(failed, a.store.RemoveLeftovers(time.Now()))
	}
	c.conclude(a, loops, removed, bytes)
	if failed != nil {
		return codeFailed
	}
	return nil
}

// conclude says what was or would be deleted, and which old loops stay.
func (c *gcCmd) conclude(a *app, loops []retention.Loop, removed int, bytes int64) {
	var all int64
	for _, l := range loops {
		all += l.Bytes
		if l.KeepReason != "" && !l.EndedAt.IsZero() {
			a.printf("%s stays: %s\n", l.ID, l.KeepReason)
			if l.KeepReason == retention.WorktreeReason {
				a.printf("  %s  removes it, and not its branch\n", shell.QuoteCommand([]string{"git", "-C", l.Root, "worktree", "remove", l.Worktree()}))
			}
		}
	}
	switch {
	case removed == 0:
		a.printf("nothing to delete: %s, %s\n", figure.Count(len(loops), "loop"), figure.Bytes(all))
	case c.Yes:
		a.printf("deleted %s, %s\n", figure.Count(removed, "loop"), figure.Bytes(bytes))
	default:
		a.printf("would delete %s, %s, of %d with %s\n", figure.Count(removed, "loop"), figure.Bytes(bytes), len(loops), figure.Bytes(all))
		words := []string{"pawl gc --older-than", c.OlderThan}
		if c.MaxSize != "" {
			words = append(words, "--max-size", strings.ReplaceAll(c.MaxSize, " ", ""))
		}
		if c.All {
			words = append(words, "--all")
		}
		a.printf("%s --yes  deletes them\n", strings.Join(words, " "))
	}
}

func (c *gcCmd) rule() (r retention.Rule, err error) {
	r.OlderThan, err = figure.ParseDuration(c.OlderThan)
	if err == nil && r.OlderThan < 0 {
		err = fmt.Errorf("%q is negative", c.OlderThan)
	}
	if err != nil {
		return r, failure.New(failure.Usage, "write it as 30d or 12h", "read --older-than: %w", err)
	}
	if c.MaxSize == "" {
		return r, nil
	}
	if r.MaxBytes, err = parseSize(c.MaxSize); err != nil {
		return r, failure.New(failure.Usage, "write it as 500MB or 2GB", "read --max-size: %w", err)
	}
	return r, nil
}

// parseSize reads a number of bytes in kB, MB, GB or TB.
func parseSize(text string) (int64, error) {
	number, unit := strings.TrimSpace(text), int64(1)
	for _, u := range []struct {
		name string
		size int64
	}{{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}} {
		if n, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(n), u.size
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > 1e18/unit {
		return 0, fmt.Errorf("%q is not a size", text)
	}
	return n * unit, nil
}
