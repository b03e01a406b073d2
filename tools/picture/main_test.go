package main

import (
	"strings"
	"testing"
)

// A colored word stands where the terminal shows it, in its color, and markup in the text
// stays text.
func TestDraw(t *testing.T) {
	var b strings.Builder
	if err := draw(strings.NewReader("\n\x1b[32m ✓ \x1b[39m 1/3  \x1b[1ma < b\x1b[0m\n\n"), &b, "a screen"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<title>a screen</title>`,
		`<text x="23.8" y="34" fill="#7ee787" textLength="7.8" xml:space="preserve">✓</text>`,
		`<text x="47.3" y="34" fill="#e6edf3" textLength="23.5" xml:space="preserve">1/3</text>`,
		`<text x="86.5" y="34" fill="#e6edf3" font-weight="bold" textLength="39.1" xml:space="preserve">a &lt; b</text>`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	if err := draw(strings.NewReader("\n \n"), &b, "nothing"); err == nil {
		t.Error("an empty screen was drawn")
	}
}
