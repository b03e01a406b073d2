package sign

import (
	"regexp"
	"slices"
)

// A checker that is told to look away.
func suppressionRules() []rule {
	re := regexp.MustCompile
	const does = "switches a check off"
	return []rule{
		{kind: Suppression, does: does, text: re(`@ts-(?:ignore|expect-error|nocheck)\b|\b(?:es|ts|style|ox)lint-disable|\bbiome-ignore\b|\b(?:istanbul|c8|v8) ignore\b|@flow-?(?:ignore|suppress)|\$FlowFixMe|\bprettier-ignore\b|\bdeno-lint-ignore\b`), names: script},
		{kind: Suppression, does: does, code: re(`\bas any\b|\bas unknown as\b|:\s*any\b|<any>|\bas never\b`), names: typed},
		{kind: Suppression, does: does, text: re(`#\s*(?:noqa|type:\s*ignore|pyright:|mypy:|pytype:\s*disable|pylint:\s*(?:disable|skip)|pragma:\s*no\s*(?:cover|branch|mutate)|nosec|ruff:\s*noqa|flake8:\s*noqa|fmt:\s*(?:off|skip)|isort:\s*skip)`), names: python},
		{kind: Suppression, does: does, code: re(`\bwarnings\.(?:filterwarnings|simplefilter)\(|@(?:typing\.)?no_type_check\b|\blogging\.disable\(`), names: python},
		{kind: Suppression, does: does, text: re(`//\s*nolint|//lint:(?:file-)?ignore|//\s*#nosec|//go:(?:linkname|nosplit|norace)|//exhaustive:ignore`), names: golang},
		{kind: Suppression, does: does, code: re(`#!?\[\s*(?:allow|expect)\s*\(|#!?\[\s*cfg_attr\s*\([^)]*allow|#\[\s*(?:coverage\s*\(\s*off|rustfmt::skip|no_coverage)`), names: rust},
		{kind: Suppression, does: does, text: re(`@SuppressWarnings\b|@Suppress(?:FBWarnings|Lint)?\b|@file:Suppress|//\s*noinspection|//\s*NOSONAR|CHECKSTYLE[.:]OFF|\$COVERAGE-IGNORE|@nowarn\b|ktlint-disable|spotless:off`), names: jvm},
		{kind: Suppression, does: does, text: re(`#\s*shellcheck\s+disable`), names: shell},
		{kind: Suppression, does: does, text: re(`\brubocop:(?:disable|todo)|#\s*:nocov:|\breek:|#\s*steep:ignore`), names: ruby},
		{kind: Suppression, does: does, text: re(`\bNOLINT|#pragma\s+(?:GCC|clang)\s+diagnostic\s+ignored|\bcppcheck-suppress|\bclang-format off|LCOV_EXCL|GCOV(?:R)?_EXCL`), names: clang},
		{kind: Suppression, does: does, text: re(`#pragma\s+warning\s*(?:\(\s*)?disable|\[\s*(?:assembly:\s*)?(?:SuppressMessage|ExcludeFromCodeCoverage)`), names: dotnet + " " + clang},
		{kind: Suppression, does: does, text: re(`@phpstan-ignore|@psalm-suppress|phpcs:(?:ignore|disable)|@codeCoverageIgnore|\bswiftlint:disable|//\s*ignore(?:_for_file)?:|#\s*credo:disable|@dialyzer\b`), names: "*.php *.swift *.dart " + elixir},
	}
}

// An error that nobody hears of.
func errorRules() []rule {
	re := regexp.MustCompile
	const does = "drops an error"
	return []rule{
		{kind: DroppedError, does: does, names: python, across: re(`(?m)^[ \t]*except\b[^:\n]*:\s*(?:pass|\.\.\.|continue)[ \t]*$`)},
		{kind: DroppedError, does: does, names: python, code: re(`\bcontextlib\.suppress\(|\bsuppress\(\s*(?:Base)?Exception\b|^\s*except\s*(?:BaseException\b[^:]*)?:`)},
		{kind: DroppedError, does: does, names: script + " " + jvm + " " + dotnet + " *.dart *.php", across: re(`\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}`)},
		{kind: DroppedError, does: does, names: script, code: re(`\.catch\(\s*(?:\(\w*\)|\w+)\s*=>\s*(?:\{\s*\}|null|undefined|void 0|0|false|true)\s*\)`)},
		{kind: DroppedError, does: does, names: golang, code: re(`\brecover\(\)|^\s*_(?:\s*,\s*_)*\s*=\s*\w[\w.]*\(.*\)\s*$|^\s*_\s*=\s*err\b`)},
		{kind: DroppedError, does: does, names: golang, across: re(`\bif\s+(?:[^{}\n]*;\s*)?err\s*!=\s*nil\s*\{\s*\}`)},
		{kind: DroppedError, does: does, names: rust, code: re(`\bcatch_unwind\(|^\s*let _ =|^\s*.*\.ok\(\);\s*$`)},
		{kind: DroppedError, does: does, names: ruby, code: re(`\brescue\s+(?:nil|Exception)\b|\brescue\s*$`)},
		{kind: DroppedError, does: does, names: shell, code: re(`\|\|\s*(?:true|:|exit 0|return 0)\s*(?:$|[;)}])|^\s*set \+e\b`)},
	}
}

func otherRules() []rule {
	re := regexp.MustCompile
	const (
		now   = `(?:Date\.now\(\)|new Date\(\)|time\.Now\(\)|time\.Since\(|datetime\.(?:datetime\.)?(?:now|utcnow|today)\(|date\.today\(\)|time\.time\(\)|Local(?:Date|DateTime)\.now\(\)|Instant\.now\(\)|SystemTime::now\(\)|Utc::now\(\)|Time\.now|\$\(date\b)`
		than  = `(?:[<>]=?|-(?:gt|lt|ge|le)|\.(?:After|Before|isAfter|isBefore|Compare)\()`
		dated = `(?:\b(?:19|20)\d\d-[01]\d(?:-\d\d)?|\b(?:datetime|date|Date|of|UTC)\(\s*20\d\d\s*,|\btime\.Date\(\s*20\d\d|\b1[6-9]\d{8}(?:\d{3})?\b)`
	)
	joined := swap{re(`(["'])([^"'\\]*)["']\s*\+\s*["']([^"'\\]*)["']`), "${1}${2}${3}${1}"} // the same name, in one piece
	return slices.Concat(equalityRules(), []rule{
		{kind: Hidden, does: "hides a name that it uses", swaps: []swap{joined, joined, joined}, said: re(
			`\bgetattr\(\s*(?:builtins|__builtins__|os|sys|subprocess|importlib|unittest)\b|\bgetattr\([^()]*["']\s*\+\s*["']|\b__import__\(|\bglobals\(\)\[|(?:\bchr\(\d+\)\s*\+\s*){1}|\bString\.fromCharCode\(|` +
				`\b(?:globalThis|global|window)\[[^\]]*["'\x60]\s*\+|\b(?:base64|b64decode|atob|fromhex|unhexlify)\b.*\b(?:exec|eval)\b|\b(?:exec|eval)\b.*\b(?:base64|b64decode|atob|fromhex|unhexlify|decode)\b`)},
		{kind: Hidden, does: "runs text as code", code: re(`(?:^|[^\w.])(?:eval|exec)\(|\bnew Function\(|\bvm\.runIn\w+\(|\binstance_eval\b`), names: python + " " + script},
		{kind: Hidden, does: "runs text as code", code: re(`(?:^|[;&|]\s*|\s)eval\s`), names: shell},
		{kind: Date, does: "decides by the date", said: re(now + `.*` + than + `|` + than + `.*` + now)},
		{kind: Date, does: "decides by the date", names: python + " " + script, said: re(dated + `.*` + than + `|` + than + `\s*(?:["']|[\w.]*\()?` + dated)},
		{kind: Place, does: "names a place of this machine", said: re("[\"'`](?:/(?:tmp|var/tmp|home|root|Users|dev/shm|proc)(?:/|[\"'`])|[A-Z]:\\\\\\\\)")},
		{kind: Place, does: "names a place of this machine", names: shell, said: re(`(?:^|[\s="'>])/(?:tmp|var/tmp|home|root|Users|dev/shm)/\w`)},
		{kind: Place, does: "uses a temporary folder", names: python + " " + script + " " + golang + " " + jvm, code: re(`\btempfile\.gettempdir\(|\bos\.tmpdir\(\)|\bos\.TempDir\(\)`)},
	})
}

// What is equal to everything passes each comparison.
func equalityRules() []rule {
	re := regexp.MustCompile
	const always = "is equal to whatever it is compared with"
	yes := []swap{{re(`\btrue\b`), "false"}}
	return []rule{
		{
			kind: Equality, does: always, names: python, across: re(`\bdef __(?:eq|ne|contains|instancecheck|lt|le|gt|ge)__\(\s*self\s*,\s*\w+[^)]*\)[^:\n]*:\s*(?:[rub]*"+\s*"+\s*)?return\s+(?:True|False|isinstance\([^\n]*|not self == \w+|other\b[^\n]*|\w+ is not None)[ \t]*(?:\n|$)`),
			swaps: []swap{{re(`\bdef __(eq|ne|contains|instancecheck|lt|le|gt|ge)__\(`), "def " + absent + "_${1}("}},
		},
		{kind: Equality, does: always, names: python, across: re(`\b__(?:eq|ne)__\s*=\s*lambda\b[^\n]*:\s*(?:True|False)`), swaps: []swap{{re(`\b__(eq|ne)__(\s*=)`), absent + "_${1}${2}"}}},
		{kind: Equality, does: always, names: jvm + " " + dotnet + " " + clang + " " + rust, span: true, swaps: yes, across: re(`(?:\b(?i:equals)\s*\([^)]*\)|\boperator\s*==\s*\([^)]*\)|\bfn eq\s*\([^)]*\))[^{};]*(?:\{\s*(?:return\s+)?|=>?\s*)true\b`)},
		{
			kind: Equality, does: always, names: script, across: re(`(?:\b(?:valueOf|equals|toJSON|asymmetricMatch)\s*(?:=\s*)?\([^)]*\)|\[Symbol\.(?:toPrimitive|hasInstance)\]\s*\([^)]*\))\s*(?:=>)?\s*\{?\s*(?:return\s+)?(?:true|-?\d+|NaN)\b`),
			swaps: []swap{{re(`\[Symbol\.(?:toPrimitive|hasInstance)\]|\b(?:valueOf|equals|toJSON|asymmetricMatch)\b`), absent}},
		},
		{kind: Equality, does: always, names: ruby, across: re(`\bdef ={2,3}\(?\s*\w+\)?\s*;?\s*true\b`), swaps: []swap{{re(`\bdef ={2,3}`), "def " + absent}}},
		{kind: Equality, does: "changes what equal means", code: re(`\bdef __(?:eq|ne|bool|instancecheck)__\b|\b(?:Object|Array|String|Number|Function|Map|Set|JSON|Promise)\.prototype\.\w+\s*=|\bJSON\.(?:stringify|parse)\s*=[^=]|\bObject\.is\s*=[^=]|\bimpl\b.*\bPartialEq\b.*\bfor\b|\boperator\s*==|\bdef ==`)},
	}
}
