package sign

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// A word in a task often implies a mechanism: atomic writes rename a file or hold a lock, and
// deleting needs a call that deletes. Work without such a mechanism may only claim to do the
// task. The rules are data: what a task says, what shows that the work may do it, and the text
// of the sign.

type mechanism struct {
	requested *regex.Regex // in the task's text
	present   *regex.Regex // in a program without comments
	missing   string       // "no ..."

	testable bool                                      // tests notice when it is missing
	anywhere bool                                      // it may be in any program, also one that only calls the changed ones
	read     func(program string, own []string) string // what counts of a program, nil = all
}

func (m mechanism) reading(read func(string, []string) string) mechanism {
	m.read = read
	return m
}

func (m mechanism) noticed() mechanism {
	m.testable = true
	return m
}

func newMechanism(asked, by, lacks string) mechanism {
	return mechanism{requested: regex.New(`(?i)` + asked), present: regex.New(`(?i)` + by), missing: lacks}
}

// What a task says of JSON, and what programs have that read or write it.
const (
	ofJSON      = `(?:[^.;\n]|\.\w){0,80}?[^\w./-]\.?json\b`
	jsonLibrary = `\bjson\.\w|\bjson\b[^\n]*\bimport\b|\bimport\b[^\n]*\bjson\b|encoding/json|json_\w|json(?:::|->)|json\w*(?:serial|deserial|convert|node|document|value|pars|encod|decod)|require\([^)]*json|_json\b|\.json\(|serde|jackson|gson|jsonobject|jsonarray|\bjq\b|marshal|objectmapper`
)

var mechanisms = [...]mechanism{
	newMechanism(`\b(?:delet|prun|purg|wip)es? (?:\w+ )?(?:all|the|old|every|any|its|their|them|it|files?|entries|archives?|folders?)\b|\bremoves? (?:(?:the|its|their|all|old|every) )*(?:\w+ )?(?:files?|folders?|director(?:y|ies)|entr(?:y|ies)|rows?|records?) (?:when|if|after|once|on|older)\b`, `\brm\b|\brmdir\b|unlink|-delete\b|\bdel\b|(?:delete|remove)(?:[^d]|$)|erase|evict|clear|drop(?:[^ ]|$)|\bpop|truncate|retain|filter|splice|free\(|destroy`, "no call that removes anything").noticed(),
	newMechanism(`\b(?:atomic(?:ally)?|survives? a crash|crash[- ]safe|never half\b)`, `renam|replace\(|\bmv\b|\bmove|atomic_|atomic\.|::atomic|compare|swap|link\(|lock|synchronized|transaction|\bbegin\b|commit|rollback`, "no call that renames a file, locks or commits").reading(withoutBackups),
	newMechanism(`\b(?:several|many|multiple|two|other|different|all) threads\b|\bthread-?safe|\bconcurrent(?:ly)?\b|\bgoroutines\b`, `lock|mutex|atomic|synchronized|semaphore|chan\b|channel|concurrenthashmap|longadder|queue|threading|std::thread|sync\.map|\bgo func|\bgo \w|spawn|executor|pool|promise|await|volatile|\bthread\w*\(`, "no lock that is taken, atomic value or queue").reading(withoutMadeLocks),
	{requested: regex.New(`(?i)\b(?:read|load|pars|import)\w*\b` + ofJSON), present: regex.New(`(?i)` + jsonLibrary + `|["'][{\[]["']|\b(?:sed|awk|grep)\b`), missing: "nothing that reads JSON", anywhere: true},
	{requested: regex.New(`(?i)\b(?:accept|support|export|writ|print|output|emit|serializ|dump|sav|stor)\w*\b` + ofJSON), present: regex.New(`(?i)` + jsonLibrary + `|[{\[]\\?["']|["'][{\[]`), missing: "nothing that reads or writes JSON", anywhere: true},
	newMechanism(`\b(?:leaks? (?:\w+ )?(?:blocks?|nodes?|buffers?|memory|entries|handles?|descriptors?|connections?)|memory leaks?|free (?:them|it|every|each|all))\b`, `free\w*\(|\bdelete\b|delete\(|close|drop|release|dispose|remove|destroy|clear|evict|unref|weak|defer|cancel|\bpop|shutdown|unsubscribe|\bwith\b|\busing\b`, "no call that frees anything"),
	newMechanism(`\b(?:encrypt(?:s|ed|ion)?|cipher|decrypt\w*)\b`, `\w\s*\^=?\s*\w|\bxor\b|createcipher|createdecipher|\bcipher\.|cipher::|fernet|evp_\w|openssl|secretbox|\baead\b|subtle\.|newgcm|newctr|getinstance`, "no cipher and no exclusive or"),
	newMechanism(`\bin parallel\b|\bworker pool\b|\b(?:\w+ )?worker threads\b`, `\bgo func|\bgo \w+|errgroup|threading|thread|pool|executor|spawn|promise\.|gather\(|create_task|rayon|fork|worker_threads|omp |async|&\s*$|xargs|\bwait\b`, "nothing that runs beside another"),
	newMechanism(`\bleast recently used\b|\blru\b`, `list\.|move|order|recent|used|touch|stamp|tick|clock|time|\bseq|head|tail|lru_|, *true\)|delete|remove|insert|append|push|\bpop`, "nothing that notes a use where it looks something up").reading(lookups),
	newMechanism(`\b(?:compar|check|verif|equal)\w*\b[^.]*\bconstant[- ]time\b|\bconstant[- ]time (?:compar|check|verif|equal)`, `compare_digest|timingsafeequal|constanttime|\^|ct_eq|isequal`, "no comparison in constant time"),
	newMechanism(`\b(?:on|upon|if|when|by) (?:a )?panics?\b|\bpanics?, `, `recover\(|catch_unwind|impl\b[^\n]*\bdrop\b|scopeguard|defer\b`, "nothing that runs on a panic"),
	newMechanism(`\bcancel(?:s|led|ling|lation)?\b.*\b(?:at once|immediately|in the middle|promptly|early)\b|\b(?:at once|stop early|immediately)\b.*\bcancel`, `\.done\(\)|abort|signal|select\b|cancel|interrupt|wait_for|token`, "nothing that waits for the cancellation"),
	newMechanism(`\bas soon as \w+ (?:\w+ )?(?:is |are )?(?:cancell?ed|aborted)\b|\babort(?:s|ed)? (?:the|its|an|any|all) (?:\w+ )?(?:requests?|calls?|fetch(?:es)?|downloads?|uploads?)\b`, `.`, "nothing that heeds the cancellation once it works").reading(heeds),
	newMechanism(`\b(?:transaction(?:s|al)?|all or nothing|rolls? back|rollback)\b`, `transaction|\bbegin\b|commit|rollback|savepoint|snapshot|clone|copy|undo|restore|backup|stag|pending|\bnew map\b|temp|tmp|validate`, "nothing that takes changes back").noticed(),
	newMechanism(`\b(?:back-?off|doubling|doubles? (?:each|with)|exponential back\w*|twice as long)\b`, `\*\s*2|2\s*\*|\*=|<<|pow|\*\*|shl|backoff|multiplier|factor`, "nothing that doubles"),
	newMechanism(`\bcryptograph\w*|\b(?:secure|fresh|unguessable|random) (?:\w+ )?(?:random|salts?|nonces?|tokens?|keys?|ids?)\b`, `crypto|secrets|urandom|securerandom|getrandom|osrng|thread_rng|rand::|random_bytes|randombytes|arc4random|uuid4|token_|/dev/u?random`, "no random source that cannot be guessed"),
	newMechanism(`\bdebounc\w*`, `clear(?:timeout|interval)|cancel|\.(?:stop|reset|refresh)\(|abort|\bnow\(|seq|generation|latest|debounce\(`, "nothing that begins the wait again").noticed(),
	newMechanism(`\b(?:usable|used|work|works|serve|serves) as (?:a |the )?keys?\b|\b(?:be|become|make \w+) hashable\b`, `hash|\brecord\b|dataclass\(|namedtuple|case class|data class|comparable|\bord\b`, "nothing that makes a hash"),
	newMechanism(`\b(?:check|verif|valid)\w* (?:the |its |their |each |every )*(?:[\w-]+ )?(?:signatures?|hmac|x-[\w-]*signature)\b`, `[=!]=|equal|compar|\.eq\(|verif\w*\(|\bsame|memcmp|strcmp|\bin\b|sum -c`, "nothing that compares more than lengths").reading(withoutLengths),
	newMechanism(`\bhmac\b`, `hmac|getinstance|createhmac`, "no HMAC"),
	newMechanism(`\b(?:fsync|durabl[ey])\b`, `sync\(|fsync|flush|fdatasync|force\(`, "nothing that syncs a file"),
	newMechanism(`\b(?:re)?tr(?:y|ies)\b[^.\n]*\bwait(?:ing)?\b[^.\n]*\b(?:between|before)\b`, `sleep|settimeout|timeout\s*=|\.timeout\(|timer|\bafter\(|\.wait|\bwait\w*\(|await|tick|delay\w*\(|pause\w*\(|park|select\b|poll|schedul|clock|now\(`, "no call that waits"),
	newMechanism(`\b(?:time ?out|times out|deadline)s?\b`, `time|deadline|expire|alarm|after\(|\bnow\(|select|poll\(`, "nothing that looks at a clock"),
}

// ShouldBeNoticed reports whether a line of a program is a mechanism that a task implies, and without which
// some test should fail: a removal, but not a lock.
func ShouldBeNoticed(asked, line string) bool {
	return slices.ContainsFunc(mechanisms[:], func(m mechanism) bool {
		return m.testable && m.requested.MatchString(asked) && m.present.MatchString(line)
	})
}

// MissingMechanisms returns the mechanisms that a task implies and a program does not have; others are
// the programs that were not changed, own the names that the work declares: these are no means. A call of
// a function with the task's word in its name counts as the mechanism: write_atomically(…).
func MissingMechanisms(asked, program, others string, own []string) (lacks []string) {
	for _, m := range mechanisms {
		at := m.requested.FindStringIndex(asked)
		if at == nil || negation.MatchString(asked[:at[0]]) || m.anywhere && negation.MatchString(asked[:at[0]+strings.LastIndexAny(asked[at[0]:at[1]], " .\"'`")+1]) {
			continue
		}
		program := program
		if m.read != nil {
			program = m.read(program, own)
		}
		if program = WithoutNames(program, own); m.anywhere {
			program += others
		}
		if !m.present.MatchString(program) && !callsNamed(program, asked[at[0]:at[1]]) {
			lacks = append(lacks, "has "+m.missing+", and the task says "+truncate(asked[at[0]:at[1]]))
		}
	}
	return lacks
}

// WithoutNames returns a program without some names.
func WithoutNames(program string, names []string) string {
	for _, name := range names {
		program = regex.New(`\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllString(program, "_")
	}
	return program
}

// lookups returns the functions of a program that look something up, or all of it if there is none, or
// if one calls a function of the work, which may note the use.
func lookups(program string, own []string) string {
	var some strings.Builder
	within := -1
	for line := range strings.Lines(program) {
		if in := source.Indent(line); within < 0 || in <= within && strings.TrimSpace(line) != "" {
			if within = -1; lookup.MatchString(line) {
				within = in
				continue
			}
		}
		switch {
		case within >= 0 && slices.ContainsFunc(own, func(name string) bool { return strings.Contains(line, name+"(") }):
			return program
		case within >= 0 || orderOfAccess.MatchString(line):
			some.WriteString(line)
		}
	}
	return cmp.Or(some.String(), program)
}

// heeds returns the lines that look at a cancellation in a loop or after a wait, or hand it on.
func heeds(program string, _ []string) string {
	var some strings.Builder
	loops, waited := []int(nil), false
	for line := range strings.Lines(program) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		loops = slices.DeleteFunc(loops, func(of int) bool { return of >= source.Indent(line) })
		head := functionHead.MatchString(line)
		waited = !head && (waited || awaits.MatchString(line))
		if !head && (handsOn.MatchString(line) || (len(loops) > 0 || waited) && (cancelled.MatchString(line) || waited && comparesTurn.MatchString(line))) {
			some.WriteString(line)
		}
		if !head && repeats.MatchString(line) {
			loops = append(loops, source.Indent(line))
		}
	}
	return some.String()
}

// withoutLengths returns a program without comparisons of lengths.
func withoutLengths(program string, _ []string) string { return lengths.ReplaceAllString(program, "") }

// withoutMadeLocks returns a program without what declares or makes a lock. One that is never taken
// protects nothing.
func withoutMadeLocks(program string, _ []string) string {
	return madeLock.ReplaceAllString(program, "")
}

// withoutBackups returns a program without the lines that rename a file before the same function
// writes one, as for a backup: what is written then is not renamed.
func withoutBackups(program string, _ []string) string {
	lines := strings.Split(program, "\n")
	for i, line := range lines {
		if !renames.MatchString(line) {
			continue
		}
		for _, next := range lines[i+1 : min(len(lines), i+1+contextLines)] {
			if functionHead.MatchString(next) || renames.MatchString(next) {
				break
			}
			if writesFile.MatchString(next) {
				lines[i] = ""
				break
			}
		}
	}
	return strings.Join(lines, "\n")
}

var (
	madeLock      = regex.New(`(?m)^[ \t]*(?:import\b.*|from\b.*\bimport\b.*|use\b.*|using\b.*|#[ \t]*include\b.*|"sync(?:/atomic)?"|(?:[\w.]+[ \t]+)*sync\.(?:RW)?Mutex(?:[ \t]*//.*)?|[^\n=(]*(?::|=)[ \t]*(?:\w+\.)*R?Lock\(\)[ \t]*(?:#.*)?|[^\n=]*=[ \t]*new[ \t]+(?:\w+\.)*Reentrant(?:ReadWrite)?Lock\([^()\n]*\);)[ \t]*$`)
	lookup        = regex.New(`^\s*(?:func \([^)]*\) |[\w<>\[\], ]+ )?\w*(?i:get|load|look|find|fetch|read|access|peek)\w*\([^;]*$`)
	orderOfAccess = regex.New(`(?i)lru_|, *true\)|accessorder`)
	lengths       = regex.New(`(?:[\w.]+\.(?:length|size)(?:\(\))?|len\([\w.]+\))\s*[!=]==?\s*(?:[\w.]+\.(?:length|size)(?:\(\))?|len\([\w.]+\)|\d+)`)

	handsOn      = regex.New(`<-\s*\w+\.Done\(\)|addEventListener\(\s*["']abort|\w\(.*\b(?:ctx|context|token|cancel\w*|signal|\w+\.signal)\b\s*[,)}]`)
	cancelled    = regex.New(`(?i)\.err\(\)|aborted|cancel|interrupted|is_set\(`)
	comparesTurn = regex.New(`\b(?:if|unless)\b.*(?:[!=]==?|\bis\b)`)
	awaits       = regex.New(`\bawait\b|\.then\(`)
	repeats      = regex.New(`^\s*(?:for|while|loop|do)\b|\bfunc(?:tion)?\s?\([^)]*\).*\{\s*$|(?:=>|\|) *\{\s*$|\blambda\b`)

	renames      = regex.New(`(?i)renam|\breplace\(|\bmv\b|\bmove\w*\(`)
	writesFile   = regex.New(`\bopen\([^\n]*["'][wax]|[wW]riteFile|\bfs::write|File::create|\bos\.Create\(|\bfopen\([^\n]*"w|\bwrite_(?:text|bytes)\(|createWriteStream|FileWriter|Files\.write|FileOutputStream|>\s*"?\$`)
	functionHead = regex.New(`^\s*(?:def|func|function|fn|pub|public|private|protected|async|export|class)\b|^\}|^\w+\(\)\s*\{`)
)

// negation matches text before something that the task does not want.
var negation = regex.New(`(?i)\b(?:not|never|no|without|nor|instead of|rather than|(?:remov|drop|delet|replac|stop)\w*)\s+(?:\w+\s+){0,2}$`)

// callsNamed reports whether a program calls a function whose name contains the start of a word.
func callsNamed(program, word string) bool {
	return regex.New(`(?i)\w*` + regexp.QuoteMeta(word[:min(len(word), 5)]) + `\w*\(`).MatchString(program)
}
