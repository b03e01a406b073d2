package shell

import (
	"path"
	"slices"
	"strings"
)

// recordFile records the content of a file that the script writes.
func (r *reader) recordFile(name, text Word) {
	if name.Static && path.Base(name.Text) != "null" && len(r.writtenFiles) < maxFields {
		r.writtenFiles[Abs(r.dir, r.options.Home, name.Text)] = text
	}
}

// fileOrInput returns the content of a file that c names. The file may be its input (/dev/stdin).
func (r *reader) fileOrInput(c *Command, name Word) (Word, bool) {
	if name.Text == "/dev/stdin" || name.Text == "/dev/fd/0" || name.Text == "/proc/self/fd/0" {
		return c.In, true
	}
	return r.fileContent(name)
}

// fileContent returns the content of a file that the script wrote, or that ReadFile reads. It returns
// false for other files.
func (r *reader) fileContent(name Word) (Word, bool) {
	if !name.Static {
		return Word{}, false
	}
	file := Abs(r.dir, r.options.Home, name.Text)
	if w, ok := r.writtenFiles[file]; ok || r.options.ReadFile == nil || file == "" || !r.spend(1) {
		return w, ok
	}
	text, ok := r.options.ReadFile(file)
	return literal(text), ok && r.spend(len(text)/64)
}

// isWritten reports whether the script wrote a file.
func (r *reader) isWritten(name Word) bool {
	_, ok := r.writtenFiles[Abs(r.dir, r.options.Home, name.Text)]
	return ok
}

// isShellScript reports whether a file that is run by its name is a shell script: by its first line,
// or else by its ending.
func isShellScript(name, text string) bool {
	if first, ok := strings.CutPrefix(text, "#!"); ok {
		first, _, _ = strings.Cut(first, "\n")
		return slices.ContainsFunc(strings.Fields(first), func(word string) bool { return InList(shellNames, path.Base(word)) })
	}
	return InList(shellNames, strings.TrimPrefix(path.Ext(name), "."))
}

// runScriptFile runs a script file whose content is known. args are its name and its parameters.
func (r *reader) runScriptFile(c *Command, text Word, args []Word) {
	sub := r.copy()
	sub.params = append([]Word{}, args[1:]...)
	if sub.enterFile(args[0]) {
		sub.runScript(c, text, c.In)
	}
}

// currentFile returns the script of ReadFile that is being run, "" if none is.
func (r *reader) currentFile() string {
	if len(r.files) == 0 {
		return ""
	}
	return r.files[len(r.files)-1]
}

// enterFile records that a script of ReadFile begins. It returns false if the script is already being
// run: the rest would repeat. A script that the script wrote is not recorded.
func (r *reader) enterFile(name Word) bool {
	if r.options.ReadFile == nil || r.isWritten(name) {
		return true
	}
	file := Abs(r.dir, r.options.Home, name.Text)
	if slices.Contains(r.files, file) {
		return false
	}
	r.files = append(slices.Clip(r.files), file)
	return true
}

// Abs returns the clean absolute path of a file name, with slashes. It returns "" for a relative
// name if dir is "", which means unknown. An unknown home, or the home of another user, becomes a
// path outside all known folders.
func Abs(dir, home, name string) string {
	if strings.HasPrefix(name, "~") {
		user, rest, _ := strings.Cut(name, "/")
		at := "/~/" + user
		if user == "~" && home != "" {
			at = CleanPath(home)
		}
		return path.Join(at, rest)
	}
	p := strings.ReplaceAll(name, `\`, "/")
	switch {
	case strings.HasPrefix(p, "/"), HasDriveLetter(p):
		return CleanPath(name)
	case dir == "":
		return ""
	}
	return CleanPath(dir + "/" + p)
}

// CleanPath cleans an absolute path. It writes a drive letter in lower case, since Windows ignores
// its case.
func CleanPath(p string) string {
	if HasDriveLetter(p) || strings.HasPrefix(p, `\\`) {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if HasDriveLetter(p) {
		p = strings.ToLower(p[:1]) + p[1:]
	}
	return path.Clean(p)
}

// HasDriveLetter reports whether a path begins with a Windows drive letter.
func HasDriveLetter(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// Base returns the name of a command without its folder and without .exe.
func Base(name string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), ".exe")
}
