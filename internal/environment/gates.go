package environment

import (
	"path"
	"runtime"
	"slices"
	"strings"
)

// allowedNames are the variables that tools need to find themselves, their caches and compilers.
// Gates see no others: a test that the agent edits could print them.
const allowedNames = `
	PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TMPDIR XDG_*
	GO* CGO_* CC CXX CPP AR LD CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LD_LIBRARY_PATH PKG_CONFIG*
	CARGO_* RUSTUP_* RUST* NODE_* NPM_CONFIG_* npm_config_* NVM_* PNPM_HOME VOLTA_HOME BUN_INSTALL DENO_DIR COREPACK_*
	JAVA_HOME JDK_HOME MAVEN_* M2_HOME GRADLE_* ANDROID_* KOTLIN_* SDKMAN_DIR DOTNET_* NUGET_PACKAGES
	PYENV* PYTHON* VIRTUAL_ENV CONDA_* PIP_* UV_* POETRY_* GEM_* BUNDLE_* RBENV_* RUBY* COMPOSER_* PHP* MIX_* HEX_*
	DOCKER_HOST NIX_* SSL_CERT_* HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy`

// windowsAllowed are variables that programs on Windows need to start.
const windowsAllowed = `
	SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT TEMP TMP USERPROFILE USERNAME HOMEDRIVE HOMEPATH
	APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES* COMMONPROGRAMFILES* NUMBER_OF_PROCESSORS PROCESSOR_* OS`

// secretWords mark allowed names that may contain credentials.
const secretWords = "TOKEN SECRET PASSW PASSPHRASE APIKEY API_KEY PRIVATE_KEY ACCESS_KEY CREDENTIAL AUTH"

// vendorPrefixes begin the variables of vendors, agents included.
const vendorPrefixes = "GOOGLE_ ANTHROPIC CLAUDE OPENAI GEMINI AWS_ AZURE_"

// ForGates returns the gates' environment, sorted: the allowed variables of base, TERM=dumb and
// CI=1 (plain output, no questions), then set. A bare name in set passes the variable of base. The
// last of equal names wins.
func ForGates(base, set []string) []string {
	vars := map[string]string{}
	for _, kv := range base {
		if name, value, ok := strings.Cut(kv, "="); ok && isAllowed(name, runtime.GOOS == "windows") {
			vars[name] = value
		}
	}
	vars["TERM"], vars["CI"] = "dumb", "1"
	for _, kv := range WithValues(base, set) {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			vars[name] = value
		}
	}
	env := make([]string, 0, len(vars))
	for name, value := range vars {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// WithValues completes each bare name in set with its value in base, or removes it.
func WithValues(base, set []string) []string {
	var out []string
	for _, kv := range set {
		switch {
		case strings.Contains(kv, "="):
			out = append(out, kv)
		case HasVariable(base, kv):
			out = append(out, kv+"="+Variable(base, kv))
		}
	}
	return out
}

func isAllowed(name string, windows bool) bool {
	upper := strings.ToUpper(name)
	if anyOf(secretWords, func(s string) bool { return strings.Contains(upper, s) }) ||
		anyOf(vendorPrefixes, func(p string) bool { return strings.HasPrefix(upper, p) }) {
		return false
	}
	if windows { // names are case-insensitive there
		name = upper
	}
	matches := func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return err == nil && ok
	}
	return anyOf(allowedNames, matches) || windows && anyOf(windowsAllowed, matches)
}

func anyOf(words string, matches func(string) bool) bool {
	return slices.ContainsFunc(strings.Fields(words), matches)
}

// Variable returns the last value of a variable in an environment.
func Variable(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// HasVariable reports whether an environment sets a variable.
func HasVariable(env []string, name string) bool {
	return slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}
