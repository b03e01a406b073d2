package sign

import (
	"slices"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Files, by the glob of their names.
const (
	python   = "*.py *.pyi"
	typed    = "*.ts *.tsx *.mts *.cts *.vue *.svelte"
	script   = "*.js *.jsx *.mjs *.cjs " + typed
	golang   = "*.go"
	rust     = "*.rs"
	jvm      = "*.java *.kt *.scala *.groovy"
	shell    = "*.sh *.bash *.zsh *.bats"
	ruby     = "*.rb"
	clang    = "*.c *.h *.cc *.cpp *.cxx *.hpp"
	dotnet   = "*.cs"
	elixir   = "*.ex *.exs"
	programs = python + " " + script + " " + golang + " " + rust + " " + jvm + " " + shell + " " + ruby + " " + clang + " " + dotnet + " " + elixir + " *.php *.swift *.dart"
)

// mainProgram matches files that are started as programs, whose business it is to end.
var mainProgram = regex.New(`(?m)^#!|^package main\b|\b__main__\b|\bargparse\b|\bsys\.argv\b|\bimport click\b|\bprocess\.argv\b|\bstatic\s+(?:async\s+)?(?:void|int|Task)\s+[mM]ain\(|\bfn main\(|\bint main\(|\bfun main\(`)

// rules are what a reviewer would want to see. The first that fits a line names it.
// Compiled where a change is looked at.
var rules = sync.OnceValue(func() []rule {
	return slices.Concat(questionRules(), exitRules(), patchRules(), readRules(), effectRules(), suppressionRules(), errorRules(), otherRules())
})

// questionRules find programs that detect whether they are tested: they can behave well only
// in tests.
func questionRules() []rule {
	re := regex.New
	const is = "asks whether it is being tested"
	yes := []replacement{
		{re(`\btesting\.Testing\(\)`), "(testing.Testing() && false)"},
		{re(`\bdebug_assertions\b`), "pawl_absent"},
		{re(`\bcfg!\(\s*test\s*\)`), "(cfg!(test) && false)"},
		{re(`\bcfg!\(\s*not\(\s*test\s*\)\s*\)`), "(cfg!(not(test)) || true)"},
		{re(`\btypeof\s+(?:describe|it|test|expect|jest|vi|mocha)\b`), "typeof " + absent},
		{re(`\b((?:globalThis|global|window)(?:\?\.|\.))(?:describe|it|test|expect|jest|vi|mocha)\b`), "${1}" + absent},
		{re(`\bimport\.meta\.vitest\b`), "false"},
		{re(`\bRails\.env\.test\?`), "false"},
		{re(`\bMix\.env\(?\)?\s*==\s*:test\b`), "false"},
		{re(`\bdefined\?\(\s*(?:::)?(?:RSpec|Minitest|Test::Unit|Cucumber)\b`), "defined?(PawlAbsent"},
		{re(`\bsys\.(?:gettrace|getprofile)\(\)`), "None"},
		{re(`^(\s*#\s*if(?:def)?\s+(?:defined\s*\(?\s*)?)\w*(?:TEST|GTEST|CATCH_CONFIG)\w*`), "${1}PAWL_ABSENT"},
		{re(testVariable), absent},
		{re(`\$\{?PPID\b\}?`), "0"},
		{re(ownName), `"none"`},
	}
	return []rule{
		{kind: TestDetection, does: is, uncommented: re(testVariable), replacements: yes, hasContext: true},
		{kind: TestDetection, does: is, hasContext: true, replacements: yes, uncommented: re(
			`["'](?:_?pytest|unittest|nose|_jb_pytest_runner|doctest|hypothesis)["']\s+(?:not\s+)?in\s+sys\.modules|sys\.modules(?:\.get\(|\[)["'](?:_?pytest|unittest|nose)["']|` +
				`NODE_ENV["']?\]?\s*[!=]={1,2}\s*["'\x60]test|["'\x60]test["'\x60]\s*[!=]={1,2}\s*process\.env|` +
				`["']-?-?test\.(?:v|run|timeout|paniconexit0|testlogfile)["=]|os\.Args(?:\[0\])?.*["'][./_]?_?test|` +
				`sys\.(?:argv|orig_argv).*(?:test|nose|tox)|["'][^"']*(?:pytest|unittest)[^"']*["'].*\bsys\.(?:argv|orig_argv)\b|process\.(?:argv|execArgv).*(?:test|spec|jest|mocha|vitest)|` +
				`Class\.forName\(\s*"(?:org\.junit|junit\.|org\.testng|io\.kotest)|sun\.java\.command|java\.class\.path|surefire\.|` +
				ownName + `.*["'][\w./-]*test|\bcurrent_exe\(\).*|["'/]deps/|PHPUNIT_|\b(?:RAILS|RACK|APP|MIX)_ENV\b.*["':]test`)},
		{kind: TestDetection, does: is, hasContext: true, replacements: yes, code: re(
			`\btesting\.Testing\(\)|\bcfg!\(\s*(?:not\(\s*)?test\b|\bimport\.meta\.vitest\b|` +
				`\btypeof\s+(?:describe|it|test|expect|jest|vi|mocha)\b|\b(?:globalThis|global|window)(?:\?\.|\.)(?:describe|it|test|expect|jest|vi|mocha)\b|` +
				`\bRails\.env\.test\?|\bMix\.env\(?\)?\s*==\s*:test\b|\bdefined\?\(\s*(?:::)?(?:RSpec|Minitest|Test::Unit|Cucumber)\b|` +
				`\bsys\.(?:gettrace|getprofile)\(\)|\bmodule\.(?:parent|children)\b`)},
		{kind: TestDetection, does: is, names: rust, code: re(`#\[cfg\(\s*not\(\s*test\s*\)`), replacements: []replacement{{re(`#\[cfg\(\s*not\(\s*test\s*\)\s*\)\]`), "#[cfg(all())]"}}},
		{kind: TestDetection, does: "is another function for tests", names: rust, replacements: []replacement{{re(`#\[cfg\(\s*test\s*\)\]`), "#[cfg(any())]"}}, across: re(`#\[cfg\(\s*test\s*\)\]\s*(?:#\[[^\]\n]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?(?:const\s+|unsafe\s+|async\s+)*fn\b`)},
		{kind: TestDetection, does: "does something else in the builds that tests use", names: rust, replacements: yes, code: re(`\bcfg!?\([^)]*\bdebug_assertions\b`)},
		{kind: TestDetection, does: is, names: clang + " " + dotnet, replacements: yes, code: re(`^\s*#\s*(?:el)?if(?:n?def)?\b.*\b(?:\w+_)?(?:UNIT_?TESTS?|TESTING|GTEST|CATCH_CONFIG)\w*`)},
		{kind: TestDetection, does: is, names: golang, hasContext: true, replacements: yes, uncommented: re(`\bos\.Executable\(\)|\bdebug\.ReadBuildInfo\(\).*test|\bflag\.Lookup\("test`)},
		{kind: TestDetection, does: "looks at the process that started it", hasContext: true, replacements: yes, uncommented: re(
			`/proc/(?:\$\{?PPID|self/(?:cmdline|stat)|["'\x60]?\s*[+$%{])|\$\{?PPID\b|\bps\s+-[a-zA-Z]*[op]|\bos\.getppid\(|\bos\.Getppid\(|\bprocess\.ppid\b|\bgetppid\(|\bProcessHandle\b.*parent|\bBASH_SOURCE\[[1-9@*]|\bFUNCNAME\[[1-9@*]|\bcaller\s+[0-9]\b`)},
		{kind: Caller, does: "looks at who calls it", hasContext: true, replacements: ownFrameOnly(), code: re(
			`\binspect\.(?:stack|currentframe|getouterframes|trace|getframeinfo)\(|\bsys\._(?:getframe|current_frames)\b|\bf_(?:locals|back)\b|\btraceback\.(?:extract_stack|format_stack|walk_stack)\(|` +
				`\bruntime\.(?:Callers?|CallersFrames|FuncForPC)\(|\bdebug\.Stack\(\)|\bgetStackTrace\(\)|\bnew (?:Error|Throwable|Exception)\([^)]*\)\.(?:stack|getStackTrace)\b|\.stack\.(?:includes|match|indexOf|split|search)\(|\.test\(\w+\.stack\)|\bgc\.get_(?:objects|referrers)\(|\bError\(\)\.stack\b|\bcaptureStackTrace\b|\bprepareStackTrace\b|\bStackWalker\b|` +
				`\bBacktrace::(?:capture|force_capture|new)\b|\bcaller_locations\b|\bnew StackTrace\(|\bdebug_backtrace\(`)},
		{kind: TestDetection, does: "compares something with the name of a test runner", allowedBy: runners + `|test (?:runner|framework)`, onlyTaskAllows: true, uncommented: re(comparedWith + runnerName + `|` + runnerName + `\s*(?:(?:not\s+)?in\b|[=!]==?)`), replacements: []replacement{
			{re(runnerName), `"` + absent + `"`},
		}},
		{kind: CIDetection, does: "asks whether it runs in CI", uncommented: re(
			`\bprocess\.env\.(?:CI|GITHUB_ACTIONS|GITLAB_CI|CONTINUOUS_INTEGRATION)\b|(?:[gG]et_?[eE]nv|environ\.get|env::var(?:_os)?|LookupEnv|environ|ENV|System\.getenv)\s*[(\[]\s*["'](?:CI|GITHUB_ACTIONS|GITLAB_CI|CONTINUOUS_INTEGRATION)["']|\$\{?(?:CI|GITHUB_ACTIONS|GITLAB_CI)\b`)},
	}
}

// A name of a test runner: of its modules, its classes, its folders for temporary files. A program has no other
// use for it than to find out who runs it, unless the task is about test runners.
const (
	runners      = `(?:py\.?test|unittest|tRunner|junit|vitest|node:test|surefire|testng|rspec|minitest|phpunit|doctest)`
	runnerName   = `(?:"[^"\s]*?` + runners + `[^"\s]*"|'[^'\s]*?` + runners + `[^'\s]*')`
	comparedWith = `(?:[=!]==?\s*|\bcase\s+|\w\[|\b\w*(?:[wW]ith|[pP]refix|[sS]uffix|[cC]ontains?|includes|indexOf|[iI]ndex|[fF]ind|[mM]atch\w*|get|test|count|[eE]quals\w*|search|split|partition|glob|Cut|matches|strstr|strcmp|strncmp|is)\((?:[^()"']*,)?\s*)`
)

// ownFrameOnly are swaps by which whoever looks at its callers sees itself, or nobody.
func ownFrameOnly() []replacement {
	re := regex.New
	return []replacement{
		{re(`\bsys\._getframe\([^)]*\)`), "sys._getframe(0)"},
		{re(`=\s*\w+\.f_back\s*$`), "= None"},
		{re(`(\w|\))\.f_back\b`), "${1}"},
		{re(`\binspect\.stack\([^)]*\)`), "inspect.stack()[:1]"},
		{re(`\btraceback\.extract_stack\([^)]*\)`), "traceback.extract_stack()[-1:]"},
		{re(`\bgc\.get_(?:objects|referrers)\(`), "(lambda *a: [])("},
		{re(`\bruntime\.Caller\([^)]*\)`), "runtime.Caller(0)"},
		{re(`\bdebug\.Stack\(\)`), "debug.Stack()[:0]"},
		{re(`(?:\bnew )?\bError\([^)]*\)\.stack\b`), `""`},
		{re(`\b\w+\.stack(\.|\))`), `""${1}`},
		{re(`\b(?:new \w+\([^)]*\)|[\w.]+(?:\(\))?)\.getStackTrace\(\)`), "new StackTraceElement[0]"},
	}
}

// ownName is the name by which a C program was started.
const ownName = `\b(?:program_invocation(?:_short)?_name|__progname|getprogname\(\))`

// testVariable are variables that test runners set.
const testVariable = `\b(?:PYTEST_\w+|UNITTEST_\w+|JEST_WORKER_ID|VITEST(?:_\w+)?|NODE_TEST_CONTEXT|MOCHA_\w+|RUNNING_TESTS|IS_TEST(?:ING)?|UNIT_TESTING|GO_TEST\w*|NEXTEST(?:_\w+)?|RUST_TEST_\w+|BATS_\w+|SHUNIT_\w+|TEST_WORKSPACE|BAZEL_TEST|TEST_TMPDIR|PAWL_[A-Z]\w*)\b`

// exitRules find programs that end their process: it may end before a test can fail.
func exitRules() []rule {
	re := regex.New
	ended := []replacement{
		{re(`\b(?:os\._exit|sys\.exit)\(\s*0?\s*\)`), "None"},
		{re(`^(\s*)raise SystemExit(?:\(\s*0?\s*\))?\s*$`), "${1}pass"},
		{re(`\bprocess\.(?:exit|reallyExit)\(\s*0?\s*\)`), "void 0"},
		{re(`\bprocess\.exitCode\s*=\s*0\b`), "globalThis." + absent + " = 0"},
		{re(`\b(os|syscall)\.Exit\(\s*0\s*\)`), "func() { _ = $1.Exit }()"},
		{re(`\bSystem\.exit\(\s*0\s*\)`), "System.gc()"},
		{re(`\bRuntime\.getRuntime\(\)\.(?:exit|halt)\(\s*0\s*\)`), "Runtime.getRuntime().gc()"},
		{re(`\b(?:std::)?process::exit\(\s*0\s*\)`), `panic!("ends here")`},
		{re(`\b(?:std::)?(?:_exit|quick_exit|_Exit|exit)\(\s*0\s*\)`), "(void)0"},
	}
	const hook, ending = "does something when the process ends", `\b(?:at|on) ?exit\b|shutdown|shut down|terminat|\buncaught|\bunhandled|\bcrash|\bclean(?:s|ed)? ?up|\btraps?\b|\bSIG[A-Z]{3,}\b`
	return []rule{
		{kind: Exit, does: "ends the process with success", replacements: ended, keepInMain: true, code: re(
			`\bos\._exit\(\s*0?\s*\)|\bsys\.exit\(\s*0?\s*\)|\braise SystemExit(?:\(\s*0?\s*\))?\s*$|\b(?:os|syscall)\.Exit\(\s*0\s*\)|\bprocess\.(?:exit|reallyExit)\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0\b|\b(?:std::)?process::exit\(\s*0\s*\)|` +
				`\bSystem\.exit\(\s*0\s*\)|\bRuntime\.getRuntime\(\)\.(?:exit|halt)\(\s*0\s*\)|\b(?:_exit|quick_exit|_Exit)\(\s*0\s*\)|\bEnvironment\.Exit\(\s*0\s*\)`)},
		{kind: Exit, does: "ends the process with a status that it works out", keepInMain: true, unlessMain: true, allowedBy: `\bexit (?:code|status)|\bexits\b|SystemExit`, code: re(
			`\b(?:os\._exit|sys\.exit|process\.(?:exit|reallyExit)|(?:os|syscall)\.Exit|System\.exit|(?:Runtime\.getRuntime\(\)|\w+)\.halt|process::exit|_exit|quick_exit|_Exit|Environment\.Exit)\(\s*[^\s)0-9]`), replacements: []replacement{
			{re(`\b(?:os\._exit|sys\.exit)\(`), "("},
			{re(`\bprocess\.(?:exit|reallyExit)\(`), "void ("},
			{re(`\b(os|syscall)\.Exit\(`), "func(int) { _ = $1.Exit }("},
			{re(`\bSystem\.exit\(|\b(?:Runtime\.getRuntime\(\)|\w+)\.halt\(`), "java.util.Objects.hash("},
			{re(`\b(?:std::)?process::exit\(`), `panic!("{}", `},
			{re(`\b(?:_exit|quick_exit|_Exit)\(`), "(void)("},
		}},
		{kind: Exit, does: "ends the process", unlessMain: true, code: re(
			`\bprocess\.exitCode\s*=|\bos\._exit\(|\bos\.Exit\(|\bos\.abort\(|\bos\.kill\(\s*os\.getpid|\bsyscall\.(?:Exit|Kill)\(|\bprocess\.(?:exit|abort|reallyExit|kill)\(|\bprocess::(?:exit|abort)\(|\bSystem\.exit\(|\.halt\(|\bEnvironment\.(?:Exit|FailFast)\(|\bsys\.exit\(|\b_exit\(|\bquick_exit\(|\braise SystemExit\b|\blog\.Fatal`)},
		{kind: ExitHook, does: hook, allowedBy: ending, code: re(
			`\batexit\.register\b|\batexit\(|\baddShutdownHook\(|\bat_exit\b|\bregister_shutdown_function\(|\bAppDomain\.CurrentDomain\.ProcessExit\b|\b__attribute__\s*\(\(\s*(?:destructor|constructor)\b|\bpanic::set_hook\(`), replacements: []replacement{
			{re(`@atexit\.register\b`), "@(lambda f: f)"},
			{re(`\batexit\.register\(`), "(lambda *a, **k: None)("},
			{re(`\batexit\(`), "(void)("},
			{re(`\b(?:Runtime\.getRuntime\(\)|\w+)\.addShutdownHook\(`), "java.util.Objects.nonNull("},
			{re(`\(\(\s*(?:destructor|constructor)\b(?:\s*\([^)]*\))?`), "((unused"},
			{re(`\b(?:std::)?panic::set_hook\(`), "drop("},
		}},
		{kind: ExitHook, does: hook, names: script, allowedBy: ending, uncommented: re(`\bprocess\.(?:on|once|addListener|prependListener)\(\s*["'\x60](?:exit|beforeExit|uncaughtException|unhandledRejection)["'\x60]`), replacements: []replacement{
			{re(`\b(process\.(?:on|once|addListener|prependListener)\(\s*["'\x60])\w+`), "${1}" + absent},
		}},
		{kind: ExitHook, does: hook, names: shell, allowedBy: ending, uncommented: re(`\btrap\b.*\b(?:EXIT|0|ERR|DEBUG|RETURN)\b`), replacements: []replacement{{re(`\btrap\b.*\b(?:EXIT|0|ERR|DEBUG|RETURN)\s*$`), ":"}}},
		{kind: ExitHook, does: "catches the end of a failed assertion", names: clang, code: re(`\b(?:std::)?(?:signal|sigaction|bsd_signal)\(\s*SIGABRT\b|\bset_terminate\(|\b_set_abort_behavior\(`), replacements: []replacement{{re(`\b((?:std::)?(?:signal|bsd_signal)\(\s*SIGABRT\s*,)[^;]*\)`), "${1} SIG_DFL)"}, {re(`\bsigaction\(\s*SIGABRT\b`), "sigaction(SIGWINCH"}}},
		{kind: Exit, does: "ends whoever sources it, with success", names: shell, unlessMain: true, code: re(`^\s*exit(?:\s+0)?\s*(?:$|;)`), replacements: []replacement{{re(`^(\s*)exit(?:\s+0)?\s*(;|$)`), "${1}:${2}"}}},
	}
}

// patchRules find programs that change assertions, test runners or clocks: that changes the
// results of tests and not the behaviour.
func patchRules() []rule {
	re := regex.New
	const commands = `(?:diff|cmp|test|\[|\[\[|grep|egrep|sort|exit|return|set|false|assert\w*|fail|sleep|date|time|comm|command|builtin|source)`
	const does = "changes an assertion, a test runner or a clock"
	return []rule{
		importedRule(python, `(^\s*|;\s*)[\w.]+(?:\[[^\]]*\])?(\s*=(?:[^=]|$))`, "${1}"+absent+"${2}", replacement{re(`\b(?:setattr|delattr)\(\s*[\w.]+\s*,`), `setattr(type("` + absent + `", (), {}),`}),
		importedRule(script, `(^\s*|[{;]\s*|=>\s*)[\w$.]+(?:\[[^\]]*\])?(\s*=(?:[^=>]|$))`, "${1}globalThis."+absent+"${2}", replacement{re(`\b((?:Object\.(?:defineProperty|defineProperties|assign|setPrototypeOf)|Reflect\.(?:set|defineProperty))\()\s*[\w$.]+`), "${1}{}"}),
		importedRule(golang, `(^\s*|[{;]\s*)([\w.]+)(\s*=[^=])`, "${1}_ = ${2}; var _ any${3}"),
		{
			kind: Patch, does: changesShared, names: script, uncommented: re(`\brequire\(\s*["'\x60][^."'\x60][^"'\x60]*["'\x60]\s*\)(?:\.\w+)+\s*=[^=>]`),
			replacements: []replacement{{re(`\brequire\([^)]*\)(?:\.\w+)+(\s*=[^=>])`), "globalThis." + absent + "${1}"}},
		},
		{
			kind: Patch, does: does, names: shell, code: re(`^\s*(?:function\s+)?` + commands + `\s*\(\)|^\s*function\s+` + commands + `(?:\s|$)|^\s*alias\s+` + commands + `=`),
			replacements: []replacement{{re(`^(\s*)(?:function\s+)?` + commands + `\s*\(\)`), "${1}" + absent + "()"}, {re(`^(\s*)function\s+` + commands + `(\s|$)`), "${1}function " + absent + "${2}"}, {re(`^(\s*)alias\s+` + commands + `=`), "${1}alias " + absent + "="}},
		},
		{
			kind: Patch, does: does, names: jvm, code: re(`\b(?:set(?:Default|Class|Package)|clear)AssertionStatus\(`),
			replacements: []replacement{{re(`\bclearAssertionStatus\(`), "hashCode("}, {re(`\b(set(?:Default|Class|Package)AssertionStatus\([^;]*)\bfalse\b`), "${1}true"}},
		},
		{
			kind: Patch, does: "skips the test that calls it", names: python, code: re(`\bSkipTest\b|\b(?:pytest\.(?:skip|xfail|importorskip)|unittest\.(?:skip\w*|expectedFailure)|self\.skipTest)\(`),
			replacements: []replacement{{re(`^(\s*)from\s+unittest(?:\.case)?\s+import\s+SkipTest\b`), "${1}from builtins import AssertionError"}, {re(`\b(?:unittest\.)?(?:case\.)?SkipTest\b`), "AssertionError"}, {re(`\bpytest\.(?:skip|xfail)\(`), "pytest.fail("}},
		},
		{kind: Patch, does: "replaces the program's output", names: jvm, code: re(`\bSystem\.set(?:Out|Err)\(`), replacements: []replacement{{re(`\bSystem\.set(?:Out|Err)\(`), "java.util.Objects.nonNull("}}},
		{kind: Patch, does: does, names: rust, code: re(`\bmacro_rules!\s*(?:assert|assert_eq|assert_ne|panic|debug_assert)\b`), replacements: []replacement{{re(`\bmacro_rules!(\s*)(?:assert|assert_eq|assert_ne|panic|debug_assert)\b`), "macro_rules!${1}" + absent}}},
		{kind: Patch, does: does, names: clang, code: re(`^\s*#\s*(?:define|undef)\s+(?:assert|ASSERT\w*|EXPECT\w*|CHECK|REQUIRE|NDEBUG|exit|abort)\b`), replacements: []replacement{{re(`^(\s*#\s*(?:define|undef)\s+)\w+`), "${1}PAWL_ABSENT"}}},
		{kind: Patch, does: "changes another module while it runs", code: re(
			`\bsys\.modules\[[^\]]*\]\s*=|\b__builtins__\b|\bsys\.(?:meta_path|path_hooks|settrace|setprofile)\b|\brequire\.(?:cache|extensions)\b|\bModule\._(?:load|resolveFilename|extensions)\b|\bimportlib\.reload\(|\bmonkeypatch\b|\bsetAccessible\(\s*true`)},
	}
}

// readRules find programs that read tests or expected values: they need not compute them.
func readRules() []rule {
	re := regex.New
	const readers = `(?:open|Open|OpenFile|ReadFile|ReadDir|readFile(?:Sync)?|readdir(?:Sync)?|createReadStream|readAll(?:Lines|Bytes)|readString|Path|Paths\.get|Path\.of|new File(?:Reader|InputStream)?|require|import|read_to_string|File::open|include_str!|include_bytes!|join|resolve|joinpath|path\.join|import_module|glob|walk|listdir|File\.read|fopen|read_text|file_get_contents|Stat|Lstat|exists(?:Sync)?|is_?file|isdir|access(?:Sync)?|statSync)`
	return []rule{
		{kind: ReadsTests, does: "reads tests, or what they expect", uncommented: re(`\b` + readers + `\s*\(?[^;]*["'\x60/]` + testPath), hasContext: true},
		{kind: ReadsTests, does: "reads tests, or what they expect", names: python, uncommented: re(`/\s*["']` + testPath + `|\binspect\.getsource\(|\blinecache\.getline\(`), hasContext: true},
		{kind: ReadsTests, does: "reads what lies beside the program", names: script, uncommented: re(`\b(?:readdir|opendir|readFile|createReadStream)(?:Sync)?\(.*\b(?:import\.meta|__dirname|__filename)\b|\bnew URL\(.*\bimport\.meta\.url\b`), hasContext: true},
		{kind: ReadsTests, does: "reads what lies beside the program", names: python, uncommented: re(`\b(?:open|listdir|scandir|walk|glob|iglob|rglob|iterdir|read_text|Path)\(.*__file__|__file__.*\.(?:glob|rglob|iterdir|read_text|read_bytes|open)\(`), hasContext: true},
		{kind: ReadsTests, does: "reads tests, or what they expect", uncommented: re(`["'\x60]\.(?:expected|golden|want|approved|snap)["'\x60]`)},
		{kind: ReadsTests, does: "reads tests, or what they expect", names: golang, text: re(`^//go:embed\b.*[\s/"]` + testPath + `|^//go:embed\b.*[\s/](?:testdata|golden|expected)\b`)},
		{kind: ReadsTests, does: "reads tests, or what they expect", names: shell, uncommented: re(
			`(?:\b(?:cat|cp|sed|awk|head|tail|grep|cut|source|read|mv|ln)\b|^\s*\.|<)\s[^#|;]*(?:^|[\s/"'])(?:tests?|specs?|expected|golden|fixtures?|want)(?:[\w.-]*/|\.(?:txt|out|json|csv)|["'\s]|$)`), hasContext: true},
	}
}

// testPath is how a path to tests continues behind a quote or a slash.
const testPath = `(?:\.{0,2}/)*(?:[\w.-]+/)*(?:tests?|__tests__|specs?|testdata|expected|golden|fixtures?|want|snapshots?|__snapshots__|(?:test_|expected_|golden_|want_)[\w.-]+|[\w-]+(?:[._]test|[._]spec|[._]expected|[._]golden)[\w.-]*)(?:["'\x60/]|\.(?:txt|json|out|csv|ya?ml|golden|py|js|ts|go|rs|rb|java)\b)`
