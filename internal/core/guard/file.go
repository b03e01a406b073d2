package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// writers are commands that change the files they name.
var writeCommands = map[string]struct {
	removes bool
	skip    int    // operands that are not files
	needs   string // letters of a short option without which it writes nothing
	valued  string // short options with a value
	long    string // long ones, blank-separated
}{
	"rm":       {removes: true},
	"rmdir":    {removes: true},
	"unlink":   {removes: true},
	"shred":    {removes: true, valued: "ns"},
	"trash":    {removes: true},
	"touch":    {valued: "drt", long: "--date --reference"},
	"mkfifo":   {},
	"tee":      {},
	"sponge":   {},
	"truncate": {valued: "sr", long: "--size --reference"},
	"chmod":    {skip: 1},
	"chown":    {skip: 1},
	"chgrp":    {skip: 1},
	"chattr":   {skip: 1},
	"gzip":     {},
	"gunzip":   {},
	"bzip2":    {},
	"xz":       {},
	"vi":       {valued: "c"},
	"vim":      {valued: "c"},
	"nvim":     {valued: "c"},
	"ex":       {valued: "c"},
	"ed":       {},
	"nano":     {},
	"emacs":    {},
	"gofmt":    {needs: "w"},
	"sd":       {skip: 2},
	"yq":       {needs: "i", skip: 1},
	"dos2unix": {},
}

// transfers are commands that copy files, also to and from other machines: which of
// their options have a value.
var transferCommands = map[string]struct{ valued, long string }{
	"scp": {valued: "cDFiJloPSX"},
	"rsync": {"efBMT", "--exclude --include --filter --exclude-from --include-from --files-from --rsh --rsync-path --backup-dir " +
		"--compare-dest --link-dest --log-file --port --timeout --bwlimit --chmod --chown --max-size --min-size --temp-dir --password-file"},
}

// outputs are the options, short and long, that name what a command writes.
var outputOptions = map[string][][2]string{
	"curl":  {{"-o", "--output"}, {"", "--output-dir"}},
	"wget":  {{"-O", "--output-document"}, {"-P", "--directory-prefix"}},
	"go":    {{"-o", ""}},
	"gcc":   {{"-o", ""}},
	"g++":   {{"-o", ""}},
	"cc":    {{"-o", ""}},
	"clang": {{"-o", ""}},
	"rustc": {{"-o", ""}},
	"sort":  {{"-o", "--output"}},
	"unzip": {{"-d", ""}},
	"7z":    {{"-o", ""}},
	"patch": {{"-o", "--output"}},
	"pip":   {{"-t", "--target"}},

	"openssl": {{"", "-out"}, {"", "-keyout"}},
}

// writer judges commands that change the files they name.
func (j *checker) checkWriteCommand(name string, c *shell.Command, args []word) {
	if w, ok := writeCommands[name]; ok {
		if name == "chmod" && slices.ContainsFunc(args, func(w word) bool { return len(w.Text) > 1 && strings.Trim(w.Text, "-rwxXst") == "" }) {
			w.skip = 0 // chmod -x FILE
		}
		ops := operands(dropValueOptions(args, w.valued, w.long))
		if w.needs == "" || hasOption(args, "", w.needs) {
			checkPath := j.checkWrite
			if w.removes {
				checkPath = j.checkRemove
			}
			j.checkFiles(ops[min(w.skip, len(ops)):], checkPath)
		}
		return
	}
	j.checkOptionFiles(args, outputOptions[name], j.checkWrite)
	switch name {
	case "mkdir":
		j.checkFiles(operands(dropValueOptions(args, "m", "--mode")), j.checkNewFolder)
	case "cp", "install":
		j.checkCopy(args)
	case "scp", "rsync":
		ops := operands(dropValueOptions(args, transferCommands[name].valued, transferCommands[name].long))
		j.checkCopy(ops)
		if hasOption(args, "--delete", "") && len(ops) > 1 {
			j.checkFile(ops[len(ops)-1], j.checkRemove)
		}
	case "zip":
		ops := operands(args)
		j.checkFiles(ops[:min(1, len(ops))], j.checkWrite)
	case "ln":
		j.checkLink(args)
	case "mv":
		j.checkCopy(args)
		ops := operands(args)
		j.checkFiles(ops[:max(0, len(ops)-1)], j.checkRemove)
	case "sed", "gsed", "perl", "ruby":
		j.checkInPlaceEdit(args, name)
	case "awk", "gawk":
		if i, ok := optionValue(args, "-i", "--include"); ok && i.Text == "inplace" {
			ops := operands(dropValueOptions(args, "ivF", ""))
			j.checkFiles(ops[min(1, len(ops)):], j.checkWrite)
		}
	case "dd":
		for _, w := range args {
			if to, ok := strings.CutPrefix(w.Text, "of="); ok {
				j.checkFile(word{Text: to, Source: w.Source, Static: w.Static}, j.checkWrite)
			}
		}
	case "tar", "bsdtar":
		j.checkTar(args)
	case "patch":
		j.checkPatchCommand(c, args)
	}
}

// makeFolder: a folder is not an edit, so that no scope holds for it.
func (j *checker) checkNewFolder(name string, glob bool) {
	scope := j.rules.Scope
	j.rules.Scope = nil
	j.checkWrite(name, glob)
	j.rules.Scope = scope
}

// copyTo judges the last operand, or the folder that -t names, with what it will
// hold. A remote place (host:path) is not a file here.
func (j *checker) checkCopy(args []word) {
	to, given := optionValue(args, "-t", "--target-directory")
	from := operands(dropValueOptions(args, "tmog", "--target-directory --mode --owner --group"))
	if !given {
		if len(from) < 2 {
			return
		}
		to, from = from[len(from)-1], from[:len(from)-1]
	}
	if host, _, remote := strings.Cut(to.Text, ":"); remote && !strings.Contains(host, "/") && len(host) != 1 {
		return
	}
	j.checkTarget(from, to)
}

// into judges files that go to a place: it may be a folder, in which they keep
// their names.
func (j *checker) checkTarget(from []word, to word) {
	j.checkFile(to, j.checkWrite)
	for _, f := range from {
		if to.Static && f.Static && !f.Glob && (strings.HasSuffix(to.Text, "/") || to.Text == "." || len(from) > 1) {
			j.checkWrite(path.Join(to.Text, path.Base(f.Text)), to.Glob)
		}
	}
}

// link judges the new name, and the old one too where both will be the same
// file.
func (j *checker) checkLink(args []word) {
	j.checkCopy(args)
	ops := operands(dropValueOptions(args, "tS", "--target-directory --suffix"))
	switch {
	case len(ops) == 0:
	case !hasOption(args, "--symbolic", "s"):
		j.checkFiles(ops[:max(1, len(ops)-1)], j.checkWrite)
	case len(ops) == 2 && ops[0].Static && ops[1].Static:
		at := j.resolve(ops[1].Text)
		to := shell.Abs(path.Dir(at), j.rules.Home, ops[0].Text)
		if at != "" && to != "" && len(j.links) < 64 {
			if j.links == nil {
				j.links = map[string]string{}
			}
			j.links[at] = to
		}
	}
}

// inPlace judges editors of streams, which write only with -i. Their first
// operand is the script, unless an option gave one.
func (j *checker) checkInPlaceEdit(args []word, name string) {
	valued, scripts := "ef", "ef"
	if name == "perl" || name == "ruby" {
		valued, scripts = "eErI", "eE"
	}
	if !hasOptionAmongValued(args, "--in-place", "i", valued) {
		return
	}
	var ops []word
	script := false
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		switch {
		case strings.HasPrefix(t, "--"):
			script = script || strings.HasPrefix(t, "--expression") || strings.HasPrefix(t, "--file")
		case len(t) > 1 && t[0] == '-':
			if at := strings.IndexAny(t, valued); at > 0 {
				script = script || strings.IndexByte(scripts, t[at]) >= 0
				if at == len(t)-1 {
					i++
				}
			}
		case t != "": // sed -i '' of other systems
			ops = append(ops, args[i])
		}
	}
	if !script && len(ops) > 0 {
		ops = ops[1:]
	}
	j.checkFiles(ops, j.checkWrite)
}

// unpack judges where an archive goes, and the files that are named in it.
func (j *checker) checkTar(args []word) {
	mode := ""
	if len(args) > 0 {
		mode = args[0].Text
	}
	if !hasOption(args, "--extract", "x") && (strings.HasPrefix(mode, "-") || !strings.Contains(mode, "x")) {
		to, ok := optionValue(args, "-f", "--file")
		switch {
		case ok && hasOption(args, "--create", "c"):
			j.checkFile(to, j.checkWrite)
		case len(args) > 1 && !strings.HasPrefix(mode, "-") && strings.Contains(mode, "c") && strings.Contains(mode, "f"): // cf FILE
			j.checkFile(args[1], j.checkWrite)
		}
		return
	}
	defer j.enterFolder(args, "-C", j.checkWrite)()
	ops := operands(dropValueOptions(args, "CfX", "--directory --file --exclude"))
	skip := 0
	if !strings.HasPrefix(mode, "-") {
		skip = 2 // xf FILE
	} else if last := mode[len(mode)-1]; last == 'f' && len(mode) > 2 {
		skip = 1 // -xf FILE
	}
	j.checkFiles(ops[min(skip, len(ops)):], j.checkWrite)
}

// goTo goes to the folder that an option names, short or as --directory, and judges
// it; back leads to where the command was.
func (j *checker) enterFolder(args []word, short string, checkPath func(name string, glob bool)) (back func()) {
	cwd := j.dir
	if to, ok := optionValue(args, short, "--directory"); ok {
		j.checkFile(to, checkPath)
		if j.dir = ""; to.Static {
			j.dir = shell.Abs(cwd, j.rules.Home, to.Text)
		}
	}
	return func() { j.dir = cwd }
}

// patch judges the files that a patch names, if it stands in the script, and the
// file that it is given.
func (j *checker) checkPatchCommand(c *shell.Command, args []word) {
	defer j.enterFolder(args, "-d", j.checkNewFolder)()
	ops := operands(dropValueOptions(args, "pido", "--input --directory --strip --output"))
	j.checkFiles(ops[:min(1, len(ops))], j.checkWrite)
	j.checkPatch(c.In.Text)
}

func (j *checker) checkPatch(text string) {
	for line := range strings.Lines(text) {
		for _, mark := range []string{"+++ ", "--- ", "rename to ", "rename from "} {
			name, ok := strings.CutPrefix(strings.TrimSpace(line), mark)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(name, "\t")
			if rest, cut := strings.CutPrefix(name, "a/"); cut {
				name = rest
			}
			if rest, cut := strings.CutPrefix(name, "b/"); cut {
				name = rest
			}
			j.checkWrite(name, false)
		}
	}
}
