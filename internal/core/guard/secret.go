package guard

import (
	"path"
	"strings"
)

// readers are commands that show, copy or send what is in the files they name,
// with the operands that are no files.
var readers = map[string]int{
	"cat": 0, "less": 0, "more": 0, "head": 0, "tail": 0, "nl": 0, "tac": 0, "bat": 0, "batcat": 0, "view": 0, "od": 0, "xxd": 0,
	"hexdump": 0, "strings": 0, "base64": 0, "base32": 0, "sort": 0, "uniq": 0, "rev": 0, "paste": 0, "diff": 0, "cmp": 0, "comm": 0,
	"vi": 0, "vim": 0, "nvim": 0, "nano": 0, "emacs": 0, "code": 0,
	"tar": 0, "zip": 1, "gzip": 0, "openssl": 0, "source": 0, ".": 0, "fold": 0, "fmt": 0, "pr": 0, "column": 0, "iconv": 0,
	"cut": 0, "dotenv": 0, "split": 0,
	"grep": 1, "egrep": 1, "fgrep": 1, "rg": 1, "ag": 1, "ack": 1, "sed": 1, "awk": 1, "gawk": 1, "jq": 1, "yq": 1, "tr": 2,
}

// reader judges commands that read the files they name.
func (j *judge) reader(name string, args []word) {
	switch name {
	case "dd":
		for _, w := range args {
			if from, ok := strings.CutPrefix(w.Text, "if="); ok {
				j.each(word{Text: from, Source: w.Source, Static: w.Static}, j.read)
			}
		}
		return
	case "curl", "wget", "http":
		for _, w := range args {
			if _, file, ok := strings.Cut(w.Text, "@"); ok {
				j.each(word{Text: file, Source: w.Source, Static: w.Static}, j.read)
			}
		}
		for _, o := range [][2]string{{"-T", "--upload-file"}, {"", "--post-file"}, {"", "--body-file"}} {
			if w, ok := option(args, o[0], o[1]); ok {
				j.each(w, j.read)
			}
		}
		return
	case "cp", "mv", "ln", "install", "scp", "rsync": // all but the last
		ops := operands(without(args, "tmog", "--target-directory --mode"))
		if _, given := option(args, "-t", "--target-directory"); !given {
			ops = ops[:max(0, len(ops)-1)]
		}
		for _, w := range ops {
			j.quietly(w)
		}
		return
	}
	skip, ok := readers[name]
	if !ok {
		return
	}
	ops := operands(without(args, "ABCmnct", "--include --exclude --lines --bytes"))
	if skip == 1 && (has(args, "--regexp", "") || has(args, "--expression", "")) {
		skip = 0
	}
	for _, w := range ops[min(skip, len(ops)):] {
		if w.Static || strings.Contains(w.Text, "/") || strings.Contains(w.Text, ".") {
			j.quietly(w)
		}
	}
}

// quietly judges the reading of a file whose name can be told in part. To read
// one that cannot be told is everyday work, and not noted.
func (j *judge) quietly(w word) {
	unknown := j.verdict.Unknown
	j.each(w, j.read)
	j.verdict.Unknown = unknown
}

// read judges the reading of one file.
func (j *judge) read(name string, glob bool) {
	p := j.resolve(name)
	if p == "" {
		p = "/?/" + name // its folder is not known, its name is
	}
	if device(name) {
		return
	}
	j.readAt(name, p, glob)
	if real := j.followed(p); real != p {
		j.readAt(name, real, glob)
	}
}

func (j *judge) readAt(name, p string, glob bool) {
	lifted := j.lifted
	defer func() { j.lifted = lifted }()
	j.paths("read", p)
	if j.isSecret(p) || glob && j.mayBeSecret(p) {
		j.deny(RuleSecret, "reading "+clip(name))
	}
}

// homeSecrets are files of secrets in a person's home; a folder stands for what
// is in it.
var homeSecrets = []string{
	".aws/credentials", ".netrc", "_netrc", ".npmrc", ".yarnrc", ".pypirc", ".git-credentials", ".docker/config.json", ".claude/.credentials.json",
	".codex/auth.json", ".gemini/oauth_creds.json", ".config/gh/hosts.yml", ".config/glab-cli/config.yml", ".config/git/credentials",
	".config/gcloud/application_default_credentials.json", ".config/gcloud/credentials.db", ".config/hub", ".azure/msal_token_cache.json",
	".kube/config", ".gnupg", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".pgpass", ".my.cnf", ".vault-token",
	".terraform.d/credentials.tfrc.json", ".config/rclone/rclone.conf", ".composer/auth.json", ".m2/settings.xml", ".gradle/gradle.properties",
	".local/share/keyrings", ".password-store", ".bash_history", ".zsh_history",
}

// isSecret tells files that are known to hold secrets, by their place or their
// name.
func (j *judge) isSecret(p string) bool {
	name := strings.ToLower(path.Base(p))
	switch {
	case name == ".env" || name == ".envrc" || strings.HasPrefix(name, ".env."):
		return !example(name)
	case strings.HasPrefix(name, "id_") && !strings.Contains(name, "."):
		return listed("id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk", name) || path.Base(path.Dir(p)) == ".ssh"
	case name == ".git-credentials" || name == ".netrc" || name == "_netrc" || name == ".pgpass":
		return true
	case strings.HasSuffix(name, ".p12") || strings.HasSuffix(name, ".pfx"):
		return true
	case strings.HasSuffix(name, ".pem"):
		return !public(name)
	case p == "/etc/shadow" || p == "/etc/gshadow":
		return true
	case strings.HasPrefix(p, "/proc/"):
		return name == "environ"
	}
	if !strings.Contains(p, "/.") && name != "_netrc" {
		return false
	}
	home := j.resolve("~")
	for _, s := range homeSecrets {
		if within(p, home+"/"+s) {
			return true
		}
	}
	return false
}

// example tells the files that show what an .env looks like.
func example(name string) bool {
	for _, end := range []string{".example", ".sample", ".template", ".dist", ".defaults", ".tpl", ".schema", ".vault"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// public tells certificates, which are there to be shown.
func public(name string) bool {
	for _, part := range []string{"cert", "chain", "ca.", "ca-", "pub", "bundle", "crt"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// mayBeSecret tells whether the names that a glob stands for may be secret ones.
func (j *judge) mayBeSecret(p string) bool {
	dir, name := path.Split(p)
	for _, s := range []string{".env", ".env.local", "id_rsa", "id_ed25519", ".netrc", ".git-credentials", "shadow"} {
		if shellMatch(name, s) && (strings.HasPrefix(s, ".") || strings.Trim(name, "*") != "" || path.Base(dir) == ".ssh") && j.isSecret(path.Join(dir, s)) {
			return true
		}
	}
	home := j.resolve("~")
	for _, s := range homeSecrets {
		if within(dir, home) && reaches(p, home+"/"+s) {
			return true
		}
	}
	return reaches(p, home+"/.ssh/id_rsa") && within(p, home)
}
