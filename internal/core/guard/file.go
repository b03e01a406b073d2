package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// writers are commands that change the files they name.
var writers = map[string]struct {
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
var transfers = map[string]struct{ valued, long string }{
	"scp": {valued: "cDFiJloPSX"},
	"rsync": {"efBMT", "--exclude --include --filter --exclude-from --include-from --files-from --rsh --rsync-path --backup-dir " +
		"--compare-dest --link-dest --log-file --port --timeout --bwlimit --chmod --chown --max-size --min-size --temp-dir --password-file"},
}

// outputs are the options, short and long, that name what a command writes.
var outputs = map[string][][2]string{
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
func (j *check) writer(name string, c *shell.Command, args []word) {
	if w, ok := writers[name]; ok {
		if name == "chmod" && slices.ContainsFunc(args, func(w word) bool { return len(w.Text) > 1 && strings.Trim(w.Text, "-rwxXst") == "" }) {
			w.skip = 0 // chmod -x FILE
		}
		ops := operands(without(args, w.valued, w.long))
		if w.needs == "" || has(args, "", w.needs) {
			judge := j.write
			if w.removes {
				judge = j.remove
			}
			j.all(ops[min(w.skip, len(ops)):], judge)
		}
		return
	}
	j.optionFiles(args, outputs[name], j.write)
	switch name {
	case "mkdir":
		j.all(operands(without(args, "m", "--mode")), j.makeFolder)
	case "cp", "install":
		j.copyTo(args)
	case "scp", "rsync":
		ops := operands(without(args, transfers[name].valued, transfers[name].long))
		j.copyTo(ops)
		if has(args, "--delete", "") && len(ops) > 1 {
			j.each(ops[len(ops)-1], j.remove)
		}
	case "zip":
		ops := operands(args)
		j.all(ops[:min(1, len(ops))], j.write)
	case "ln":
		j.link(args)
	case "mv":
		j.copyTo(args)
		ops := operands(args)
		j.all(ops[:max(0, len(ops)-1)], j.remove)
	case "sed", "gsed", "perl", "ruby":
		j.inPlace(args, name)
	case "awk", "gawk":
		if i, ok := option(args, "-i", "--include"); ok && i.Text == "inplace" {
			ops := operands(without(args, "ivF", ""))
			j.all(ops[min(1, len(ops)):], j.write)
		}
	case "dd":
		for _, w := range args {
			if to, ok := strings.CutPrefix(w.Text, "of="); ok {
				j.each(word{Text: to, Source: w.Source, Static: w.Static}, j.write)
			}
		}
	case "tar", "bsdtar":
		j.unpack(args)
	case "patch":
		j.patch(c, args)
	}
}

// makeFolder: a folder is not an edit, so that no scope holds for it.
func (j *check) makeFolder(name string, glob bool) {
	scope := j.rules.Scope
	j.rules.Scope = nil
	j.write(name, glob)
	j.rules.Scope = scope
}

// copyTo judges the last operand, or the folder that -t names, with what it will
// hold. A remote place (host:path) is not a file here.
func (j *check) copyTo(args []word) {
	to, given := option(args, "-t", "--target-directory")
	from := operands(without(args, "tmog", "--target-directory --mode --owner --group"))
	if !given {
		if len(from) < 2 {
			return
		}
		to, from = from[len(from)-1], from[:len(from)-1]
	}
	if host, _, remote := strings.Cut(to.Text, ":"); remote && !strings.Contains(host, "/") && len(host) != 1 {
		return
	}
	j.into(from, to)
}

// into judges files that go to a place: it may be a folder, in which they keep
// their names.
func (j *check) into(from []word, to word) {
	j.each(to, j.write)
	for _, f := range from {
		if to.Static && f.Static && !f.Glob && (strings.HasSuffix(to.Text, "/") || to.Text == "." || len(from) > 1) {
			j.write(path.Join(to.Text, path.Base(f.Text)), to.Glob)
		}
	}
}

// link judges the new name, and the old one too where both will be the same
// file.
func (j *check) link(args []word) {
	j.copyTo(args)
	ops := operands(without(args, "tS", "--target-directory --suffix"))
	switch {
	case len(ops) == 0:
	case !has(args, "--symbolic", "s"):
		j.all(ops[:max(1, len(ops)-1)], j.write)
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
func (j *check) inPlace(args []word, name string) {
	valued, scripts := "ef", "ef"
	if name == "perl" || name == "ruby" {
		valued, scripts = "eErI", "eE"
	}
	if !flag(args, "--in-place", "i", valued) {
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
	j.all(ops, j.write)
}

// unpack judges where an archive goes, and the files that are named in it.
func (j *check) unpack(args []word) {
	mode := ""
	if len(args) > 0 {
		mode = args[0].Text
	}
	if !has(args, "--extract", "x") && (strings.HasPrefix(mode, "-") || !strings.Contains(mode, "x")) {
		to, ok := option(args, "-f", "--file")
		switch {
		case ok && has(args, "--create", "c"):
			j.each(to, j.write)
		case len(args) > 1 && !strings.HasPrefix(mode, "-") && strings.Contains(mode, "c") && strings.Contains(mode, "f"): // cf FILE
			j.each(args[1], j.write)
		}
		return
	}
	defer j.goTo(args, "-C", j.write)()
	ops := operands(without(args, "CfX", "--directory --file --exclude"))
	skip := 0
	if !strings.HasPrefix(mode, "-") {
		skip = 2 // xf FILE
	} else if last := mode[len(mode)-1]; last == 'f' && len(mode) > 2 {
		skip = 1 // -xf FILE
	}
	j.all(ops[min(skip, len(ops)):], j.write)
}

// goTo goes to the folder that an option names, short or as --directory, and judges
// it; back leads to where the command was.
func (j *check) goTo(args []word, short string, judge func(name string, glob bool)) (back func()) {
	cwd := j.dir
	if to, ok := option(args, short, "--directory"); ok {
		j.each(to, judge)
		if j.dir = ""; to.Static {
			j.dir = shell.Abs(cwd, j.rules.Home, to.Text)
		}
	}
	return func() { j.dir = cwd }
}

// patch judges the files that a patch names, if it stands in the script, and the
// file that it is given.
func (j *check) patch(c *shell.Command, args []word) {
	defer j.goTo(args, "-d", j.makeFolder)()
	ops := operands(without(args, "pido", "--input --directory --strip --output"))
	j.all(ops[:min(1, len(ops))], j.write)
	j.patched(c.In.Text)
}

func (j *check) patched(text string) {
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
			j.write(name, false)
		}
	}
}
