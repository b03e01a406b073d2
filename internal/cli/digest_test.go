package cli

import (
	"testing"
	"time"
)

func TestParseSince(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"today": "2026-03-01 00:00", "yesterday": "2026-02-28 00:00", "2026-01-31": "2026-01-31 00:00",
		"3d": "2026-02-26 09:30", "12h": "2026-02-28 21:30", "90m": "2026-03-01 08:00",
	} {
		got, err := parseSince(text, now)
		if err != nil || got.Format("2006-01-02 15:04") != want {
			t.Errorf("%s: %s %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"-3d", "-1h", "soon", "d", "2026-13-01"} {
		if got, err := parseSince(text, now); err == nil {
			t.Errorf("%s: %s", text, got)
		}
	}
}
