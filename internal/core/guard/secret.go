package guard

import (
	"path"
	"slices"
	"strings"
)

// readCommands are commands that print or send the content of the files they name. nonFiles counts
// their leading operands that are not files; valueLetters are short options that take a value.
var readCommands = map[string]struct {
	nonFiles     int
	valueLetters string
}{
	"cat": {}, "less": {}, "more": {}, "nl": {}, "tac": {}, "bat": {}, "batcat": {}, "view": {}, "od": {valueLetters: "ANjt"}, "xxd": {valueLetters: "lsc"},
	"hexdump": {valueLetters: "ens"}, "strings": {valueLetters: "n"}, "base64": {valueLetters: "w"}, "base32": {valueLetters: "w"}, "rev": {}, "paste": {valueLetters: "d"},
	"diff": {valueLetters: "U"}, "cmp": {}, "comm": {}, "vi": {}, "vim": {}, "nvim": {}, "nano": {}, "emacs": {}, "code": {}, "fold": {valueLetters: "w"},
	"fmt": {}, "pr": {}, "column": {valueLetters: "st"}, "iconv": {valueLetters: "ft"}, "dotenv": {}, "split": {valueLetters: "bln"}, "source": {}, ".": {},
	"tar": {}, "zip": {nonFiles: 1}, "gzip": {},
	"head": {valueLetters: "nc"}, "tail": {valueLetters: "nc"}, "sort": {valueLetters: "kto"}, "uniq": {valueLetters: "fsw"}, "cut": {valueLetters: "bcdf"},
	"grep": {1, "efABCmdD"}, "egrep": {1, "efABCmdD"}, "fgrep": {1, "efABCmdD"}, "rg": {1, "efABCmgtTjM"}, "ag": {1, "ABCmG"}, "ack": {1, "ABCm"},
	"sed": {1, "efl"}, "awk": {1, "fFv"}, "gawk": {1, "efFvi"}, "jq": {1, "L"}, "yq": {1, ""},
}

// checkReadCommand checks a command that reads the files it names.
func (j *checker) checkReadCommand(name string, args []word) {
	switch name {
	case "sed", "gsed":
		if hasOptionAmongValued(args, "--in-place", "i", "efl") {
			return // prints nothing
		}
	case "zip": // -x is followed by the files that it leaves out
		if at := slices.IndexFunc(args, func(w word) bool { return w.Text == "-x" }); at >= 0 {
			args = args[:at]
		}
	case "dd":
		j.checkPrefixed(args, "if=", j.checkRead)
	case "curl", "wget", "http":
		for _, w := range args {
			if _, file, ok := strings.Cut(w.Text, "@"); ok {
				j.checkFile(word{Text: file, Source: w.Source, Static: w.Static}, j.checkRead)
			}
		}
		j.checkOptionFiles(args, [][2]string{{"-T", "--upload-file"}, {"", "--post-file"}, {"", "--body-file"}}, j.checkRead)
	case "openssl":
		j.checkOptionFiles(args, [][2]string{{"", "-in"}, {"", "-inkey"}}, j.checkRead)
	case "scp", "rsync":
		j.checkSources(operandsAmongValued(args, transferCommands[name].valueLetters, transferCommands[name].valueOptions))
	case "cp", "mv", "ln", "install":
		ops := operandsAmongValued(args, "tmog", "--target-directory --mode")
		if _, given := optionValue(args, "-t", "--target-directory"); given {
			ops = append(ops, word{})
		}
		j.checkSources(ops)
	}
	j.checkReadOperands(name, args)
}

// checkOptionFiles checks the files that options name, short and long.
func (j *checker) checkOptionFiles(args []word, options [][2]string, checkPath func(name string, glob bool)) {
	for _, o := range options {
		if w, ok := optionValue(args, o[0], o[1]); ok {
			j.checkFile(w, checkPath)
		}
	}
}

// checkPrefixed checks the files behind a prefix of arguments.
func (j *checker) checkPrefixed(args []word, prefix string, checkPath func(name string, glob bool)) {
	for _, w := range args {
		if file, ok := strings.CutPrefix(w.Text, prefix); ok {
			j.checkFile(w.Part(file), checkPath)
		}
	}
}

// checkSources checks all operands but the last, the target.
func (j *checker) checkSources(ops []word) {
	for _, w := range ops[:max(0, len(ops)-1)] {
		j.checkReadQuietly(w)
	}
}

// checkReadOperands checks the file operands of a command that prints them.
func (j *checker) checkReadOperands(name string, args []word) {
	of, ok := readCommands[name]
	if !ok {
		return
	}
	ops := operandsAmongValued(args, of.valueLetters, "--include --exclude --lines --bytes --regexp --expression --file")
	for _, o := range [][2]string{{"--regexp", "e"}, {"--expression", "e"}, {"--file", "f"}} {
		if hasOption(args, o[0], "") || strings.Contains(of.valueLetters, o[1]) && hasOptionAmongValued(args, "", o[1], of.valueLetters) {
			of.nonFiles = 0 // an option gives the pattern
		}
	}
	for _, w := range ops[min(of.nonFiles, len(ops)):] {
		if w.Static || strings.ContainsAny(w.Text, "/.") {
			j.checkReadQuietly(w)
		}
	}
}

// checkReadQuietly checks the reading of a file whose name is known in part. It records no unknown
// part, because reading unknown files is common.
func (j *checker) checkReadQuietly(w word) {
	unknown := j.verdict.Unknown
	j.checkFile(w, j.checkRead)
	j.verdict.Unknown = unknown
}

// checkRead checks the reading of one file.
func (j *checker) checkRead(name string, glob bool) {
	p := j.resolve(name)
	if p == "" {
		p = "/?/" + name // only the name is known, not the folder
		j.touchSomewhere(name)
	}
	if isDevice(name) {
		return
	}
	j.checkReadAt(name, p, glob)
	if real := j.followLinks(p); real != p {
		j.checkReadAt(name, real, glob)
	}
}

// checkReadAt checks the reading of the file at an absolute path.
func (j *checker) checkReadAt(name, p string, glob bool) {
	lifted := j.isLifted
	defer func() { j.isLifted = lifted }()
	j.touchPath(p)
	j.applyPathPatterns("read", p)
	if j.isSecret(p) || glob && j.matchesSecret(p) {
		j.deny(RuleSecret, "reading "+clip(name))
	}
}

// homeSecrets are files and folders of secrets in a user's home. A folder covers what is in it.
// .ssh is not listed: some of its files may be read.
var homeSecrets = []string{
	".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".vault-token", ".netrc", "_netrc", ".pgpass", ".my.cnf",
	".mylogin.cnf", ".npmrc", ".yarnrc.yml", ".bunfig.toml", ".pypirc", ".git-credentials", ".config/git/credentials", ".config/gh",
	".config/glab-cli", ".config/hub", ".config/gcloud", ".config/doctl", ".config/rclone", ".config/op", ".config/sops", ".config/age",
	".config/containers", ".config/configstore", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".mozilla",
	".local/share/keyrings", ".terraform.d", ".terraformrc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials",
	".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".nuget/NuGet", ".composer/auth.json",
	".config/composer/auth.json", ".s3cfg", ".boto", ".databrickscfg", ".fly", ".huggingface", ".cache/huggingface/token",
	".codex/auth.json", ".gemini/oauth_creds.json", ".bash_history", ".zsh_history", ".python_history", ".node_repl_history",
	".psql_history", ".local/share/fish/fish_history", ".yarnrc",
}

// SecretPaths returns the files and folders of secrets in a user's home, relative to it, with
// slashes. The guard lets no agent read them, and a strict sandbox hides them.
func SecretPaths() []string { return append([]string{".ssh"}, homeSecrets...) }

// isSecret reports whether a file is known to hold secrets, by its place or its name.
func (j *checker) isSecret(p string) bool {
	name := strings.ToLower(path.Base(p))
	switch {
	case name == ".env" || name == ".envrc" || strings.HasPrefix(name, ".env."):
		return !isExample(name)
	case strings.HasPrefix(name, "id_") && !strings.Contains(name, "."):
		return inList("id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk", name) || path.Base(path.Dir(p)) == ".ssh"
	case name == ".git-credentials" || name == ".netrc" || name == "_netrc" || name == ".pgpass" || name == ".credentials.json":
		return true
	case name == "master.key": // Rails
		return true
	case strings.HasSuffix(name, ".p12") || strings.HasSuffix(name, ".pfx"):
		return true
	case strings.HasSuffix(name, ".pem"):
		return !isPublicCertificate(name)
	case p == "/etc/shadow" || p == "/etc/gshadow":
		return true
	case strings.HasPrefix(p, "/proc/"):
		return name == "environ"
	}
	if !strings.Contains(p, "/.") && name != "_netrc" {
		return false
	}
	home := j.resolve("~")
	if isWithin(p, home+"/.ssh") {
		return !strings.HasSuffix(name, ".pub") && !strings.HasPrefix(name, "known_hosts") && name != "config" && name != "authorized_keys"
	}
	return slices.ContainsFunc(homeSecrets, func(s string) bool { return isWithin(p, home+"/"+s) })
}

// isExample reports whether the name of an .env file is that of an example.
func isExample(name string) bool {
	return inList(".example .sample .template .dist .defaults .tpl .schema .vault", path.Ext(name))
}

// isPublicCertificate reports whether the name of a .pem file is that of a certificate, which is
// public.
func isPublicCertificate(name string) bool {
	parts := []string{"cert", "chain", "ca.", "ca-", "pub", "bundle", "crt"}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// matchesSecret reports whether a glob may match a file of secrets.
func (j *checker) matchesSecret(p string) bool {
	dir, name := path.Split(p)
	for _, s := range []string{".env", ".env.local", "id_rsa", "id_ed25519", ".netrc", ".git-credentials", ".credentials.json", "shadow"} {
		if matchName(name, s) && (strings.HasPrefix(s, ".") || strings.Trim(name, "*") != "" || path.Base(dir) == ".ssh") && j.isSecret(path.Join(dir, s)) {
			return true
		}
	}
	home := j.resolve("~")
	for _, s := range homeSecrets {
		if isWithin(dir, home) && globReaches(p, home+"/"+s) {
			return true
		}
	}
	return globReaches(p, home+"/.ssh/id_rsa") && isWithin(p, home)
}
