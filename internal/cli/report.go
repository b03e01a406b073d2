package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/report"
	"github.com/pawl-dev/pawl/internal/store/journal"
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
	var page bytes.Buffer
	switch {
	case c.HTML != "":
		if err := report.HTML(&page, l); err != nil {
			return err
		}
		if err := atomicfile.Write(a.abs(c.HTML), page.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", c.HTML, err)
		}
		a.printf("report of %s is in %s\n", s.ID, c.HTML)
		return nil
	case c.Markdown:
		err = report.Markdown(&page, l)
	default:
		err = report.Text(&page, l)
	}
	a.printf("%s", page.String())
	return err
}
