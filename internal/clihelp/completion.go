package clihelp

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion returns the completion script of a shell: bash, zsh or fish.
func Completion(root *kong.Node, shell string) string {
	return map[string]func(*kong.Node) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[shell](root)
}

// loopIDs is the shell command that lists loop ids at completion time.
const loopIDs = `$(COLUMNS= pawl list 2>/dev/null | awk 'NR > 1 {print $1}')`

// nextWords returns the words that may follow a command, with their help.
func nextWords(n *kong.Node) []Row {
	var rows []Row
	for _, c := range shownCommands(n) {
		rows = append(rows, Row{c.Name, c.Help})
	}
	for _, p := range n.Positional {
		if p.Enum != "" {
			for _, word := range p.EnumSlice() {
				rows = append(rows, Row{word, p.Help})
			}
		}
	}
	for _, f := range shownFlags(n) {
		rows = append(rows, Row{"--" + f.Name, f.Help})
	}
	return rows
}

func takesLoop(n *kong.Node) bool { return len(n.Positional) > 0 && n.Positional[0].Name == "loop" }

// shellCode returns the code that bash and zsh share. It finds the command in the words before the one to
// complete, and sets what may follow it.
func shellCode(root *kong.Node, first, end string, following func(*kong.Node) string) string {
	var names, cases []string
	for _, n := range Commands(root) {
		names = append(names, "'"+Name(n)+"'")
		cases = append(cases, fmt.Sprintf("    '%s') choices=%s ;;\n", Name(n), following(n)))
	}
	return fmt.Sprintf(`    for ((i = %s; i < %s; i++)); do
        case "$cmd ${words[i]}" in
        %s) cmd="$cmd ${words[i]}" ;;
        esac
    done
    case $cmd in
%s    esac
`, first, end, strings.Join(names[1:], " | "), strings.Join(cases, ""))
}

func bashScript(root *kong.Node) string {
	following := func(n *kong.Node) string {
		var words []string
		for _, r := range nextWords(n) {
			words = append(words, r.Name)
		}
		if takesLoop(n) {
			words = append(words, loopIDs)
		}
		return `"` + strings.Join(words, " ") + `"`
	}
	return "# bash completion for pawl\n_pawl() {\n    local cmd=pawl i choices= words=(\"${COMP_WORDS[@]}\")\n" +
		shellCode(root, "1", "COMP_CWORD", following) +
		"    COMPREPLY=($(compgen -W \"$choices\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n" +
		"complete -o default -F _pawl pawl\n"
}

func zshScript(root *kong.Node) string {
	following := func(n *kong.Node) string {
		var list strings.Builder
		for _, r := range nextWords(n) {
			fmt.Fprintf(&list, "'%s:%s' ", r.Name, strings.NewReplacer("'", "'\\''", ":", "\\:").Replace(r.Help))
		}
		if takesLoop(n) {
			list.WriteString(loopIDs)
		}
		return "(" + list.String() + ")"
	}
	return "#compdef pawl\n_pawl() {\n    local cmd=pawl i\n    local -a choices\n" +
		shellCode(root, "2", "CURRENT", following) +
		"    _describe pawl choices || _files\n}\n" +
		"if [ \"$funcstack[1]\" = _pawl ]; then _pawl; else compdef _pawl pawl; fi\n"
}

func fishScript(root *kong.Node) string {
	var b strings.Builder
	b.WriteString("# fish completion for pawl\n")
	for _, n := range Commands(root) {
		when := fishCondition(n)
		for _, r := range nextWords(n) {
			kind := "-a"
			name, isFlag := strings.CutPrefix(r.Name, "--")
			if isFlag {
				kind = "-l"
			}
			help := strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(r.Help)
			fmt.Fprintf(&b, "complete -c pawl -n '%s' %s %s -d '%s'\n", when, kind, name, help)
		}
		if takesLoop(n) {
			fmt.Fprintf(&b, "complete -c pawl -n '%s' -a \"(env COLUMNS= pawl list 2>/dev/null | awk 'NR > 1 {print \\$1}')\"\n", when)
		}
	}
	return b.String()
}

// fishCondition returns fish code that tests whether the words so far name n and no command below it.
func fishCondition(n *kong.Node) string {
	if n.Parent == nil {
		return "__fish_use_subcommand"
	}
	var conditions []string
	for at := n; at.Parent != nil; at = at.Parent {
		conditions = append([]string{"__fish_seen_subcommand_from " + at.Name}, conditions...)
	}
	if !n.Leaf() {
		conditions = append(conditions, "not __fish_seen_subcommand_from "+strings.Join(commandNames(n), " "))
	}
	return strings.Join(conditions, "; and ")
}
