package sign

import (
	"regexp"
	"sync"
)

// Files, by the glob of their names.
const (
	python   = "*.py *.pyi"
	script   = "*.js *.jsx *.ts *.tsx *.mjs *.cjs *.mts *.cts *.vue *.svelte"
	golang   = "*.go"
	rust     = "*.rs"
	jvm      = "*.java *.kt *.scala *.groovy"
	shell    = "*.sh *.bash *.zsh"
	programs = python + " " + script + " " + golang + " " + rust + " " + jvm + " " + shell + " *.rb *.php *.cs *.c *.h *.cc *.cpp *.cxx *.hpp *.swift *.dart *.ex *.exs"
)

// lessChecked are kinds of files, each with one that checkers look at less.
var lessChecked = []string{".ts .js", ".tsx .jsx", ".mts .mjs", ".cts .cjs", ".ts .mjs", ".py .pyx"}

// rules are what a reviewer would want to see, each with its reason. The first that
// fits a line names it. Compiled where a change is looked at.
var rules = sync.OnceValue(func() []rule {
	re := regexp.MustCompile
	return []rule{
		// A program that knows that it is tested can answer the tests and nobody else.
		{does: "asks whether it is being tested", text: re(`PYTEST_CURRENT_TEST|JEST_WORKER_ID|VITEST_(?:WORKER_ID|POOL_ID)|["']pytest["'] in sys\.modules|["']unittest["'] in sys\.modules|NODE_ENV\s*={2,3}\s*["']test["']|NODE_TEST_CONTEXT|["']test\.(?:v|run|timeout)["']|sys\.argv\[0\].*(?:pytest|test)|RUNNING_TESTS|GO_TEST|CARGO_(?:BIN_EXE|TARGET_TMPDIR)`)},
		{does: "asks whether it is being tested", code: re(`\btesting\.Testing\(\)|\bcfg!\(\s*test\s*\)|\bimport\.meta\.vitest\b|\bprocess\.env\.(?:VITEST|JEST)\b`)},
		{does: "looks at who calls it", code: re(`\binspect\.(?:stack|currentframe|getouterframes)\(|\bsys\._getframe\(|\bruntime\.Callers?\(|\bgetStackTrace\(\)|\bnew Error\(\)\.stack\b|\bStackWalker\b`)},

		// A process that ends itself ends before a test can fail.
		{does: "ends the process", code: re(`\bos\._exit\(|\bos\.Exit\(|\bsyscall\.Exit\(|\bprocess\.(?:exit|abort|reallyExit)\(|\bprocess::(?:exit|abort)\(|\bSystem\.exit\(|\bhalt\(|\bEnvironment\.Exit\(|\bsys\.exit\(|\b_exit\(|\bquick_exit\(`)},
		{does: "does something when the process ends", code: re(`\batexit\.register\b|\batexit\(|\baddShutdownHook\(|\bat_exit\b|\bregister_shutdown_function\(`)},
		{does: "does something when the process ends", names: script, text: re(`\bprocess\.(?:on|once|addListener)\(\s*["'](?:exit|beforeExit|uncaughtException|unhandledRejection)["']`)},

		// A checker that is told to look away.
		{does: "switches a check off", text: re(`@ts-(?:ignore|expect-error|nocheck)\b|\beslint-disable|\bbiome-ignore\b|\b(?:istanbul|c8|v8) ignore\b|\btslint:disable`), names: script},
		{does: "switches a check off", code: re(`\bas any\b|\bas unknown as\b|:\s*any\b`), names: "*.ts *.tsx *.mts *.cts *.vue *.svelte"},
		{does: "switches a check off", text: re(`#\s*(?:noqa|type:\s*ignore|pyright:\s*ignore|mypy:\s*ignore|pylint:\s*(?:disable|skip)|pragma:\s*no\s*(?:cover|branch)|nosec|ruff:\s*noqa|fmt:\s*(?:off|skip))`), names: python},
		{does: "switches a check off", text: re(`//\s*nolint|//lint:ignore|//\s*#nosec|//go:(?:linkname|nosplit)`), names: golang},
		{does: "switches a check off", code: re(`#!?\[\s*(?:allow|expect)\s*\(|#!?\[\s*cfg_attr\s*\([^)]*allow`), names: rust},
		{does: "switches a check off", text: re(`@SuppressWarnings\b|@Suppress\b|//\s*noinspection|//\s*NOSONAR|CHECKSTYLE:OFF|\$COVERAGE-IGNORE`), names: jvm},
		{does: "switches a check off", text: re(`\bNOLINT|#pragma\s+(?:GCC|clang)\s+diagnostic\s+ignored|#pragma\s+warning\s*(?:\(\s*)?disable|\brubocop:disable|\bshellcheck disable|@phpstan-ignore|@psalm-suppress|\bswiftlint:disable|//\s*ignore:|LCOV_EXCL`)},

		// An error that nobody hears of.
		{does: "drops an error", code: re(`^\s*except\b[^:]*:\s*(?:pass|\.\.\.)\s*$|\bcontextlib\.suppress\(|\bsuppress\(\s*(?:Base)?Exception\b`), names: python},
		{does: "drops an error", code: re(`\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}|\.catch\(\s*(?:\(\w*\)|\w+)\s*=>\s*(?:\{\s*\}|null|undefined)\s*\)`), names: script + " " + jvm},
		{does: "drops an error", code: re(`\brecover\(\)`), names: golang},
		{does: "drops an error", code: re(`\bcatch_unwind\(|^\s*(?:let _ =|.*\.ok\(\);\s*$)`), names: rust},
		{does: "drops an error", code: re(`\|\|\s*(?:true|:)\s*(?:$|[;)])|^\s*set \+e\b|\btrap\b`), names: shell},

		// What the tests compare with is changed, and not what they test.
		{does: "changes what equal means", code: re(`\bdef __(?:eq|ne|bool|hash|instancecheck)__\b|\b(?:Object|Array|String|Number|Function|Map|Set|JSON|Promise)\.prototype\.\w+\s*=|\bequals\(Object\b|\bimpl\b.*\bPartialEq\b.*\bfor\b|\boperator\s*==`)},
		{does: "changes another module while it runs", code: re(`\bsys\.modules\b|\bbuiltins\.\w+\s*=|\b__builtins__\b|\bsetattr\(|\brequire\.cache\b|\bModule\._load\b|\bglobalThis\.\w+\s*=[^=]|\bimportlib\.reload\(|\bunittest\.mock\b|\bmonkeypatch\b`)},

		// What holds today, or here, and nowhere else.
		{does: "decides by the date", code: re(`(?:Date\.now\(\)|new Date\(\)|time\.Now\(\)|datetime\.(?:now|utcnow|today)\(\)|date\.today\(\)|time\.time\(\)|LocalDate\.now\(\)|Instant\.now\(\)|SystemTime::now\(\)).*(?:[<>]=?|\.(?:After|Before|isAfter|isBefore)\()|(?:[<>]=?|\.(?:After|Before|isAfter|isBefore)\().*(?:Date\.now\(\)|new Date\(\)|time\.Now\(\)|datetime\.(?:now|utcnow|today)\(\)|date\.today\(\)|time\.time\(\)|LocalDate\.now\(\))`)},
		{does: "names a place of this machine", text: re("[\"'`](?:/(?:tmp|var/tmp|home|root|Users|dev/shm|proc)(?:/|[\"'`])|[A-Z]:\\\\\\\\)")},
	}
})
