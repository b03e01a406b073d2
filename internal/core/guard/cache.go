package guard

import "strings"

// Cache is a folder below a user's home in which the tools that an agent runs may write.
type Cache struct {
	Dir      string   // relative to the home, with slashes
	Program  string   // the program that fills it; "" = several programs do
	Excluded []string // folders in it that may not be written: programs that the user calls
}

// cacheTable lists a cache per line: its folder, its program and its excluded folders. Some tools
// keep start-up files beside their cache (.gradle/init.d, .sbt/1.0/plugins) or programs (pnpm,
// yarn). For these it lists the cache folder only.
const cacheTable = `
	.cache
	Library/Caches
	go/pkg go
	.npm npm
	.yarn/berry yarn
	.local/share/pnpm/store pnpm
	.bun/install/cache bun
	.cargo/registry cargo
	.cargo/git cargo
	.m2/repository mvn
	.gradle/caches gradle
	.gradle/wrapper gradle
	.gradle/daemon gradle
	.gradle/native gradle
	.gradle/notifications gradle
	.gradle/workers gradle
	.gradle/.tmp gradle
	.nuget/packages dotnet
	.ivy2/cache sbt
	.sbt/boot sbt
	.sbt/1.0/zinc sbt
	.sbt/1.0/staging sbt
	.sbt/1.0/server sbt
	.pub-cache dart bin global_packages
	.hex mix
	.rustup/tmp rustup`

// Caches returns the caches that the guard lets an agent write. The sandbox of package confine
// allows the same.
func Caches() []Cache {
	var all []Cache
	for line := range strings.Lines(cacheTable) {
		f := append(strings.Fields(line), "", "")
		if f[0] != "" {
			all = append(all, Cache{Dir: f[0], Program: f[1], Excluded: strings.Fields(strings.Join(f[2:], " "))})
		}
	}
	return all
}
