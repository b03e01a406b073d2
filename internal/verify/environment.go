package verify

import (
	"path"
	"runtime"
	"slices"
	"strings"
)

// A gate sees the variables that tools need to find themselves, their caches
// and their compilers, and nothing else: an agent that can edit a test could
// print whatever is in its environment.
const allowed = `
	PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TMPDIR XDG_*
	GO* CGO_* CC CXX CPP AR LD CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LD_LIBRARY_PATH PKG_CONFIG*
	CARGO_* RUSTUP_* RUST* NODE_* NPM_CONFIG_* npm_config_* NVM_* PNPM_HOME VOLTA_HOME BUN_INSTALL DENO_DIR COREPACK_*
	JAVA_HOME JDK_HOME MAVEN_* M2_HOME GRADLE_* ANDROID_* KOTLIN_* SDKMAN_DIR DOTNET_* NUGET_PACKAGES
	PYENV* PYTHON* VIRTUAL_ENV CONDA_* PIP_* UV_* POETRY_* GEM_* BUNDLE_* RBENV_* RUBY* COMPOSER_* PHP* MIX_* HEX_*
	DOCKER_HOST NIX_* SSL_CERT_* HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy`

// windowsAllowed are what programs on Windows cannot begin without.
const windowsAllowed = `
	SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT TEMP TMP USERPROFILE USERNAME HOMEDRIVE HOMEPATH
	APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES* COMMONPROGRAMFILES* NUMBER_OF_PROCESSORS PROCESSOR_* OS`

// secret marks names that may match the above and still carry credentials.
const secret = "TOKEN SECRET PASSW PASSPHRASE APIKEY API_KEY PRIVATE_KEY ACCESS_KEY CREDENTIAL AUTH"

// foreign are prefixes of vendors' variables, agents' own among them.
const foreign = "GOOGLE_ ANTHROPIC CLAUDE OPENAI GEMINI AWS_ AZURE_"

// Environment is what gates run in: of the given variables those on the
// allow-list, then what settings add, then TERM=dumb and CI=1, which make tools
// print plainly and ask nothing. A name alone in set adds the given variable of that
// name. Sorted; the last of equal names wins.
func Environment(base, set []string) []string {
	vars := map[string]string{}
	for _, kv := range base {
		if name, value, ok := strings.Cut(kv, "="); ok && mayPass(name, runtime.GOOS == "windows") {
			vars[name] = value
		}
	}
	vars["TERM"], vars["CI"] = "dumb", "1"
	for _, kv := range withValues(base, set) {
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

// withValues gives each name alone in set the value that it has in base; one that has none
// there is left out.
func withValues(base, set []string) []string {
	var out []string
	for _, kv := range set {
		if strings.Contains(kv, "=") {
			out = append(out, kv)
			continue
		}
		for _, given := range slices.Backward(base) {
			if strings.HasPrefix(given, kv+"=") {
				out = append(out, given)
				break
			}
		}
	}
	return out
}

func mayPass(name string, windows bool) bool {
	upper := strings.ToUpper(name)
	if anyOf(secret, func(s string) bool { return strings.Contains(upper, s) }) ||
		anyOf(foreign, func(p string) bool { return strings.HasPrefix(upper, p) }) {
		return false
	}
	if windows { // names are case-insensitive there
		name = upper
	}
	matches := func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return err == nil && ok
	}
	return anyOf(allowed, matches) || windows && anyOf(windowsAllowed, matches)
}

func anyOf(words string, matches func(string) bool) bool {
	return slices.ContainsFunc(strings.Fields(words), matches)
}
