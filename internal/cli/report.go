package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/report"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/term"
)

type reportCmd struct {
	loopArg
	Markdown bool   `name:"md" xor:"md" help:"print Markdown, fit for a pull request"`
	HTML     string `name:"html" xor:"md" placeholder:"FILE" help:"write one HTML file with plots"`
	JSON     bool   `name:"json" xor:"md" help:"print a JSON object (docs/reference/report.schema.json); with --since an array of them"`
	Since    string `placeholder:"WHEN" help:"all loops that ran since: yesterday, today, 12h, 3d or 2026-01-31"`
}

// Run prints the report.
func (c *reportCmd) Run(ctx context.Context, a *app) error {
	if c.Since != "" && c.Loop != "" {
		return failure.New(failure.Usage, "pawl report "+c.Loop+" is about that loop; pawl report --since "+c.Since+" about all",
			"--since is about all loops, and %s names one", c.Loop)
	}
	if c.Since != "" && c.HTML != "" {
		return failure.New(failure.Usage, "pawl report --since "+c.Since+" --md prints all loops as Markdown", "--html writes the report of one loop, not of all")
	}
	if c.Since != "" {
		return a.digest(ctx, c)
	}
	s, err := a.find(c.Loop)
	if err != nil {
		return err
	}
	l := s.Report(ctx, a.env, slices.Collect(loopinfo.Events(s.Records(journal.Mark{}))))
	if c.JSON {
		return a.printJSON(s.Facts(l))
	}
	switch {
	case c.HTML != "":
		page, err := report.HTML(l)
		if err != nil {
			return err
		}
		if err := atomicfile.Write(a.abs(c.HTML), page, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", c.HTML, err)
		}
		a.printf("report of %s is in %s\n", s.ID, c.HTML)
	case c.Markdown:
		a.printf("%s", report.Markdown(l))
	default:
		a.printf("%s", report.Text(l))
	}
	return nil
}

// digest reports on all loops that ran since a time, in every repository.
func (a *app) digest(ctx context.Context, c *reportCmd) error {
	now := time.Now()
	since, err := parseSince(c.Since, now)
	if err != nil {
		return err
	}
	listed, err := a.listed()
	if err != nil {
		return err
	}
	var rows []record.Summary
	for _, l := range listed {
		if sum := loopinfo.CurrentSummary(l); sum.Root != "" && (sum.State != "ended" || !sum.EndedAt.Before(since)) {
			rows = append(rows, sum)
		}
	}
	loops, all := []report.Entry(nil), []report.Facts{}
	for _, sum := range record.FilterAndGroup(rows, "", now) {
		s, err := loopinfo.Read(a.store.Loop(sum.ID))
		if s == nil {
			term.Warnf(a.Err, "%s", err)
			continue
		}
		if c.JSON {
			all = append(all, s.Facts(s.Report(ctx, a.env, slices.Collect(loopinfo.Events(s.Records(journal.Mark{}))))))
			continue
		}
		loops = append(loops, report.Entry{
			ID: sum.ID, Goal: sum.Goal, Where: sum.Root, Group: sum.Group(now).String(), Status: sum.State, State: s.Memory.State, Before: s.StateAt(since),
		})
	}
	switch {
	case c.JSON:
		return a.printJSON(all)
	case c.Markdown:
		a.print(report.DigestMarkdown(since, loops))
	default:
		a.print(report.Digest(since, loops))
	}
	return nil
}

// parseSince reads a day or an age, such as yesterday, 2026-01-31 or 12h.
func parseSince(text string, now time.Time) (time.Time, error) {
	day := func(back int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()-back, 0, 0, 0, 0, now.Location())
	}
	switch text {
	case "today":
		return day(0), nil
	case "yesterday":
		return day(1), nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return t, nil
	}
	if n, err := strconv.Atoi(strings.TrimSuffix(text, "d")); err == nil && strings.HasSuffix(text, "d") && n >= 0 {
		return now.AddDate(0, 0, -n), nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, failure.New(failure.Usage, "yesterday, today, 12h, 3d or a date such as 2026-01-31", "--since: %q is not a time", text)
}
