package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/regex"
)

// publishTimeout limits calls that use the network.
const publishTimeout = 2 * time.Minute

// Remote is the target of a push. Its addresses and settings may contain passwords: store only Sum
// and Sums.
type Remote struct {
	Name     string    // "" if there is none
	URLs     []string  // all addresses of a push
	settings []Setting // all settings of a push, in git's order
}

// pushSettings matches the settings that determine the address, programs and credentials of a push.
var pushSettings = regex.New(`^(url|remote|credential|http|ssh|protocol|push)\.|^core\.(sshcommand|gitproxy|askpass|hookspath)$`)

// Remote returns the remote that the branch follows, or else the default branch, or origin.
func (r *Repo) Remote(ctx context.Context, branches ...string) (Remote, error) {
	names := []string{"origin"}
	for _, b := range branches {
		follows, err := r.git(ctx, "config", "--get", "branch."+b+".remote")
		if err != nil && !isExitOne(err) {
			return Remote{}, err
		}
		if follows != "" && follows != "." {
			names = append([]string{follows}, names...)
		}
	}
	known, err := r.git(ctx, "remote")
	if err != nil {
		return Remote{}, err
	}
	for _, name := range names {
		if slices.Contains(strings.Fields(known), name) {
			return r.remote(ctx, name)
		}
	}
	return Remote{}, nil
}

func (r *Repo) remote(ctx context.Context, name string) (Remote, error) {
	to := Remote{Name: name}
	urls, err := r.git(ctx, "remote", "get-url", "--push", "--all", name)
	if err != nil {
		return Remote{}, err
	}
	to.URLs = strings.Split(urls, "\n")
	list, err := r.run(ctx, call{args: []string{"config", "--list", "-z"}, hooks: true})
	if err != nil {
		return Remote{}, err
	}
	to.settings = slices.DeleteFunc(parseSettings(list), func(s Setting) bool { return !pushSettings.MatchString(s.Key) })
	return to, nil
}

// Sum returns a checksum of the addresses.
func (to Remote) Sum() string { return checksum(strings.Join(to.URLs, "\n")) }

// Sums returns checksums of the settings of a push, by section and name ("url.insteadof"). The
// subsection is omitted, because it may contain a password.
func (to Remote) Sums() map[string]string {
	texts := map[string]string{}
	for _, s := range to.settings {
		name := s.Key[:strings.IndexByte(s.Key, '.')] + s.Key[strings.LastIndexByte(s.Key, '.'):]
		texts[name] += s.Key + "\n" + s.Value + "\x00"
	}
	for name, text := range texts {
		texts[name] = checksum(text)
	}
	return texts
}

func checksum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Publish pushes a branch to the addresses in to, with the user's hooks. It never forces.
func (r *Repo) Publish(ctx context.Context, to Remote, branch string) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	ref := "refs/heads/" + branch
	for _, url := range to.URLs {
		args := []string{"push", "--quiet", "--recurse-submodules=no", url, ref + ":" + ref}
		if _, err := r.run(ctx, call{args: args, hooks: true, env: to.pushEnv(url)}); err != nil {
			return fmt.Errorf("push %s to %s: %w", branch, to.Name, err)
		}
	}
	return nil
}

// pushEnv returns an environment that fixes the address and programs of a push, whatever the
// repository's configuration says meanwhile. It uses variables because arguments are visible to all
// users.
func (to Remote) pushEnv(url string) []string {
	ssh := "ssh"
	pins := []Setting{{"credential.helper", ""}} // resets earlier values
	for _, s := range to.settings {
		switch {
		case s.Key == "core.sshcommand":
			ssh = s.Value
		case strings.HasPrefix(s.Key, "core."), strings.HasPrefix(s.Key, "credential."):
			pins = append(pins, s)
		}
	}
	// The longest match of several rewrites wins: this one rewrites the address to itself.
	pins = append(pins, Setting{"url." + url + ".insteadOf", url}, Setting{"url." + url + ".pushInsteadOf", url})
	env := []string{"GIT_SSH_COMMAND=" + ssh}
	n := 0
	for _, v := range (&exec.Cmd{}).Environ() {
		if count, ok := strings.CutPrefix(v, "GIT_CONFIG_COUNT="); ok {
			n, _ = strconv.Atoi(count) // git itself reports an invalid number
		}
	}
	for _, s := range pins {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, s.Key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, s.Value))
		n++
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}
