package guard

import (
	"slices"
	"strings"
)

// publishCommands are the words after a command's name with which it publishes.
var publishCommands = map[string][]string{
	"npm":              {"publish", "unpublish", "deprecate", "dist-tag add", "stage"},
	"pnpm":             {"publish", "recursive publish"},
	"yarn":             {"publish", "npm publish", "workspace * publish", "workspace * npm publish", "workspaces foreach npm publish"},
	"bun":              {"publish"},
	"lerna":            {"publish"},
	"changeset":        {"publish"},
	"semantic-release": {""},
	"jsr":              {"publish"},
	"deno":             {"publish"},
	"vsce":             {"publish"},
	"ovsx":             {"publish"},
	"cargo":            {"publish", "yank", "ws publish", "workspaces publish"},
	"twine":            {"upload"},
	"uv":               {"publish"},
	"poetry":           {"publish"},
	"pdm":              {"publish"},
	"hatch":            {"publish"},
	"flit":             {"publish"},
	"maturin":          {"publish", "upload"},
	"gem":              {"push", "yank"},
	"docker":           {"push", "image push", "compose push", "manifest push", "plugin push"},
	"podman":           {"push", "image push", "manifest push"},
	"buildah":          {"push"},
	"nerdctl":          {"push"},
	"skopeo":           {"copy", "sync"},
	"crane":            {"push", "copy", "tag"},
	"oras":             {"push"},
	"cosign":           {"sign"},
	"helm":             {"push", "cm-push"},
	"goreleaser":       {"release"},
	"dotnet":           {"nuget push"},
	"nuget":            {"push"},
	"mix":              {"hex.publish"},
	"dart":             {"pub publish"},
	"flutter":          {"pub publish"},
	"pod":              {"trunk push"},
	"luarocks":         {"upload"},
	"cpan-upload":      {""},
}

// buildGoals are the goals with which build tools publish. Any word after the tool's name may be a
// goal. A * matches any letters.
var buildGoals = map[string]string{
	"gradle":  "publish publishTo* publish*To*Repository publishPlugins uploadArchives closeAndRelease* jib",
	"gradlew": "publish publishTo* publish*To*Repository publishPlugins uploadArchives closeAndRelease* jib",
	"mvn":     "deploy deploy:* site-deploy release:prepare release:perform *:maven-deploy-plugin:* jib:build",
	"mvnw":    "deploy deploy:* site-deploy release:prepare release:perform *:maven-deploy-plugin:* jib:build",
	"sbt":     "publish publishSigned release ci-release sonatypeBundleRelease",
	"rake":    "release release:*",
}

// pushCommands are the words after a command's name with which it sends commits to another
// repository.
var pushCommands = map[string][]string{
	"hg":       {"push"},
	"jj":       {"git push"},
	"sl":       {"push"},
	"gt":       {"submit"},
	"gh-pages": {""},
	"mkdocs":   {"gh-deploy"},
}

// scriptRunners are tools that run other tools by name.
const scriptRunners = "pnpm yarn bun python"

// checkPackageManager checks package managers, build tools and similar commands.
func (j *checker) checkPackageManager(name string, args []word) {
	if hasOption(args, "--help", "") {
		return
	}
	ops := operandsAmongValued(args, "CHFmwr", "--registry --prefix --workspace --filter --dir --cwd --manifest-path --config --directory --project --context --host --file")
	ops = slices.DeleteFunc(ops, func(w word) bool { return strings.HasPrefix(w.Text, "+") }) // cargo +nightly
	plain := operands(args)
	dry := slices.ContainsFunc(args, func(w word) bool { return inList("--dry-run --dry-run=true --snapshot --no-push", w.Text) }) ||
		name == "cargo" && containsWord(args, "-n") || name == "rake" && hasOption(args, "--tasks", "TPn")
	for _, x := range []struct {
		id    string
		lists []string
	}{{RulePublish, publishCommands[name]}, {RulePush, pushCommands[name]}} {
		for _, list := range x.lists {
			if !dry && (startWith(ops, list) || startWith(plain, list)) {
				j.deny(x.id, strings.TrimSpace(name+" "+list))
				return
			}
		}
	}
	if !dry && j.denyPublishGoal(name, args) {
		return
	}
	switch {
	case name == "cargo" && startWith(ops, "release"):
		if hasOption(args, "--execute", "x") { // without it, cargo release is a dry run
			j.deny(RulePublish, "cargo release --execute")
		}
	case inList("docker podman nerdctl docker-compose", name) && isImageBuild(ops) && pushesImage(args):
		j.deny(RulePublish, name+" build --push")
	case name == "python" && startWith(args, "-m *") && !inList(scriptRunners, args[1].Text):
		j.checkPackageManager(args[1].Text, args[2:])
	case name == "python" && startWith(ops, "setup.py upload"), name == "python" && startWith(ops, "setup.py * upload"):
		j.deny(RulePublish, "uploading a package")
	case name == "npm" && (startWith(ops, "pkg set") || startWith(ops, "pkg delete") || startWith(ops, "set-script")):
		j.checkWrite("package.json", false)
	case inList("claude codex gemini", name) && len(ops) > 1 && inList("mcp config plugin plugins", ops[0].Text) && !inList("list get show ls", ops[1].Text):
		j.deny(RuleSettings, name+" "+ops[0].Text+" "+clip(ops[1].Text))
	case inList("husky lefthook pre-commit", name) && len(ops) > 0 && ops[0].Text == "uninstall":
		j.deny(RuleHooks, name+" uninstall")
	case inList("pnpm yarn bun", name) && len(ops) > 1: // a word that is not one of their commands is a program of the project
		if inList("run x", ops[0].Text) {
			ops = ops[1:]
		}
		at := slices.IndexFunc(args, func(w word) bool { return w.Text == ops[0].Text })
		if !inList(scriptRunners, ops[0].Text) {
			j.checkPackageManager(ops[0].Text, args[at+1:])
		}
	}
}

// denyPublishGoal denies the first publishing goal among the arguments of a build tool. It reports
// whether there is one.
func (j *checker) denyPublishGoal(name string, args []word) bool {
	if buildGoals[name] == "" {
		return false
	}
	for _, w := range operandsAmongValued(args, "fPxbIps", "-pl -rf --projects --file --tests --exclude-task --project-dir --init-script") {
		goal := strings.TrimLeft(w.Text, "+:")
		if strings.HasPrefix(name, "gradle") || name == "sbt" {
			goal = goal[strings.LastIndexAny(goal, ":/")+1:] // without the project's name
		}
		for pattern := range strings.FieldsSeq(buildGoals[name]) {
			if matchStars(pattern, goal, "") && !strings.Contains(goal, "MavenLocal") {
				j.deny(RulePublish, name+" "+clip(goal))
				return true
			}
		}
	}
	return false
}

// isImageBuild reports whether a container tool builds an image.
func isImageBuild(ops []word) bool {
	for len(ops) > 0 && inList("buildx compose image", ops[0].Text) {
		ops = ops[1:]
	}
	return len(ops) > 0 && inList("build bake", ops[0].Text)
}

// pushesImage reports whether a build pushes its image to a registry.
func pushesImage(args []word) bool {
	to, _ := optionValue(args, "-o", "--output")
	return hasOption(args, "--push", "") || strings.Contains(to.Text, "type=registry") || strings.Contains(to.Text, "push=true")
}

// checkForge checks the command line tools of code hosts.
func (j *checker) checkForge(args []word) {
	if hasOption(args, "--help", "") {
		return
	}
	ops := operandsAmongValued(args, "RXHfF", "--repo --method --header --field --raw-field --hostname")
	for _, f := range []struct{ id, words string }{
		{RuleMerge, "pr merge"},
		{RuleMerge, "mr merge"},
		{RuleMerge, "mr accept"},
		{RuleMerge, "repo delete"},
		{RulePush, "repo sync"},
		{RulePublish, "release create"},
		{RulePublish, "release upload"},
		{RulePublish, "release edit"},
		{RulePublish, "release delete"},
		{RulePublish, "gist create"},
		{RuleSecret, "auth token"},
	} {
		if startWith(ops, f.words) {
			j.deny(f.id, "gh "+f.words)
			return
		}
	}
	switch {
	case startWith(ops, "repo create") && hasOption(args, "--push", ""):
		j.deny(RulePush, "gh repo create --push")
	case startWith(ops, "mr create") && hasOption(args, "--push", ""):
		j.deny(RulePush, "glab mr create --push")
	case startWith(ops, "auth status") && hasOption(args, "--show-token", "t"):
		j.deny(RuleSecret, "gh auth status --show-token")
	}
	if len(ops) > 1 && ops[0].Text == "api" {
		j.checkForgeAPI(args, ops[1].Text)
	}
}

// checkForgeAPI denies API calls that change the code host's data.
func (j *checker) checkForgeAPI(args []word, at string) {
	method, given := optionValue(args, "-X", "--method")
	changes := hasOption(args, "--field", "fF") || hasOption(args, "--raw-field", "") || hasOption(args, "--input", "")
	if given {
		changes = !strings.EqualFold(method.Text, "GET") && !strings.EqualFold(method.Text, "HEAD")
	}
	mutation := at == "graphql" && slices.ContainsFunc(args, func(w word) bool { return strings.Contains(w.Text, "merge") })
	switch {
	case !changes:
	case mutation, strings.Contains(at, "/merge"), strings.Contains(at, "git/refs"), strings.Contains(at, "/protection"):
		j.deny(RuleMerge, "a call of the code host's API")
	case strings.Contains(at, "/releases"):
		j.deny(RulePublish, "a call of the code host's API")
	case strings.Contains(at, "/contents/"):
		j.deny(RulePush, "a call of the code host's API")
	}
}

// checkPawl denies Pawl commands that control the loop.
func (j *checker) checkPawl(args []word) {
	if len(args) == 0 {
		return
	}
	if inList("trust init gc answer approve reject stop pause resume limit restore undo install uninstall handover session serve", args[0].Text) || isPlanEdit(args) {
		j.deny(RuleState, "pawl "+args[0].Text)
	}
	if args[0].Text == "tell" {
		j.denyControl("pawl tell", "these messages come from the user. Write it in your own message")
	}
	if args[0].Text == "lessons" && slices.ContainsFunc(args[1:], func(w word) bool { return inList("add drop keep", w.Text) }) {
		j.denyControl("changing lessons by hand", j.lessonAdvice())
	}
	if args[0].Text == "start" && slices.ContainsFunc(args, func(w word) bool { return w.Text == "--take" || strings.HasPrefix(w.Text, "--take=") }) {
		j.deny(RuleState, "pawl start --take")
	}
}

// isPlanEdit reports whether the arguments of pawl write or edit a plan.
func isPlanEdit(args []word) bool {
	return args[0].Text == "plan" && len(args) > 1 && inList("new improve add edit skip retry move reopen accept", args[1].Text)
}

// denyControl denies a command that controls the loop, with advice for a proper way.
func (j *checker) denyControl(what, instead string) { j.strengthen(Deny, RuleState, what+": "+instead) }

// lessonAdvice returns how an agent may record a lesson.
func (j *checker) lessonAdvice() string {
	if j.rules.HasPawlTools {
		return "only the user edits lessons. Use the add_lesson tool"
	}
	return "only the user edits lessons. Write in your message what should be known later"
}

// sendsNoSignal reports whether pkill or killall only asks whether such processes run.
func sendsNoSignal(args []word) bool {
	return containsWord(args, "-0") && !slices.ContainsFunc(args, func(w word) bool {
		return !w.Static || strings.HasPrefix(w.Text, "-") && !inList("-0 -f --full -x --exact -e -i --ignore-case -q --quiet -v --verbose", w.Text)
	})
}

// checkKill denies ending processes other than by their ids.
func (j *checker) checkKill(name string, args []word) {
	if inList("pkill killall", name) && sendsNoSignal(args) {
		return
	}
	switch name {
	case "pkill":
		if len(operandsAmongValued(args, "PgGsutU", "--parent --pgroup --session --terminal --euid --uid --group --signal")) == 0 && hasOption(args, "--parent", "P") {
			return // ends the children of one process only
		}
		if !j.isOwnProcess(args) {
			j.deny(RuleKill, "pkill")
		}
	case "killall":
		if !j.areOwnPrograms(args) {
			j.deny(RuleKill, name)
		}
	case "killall5", "skill", "slay", "xkill":
		j.deny(RuleKill, name)
	case "tmux":
		// A server with a name (tmux -L NAME) may be the agent's own.
		if startWith(args, "kill-server") {
			j.applyRuleWith(Deny, RuleKill, "tmux kill-server ends all sessions, the user's too", "end the one that you started: tmux kill-session -t NAME")
		}
	case "fuser":
		if hasOption(args, "--kill", "k") {
			j.deny(RuleKill, "fuser --kill")
		}
	case "taskkill":
		if slices.ContainsFunc(args, func(w word) bool { return strings.EqualFold(w.Text, "/im") }) {
			j.deny(RuleKill, "taskkill by name")
		}
	case "kill":
		for i, w := range args {
			if w.Text == "-1" && (i > 0 || len(args) == 1) {
				j.deny(RuleKill, "kill -1, which means all processes")
			}
			for _, from := range w.From {
				if inList("pgrep pidof ps", from) {
					j.deny(RuleKill, "kill of what "+from+" finds")
				}
			}
		}
	}
}
