package shell

import (
	"path"
	"strings"
)

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
