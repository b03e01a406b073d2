package sign

import (
	"slices"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
)

// suppressionRules find suppressed checks.
func suppressionRules() []rule {
	re := regex.New
	const does = "switches a check off"
	// off is a comment that switches a check off: what it begins with, and its words.
	off := func(names, begins, words string) rule {
		whole := re(`(` + begins + `)(?:` + words + `)`)
		return rule{kind: Suppression, does: does, names: names, text: whole, replacements: []replacement{{whole, "${1}" + absent}}}
	}
	return []rule{
		off(script, ``, `@ts-(?:ignore|expect-error|nocheck)\b|\b(?:es|ts|style|ox)lint-disable(?:-next-line|-line)?|\bbiome-ignore\b|\b(?:istanbul|c8|v8) ignore\b|@flow-?(?:ignore|suppress)|\$FlowFixMe|\bprettier-ignore\b|\bdeno-lint-ignore\b`),
		off(python, `#\s*`, `noqa|type:\s*ignore|pyright:|mypy:|pytype:\s*disable|pylint:\s*(?:disable|skip)|pragma:\s*no\s*(?:cover|branch|mutate)|nosec|ruff:\s*noqa|flake8:\s*noqa|fmt:\s*(?:off|skip)|isort:\s*skip`),
		off(golang, `//\s*`, `nolint|lint:(?:file-)?ignore|#nosec|exhaustive:ignore`),
		off(jvm, `//\s*`, `noinspection|NOSONAR`),
		off(jvm, ``, `CHECKSTYLE[.:]OFF|\$COVERAGE-IGNORE|ktlint-disable|spotless:off`),
		off(shell, `#\s*`, `shellcheck\s+disable`),
		off(ruby, ``, `\brubocop:(?:disable|todo)|:nocov:|\breek:|steep:ignore`),
		off(clang, ``, `\bNOLINT(?:NEXTLINE|BEGIN)?|\bcppcheck-suppress|\bclang-format off|LCOV_EXCL(?:_\w+)?|GCOVR?_EXCL(?:_\w+)?`),
		off("*.php *.swift *.dart "+elixir, ``, `@phpstan-ignore(?:-\w+)*|@psalm-suppress|phpcs:(?:ignore|disable)|@codeCoverageIgnore|\bswiftlint:disable|\bignore(?:_for_file)?:|credo:disable`),
		{kind: Suppression, does: does, names: jvm, text: re(`@SuppressWarnings\b|@Suppress(?:FBWarnings|Lint)?\b|@file:Suppress|@nowarn\b`), replacements: []replacement{{re(`@(?:file:)?(?:SuppressWarnings|Suppress(?:FBWarnings|Lint)?|nowarn)\b(?:\([^)]*\))?`), ""}}},
		{kind: Suppression, does: does, names: rust, code: re(`#!?\[\s*(?:allow|expect)\s*\(|#!?\[\s*cfg_attr\s*\([^)]*allow|#\[\s*(?:coverage\s*\(\s*off|rustfmt::skip|no_coverage)`), replacements: []replacement{{re(`#(!?)\[\s*(?:allow|expect)\s*\([^)]*\)\s*\]`), "#${1}[cfg(all())]"}}},
		{kind: Suppression, does: does, names: clang + " " + dotnet, text: re(`#pragma\s+(?:GCC|clang)\s+diagnostic\s+ignored|#pragma\s+warning\s*(?:\(\s*)?disable|\[\s*(?:assembly:\s*)?(?:SuppressMessage|ExcludeFromCodeCoverage)`), replacements: []replacement{{re(`#pragma\s+(?:GCC|clang)\s+diagnostic\s+ignored.*`), ""}}},
		{kind: Suppression, does: does, names: typed, code: re(`\bas any\b|\bas unknown as\b|:\s*any\b|<any>|\bas never\b`)},
		{kind: Suppression, does: does, names: python, code: re(`\bwarnings\.(?:filterwarnings|simplefilter|resetwarnings)\(|@(?:typing\.)?no_type_check\b|\blogging\.disable\(`), replacements: []replacement{{re(`\bwarnings\.(?:filterwarnings|simplefilter|resetwarnings)\(`), "(lambda *a, **k: None)("}}},
		{kind: Suppression, does: does, names: golang, text: re(`//go:(?:linkname|nosplit|norace)`)},
		{kind: Suppression, does: does, names: elixir, text: re(`@dialyzer\b`)},
	}
}

// errorRules find errors that are dropped.
func errorRules() []rule {
	re := regex.New
	const does = "drops an error"
	return []rule{
		{kind: DroppedError, does: does, names: python, across: re(`(?m)^[ \t]*except\b[^:\n]*:\s*(?:pass|\.\.\.|continue)[ \t]*$`)},
		{kind: DroppedError, does: does, names: python, code: re(`\bcontextlib\.suppress\(|\bsuppress\(\s*(?:Base)?Exception\b`)},
		{kind: DroppedError, does: does, names: python, code: re(`^\s*except\s*(?:BaseException\b[^:]*)?:`), unlessBelow: re(`^\s*raise\b`)},
		{kind: DroppedError, does: does, names: script + " " + jvm + " " + dotnet + " *.dart *.php", across: re(`\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}`)},
		{kind: DroppedError, does: does, names: script, code: re(`\.catch\(\s*(?:\(\w*\)|\w+)\s*=>\s*(?:\{\s*\}|null|undefined|void 0|0|false|true)\s*\)`)},
		{kind: DroppedError, does: does, names: golang, code: re(`\brecover\(\)`), unlessBelow: re(`^\s*(?:\w*[eE]rr\w*\s*=\s*(?:[^=n\s]|n[^i])|panic\()`)},
		{kind: DroppedError, does: does, names: golang, code: re(`^\s*_(?:\s*,\s*_)*\s*=\s*\w[\w.]*\(.*\)\s*$|^\s*_\s*=\s*err\b|,\s*_\s*:?=\s*strconv\.(?:Parse\w+|Atoi)\(`)},
		{kind: DroppedError, does: does, names: golang, across: re(`\bif\s+(?:[^{}\n]*;\s*)?err\s*!=\s*nil\s*\{\s*\}`)},
		{kind: DroppedError, does: does, names: rust, code: re(`\bcatch_unwind\(|^\s*let _ =|^\s*.*\.ok\(\);\s*$`)},
		{kind: DroppedError, does: "takes another value for what cannot be parsed", allowedBy: `\bdefault|\bfall(?:s|ing)? ?back|\bignor|\blenient|\btolera`, names: rust, across: re(`\.parse(?:::<[^>\n]*>)?\(\)\s*\.unwrap_or(?:_default|_else)?\(`)},
		{kind: DroppedError, does: does, names: ruby, code: re(`\brescue\s+(?:nil|Exception)\b|\brescue\s*$`)},
		{kind: DroppedError, does: does, names: shell, code: re(`\|\|\s*(?:true|:|exit 0|return 0)\s*(?:$|[;)}])|^\s*set \+e\b`)},
	}
}

func otherRules() []rule {
	re := regex.New
	const dated = writtenDates
	const (
		now  = `(?:Date\.now\(\)|new Date\(\)|time\.Now\(\)|time\.Since\(|datetime\.(?:datetime\.)?(?:now|utcnow|today)\(|date\.today\(\)|time\.time\(\)|Local(?:Date|DateTime)\.now\(\)|Instant\.now\(\)|SystemTime::now\(\)|Utc::now\(\)|Time\.now|\$\(date\b)`
		than = `(?:[<>]=?|-(?:gt|lt|ge|le)|\.(?:After|Before|isAfter|isBefore|Compare)\()`
	)
	inOnePiece := append(slices.Repeat([]replacement{{concatenation, "${1}${2}${3}${1}"}}, maxParts),
		replacement{re(`\bgetattr\(\s*(?:builtins|__builtins__)\s*,\s*["'](\w+)["']\s*\)`), "(lambda *a, **k: ${1}(*a, **k))"},
		replacement{re(`\b(?:globalThis|global|window)\[\s*["'](\w+)["']\s*\]`), "((...a) => ${1}(...a))"})
	const ofClass = "decides itself what is of its class"
	return []rule{
		{
			kind: Equality, does: ofClass, names: script, allowedBy: `hasInstance`, uncommented: re(`\bSymbol\.hasInstance\b`),
			replacements: []replacement{{re(`\[Symbol\.hasInstance\]`), absent}, {re(`\bSymbol\.hasInstance\b`), `"` + absent + `"`}},
		},
		{kind: Equality, does: "changes what equal means", names: rust, code: re(`\bimpl\b.*\bPartialEq\b.*\bfor\b`)},
		{kind: HiddenName, does: "hides a name that it uses", replacements: inOnePiece, uncommented: re(
			`\bgetattr\(\s*(?:builtins|__builtins__|os|sys|subprocess|importlib|unittest)\b|\bgetattr\([^()]*["']\s*\+\s*["']|\b__import__\(|\bglobals\(\)\[|(?:\bchr\(\d+\)\s*\+\s*){1}|\bString\.fromCharCode\(|` +
				`\b(?:globalThis|global|window)\[[^\]]*["'\x60]\s*\+|\b(?:base64|b64decode|atob|fromhex|unhexlify)\b.*\b(?:exec|eval)\b|\b(?:exec|eval)\b.*\b(?:base64|b64decode|atob|fromhex|unhexlify|decode)\b`)},
		{kind: HiddenName, does: "runs text as code", code: re(`(?:^|[^\w.])(?:eval|exec)\(|\bnew Function\(|\bvm\.runIn\w+\(|\binstance_eval\b`), names: python + " " + script},
		{kind: HiddenName, does: "runs text as code", code: re(`(?:^|[;&|]\s*|\s)eval\s`), names: shell},
		{kind: Date, does: "decides by the date", uncommented: re(now + `.*` + than + `|` + than + `.*` + now), replacements: laterClock(), needsDate: true},
		{kind: Date, does: "decides by the date", names: python + " " + script, replacements: laterClock(), needsDate: true, uncommented: re(dated + `.*` + than + `|` + than + `\s*(?:["']|[\w.]*\()?` + dated)},
	}
}

// assertionRules are for tests: an assertion that may not be reached. Where it is sure that a
// test which does not reach it is hollow, the test is neutralized: it fails then.
var assertionRules = sync.OnceValue(func() []rule {
	re := regex.New
	const does = "may not reach its assertion"
	return []rule{
		{kind: HollowTest, does: does, names: rust, replacements: []replacement{{re(`\bif (let (?:Ok|Some|Err)\([^=\n]*=[^{\n]*)\{`), `${1}else { panic!("` + absent + `") }; {`}}, across: re(`\bif let (?:Ok|Some|Err)\([^=\n]*=[^{\n]*\{\s*(?:assert|let [^;]*;\s*assert)[^}]*\}\s*\}`)},
		{kind: HollowTest, does: does, names: python, across: re(`(?m)^[ \t]*try:[ \t]*\n(?:.*\n){0,8}?[ \t]*(?:self\.assert|assert\b).*\n(?:.*\n){0,4}?[ \t]*except\b[^\n]*:\s*\n\s*(?:pass|return|continue)[ \t]*$`)},
		{kind: HollowTest, does: "does not wait for its assertion", names: script, code: re(`^\s*(?:assert(?:\.strict)?\.(?:rejects|doesNotReject)\(|expect\(.*\)\.(?:not\.)?(?:rejects|resolves)\.)`)},
		{kind: HollowTest, does: "catches the failure of its assertion", names: jvm + " " + dotnet, code: re(`\bcatch\s*\(\s*(?:final\s+)?(?:AssertionError|AssertionFailedError|Throwable|Error)\b`)},
		{kind: HollowTest, does: "catches the failure of its assertion", names: python, code: re(`^\s*except\s*\(?\s*(?:AssertionError|BaseException)\b`)},
		{kind: HollowTest, does: "replaces what it may test", names: python, uncommented: re(`\bmock\.patch\(.*return_value|\bpatch\.object\(.*return_value`)},
	}
})

// writtenDates are dates and moments in code.
const writtenDates = `(?:\b(?:19|20)\d\d-[01]\d(?:-\d\d)?|\b(?:datetime|date|Date|of|UTC)\(\s*20\d\d\s*,|\btime\.Date\(\s*20\d\d|\b1[6-9]\d{8}(?:\d{3})?\b)`

var writtenDate = regex.New(writtenDates)

// laterClock are clocks that are a year on.
func laterClock() []replacement {
	re := regex.New
	return []replacement{
		{re(`\btime\.Now\(\)`), "time.Now().AddDate(1, 0, 0)"},
		{re(`\bDate\.now\(\)`), "(Date.now() + 31622400000)"},
		{re(`\bnew Date\(\)`), "new Date(Date.now() + 31622400000)"},
		{re(`\btime\.time\(\)`), "(time.time() + 31622400)"},
		{re(`\b((?:datetime\.)?(?:datetime|date)\.(?:now|utcnow|today)\([^()]*\))`), `($1 + __import__("datetime").timedelta(366))`},
		{re(`\b(Local(?:Date|DateTime)\.now\(\))`), "$1.plusYears(1)"},
		{re(`\bInstant\.now\(\)`), "Instant.now().plusSeconds(31622400L)"},
		{re(`\b((?:std::time::)?SystemTime::now\(\))`), "($1 + std::time::Duration::from_secs(31622400))"},
		{re(`\bTime\.now\b`), "(Time.now + 31622400)"},
		{re(`\$\(date\b`), `$(date -d "+1 year"`},
	}
}
