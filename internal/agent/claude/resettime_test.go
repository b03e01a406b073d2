package claude

import (
	"testing"
	"time"
)

func TestResetTimeIsParsed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 16, 30, 0, 0, time.UTC) // a Friday
	cases := []struct{ text, want string }{
		{"You've hit your session limit · resets 6:45pm", "2026-11-20 18:45"},
		{"You've hit your session limit · resets 3:45pm", "2026-11-21 15:45"},
		{"You've hit your session limit · resets 4:30pm", "2026-11-20 16:30"},
		{"You've hit your session limit · resets 4:26pm", "2026-11-20 16:26"},
		{"You've hit your session limit · resets 4:25pm", "2026-11-21 16:25"},
		{"You've hit your limit · resets 12am", "2026-11-21 00:00"},
		{"You've hit your limit · resets 12pm", "2026-11-21 12:00"},
		{"You've hit your weekly limit · resets Mon 12:00am", "2026-11-23 00:00"},
		{"You've hit your weekly limit · resets Fri 5am", "2026-11-27 05:00"},
		{"You've hit your limit · resets 8pm (Europe/Berlin)", "2026-11-20 19:00"},
		{"You've hit your limit · resets 8pm (No/Where)", "2026-11-20 20:00"},
		{"You've hit your limit · resets 13pm", ""},
		{"You've hit your limit · resets 3:75pm", ""},
		{"You've hit your monthly spend limit", ""},
		{"I read: You've hit your limit · resets 8pm", ""},
	}
	for _, c := range cases {
		got, ok := resetTime(c.text, now)
		if text := got.UTC().Format("2006-01-02 15:04"); ok != (c.want != "") || ok && text != c.want {
			t.Errorf("%q = %v %v, want %q", c.text, text, ok, c.want)
		}
	}
	midnight := time.Date(2026, 11, 20, 0, 1, 0, 0, time.UTC)
	if got, _ := resetTime("You've hit your limit · resets 11:59pm", midnight); !got.Equal(midnight.Add(-2 * time.Minute)) {
		t.Errorf("just past midnight: %v", got)
	}
}
