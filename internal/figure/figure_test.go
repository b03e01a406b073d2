package figure_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/figure"
)

func TestFiguresAreFormatted(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		figure.Duration(-time.Second):                   "0s",
		figure.Duration(59 * time.Second):               "59s",
		figure.Duration(3*time.Minute + 12*time.Second): "3m12s",
		figure.Duration(6*time.Hour + 41*time.Minute):   "6h41m",
		figure.Duration(50 * time.Hour):                 "2d2h",
		figure.Brief(400 * time.Millisecond):            "0.4s",
		figure.Brief(2 * time.Minute):                   "2m00s",
		figure.Chosen(8 * time.Hour):                    "8h",
		figure.Chosen(90 * time.Minute):                 "1h30m",
		figure.Tokens(-1):                               "0",
		figure.Tokens(950):                              "950",
		figure.Tokens(1234):                             "1.2k",
		figure.Tokens(184_000):                          "184k",
		figure.Tokens(2_100_000):                        "2.1M",
		figure.Money(0):                                 "$0.00",
		figure.Money(0.004):                             "$0.0040",
		figure.Money(0.92):                              "$0.92",
		figure.Count(1, "commit"):                       "1 commit",
		figure.Count(0, "commit"):                       "0 commits",
	}
	for got, want := range cases {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDurationsAreParsed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"30d": 720 * time.Hour, "1d": 24 * time.Hour, "1d12h": 36 * time.Hour, "0d": 0, "90m": 90 * time.Minute, "0": 0, "-8h": -8 * time.Hour,
	} {
		if got, err := figure.ParseDuration(text); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "1.5d", "-1d", "1d-2h", "2h1d", "1dd", "soon", "99999999d"} {
		if got, err := figure.ParseDuration(text); err == nil {
			t.Errorf("%s is %s", text, got)
		}
	}
}
