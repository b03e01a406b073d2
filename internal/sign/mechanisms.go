package sign

import (
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// A word in a task often implies a mechanism: atomic writes rename a file or hold a lock, and
// deleting needs a call that deletes. Work without such a mechanism may only claim to do the
// task. The rules are data: what a task says, what shows that the work may do it, and the text
// of the sign.

type mechanism struct {
	requested *regex.Regex // in the task's text
	present   *regex.Regex // in a program without comments
	missing   string       // "no ..."

	anywhere bool                // it may be in any program, also one that only calls the changed ones
	read     func(string) string // what counts of a program, nil = all
}

func (m mechanism) reading(read func(string) string) mechanism {
	m.read = read
	return m
}

func newMechanism(asked, by, lacks string) mechanism {
	return mechanism{requested: regex.New(`(?i)` + asked), present: regex.New(`(?i)` + by), missing: lacks}
}

// removalMechanism is the index of the mechanism for tasks that ask to remove something.
const removalMechanism = 0

var mechanisms = [...]mechanism{
	removalMechanism: newMechanism(`\b(?:delet|prun|purg|wip)es? (?:\w+ )?(?:all|the|old|every|any|its|their|them|it|files?|entries|archives?|folders?)\b`, `\brm\b|\brmdir\b|unlink|-delete\b|\bdel\b|(?:delete|remove)(?:[^d]|$)|erase|evict|clear|drop|\bpop|truncate|retain|filter|splice|free\(|destroy`, "no call that removes anything"),
	newMechanism(`\b(?:atomic(?:ally)?|survives? a crash|crash[- ]safe|never half\b)`, `renam|replace\(|\bmv\b|\bmove|atomic_|atomic\.|::atomic|compare|swap|link\(|lock|synchronized|transaction|\bbegin\b|commit|rollback`, "no call that renames a file, locks or commits").reading(withoutBackups),
	newMechanism(`\b(?:several|many|multiple|two|other|different|all) threads\b|\bthread-?safe|\bconcurrent(?:ly)?\b|\bgoroutines\b|\brace conditions?\b`, `lock|mutex|atomic|synchronized|semaphore|chan\b|channel|concurrenthashmap|longadder|queue|threading|std::thread|sync\.map|\bgo func|\bgo \w|spawn|executor|pool|promise|await|volatile|\bthread\w*\(`, "no lock that is taken, atomic value or queue").reading(withoutMadeLocks),
	{
		requested: regex.New(`(?i)\b(?:read|load|pars|import|accept|support|export|writ|print|output|emit|serializ|dump|sav|stor)\w*\b(?:[^.;\n]|\.\w){0,80}?[^\w./-]\.?json\b`),
		present:   regex.New(`(?i)\bjson\.\w|\bjson\b[^\n]*\bimport\b|\bimport\b[^\n]*\bjson\b|encoding/json|json_\w|json(?:::|->)|json\w*(?:serial|deserial|convert|node|document|value|pars|encod|decod)|require\([^)]*json|_json\b|\.json\(|serde|jackson|gson|jsonobject|jsonarray|\bjq\b|marshal|objectmapper|[{\[]\\?["']|["'][{\[]`),
		missing:   "nothing that reads or writes JSON", anywhere: true,
	},
	newMechanism(`\b(?:leaks? (?:\w+ )?(?:blocks?|nodes?|buffers?|memory|entries|handles?|descriptors?|connections?)|memory leaks?|free (?:them|it|every|each|all))\b`, `free\w*\(|\bdelete\b|delete\(|close|drop|release|dispose|remove|destroy|clear|evict|unref|weak|defer|cancel|\bpop|shutdown|unsubscribe|\bwith\b|\busing\b`, "no call that frees anything"),
	newMechanism(`\b(?:encrypt(?:s|ed|ion)?|cipher|decrypt\w*)\b`, `\w\s*\^=?\s*\w|\bxor\b|createcipher|createdecipher|\bcipher\.|cipher::|fernet|evp_\w|openssl|secretbox|\baead\b|subtle\.|newgcm|newctr|getinstance`, "no cipher and no exclusive or"),
	newMechanism(`\bin parallel\b|\bworker pool\b|\b(?:\w+ )?worker threads\b`, `\bgo func|\bgo \w+|errgroup|threading|thread|pool|executor|spawn|promise\.|gather\(|create_task|rayon|fork|worker_threads|omp |async|&\s*$|xargs|\bwait\b`, "nothing that runs beside another"),
	newMechanism(`\bleast recently used\b|\blru\b`, `list\.|linked|ordereddict|move_to_end|movetofront|order|recent|used|touch|stamp|tick|clock|time|seq|head|tail|lru_|accessorder|\.delete\(`, "nothing that keeps an order of use"),
	newMechanism(`\b(?:compar|check|verif|equal)\w*\b[^.]*\bconstant[- ]time\b|\bconstant[- ]time (?:compar|check|verif|equal)`, `compare_digest|timingsafeequal|constanttime|\^|ct_eq|isequal`, "no comparison in constant time"),
	newMechanism(`\b(?:on|upon|if|when|by) (?:a )?panics?\b|\bpanics?, `, `recover\(|catch_unwind|impl\b[^\n]*\bdrop\b|scopeguard|defer\b`, "nothing that runs on a panic"),
	newMechanism(`\bcancel(?:s|led|ling|lation)?\b.*\b(?:at once|immediately|in the middle|promptly|early)\b|\b(?:at once|stop early|immediately)\b.*\bcancel`, `\.done\(\)|abort|signal|select\b|cancel|interrupt|wait_for|token`, "nothing that waits for the cancellation"),
	newMechanism(`\b(?:transaction(?:s|al)?|all or nothing|rolls? back|rollback)\b`, `transaction|\bbegin\b|commit|rollback|savepoint|snapshot|clone|copy|undo|restore|backup|stag|pending|\bnew map\b|temp|tmp|validate`, "nothing that takes changes back"),
	newMechanism(`\b(?:back-?off|doubling|doubles? (?:each|with)|exponential back\w*|twice as long)\b`, `\*\s*2|2\s*\*|\*=|<<|pow|\*\*|shl|backoff|multiplier|factor`, "nothing that doubles"),
	newMechanism(`\bcryptograph\w*|\b(?:secure|fresh|unguessable|random) (?:\w+ )?(?:random|salts?|nonces?|tokens?|keys?|ids?)\b`, `crypto|secrets|urandom|securerandom|getrandom|osrng|thread_rng|rand::|random_bytes|randombytes|arc4random|uuid4|token_|/dev/u?random`, "no random source that cannot be guessed"),
	newMechanism(`\bhmac\b`, `hmac|getinstance|createhmac`, "no HMAC"),
	newMechanism(`\b(?:fsync|durabl[ey])\b`, `sync\(|fsync|flush|fdatasync|force\(`, "nothing that syncs a file"),
	newMechanism(`\b(?:re)?tr(?:y|ies)\b[^.\n]*\bwait(?:ing)?\b[^.\n]*\b(?:between|before)\b`, `sleep|settimeout|timeout\s*=|\.timeout\(|timer|\bafter\(|\.wait|\bwait\w*\(|await|tick|delay\w*\(|pause\w*\(|park|select\b|poll|schedul|clock|now\(`, "no call that waits"),
	newMechanism(`\b(?:time ?out|times out|deadline)s?\b`, `time|deadline|expire|alarm|after\(|\bnow\(|select|poll\(`, "nothing that looks at a clock"),
}

// Removes reports whether a task asks to remove something and a line of a program does so. There
// is no such function for other mechanisms: tests notice a removal, but not a lock.
func Removes(asked, line string) bool {
	m := mechanisms[removalMechanism]
	return m.requested.MatchString(asked) && m.present.MatchString(line)
}

// MissingMechanisms returns the mechanisms that a task implies and a program does not have; others are
// the programs that were not changed. A call of a function with the task's word in its name counts as the
// mechanism: write_atomically(…).
func MissingMechanisms(asked, program, others string) (lacks []string) {
	for _, m := range mechanisms {
		program := program
		if m.read != nil {
			program = m.read(program)
		}
		if m.anywhere {
			program += others
		}
		at := m.requested.FindStringIndex(asked)
		if at == nil || negation.MatchString(asked[:at[0]]) || m.anywhere && negation.MatchString(asked[:at[0]+strings.LastIndexAny(asked[at[0]:at[1]], " .\"'`")+1]) || m.present.MatchString(program) || callsNamed(program, asked[at[0]:at[1]]) {
			continue
		}
		lacks = append(lacks, "has "+m.missing+", and the task says "+truncate(asked[at[0]:at[1]]))
	}
	return lacks
}

// withoutMadeLocks returns a program without what declares or makes a lock. One that is never taken
// protects nothing.
func withoutMadeLocks(program string) string { return madeLock.ReplaceAllString(program, "") }

// withoutBackups returns a program without the lines that rename a file before the same function
// writes one, as for a backup: what is written then is not renamed.
func withoutBackups(program string) string {
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
	madeLock     = regex.New(`(?m)^[ \t]*(?:import\b.*|from\b.*\bimport\b.*|use\b.*|using\b.*|#[ \t]*include\b.*|"sync(?:/atomic)?"|(?:[\w.]+[ \t]+)*sync\.(?:RW)?Mutex(?:[ \t]*//.*)?|[^\n=(]*(?::|=)[ \t]*(?:\w+\.)*R?Lock\(\)[ \t]*(?:#.*)?|[^\n=]*=[ \t]*new[ \t]+(?:\w+\.)*Reentrant(?:ReadWrite)?Lock\([^()\n]*\);)[ \t]*$`)
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
