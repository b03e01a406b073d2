package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/term"
)

type logCmd struct {
	loopArg
	JSON   bool  `name:"json" help:"print the raw records, one JSON object per line (docs/reference/log.schema.json)"`
	Follow bool  `help:"keep printing until the loop ends"`
	After  int64 `placeholder:"SEQ" help:"print only the records after this number"`
	Verify bool  `xor:"what" help:"check that no record was changed, removed or inserted"`
}

// Run prints the history of a loop.
func (c *logCmd) Run(ctx context.Context, a *app) error {
	if c.Verify && (c.JSON || c.Follow) {
		return failure.New(failure.Usage, "", "--verify cannot be combined with --json or --follow")
	}
	s, err := a.find(c.Loop)
	if err != nil {
		return err
	}
	if c.Verify {
		return a.verifyJournal(s)
	}
	records, last := s.Records(journal.Mark{}), int64(math.MaxInt64)
	if c.Follow {
		if !s.Alive && !s.HasEnded() {
			term.Warnf(a.Err, "%s is not running; continue it with  pawl resume %[1]s", s.ID)
		}
		records, last = s.Follow(ctx, 0), s.Mark.Seq
	}
	if err := a.printRecords(ctx, records, last, c); err != nil {
		return fmt.Errorf("read the journal of loop %s: %w", s.ID, err)
	}
	return ctx.Err()
}

// printRecords prints records until there are no more, or until the loop has ended at or after record
// last: a loop may have continued after an earlier end. It keeps the loop's state, because the meaning
// of an event depends on it.
func (a *app) printRecords(ctx context.Context, records iter.Seq2[journal.Record, error], last int64, c *logCmd) error {
	var state loop.State
	out := json.NewEncoder(a.Out)
	out.SetEscapeHTML(false)
	for r, err := range records {
		if corrupt, ok := errors.AsType[*journal.CorruptError](err); ok {
			term.Warnf(a.Err, "%s", corrupt)
			continue
		}
		if err != nil {
			return err
		}
		told := narrate.StepOf(r, state)
		state = told.After
		switch {
		case r.Seq <= c.After:
		case c.JSON:
			if err := out.Encode(r); err != nil {
				return fmt.Errorf("print JSON: %w", err)
			}
		default:
			a.printf("%s", strings.Join(loopinfo.TimedLines(r, told), ""))
		}
		if state.Phase == loop.Ended && r.Seq >= last || ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// verifyJournal checks the journal's hash chain. docs/DESIGN.md, section 5, says what that proves.
func (a *app) verifyJournal(s *loopinfo.Loop) error {
	good, last, err := s.Loop.VerifyJournal()
	if corrupt, ok := errors.AsType[*journal.CorruptError](err); ok {
		hint := "what can be read is shown; the damaged part is kept in " + corrupt.Path
		if s.CannotContinue() {
			hint += "; pawl stop " + s.ID + " ends the loop"
		}
		return failure.New(failure.Error, hint,
			"the journal of %s is damaged at record %d: %s (%d good records)", s.ID, corrupt.Seq, corrupt.Reason, good)
	}
	if err != nil {
		return err
	}
	a.printf("the journal of %s is intact: %s, the last one's hash is %.12s\n", s.ID, figure.Count(int(good), "record"), last.Hash)
	return nil
}
