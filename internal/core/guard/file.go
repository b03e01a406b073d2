package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// writeCommands are commands that change the files they name.
var writeCommands = map[string]struct {
	removes      bool
	nonFiles     int    // number of leading operands that are not files
	writeLetters string // short options; the command writes only with one of them
	valueLetters string // short options that take a value
	valueOptions string // long options that take a value, blank-separated
}{
	"rm":       {removes: true},
	"rmdir":    {removes: true},
	"unlink":   {removes: true},
	"shred":    {removes: true, valueLetters: "ns"},
	"trash":    {removes: true},
	"touch":    {valueLetters: "drt", valueOptions: "--date --reference"},
	"mkfifo":   {},
	"tee":      {},
	"sponge":   {},
	"truncate": {valueLetters: "sr", valueOptions: "--size --reference"},
	"chmod":    {nonFiles: 1},
	"chown":    {nonFiles: 1},
	"chgrp":    {nonFiles: 1},
	"chattr":   {nonFiles: 1},
	"gzip":     {},
	"gunzip":   {},
	"bzip2":    {},
	"xz":       {},
	"vi":       {valueLetters: "c"},
	"vim":      {valueLetters: "c"},
	"nvim":     {valueLetters: "c"},
	"ex":       {valueLetters: "c"},
	"ed":       {},
	"nano":     {},
	"emacs":    {},
	"gofmt":    {writeLetters: "w"},
	"sd":       {nonFiles: 2},
	"yq":       {writeLetters: "i", nonFiles: 1},
	"dos2unix": {},
}

// transferCommands are commands that copy files, also to and from other machines. The values list
// their options that take a value.
var transferCommands = map[string]struct{ valueLetters, valueOptions string }{
	"scp": {valueLetters: "cDFiJloPSX"},
	"rsync": {"efBMT", "--exclude --include --filter --exclude-from --include-from --files-from --rsh --rsync-path --backup-dir " +
		"--compare-dest --link-dest --log-file --port --timeout --bwlimit --chmod --chown --max-size --min-size --temp-dir --password-file"},
}

// outputOptions are the options, short and long, that name the file a command writes.
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

// checkWriteCommand checks a command that changes the files it names.
func (j *checker) checkWriteCommand(name string, c *shell.Command, args []word) {
	if w, ok := writeCommands[name]; ok {
		if name == "chmod" && slices.ContainsFunc(args, func(w word) bool { return len(w.Text) > 1 && strings.Trim(w.Text, "-rwxXst") == "" }) {
			w.nonFiles = 0 // chmod -x FILE
		}
		ops := operandsAmongValued(args, w.valueLetters, w.valueOptions)
		if w.writeLetters == "" || hasOption(args, "", w.writeLetters) {
			checkPath := j.checkWrite
			if w.removes {
				checkPath = j.checkRemove
			}
			j.checkFiles(ops[min(w.nonFiles, len(ops)):], checkPath)
		}
		return
	}
	j.checkOptionFiles(args, outputOptions[name], j.checkWrite)
	switch name {
	case "mkdir":
		j.checkFiles(operandsAmongValued(args, "m", "--mode"), j.checkNewFolder)
	case "cp", "install":
		j.checkCopy(args)
	case "scp", "rsync":
		ops := operandsAmongValued(args, transferCommands[name].valueLetters, transferCommands[name].valueOptions)
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
			ops := operandsAmongValued(args, "ivF", "")
			j.checkFiles(ops[min(1, len(ops)):], j.checkWrite)
		}
	case "dd":
		j.checkPrefixed(args, "of=", j.checkWrite)
	case "tar", "bsdtar":
		j.checkTar(args)
	case "patch":
		j.checkPatchCommand(c, args)
	}
}

// checkNewFolder checks the creation of a folder. The scope does not apply: a new folder edits no
// file.
func (j *checker) checkNewFolder(name string, glob bool) {
	scope := j.rules.Scope
	j.rules.Scope = nil
	j.checkWrite(name, glob)
	j.rules.Scope = scope
}

// checkCopy checks the target of a copy: the last operand, or the folder that -t names. It ignores
// a remote target (host:path).
func (j *checker) checkCopy(args []word) {
	to, given := optionValue(args, "-t", "--target-directory")
	from := operandsAmongValued(args, "tmog", "--target-directory --mode --owner --group")
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

// checkTarget checks the target of files that are copied or moved. If it is a folder, they keep
// their names in it.
func (j *checker) checkTarget(from []word, to word) {
	j.checkFile(to, j.checkWrite)
	for _, f := range from {
		if to.Static && f.Static && !f.Glob && (strings.HasSuffix(to.Text, "/") || to.Text == "." || len(from) > 1) {
			j.checkWrite(path.Join(to.Text, path.Base(f.Text)), to.Glob)
		}
	}
}

// checkLink checks the new link. A hard link makes the old file writable by the new name, so it
// checks both. It records a symbolic link, for later commands.
func (j *checker) checkLink(args []word) {
	j.checkCopy(args)
	ops := operandsAmongValued(args, "tS", "--target-directory --suffix")
	switch {
	case len(ops) == 0:
	case !hasOption(args, "--symbolic", "s"):
		j.checkFiles(ops[:max(1, len(ops)-1)], j.checkWrite)
	case len(ops) == 2 && ops[0].Static && ops[1].Static:
		at := j.resolve(ops[1].Text)
		to := shell.Abs(path.Dir(at), j.rules.Home, ops[0].Text)
		if at != "" && to != "" && len(j.links) < 64 {
			j.links[at] = to
		}
	}
}

// checkInPlaceEdit checks sed, perl and ruby, which write files only with -i. Their first operand
// is the script, unless an option gives it.
func (j *checker) checkInPlaceEdit(args []word, name string) {
	valueLetters, scripts := "ef", "ef"
	if name == "perl" || name == "ruby" {
		valueLetters, scripts = "eErI", "eE"
	}
	if !hasOptionAmongValued(args, "--in-place", "i", valueLetters) {
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
			if at := strings.IndexAny(t, valueLetters); at > 0 {
				script = script || strings.IndexByte(scripts, t[at]) >= 0
				if at == len(t)-1 {
					i++
				}
			}
		case t != "": // sed -i '' of macOS and BSD
			ops = append(ops, args[i])
		}
	}
	if !script && len(ops) > 0 {
		ops = ops[1:]
	}
	j.checkFiles(ops, j.checkWrite)
}

// checkTar checks the archive that tar creates, or the folder and files to which it unpacks.
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
	ops := operandsAmongValued(args, "CfX", "--directory --file --exclude")
	skip := 0
	if !strings.HasPrefix(mode, "-") {
		skip = 2 // xf FILE
	} else if last := mode[len(mode)-1]; last == 'f' && len(mode) > 2 {
		skip = 1 // -xf FILE
	}
	j.checkFiles(ops[min(skip, len(ops)):], j.checkWrite)
}

// enterFolder checks the folder that an option names, short or as --directory, and makes it the
// current folder. Call leave to return.
func (j *checker) enterFolder(args []word, short string, checkPath func(name string, glob bool)) (leave func()) {
	cwd := j.dir
	if to, ok := optionValue(args, short, "--directory"); ok {
		j.checkFile(to, checkPath)
		if j.dir = ""; to.Static {
			j.dir = shell.Abs(cwd, j.rules.Home, to.Text)
		}
	}
	return func() { j.dir = cwd }
}

// checkPatchCommand checks the file operand of patch, and the files that the patch names if the
// script contains its text.
func (j *checker) checkPatchCommand(c *shell.Command, args []word) {
	defer j.enterFolder(args, "-d", j.checkNewFolder)()
	ops := operandsAmongValued(args, "pido", "--input --directory --strip --output")
	j.checkFiles(ops[:min(1, len(ops))], j.checkWrite)
	j.checkPatch(c.In.Text)
}

// checkPatch checks the files that the text of a patch names.
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
