package verifyactive_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
)

// TestConfigHasDefaults has a case for each row of the table "What the settings say" in
// docs/reference/verify-loop.md, by the row's name.
func TestConfigHasDefaults(t *testing.T) {
	t.Parallel()
	block := func(text string) string { return `{"server": {"port": 1}, "verification": {` + text + `}}` }
	isolation := func(text string) string { return block(`"isolation": {` + text + `}`) }
	off := func(why string) func(*verifyactive.Config) {
		return func(c *verifyactive.Config) { c.Isolation.Off = why }
	}
	note := func(text string) func(*verifyactive.Config) {
		return func(c *verifyactive.Config) { c.Notes = []string{text} }
	}
	same := func(*verifyactive.Config) {}
	tests := []struct {
		name, in string
		change   func(*verifyactive.Config)
	}{
		{"no block", `{"server": {}}`, same},
		{"verification null", `{"verification": null}`, same},
		{"as it is shipped", block(`"inContextAttempts": 3, "isolation": {"enabled": true, "maxBudget": 1.00, "timeout": 300, "permissionMode": "delegate"}`), func(c *verifyactive.Config) { c.Tries = 3 }},
		{"all of it", block(`"inContextAttempts": 2, "isolation": {"enabled": true, "maxBudget": 0.5, "timeout": 60, "permissionMode": "acceptEdits"}`), func(c *verifyactive.Config) {
			c.Tries = 2
			c.Isolation = verifyactive.Isolation{MaxCostUSD: 0.5, Timeout: time.Minute}
		}},
		{"inContextAttempts of text", block(`"inContextAttempts": "3"`), note(`config.json:1: inContextAttempts is "3": expected a whole number from 1 to 1000; the default holds`)},
		{"inContextAttempts 0", block(`"inContextAttempts": 0`), note(`config.json:1: inContextAttempts is 0: expected a whole number from 1 to 1000; the default holds`)},
		{"timeout 0", isolation(`"timeout": 0`), note(`config.json:1: timeout is 0: expected a whole number from 1 to 86400; the default holds`)},
		{"maxBudget negative", isolation(`"maxBudget": -1`), note(`config.json:1: maxBudget is -1: expected an amount in dollars; the default holds`)},
		{"isolation that is no object", block("\n\"isolation\": true"), note(`config.json:2: isolation is true: expected an object; the default holds`)},
		{"comments", "{ // mine\n}", note("config.json:1: this is not JSON: invalid character '/' looking for beginning of object key string: expected a JSON object: the defaults hold")},
		{"too large", strings.Repeat(" ", 1<<20+1), note("config.json has 1048577 bytes, more than 1048576: the defaults hold")},
		{"enabled false", isolation(`"enabled": false`), off("config.json turns it off")},
		{"enabled of text", isolation(`"enabled": "false"`), off(`config.json:1: enabled is "false", neither true nor false`)},
		{"maxBudget 0", isolation(`"maxBudget": 0`), func(c *verifyactive.Config) {
			c.Isolation.MaxCostUSD, c.Isolation.Off = 0, "config.json allows it no money (maxBudget 0)"
		}},
		{"permissionMode ask", isolation(`"permissionMode": "ask"`), off(`config.json has permissionMode "ask": nobody is there in an isolated session who could be asked`)},
		{"permissionMode deny", isolation(`"permissionMode": "deny"`), off(`config.json has permissionMode "deny": nobody is there in an isolated session who could be asked`)},
		{"permissionMode of no text", isolation(`"permissionMode": 1`), note(`config.json:1: permissionMode is 1: expected a text in quotes; the default holds`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := verifyactive.Defaults()
			tt.change(&want)
			if diff := cmp.Diff(want, verifyactive.ParseConfig([]byte(tt.in))); diff != "" {
				t.Errorf("ParseConfig (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzConfig: whatever the settings are, a try that they allow has bounds, and
// what is not the default was said by them.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"verification": {"inContextAttempts": 2, "isolation": {"enabled": "x", "maxBudget": 1e400, "timeout": 0.5, "permissionMode": "plan"}}}`))
	f.Add([]byte(`{"verification": {"isolation": {"maxBudget": 0.01}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := verifyactive.ParseConfig(data)
		if c.Tries < 0 || c.Isolation.Off == "" && (c.Isolation.MaxCostUSD <= 0 || c.Isolation.Timeout < time.Second) {
			t.Errorf("without bounds: %+v", c)
		}
	})
}
