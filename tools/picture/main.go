// Command picture turns a captured terminal screen into an SVG: text with the escape
// sequences of colors and weights (SGR, ECMA-48 section 8.3.117) on standard input, the
// picture on standard output; its title is the argument. `make picture` draws the pictures
// of the docs with it, so that they show what the program prints today.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Sizes in pixels.
const (
	charWidth  = 7.83
	lineHeight = 18
	margin     = 16
	firstLine  = 34
)

// style is what SGR sequences have set.
type style struct {
	color string
	bold  bool
}

const normalColor = "#e6edf3"

// apply returns the style after one SGR code; codes that the picture does not show change
// nothing.
func (s style) apply(code string) style {
	switch code {
	case "", "0":
		return style{color: normalColor}
	case "1":
		s.bold = true
	case "2":
		s.color = "#8b949e"
	case "31":
		s.color = "#ff7b72"
	case "32":
		s.color = "#7ee787"
	case "33":
		s.color = "#e3b341"
	case "36":
		s.color = "#76e3ea"
	case "39":
		s.color = normalColor
	}
	return s
}

var sequence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[([0-9;]*)m`) })

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: picture TITLE <screen >picture.svg")
		os.Exit(2)
	}
	if err := draw(os.Stdin, os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "picture: error:", err)
		os.Exit(1)
	}
}

// draw writes the picture of a screen. It returns an error for a screen without text.
func draw(r io.Reader, w io.Writer, title string) error {
	screen, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	text := strings.Trim(string(screen), "\n")
	if strings.TrimSpace(text) == "" {
		return errors.New("the screen is empty")
	}
	lines := strings.Split(text, "\n")
	width := 0
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(sequence().ReplaceAllString(line, "")))
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13">`+"\n",
		2*margin+float64(width)*charWidth, firstLine+len(lines)*lineHeight)
	fmt.Fprintf(out, "<title>%s</title>\n", html.EscapeString(title))
	fmt.Fprintln(out, `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`)
	now := style{color: normalColor}
	for i, line := range lines {
		now = drawLine(out, line, firstLine+i*lineHeight, now)
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// drawLine writes the pieces of a line, each in its style, and returns the style at its end.
func drawLine(w io.Writer, line string, y int, now style) style {
	column := 0
	piece := func(text string) {
		shown := strings.TrimLeft(text, " ")
		x := margin + charWidth*float64(column+len(text)-len(shown))
		column += utf8.RuneCountInString(text)
		if shown = strings.TrimRight(shown, " "); shown == "" {
			return
		}
		weight := ""
		if now.bold {
			weight = ` font-weight="bold"`
		}
		fmt.Fprintf(w, `<text x="%.1f" y="%d" fill="%s"%s textLength="%.1f" xml:space="preserve">%s</text>`+"\n",
			x, y, now.color, weight, charWidth*float64(utf8.RuneCountInString(shown)), html.EscapeString(shown))
	}
	for {
		at := sequence().FindStringSubmatchIndex(line)
		if at == nil {
			piece(line)
			return now
		}
		piece(line[:at[0]])
		for code := range strings.SplitSeq(line[at[2]:at[3]], ";") {
			now = now.apply(code)
		}
		line = line[at[1]:]
	}
}
