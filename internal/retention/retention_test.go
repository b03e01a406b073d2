package retention

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/record"
)

func TestLoopsExpireByAgeAndState(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	loop := func(id string, age time.Duration, bytes int64, keep string) Loop {
		return Loop{Summary: record.Summary{ID: id, EndedAt: now.Add(-age)}, Bytes: bytes, KeepReason: keep}
	}
	loops := []Loop{loop("a", 90*day, 100, ""), loop("b", 60*day, 100, "it waits for an approval"), loop("c", 20*day, 100, ""), loop("d", day, 100, "")}
	tests := []struct {
		name string
		rule Rule
		want string
	}{
		{"by age", Rule{OlderThan: 30 * day}, "a"},
		{"all but what stays", Rule{}, "a c d"},
		{"nothing is old", Rule{OlderThan: 100 * day}, ""},
		{"by size, the oldest first", Rule{OlderThan: 100 * day, MaxBytes: 250}, "a c"},
		{"what stays counts", Rule{OlderThan: 100 * day, MaxBytes: 50}, "a c d"},
		{"small enough", Rule{OlderThan: 100 * day, MaxBytes: 400}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, l := range tt.rule.Expired(loops, now) {
				got = append(got, l.ID)
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
}
