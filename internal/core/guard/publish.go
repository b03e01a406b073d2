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
	"cargo":            {"publish", "yank", "release"},
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
	"mvn":              {"deploy", "release:perform", "clean deploy", "* deploy"},
	"mvnw":             {"deploy", "release:perform", "clean deploy", "* deploy"},
	"gradle":           {"publish", "* publish", "uploadArchives"},
	"gradlew":          {"publish", "* publish", "uploadArchives"},
	"sbt":              {"publish", "publishSigned"},
	"dotnet":           {"nuget push"},
	"nuget":            {"push"},
	"mix":              {"hex.publish"},
	"dart":             {"pub publish"},
	"flutter":          {"pub publish"},
	"pod":              {"trunk push"},
	"luarocks":         {"upload"},
	"cpan-upload":      {""},
}

// tool judges package managers and the like.
func (j *judge) tool(name string, args []word) {
	if has(args, "--help", "") {
		return
	}
	ops := operands(without(args, "CHFmwr", "--registry --prefix --workspace --filter --dir --cwd --manifest-path --config --directory --project --context --host --file"))
	ops = slices.DeleteFunc(ops, func(w word) bool { return strings.HasPrefix(w.Text, "+") }) // cargo +nightly
	plain := operands(args)
	dry := slices.ContainsFunc(args, func(w word) bool { return listed("--dry-run --dry-run=true --snapshot", w.Text) })
	for _, list := range published[name] {
		if !dry && (begins(ops, list) || begins(plain, list)) {
			j.deny(RulePublish, strings.TrimSpace(name+" "+list))
			return
		}
	}
	switch {
	case name == "docker" && begins(ops, "buildx build") && has(args, "--push", ""):
		j.deny(RulePublish, "docker buildx build --push")
	case name == "docker" && begins(ops, "build") && has(args, "--push", ""):
		j.deny(RulePublish, "docker build --push")
	case name == "python" && begins(args, "-m twine upload"), name == "python" && begins(ops, "setup.py upload"), name == "python" && begins(ops, "setup.py * upload"):
		j.deny(RulePublish, "uploading a package")
	case name == "npm" && (begins(ops, "pkg set") || begins(ops, "pkg delete") || begins(ops, "set-script")):
		j.write("package.json", false)
	case listed("claude codex gemini", name) && len(ops) > 1 && listed("mcp config plugin plugins", ops[0].Text) && !listed("list get show ls", ops[1].Text):
		j.deny(RuleSettings, name+" "+ops[0].Text+" "+clip(ops[1].Text))
	case listed("husky lefthook pre-commit", name) && len(ops) > 0 && ops[0].Text == "uninstall":
		j.deny(RuleHooks, name+" uninstall")
	}
}

// forge judges the command lines of code hosts.
func (j *judge) forge(args []word) {
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
	if begins(ops, "repo create") && has(args, "--push", "") {
		j.deny(RulePush, "gh repo create --push")
	}
	if len(ops) > 1 && ops[0].Text == "api" {
		j.forgeAPI(args, ops[1].Text)
	}
}

// forgeAPI judges calls that change what the host holds.
func (j *judge) forgeAPI(args []word, at string) {
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
func (j *judge) pawl(args []word) {
	if len(args) == 0 {
		return
	}
	if listed("trust grant deny stop pause resume restore undo install uninstall handover session", args[0].Text) {
		j.deny(RuleState, "pawl "+args[0].Text)
	}
	if args[0].Text == "tell" {
		j.controls("pawl tell", "what is told comes from the person. Say it in your own message")
	}
	if args[0].Text == "lessons" && slices.ContainsFunc(args[1:], func(w word) bool { return listed("add drop keep", w.Text) }) {
		j.controls("changing lessons by hand", j.lessonsInstead())
	}
	if args[0].Text == "start" && slices.ContainsFunc(args, func(w word) bool { return w.Text == "--take" || strings.HasPrefix(w.Text, "--take=") }) {
		j.deny(RuleState, "pawl start --take")
	}
}

// controls denies a control of the loop's that has an honest way beside it.
func (j *judge) controls(what, instead string) { j.answer(Deny, RuleState, what+": "+instead) }

func (j *judge) lessonsInstead() string {
	if j.rules.Tools {
		return "the person keeps them. Use the add_lesson tool"
	}
	return "the person keeps them. Say in your own message what should be known later"
}

// kill judges what ends processes that it does not name by their ids.
func (j *judge) kill(name string, args []word) {
	switch name {
	case "pkill":
		if len(operands(without(args, "PgGsutU", "--parent --pgroup --session --terminal --euid --uid --group --signal"))) == 0 && has(args, "--parent", "P") {
			return // the children of one process
		}
		j.deny(RuleKill, "pkill")
	case "killall", "killall5", "skill", "slay", "xkill":
		j.deny(RuleKill, name)
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
