package guard

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// checkSystemTool checks commands that act outside the work tree without naming a file that they
// write: commands to run later, and folders for containers.
func (j *checker) checkSystemTool(name string, words []word) {
	args := words[1:]
	switch name {
	case "crontab":
		if !hasOption(args, "", "l") {
			j.deny(RuleOutside, "changing the crontab")
		}
	case "at", "batch":
		isFile := strings.HasPrefix(words[0].Text, ".") // a script file of that name
		if !isFile && !hasOption(args, "", "lVcrd") {
			j.deny(RuleOutside, "leaving a command to run later, by "+name)
		}
	case "systemd-run":
		// With --scope the command runs as a child of this one, otherwise as a service of systemd.
		if !hasOption(args, "--scope", "") && !hasOption(args, "--help", "h") && !hasOption(args, "--version", "") {
			j.deny(RuleOutside, "running a command as a service, by systemd-run")
		}
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose":
		ops := operands(args)
		for len(ops) > 0 && inList("compose container", ops[0].Text) {
			ops = ops[1:]
		}
		if startWith(ops, "cp * *") {
			j.checkCopy(ops[1:3])
		}
		j.checkMounts(words)
	}
}

// checkMounts checks the folders of this machine that a container may use.
func (j *checker) checkMounts(words []word) {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	if inside, ok := shell.Unwrap(texts); ok {
		words = words[:len(words)-len(inside)] // the command in the container has its own options
	}
	if !slices.ContainsFunc(operands(words), func(w word) bool { return inList("run create", w.Text) }) {
		return
	}
	for i, w := range words {
		option, value, joined := strings.Cut(w.Text, "=")
		switch {
		case inList("-v --volume --mount", w.Text) && i+1 < len(words):
			w = words[i+1]
		case joined && inList("--volume --mount", option):
			w.Text = value
		case strings.HasPrefix(w.Text, "-v") && len(w.Text) > 2:
			w.Text = w.Text[2:]
		default:
			continue
		}
		j.checkMount(w)
	}
}

// checkMount checks one mount: FROM:TO[:ro], or type=bind,source=FROM,target=TO[,readonly]. A
// plain name is a volume of the container tool, not a folder here.
func (j *checker) checkMount(w word) {
	parts := strings.FieldsFunc(w.Text, func(r rune) bool { return r == ':' || r == ',' })
	from, checkPath := w, j.checkNewFolder
	for i, part := range parts {
		key, value, _ := strings.Cut(part, "=")
		switch {
		case i == 0 && !strings.Contains(w.Text, "target=") && !strings.Contains(w.Text, "dst="):
			from.Text = part
		case key == "source" || key == "src":
			from.Text = value
		case key == "ro" || key == "readonly" && value != "false":
			checkPath = j.checkRead
		}
	}
	if strings.HasPrefix(from.Text, shell.Unknown) || strings.ContainsAny(from.Text[:min(1, len(from.Text))], "/.~") {
		from.Static = !strings.Contains(from.Text, shell.Unknown)
		j.checkFile(from, checkPath)
	}
}

// checkUserConfig denies commands that write the user's own configuration of a tool. It would
// apply to all later runs of the tool, and to the gates.
func (j *checker) checkUserConfig(name string, args []word) {
	ops := operandsAmongValued(args, "L", "--location --prefix --userconfig --registry")
	if name == "python" && startWith(args, "-m pip") {
		name, args = "pip", args[2:]
		ops = operands(args)
	}
	what := ""
	switch {
	case name == "go" && startWith(ops, "env") && hasOption(args, "", "wu"):
		what = "go env -w"
	case inList("npm pnpm", name) && (isConfigChange(ops) || startWith(ops, "set *")):
		if at, ok := optionValue(args, "-L", "--location"); ok && at.Text == "project" {
			j.checkWrite(".npmrc", false)
			return
		}
		what = name + " config set"
	case inList("yarn pip", name) && isConfigChange(ops):
		what = name + " config set"
	}
	if what != "" {
		j.applyRuleWith(Deny, RuleOutside, what+" changes the user's own configuration",
			"set it for one command in its environment (NAME=value COMMAND), or in a file of the project's")
	}
}

// isConfigChange reports whether a subcommand changes a tool's configuration.
func isConfigChange(ops []word) bool {
	return len(ops) > 1 && inList("config c", ops[0].Text) && inList("set unset delete rm edit", ops[1].Text)
}
