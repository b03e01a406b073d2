// Package autostart makes the system resume background loops when the user logs in after a
// restart, with a systemd user unit on Linux and a launchd agent on macOS.
//
//	s, err := autostart.New("linux", autostart.Command{Program: "/usr/bin/pawl", Home: home, ConfigHome: config, Path: path})
//	result, err := s.Install()
//
// Enabling a user unit is a link beside it (systemd.unit(5), section [Install]), and
// launchd reads its folder at login, so that no program of the system is started. The first lines
// of a file say who wrote it, and hold a sum of the rest: one that a user has edited is
// neither replaced nor removed.
package autostart

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Command says what is to be started, and with what environment.
type Command struct {
	Program    string // absolute path of pawl
	Home       string // the user's home folder
	ConfigHome string // $XDG_CONFIG_HOME or ~/.config
	Path       string // $PATH: agents and gates are found by it
	PawlHome   string // where loops live, absolute
}

// Service is the file that has the system start the command.
type Service struct {
	Path string // of the file
	Link string // that enables it, "" where the file is enough
	Text string // of the file
}

// Result is what an installation or a removal did.
type Result string

// The results.
const (
	Written Result = "written" // or removed
	Already Result = "already" // as it should be before
)

const (
	marker = "Written by pawl install service; pawl uninstall service removes it. Sum "
	most   = 1 << 20 // bytes of a file that is read
)

// New returns the service for a system. An error says that there is none for it.
func New(goos string, c Command) (Service, error) {
	switch goos {
	case "linux":
		folder := filepath.Join(c.ConfigHome, "systemd", "user")
		return Service{
			Path: filepath.Join(folder, "pawl.service"),
			Link: filepath.Join(folder, "default.target.wants", "pawl.service"),
			Text: sealed("# ", "\n", "", unit(c)),
		}, nil
	case "darwin":
		return Service{
			Path: filepath.Join(c.Home, "Library", "LaunchAgents", "pawl.resume.plist"),
			Text: sealed("<!-- ", " -->\n", xmlHead, plist(c)),
		}, nil
	}
	return Service{}, failure.New(failure.Usage, "configure your system to run at login: pawl resume --after-restart", "there is no service for %s", goos)
}

// unit is a user unit of systemd. It stays active, since what a unit started is killed
// once it is not; a restart of the system ends its processes by TERM.
func unit(c Command) string {
	return `[Unit]
Description=Pawl: resume background loops after a restart

[Service]
Type=oneshot
RemainAfterExit=yes
Environment=` + unitWord("PATH="+c.Path) + ` ` + unitWord("PAWL_HOME="+c.PawlHome) + `
ExecStart=` + strings.ReplaceAll(unitWord(c.Program), "$", "$$") + ` resume --after-restart

[Install]
WantedBy=default.target
`
}

// unitWord quotes a word of a unit, systemd.syntax(7) and systemd.unit(5), specifiers.
func unitWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(s) + `"`
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
`

// plist is an agent of launchd, launchd.plist(5). Without AbandonProcessGroup launchd
// kills the loops as soon as the command that resumed them ends.
func plist(c Command) string {
	return `<plist version="1.0">
<dict>
	<key>Label</key>
	<string>pawl.resume</string>
	<key>ProgramArguments</key>
	<array>
		<string>` + xmlText(c.Program) + `</string>
		<string>resume</string>
		<string>--after-restart</string>
	</array>
	<key>EnvironmentVariables</key>
	<dict>
` + entry("PATH", c.Path) + entry("PAWL_HOME", c.PawlHome) + `	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>AbandonProcessGroup</key>
	<true/>
</dict>
</plist>
`
}

func entry(key, value string) string {
	return "\t\t<key>" + key + "</key>\n\t\t<string>" + xmlText(value) + "</string>\n"
}

func xmlText(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes all
	return b.String()
}

// sealed puts a line before a text that says who wrote it, with its sum.
func sealed(open, end, head, text string) string {
	return head + open + marker + sum(text) + end + text
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:8])
}

// edited reports whether a file was not written by sealed, or changed since.
func edited(file string) bool {
	_, after, found := strings.Cut(file, marker)
	line, text, ended := strings.Cut(after, "\n")
	given, _, _ := strings.Cut(line, " ")
	return !found || !ended || given != sum(text)
}

// Install writes the file and enables it. A file there that a user has edited is an error.
func (s Service) Install() (Result, error) {
	text, err := s.current()
	if err != nil {
		return "", err
	}
	if text == s.Text && s.linked() {
		return Already, nil
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o755); err != nil {
		return "", fmt.Errorf("make the folder of the service: %w", err)
	}
	if err := atomicfile.Write(s.Path, []byte(s.Text), 0o644); err != nil {
		return "", fmt.Errorf("write the service: %w", err)
	}
	return Written, s.enable()
}

// enable makes the link, if there is to be one. A unit that the user has masked or
// linked elsewhere stays so.
func (s Service) enable() error {
	if s.Link == "" || s.linked() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.Link), 0o755); err != nil {
		return fmt.Errorf("enable the service: %w", err)
	}
	if err := os.Symlink(s.Path, s.Link); err != nil {
		return fmt.Errorf("enable the service: %w", err)
	}
	return nil
}

func (s Service) linked() bool {
	if s.Link == "" {
		return true
	}
	to, err := os.Readlink(s.Link)
	return err == nil && to == s.Path
}

// Uninstall removes the file and its link. One that a user has edited stays, with an error.
func (s Service) Uninstall() (Result, error) {
	text, err := s.current()
	if err != nil {
		return "", err
	}
	if text == "" && (s.Link == "" || !s.linked()) {
		return Already, nil
	}
	if s.Link != "" && s.linked() {
		if err := os.Remove(s.Link); err != nil {
			return "", fmt.Errorf("disable the service: %w", err)
		}
	}
	if err := os.Remove(s.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("remove the service: %w", err)
	}
	return Written, nil
}

// current is the text of the file that is there, "" for none.
func (s Service) current() (string, error) {
	data, err := atomicfile.Read(s.Path, most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read the service: %w", err)
	case edited(string(data)):
		return "", failure.New(failure.Usage, "move it away, then try again", "%s was changed since Pawl wrote it, so it is kept", s.Path)
	}
	return string(data), nil
}
