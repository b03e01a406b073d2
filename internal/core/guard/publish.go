package guard

import (
	"slices"
	"strings"
)

// published are the words behind a command's name with which it publishes.
var published = map[string][]string{
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

// goals are the tasks with which build tools publish: of what stands behind their name,
// any word may be one. A * stands for any letters.
var goals = map[string]string{
	"gradle":  "publish publishTo* publish*To*Repository publishPlugins uploadArchives closeAndRelease* jib",
	"gradlew": "publish publishTo* publish*To*Repository publishPlugins uploadArchives closeAndRelease* jib",
	"mvn":     "deploy deploy:* site-deploy release:prepare release:perform *:maven-deploy-plugin:* jib:build",
	"mvnw":    "deploy deploy:* site-deploy release:prepare release:perform *:maven-deploy-plugin:* jib:build",
	"sbt":     "publish publishSigned release ci-release sonatypeBundleRelease",
	"rake":    "release release:*",
}

// sends are the words behind a command's name with which it sends commits elsewhere.
var sends = map[string][]string{
	"hg":       {"push"},
	"jj":       {"git push"},
	"sl":       {"push"},
	"gt":       {"submit"},
	"gh-pages": {""},
	"mkdocs":   {"gh-deploy"},
}

// runners run other tools by their name.
const runners = "pnpm yarn bun python"

// tool judges package managers and the like.
func (j *check) tool(name string, args []word) {
	if has(args, "--help", "") {
		return
	}
	ops := operands(without(args, "CHFmwr", "--registry --prefix --workspace --filter --dir --cwd --manifest-path --config --directory --project --context --host --file"))
	ops = slices.DeleteFunc(ops, func(w word) bool { return strings.HasPrefix(w.Text, "+") }) // cargo +nightly
	plain := operands(args)
	dry := slices.ContainsFunc(args, func(w word) bool { return listed("--dry-run --dry-run=true --snapshot --no-push", w.Text) }) ||
		name == "cargo" && contains(args, "-n") || name == "rake" && has(args, "--tasks", "TPn")
	for _, x := range []struct {
		id    string
		lists []string
	}{{RulePublish, published[name]}, {RulePush, sends[name]}} {
		for _, list := range x.lists {
			if !dry && (begins(ops, list) || begins(plain, list)) {
				j.deny(x.id, strings.TrimSpace(name+" "+list))
				return
			}
		}
	}
	if !dry && j.publishes(name, args) {
		return
	}
	switch {
	case name == "cargo" && begins(ops, "release"):
		if has(args, "--execute", "x") { // otherwise it only tells what it would do
			j.deny(RulePublish, "cargo release --execute")
		}
	case listed("docker podman nerdctl docker-compose", name) && builds(ops) && pushes(args):
		j.deny(RulePublish, name+" build --push")
	case name == "python" && begins(args, "-m *") && !listed(runners, args[1].Text):
		j.tool(args[1].Text, args[2:])
	case name == "python" && begins(ops, "setup.py upload"), name == "python" && begins(ops, "setup.py * upload"):
		j.deny(RulePublish, "uploading a package")
	case name == "npm" && (begins(ops, "pkg set") || begins(ops, "pkg delete") || begins(ops, "set-script")):
		j.write("package.json", false)
	case listed("claude codex gemini", name) && len(ops) > 1 && listed("mcp config plugin plugins", ops[0].Text) && !listed("list get show ls", ops[1].Text):
		j.deny(RuleSettings, name+" "+ops[0].Text+" "+clip(ops[1].Text))
	case listed("husky lefthook pre-commit", name) && len(ops) > 0 && ops[0].Text == "uninstall":
		j.deny(RuleHooks, name+" uninstall")
	case listed("pnpm yarn bun", name) && len(ops) > 1: // what is none of their own commands is a program of the project's
		if listed("run x", ops[0].Text) {
			ops = ops[1:]
		}
		at := slices.IndexFunc(args, func(w word) bool { return w.Text == ops[0].Text })
		if !listed(runners, ops[0].Text) {
			j.tool(ops[0].Text, args[at+1:])
		}
	}
}

// publishes judges the goals that a build tool is given.
func (j *check) publishes(name string, args []word) bool {
	if goals[name] == "" {
		return false
	}
	for _, w := range operands(without(args, "fPxbIps", "-pl -rf --projects --file --tests --exclude-task --project-dir --init-script")) {
		goal := strings.TrimLeft(w.Text, "+:")
		if strings.HasPrefix(name, "gradle") || name == "sbt" {
			goal = goal[strings.LastIndexAny(goal, ":/")+1:] // of one project
		}
		for pattern := range strings.FieldsSeq(goals[name]) {
			if starred(pattern, goal, "") && !strings.Contains(goal, "MavenLocal") {
				j.deny(RulePublish, name+" "+clip(goal))
				return true
			}
		}
	}
	return false
}

// builds tells the commands that build an image.
func builds(ops []word) bool {
	for len(ops) > 0 && listed("buildx compose image", ops[0].Text) {
		ops = ops[1:]
	}
	return len(ops) > 0 && listed("build bake", ops[0].Text)
}

// pushes reports whether an image goes to a registry once it is built.
func pushes(args []word) bool {
	to, _ := option(args, "-o", "--output")
	return has(args, "--push", "") || strings.Contains(to.Text, "type=registry") || strings.Contains(to.Text, "push=true")
}

// forge judges the command lines of code hosts.
func (j *check) forge(args []word) {
	if has(args, "--help", "") {
		return
	}
	ops := operands(without(args, "RXHfF", "--repo --method --header --field --raw-field --hostname"))
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
		if begins(ops, f.words) {
			j.deny(f.id, "gh "+f.words)
			return
		}
	}
	switch {
	case begins(ops, "repo create") && has(args, "--push", ""):
		j.deny(RulePush, "gh repo create --push")
	case begins(ops, "mr create") && has(args, "--push", ""):
		j.deny(RulePush, "glab mr create --push")
	case begins(ops, "auth status") && has(args, "--show-token", "t"):
		j.deny(RuleSecret, "gh auth status --show-token")
	}
	if len(ops) > 1 && ops[0].Text == "api" {
		j.forgeAPI(args, ops[1].Text)
	}
}

// forgeAPI judges calls that change what the host holds.
func (j *check) forgeAPI(args []word, at string) {
	method, given := option(args, "-X", "--method")
	changes := has(args, "--field", "fF") || has(args, "--raw-field", "") || has(args, "--input", "")
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

// pawl keeps the agent's hands off the loop's own controls.
func (j *check) pawl(args []word) {
	if len(args) == 0 {
		return
	}
	if listed("trust init gc answer approve reject stop pause resume limit restore undo install uninstall handover session serve", args[0].Text) || planControls(args) {
		j.deny(RuleState, "pawl "+args[0].Text)
	}
	if args[0].Text == "tell" {
		j.controls("pawl tell", "what is told comes from the user. Say it in your own message")
	}
	if args[0].Text == "lessons" && slices.ContainsFunc(args[1:], func(w word) bool { return listed("add drop keep", w.Text) }) {
		j.controls("changing lessons by hand", j.lessonsInstead())
	}
	if args[0].Text == "start" && slices.ContainsFunc(args, func(w word) bool { return w.Text == "--take" || strings.HasPrefix(w.Text, "--take=") }) {
		j.deny(RuleState, "pawl start --take")
	}
}

// planControls reports whether these words of pawl's write a plan or edit one.
func planControls(args []word) bool {
	return args[0].Text == "plan" && len(args) > 1 && listed("new improve add edit skip retry move reopen accept", args[1].Text)
}

// controls denies a control of the loop's that has an honest way beside it.
func (j *check) controls(what, instead string) { j.answer(Deny, RuleState, what+": "+instead) }

func (j *check) lessonsInstead() string {
	if j.rules.Tools {
		return "the user keeps them. Use the add_lesson tool"
	}
	return "the user keeps them. Say in your own message what should be known later"
}

// kill judges what ends processes that it does not name by their ids.
func (j *check) kill(name string, args []word) {
	switch name {
	case "pkill":
		if len(operands(without(args, "PgGsutU", "--parent --pgroup --session --terminal --euid --uid --group --signal"))) == 0 && has(args, "--parent", "P") {
			return // the children of one process
		}
		if !j.ownProcess(args) {
			j.deny(RuleKill, "pkill")
		}
	case "killall":
		if !j.ownPrograms(args) {
			j.deny(RuleKill, name)
		}
	case "killall5", "skill", "slay", "xkill":
		j.deny(RuleKill, name)
	case "tmux":
		// A server that is named may be the agent's own.
		if begins(args, "kill-server") {
			j.advise(Deny, RuleKill, "tmux kill-server ends all sessions, the user's too", "end the one that you started: tmux kill-session -t NAME")
		}
	case "fuser":
		if has(args, "--kill", "k") {
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
				if listed("pgrep pidof ps", from) {
					j.deny(RuleKill, "kill of what "+from+" finds")
				}
			}
		}
	}
}
