package regex_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/regex"
)

func may(expression, text string) bool {
	found := make([]bool, 1)
	regex.NewSet([][]*regex.Regex{{nil, regex.New(expression)}}).Mark(text, found)
	return found[0]
}

func TestSetSkipsWhatLacksAWord(t *testing.T) {
	for expression, texts := range map[string][2]string{ // one that may match, one that cannot
		`\bos\.Exit\(`:                          {"os.Exit(1)", "os.Exi"},
		`noqa|nosec|type:\s*ignore`:             {"# nosec", "# no type"},
		`(?:assert|check)\w*\s*[({]`:            {"checkAll(", "chec(assen"},
		`x{2,3}yy?`:                             {"xxyyz", "xx x y"},
		`(?:^|\s)eval\s`:                        {" eval ", "eva"},
		`\b(?:foo)?(?:bar|baz)+\d*`:             {"bazbar1", "foo ba"},
		`[ab]cd`:                                {"bcd", "ccd"},
		"^(?:func|var)\\s+(?:len|cap)\\b[^x]*$": {"var len", "vax len"},
	} {
		if !may(expression, texts[0]) || may(expression, texts[1]) {
			t.Errorf("%s: %q %v, %q %v; want true, false", expression, texts[0], may(expression, texts[0]), texts[1], may(expression, texts[1]))
		}
	}
	for _, expression := range []string{`(?i)ask`, `a?`, `\d+`, `[^a]bc*`, `ab|\d`, "\ufffd\ufffd"} {
		if !may(expression, "") {
			t.Errorf("%s is skipped; it needs no word", expression)
		}
	}
	none := []bool{false}
	if regex.NewSet([][]*regex.Regex{{nil}}).Mark("text", none); none[0] {
		t.Error("what has no expression was found")
	}
}

// What matches may match: of expressions and texts put together at random.
func TestSetMissesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 5_000 {
		expression := anyExpression(random, 4)
		re, err := regexp.Compile(expression)
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		for range 10 {
			var text strings.Builder
			for range random.IntN(9) {
				text.WriteByte("aabbc \nK\xff"[random.IntN(9)])
			}
			if re.MatchString(text.String()) && !may(expression, text.String()) {
				t.Fatalf("%s matches %q and is skipped", expression, text.String())
			}
		}
	}
}

func anyExpression(random *rand.Rand, depth int) string {
	sub := func() string { return anyExpression(random, depth-1) }
	if depth == 0 {
		return []string{"a", "ab", "bc", "c", "[ab]", "[^a]", ".", `\b`, "^", "$", `\s`, "(?i:k)", "ba", "\ufffd", `\n`, ""}[random.IntN(16)]
	}
	switch random.IntN(7) {
	case 0:
		return fmt.Sprintf("(?:%s|%s|%s)", sub(), sub(), sub())
	case 1:
		return fmt.Sprintf("(?:%s)?", sub())
	case 2:
		return fmt.Sprintf("(?:%s)*", sub())
	case 3:
		return fmt.Sprintf("(%s)+", sub())
	case 4:
		return fmt.Sprintf("(?:%s){%d,2}", sub(), random.IntN(3))
	default:
		return sub() + sub()
	}
}

// A name in Latin-1, quoted in an expression, is found, and is no reason to panic.
func TestNamesInOtherEncodings(t *testing.T) {
	t.Parallel()
	name := regex.New(`\(` + regexp.QuoteMeta("caf\xe9") + `\)`)
	if !name.MatchString("f(caf\xe9)") || name.MatchString("f(caf)") || name.MatchString("f(cafe)") {
		t.Error("the name is not found, or another is")
	}
}
