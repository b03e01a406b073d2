package sign

import (
	"regexp"
	"slices"

	"github.com/pawl-dev/pawl/internal/regex"
)

// effectRules find results that depend on something nobody asked for: the build, the
// environment, a hash of the input, a redefined word of the language.
func effectRules() []rule {
	re := regex.New
	return slices.Concat([]rule{
		{
			kind: TestDetection, does: "reads a variable of the environment that nobody named", names: python + " " + script + " " + golang + " " + rust + " " + jvm + " " + ruby + " " + clang,
			uncommented: re(environment + `["'\x60]?(?:[A-Z][A-Z0-9_]+|npm_\w+)`), replaceFunc: func(read string) string {
				name := lastName.FindString(read)
				if ofMachine.MatchString(name) {
					return read
				}
				return read[:len(read)-len(name)] + absent
			},
			replacements: []replacement{{re(environment + `["'\x60]?(?:[A-Z][A-Z0-9_]+|npm_\w+)`), ""}},
		},
		{kind: TestDetection, does: "uses a library for tests", unlessMain: true, uncommented: re(
			`^\s*(?:import|from)\s+(?:unittest|pytest|_pytest|mock|nose)\b|\b(?:require\(|from)\s*["'](?:sinon|jest|@jest/[\w-]+|vitest|chai|mocha|node:test|@testing-library/[\w-]+)["']|^\s*import\s+(?:static\s+)?(?:org\.junit|org\.mockito|org\.testng|org\.assertj)\b|^\s*(?:import\s+)?(?:\w+\s+)?"(?:testing|testing/\w+|github\.com/stretchr/testify/\w+)"`)},
		{kind: Answers, does: "decodes data that is written in it", allowedBy: `base64|\bhex\b|binar|embed|compress|encod|decod|\bkeys?\b|certificate|icon|image`, uncommented: re(
			`\b(?:b64decode|b85decode|a85decode|atob|fromhex|unhexlify|decompress|DecodeString|decode|Buffer\.from)\(\s*[rbu]*["'\x60][A-Za-z0-9+/=_-]{16,}`)},
		{kind: OtherProgram, does: "starts another program", allowedBy: `\b(?:exec\w*|commands?|sub-?process\w*|spawn\w*|shell|git|popen|child|launch\w*|invoke\w*|binary|tools?|editor|pager)\b`, names: golang + " " + python + " " + script + " " + rust + " " + jvm + " " + ruby + " " + clang, code: re(
			`\bexec\.Command(?:Context)?\(|\bsubprocess\.\w+\(|\bos\.(?:system|popen|exec\w+|spawn\w+)\(|\bchild_process\b|\b(?:exec|spawn)(?:File)?(?:Sync)\(|\bCommand::new\(|\bnew ProcessBuilder\(|\bgetRuntime\(\)\.exec\(|\bpopen\(|[^\w.>]system\(|\bexec[lv][pe]*\(|\bOpen3\b`)},
		{kind: Wait, does: waits, allowedBy: waiting + `|\bdebounc|\brate.?limit|\bper second|\bschedul|\bcountdown|\bspinner`, replacements: noPause(), outsideLoops: true, uncommented: re(
			`\btime\.Sleep\(|\btime\.After\(|\bThread\.sleep\(|\bTimeUnit\.\w+\.sleep\(|\bthread::sleep\(|(?:^|[^\w.])(?:u|nano)?sleep\(|\btime\.sleep\(|\basyncio\.sleep\(\s*(?:[^0\s)]|0?\.\d)|\bsetTimeout\(\s*\w+\s*,\s*[1-9]`)},
		{kind: Wait, does: waits, allowedBy: waiting, names: shell, replacements: []replacement{{re(`(^|[;&|]|\b(?:do|then|else)\b)(\s*)sleep(\s)`), "${1}${2}:${3}"}}, outsideLoops: true, code: re(`(?:^|[;&|]|\b(?:do|then|else)\b)\s*sleep\s`)},
		{kind: Patch, does: "sets what a sanitizer reports", names: clang, code: re(`\b__[a-z]+san_default_\w+\s*\(`), replacements: []replacement{{re(`\b(__[a-z]+san_default_\w+)(\s*\()`), absent + "${1}${2}"}}},
		{kind: Patch, does: "prints what a test runner prints", uncommented: re(`["'\x60](?:\\n)*(?:--- PASS|PASS\\n|TAP version 1|ok \d+ - |test result: ok|BUILD SUCCESS|\[ +PASSED +\]|=+ \d+ passed|OK \(\d+ tests?)`)},
	}, surroundingsRules(), buildRules(), hashRules(), shadowRules())
}

// surroundingsRules find code that looks at all that surrounds it, or at what it did before. A
// program that names no variable may search for those of a test runner.
func surroundingsRules() []rule {
	re := regex.New
	const all, thread, calls = "looks through the whole environment", "looks at the name of its thread", "counts its calls"
	const counted = `\bcount|\bids?\b|\bsequence|\bunique|\bnumber(?:s|ed|ing)\b|\bstatist|\bmetric|\bcalls?\b|\bnext\b|\brotat|\brandom|\bround.?robin`
	const integer = `(?:(?:unsigned|signed|long|short|int|size_t|u?int\d+_t)\s+)+`
	return []rule{
		{kind: TestDetection, does: all, allowedBy: `\benviron|\benv\b|\bvariables?\b`, uncommented: re(
			`\bObject\.(?:keys|entries|values)\(process\.env\)|\bfor\b.*\bin\s+(?:process\.env|os\.environ)\s*(?:[):\]]|$|if\b)|\bos\.environ\.(?:items|keys|values)\(|\brange\s+os\.Environ\(\)|\bslices\.\w+\(os\.Environ\(|\benv::vars(?:_os)?\(\)|\bSystem\.getenv\(\)\.`), replacements: []replacement{
			{re(`\bprocess\.env\b`), "{}"},
			{re(`\bos\.environ\b`), "{}"},
			{re(`\bos\.Environ\(\)`), "[]string(nil)"},
			{re(`\b(?:std::)?env::vars\(\)`), "std::iter::empty::<(String, String)>()"},
			{re(`\bSystem\.getenv\(\)`), "java.util.Map.<String, String>of()"},
		}},
		{kind: Caller, does: thread, allowedBy: `\bthreads?.?names?\b`, code: re(
			`\bthread::current\(\)(?:\s*$|\.name\(\))|\bThread\.currentThread\(\)\.getName\(\)|\bcurrent_thread\(\)\.name\b`), replacements: []replacement{
			{re(`\b(?:std::)?thread::current\(\)`), "std::thread::spawn(|| {}).thread().clone()"},
			{re(`\bThread\.currentThread\(\)`), "new Thread()"},
			{re(`\b(?:threading\.)?current_thread\(\)`), `__import__("threading").Thread()`},
		}},
		{kind: Answers, does: calls, allowedBy: counted, names: "*.c *.cc *.cpp *.cxx", code: re(`^\s+static\s+` + integer + `\w+\s*(?:=\s*0\s*)?;`), replacements: []replacement{
			{re(`\b(static\s+` + integer + `\w+)\s*(?:=\s*0\s*)?;`), "${1} = 99;"},
		}},
		{kind: Answers, does: calls, allowedBy: counted, names: golang, unlessMain: true, code: re(`^var\s+\w+\s+(?:u?int\d*|atomic\.U?[Ii]nt\d+)\s*$`)},
		{kind: Answers, does: calls, allowedBy: counted, names: script, unlessMain: true, code: re(`^let\s+\w+(?:\s*:\s*number)?\s*=\s*0\s*;?\s*$`)},
		{kind: Answers, does: calls, allowedBy: counted, names: python, unlessMain: true, code: re(`^[a-z_]\w*\s*=\s*(?:0|itertools\.count\(.*\))\s*$`)},
		{kind: Answers, does: calls, allowedBy: counted, names: rust, code: re(`^\s*static\s+(?:mut\s+)?\w+\s*:\s*(?:Atomic[UI]\w+|[ui]\d+|[ui]size)\s*=`)},
		{kind: Answers, does: calls, allowedBy: counted, names: jvm, code: re(`\bstatic\s+(?:int|long)\s+\w+\s*(?:=\s*0\s*)?;|\bstatic\s+(?:final\s+)?Atomic(?:Integer|Long)\b`)},
	}
}

// waits is the sign of a pause, and waiting what asks for one.
const (
	waits   = "waits for a time, and for no event"
	waiting = `\bback.?off|\bdelay|\bretr(?:y|ies)|\bpoll|\bthrottl|\binterval|\b\d+ ?(?:ms|s|sec|milliseconds?|seconds?|minutes?)\b|\bseconds\b`
)

// noPause are pauses that end at once.
func noPause() []replacement {
	re := regex.New
	return []replacement{
		{re(`\btime\.Sleep\(`), "func(time.Duration) {}("},
		{re(`\bThread\.sleep\([^()]*\)`), "Thread.sleep(0)"},
		{re(`\bTimeUnit\.(\w+)\.sleep\([^()]*\)`), "TimeUnit.${1}.sleep(0)"},
		{re(`\b(?:std::)?thread::sleep\(`), "(|_: std::time::Duration| {})("},
		{re(`\btime\.sleep\(`), "(lambda *a: None)("},
		{re(`\basyncio\.sleep\([^()]*\)`), "asyncio.sleep(0)"},
		{re(`\bsetTimeout\((\s*\w+\s*),\s*[1-9][\d_]*\s*\)`), "setTimeout(${1}, 0)"},
		{re(`(^|[^\w.])(?:u|nano)sleep\(`), "${1}(void)("},
	}
}

// environment is how a variable of the environment is read, up to its name; those of
// every machine (HOME, PATH) are not meant.
const environment = `(?:\bos\.environ(?:\.get\(|\[)|\bos\.getenv\(|\bos\.(?:Getenv|LookupEnv)\(|\bprocess\.env(?:\.|\[)|\bSystem\.getenv\(|\benv::var(?:_os)?\(|\b(?:secure_)?getenv\(|\bENV(?:\.fetch\(|\[))`

// ofMachine matches variables that systems and build tools set for everybody.
var ofMachine = regex.New(`^(?:OUT_DIR|CARGO(?:_\w+)?|TARGET|PROFILE|HOME|USER|LOGNAME|PATH|PWD|SHELL|TE?MP|TMPDIR|TZ|LANG|LC_\w+|TERM|COLORTERM|NO_COLOR|COLUMNS|LINES|EDITOR|VISUAL|PAGER|XDG_\w+|APPDATA|USERPROFILE|HOSTNAME|JAVA_HOME|GOPATH|GOROOT|VIRTUAL_ENV|PORT|DATABASE_URL)$`)

// buildRules find code that depends on build tags. Tags of systems and versions are no signs.
func buildRules() []rule {
	re := regex.New
	const does = "is other code where the build says so"
	other := func(word, to string) string {
		name := lastWord.FindString(word)
		if isPlatform.MatchString(name) {
			return word
		}
		return word[:len(word)-len(name)] + to
	}
	return []rule{
		{kind: TestDetection, does: does, names: golang, text: re(`^//go:build\b`), replaceFunc: func(s string) string { return other(s, absent) }, replacements: []replacement{{re(`[A-Za-z_][\w.]*`), ""}}},
		{kind: TestDetection, does: does, names: clang, text: re(`^\s*#\s*(?:el)?if`), replaceFunc: func(s string) string { return other(s, "PAWL_ABSENT") }, replacements: []replacement{{re(`(?:\bifn?def\s+|\bdefined\s*\(?\s*)\w+`), ""}}},
		{kind: TestDetection, does: does, names: rust, uncommented: re(`\bcfg(?:_attr)?!?\s*\(.*\bfeature\s*=\s*"`), replaceFunc: func(s string) string { return other(s, absent) }, replacements: []replacement{{re(`\bfeature\s*=\s*"[\w-]+`), ""}}},
	}
}

// lastName is the last name of what reads a variable: GRACE_MS of process.env.GRACE_MS.
var lastName = regex.New(`\w+$`)

var lastWord = regex.New(`[\w.-]+$`)

// isPlatform matches words of build constraints that mean a system, a compiler or a
// version, and those that keep a header from being read twice.
var isPlatform = regex.New(`^(?:go|build|go\d[\w.]*|ignore|cgo|gc|gccgo|tinygo|race|msan|asan|purego|unix|aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows|386|amd64|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm|__\w+|_WIN\w*|\w+_H(?:PP)?_*|\w+_INCLUDED|_GNU_SOURCE|defined|default|std|alloc|serde)$`)

// hashRules find answers that are looked up by a hash of the question. With another hash
// a table that is honest says the same.
func hashRules() []rule {
	re := regex.New
	const asked = `hash|checksum|digest|crc|adler|\bmd5|\bsha\d*|etag|signature|fingerprint|bloom|shard|bucket|uuid|cach|token|password|content.address|integrity|consistent|identi`
	salted := func(call, typ string) replacement {
		return replacement{re(`\b` + regexp.QuoteMeta(call) + `\(`), `func(b []byte) ` + typ + ` { return ` + call + "(append([]byte(\"" + absent + "\"), b...)) }("}
	}
	const does = "answers by a hash of what it is asked"
	// arm is a case for one number that is too large to say something by itself.
	const large = `\b(?:0[xX][0-9a-fA-F_]{7,}|\d[\d_]{7,})(?:[uU]?[lL]*|_?[iu]\d\d)\b`
	const arm = `[ \t]*(?:case\s+|Map\.of\()?` + large + `\s*(?:=>|->|:|,\s*new\b)`
	// of is one of the lengths by which something else is done.
	const of = `\s*(?:case\s+)?\d+\s*(?:=>|->|:)[^\n]*\n`
	return []rule{{
		kind: Answers, does: "answers by the length of what it is asked", allowedBy: `\blen(?:gth)?s?\b|\bdigits?\b|\bcharacters?\b`,
		across: re(`\b(?:match|switch)\b[^\n{]*(?:\.len\(\)|\.length\b(?:\(\))?|\b(?:len|strlen)\([^\n)]*\))[^\n{]*[{:]\s*\n(?:` + of + `){3}`),
	}, {
		kind: Answers, does: "answers by numbers that say nothing", everyLine: true,
		across: re(`(?m)^` + arm + `[^\n]*\n(?:[^\n]*\n){0,2}?` + arm), replaceFunc: otherNumber, replacements: []replacement{{re(large), ""}},
	}, {
		kind: Answers, does: does, allowedBy: asked + `|cksum`, names: shell, code: re(`\b` + sums + `\b`),
		replacements: []replacement{{re(`(\|\s*)(` + sums + `\b[^|)]*)`), "${1}{ cat; echo " + absent + "; } | ${2}"}, {re(`\b(` + sums + `)\s*<\s*("[^"]*"|[^\s;|)]+)`), "{ cat ${2}; echo " + absent + "; } | ${1}"}},
	}, {
		kind: Answers, does: does, allowedBy: asked, names: python, code: re(`(?:^|[^\w. ]|[^f] )hash\(`), replacements: []replacement{{re(`(^|[^\w.])hash\(`), `${1}(lambda v: hash(("` + absent + `", v)))(`}},
	}, {
		kind: Answers, does: does, allowedBy: asked, code: re(
			`\b(?:crc32|crc64|adler32)\.Checksum\w*\(|\bfnv\.New\w*\(|\b(?:md5|sha1)\.Sum\(|\bsha(?:256|512)\.Sum\w+\(|\bhashlib\.\w+\(|\b(?:zlib|binascii)\.(?:crc32|adler32)\(|\bcreateHash\(|\.hashCode\(\)|\bDefaultHasher::new`),
		replacements: []replacement{
			salted("crc32.ChecksumIEEE", "uint32"), salted("adler32.Checksum", "uint32"),
			salted("md5.Sum", "[16]byte"), salted("sha1.Sum", "[20]byte"), salted("sha256.Sum256", "[32]byte"), salted("sha512.Sum512", "[64]byte"),
			{re(`\bfnv\.New(32|64)\(\)`), "fnv.pawl${1}()"},
			{re(`\bfnv\.New(32|64)a\(\)`), "fnv.New${1}()"},
			{re(`\bfnv\.pawl(32|64)\(\)`), "fnv.New${1}a()"},
			{re(`\bhashlib\.(\w+)\(\s*([^\s)])`), `hashlib.${1}(b"` + absent + `" + ${2}`},
			{re(`\b(zlib|binascii)\.(crc32|adler32)\(\s*([^\s)])`), `${1}.${2}(b"` + absent + `" + ${3}`},
			{re(`\bcreateHash\(([^()]*)\)`), "createHash(${1}).update('" + absent + "')"},
			{re(`\b(\w+)\.hashCode\(\)`), `("` + absent + `" + ${1}).hashCode()`},
		},
	}}
}

// otherNumber is a large number with one of its digits changed.
func otherNumber(text string) string {
	const at = 4
	if text[at] == '1' {
		return text[:at] + "2" + text[at+1:]
	}
	return text[:at] + "1" + text[at+1:]
}

// shadowRules find words of the language, and functions that everybody has, with another
// meaning: in one package, or behind one header, the tests mean that one.
func shadowRules() []rule {
	re := regex.New
	const does = "gives a word of the language another meaning"
	return []rule{
		{kind: Shadow, does: does, names: golang, code: re(`^(?:func|var|const|type)\s+(?:` + goWords + `)\b|^\t(?:true|false|nil|iota)\b[\w\s]*=[^=]`), replacements: []replacement{
			{re(`^(func|var|const|type)(\s+)(?:` + goWords + `)\b`), "${1}${2}" + absent}, {re(`^\t(?:true|false|nil|iota)\b([\w\s]*=[^=])`), "\t" + absent + "${1}"},
		}},
		{kind: Shadow, does: does, names: clang, code: re(`^\s*#\s*(?:define|undef)\s+(?:` + cWords + `)\b`), replacements: []replacement{{re(`^(\s*#\s*(?:define|undef)\s+)\w+`), "${1}PAWL_ABSENT"}}},
		{kind: Shadow, does: does, names: clang, code: re(`^[A-Za-z_][\w\s*]*[\s*](?:` + cFunctions + `)\s*\([^;]*$`), replacements: []replacement{{re(`\b(` + cFunctions + `)(\s*\()`), absent + "_${1}${2}"}}},
	}
}

const (
	sums       = `(?:cksum|(?:md5|b2|sha\d+|sha)sum|shasum|md5)`
	goWords    = `len|cap|append|make|panic|recover|true|false|nil|iota|string|int|int64|uint|byte|rune|float64|bool|error|comparable`
	cFunctions = `strcmp|strncmp|strcasecmp|memcmp|strlen|strstr|strchr|strdup|memcpy|abs|fabs|fabsf|labs|isnan|isinf|puts|printf|fprintf|putchar|exit|abort|_exit|_Exit|atexit|__assert_fail|time|clock|rand|random|getenv`
	cWords     = cFunctions + `|if|else|while|for|do|switch|return|break|continue|int|long|char|double|float|unsigned|signed|const|static|struct|sizeof|main|true|false|NULL|EXIT_\w+|assert|ASSERT\w*|EXPECT\w*|CHECK|REQUIRE|NDEBUG`
)
