package work

import (
	"strings"
	"sync"
)

// The extensions of work. A file on no list is a gate input.
const (
	sourceExts = `.go .py .pyi .pyx .js .jsx .ts .tsx .mjs .cjs .mts .cts .vue .svelte .astro .rs .java .kt .scala .groovy .clj .cljs
		.c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .s .asm .cs .fs .vb .swift .dart .rb .php .pl .pm .lua .ex .exs .erl .hrl .hs .ml .mli
		.elm .jl .r .zig .nim .d .f90 .f .pas .adb .ads .cob .lisp .el .scm .rkt .tcl .awk .sql .graphql .gql .proto .thrift .capnp .wgsl
		.glsl .cu .sol .v .sv .vhd .wat .coffee .ipynb .lark .g4 .y .l .peg`
	shellExts = `.sh .bash .zsh .fish .ps1 .bat .cmd .ksh`
	assetExts = `.html .htm .css .scss .sass .less .styl .pcss .hbs .handlebars .mustache .ejs .pug .haml .erb .slim .liquid .njk .jinja .jinja2
		.j2 .tmpl .tpl .gotmpl .gohtml .twig .blade .cshtml .razor .xaml .qml .svg .png .jpg .jpeg .gif .webp .avif .ico .bmp .pdf
		.woff .woff2 .ttf .otf .eot .mp3 .mp4 .ogg .wav .webm .glb .gltf .po .mo .pot .ftl .arb .resx .strings .xliff .xlf .xcstrings`
	documentExts     = `.md .mdx .markdown .rst .adoc .asciidoc .org .tex .bib`
	packageManifests = `go.mod package.json Cargo.toml pyproject.toml`
	gitHookNames     = `applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase
		post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update reference-transaction push-to-checkout
		pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman`
	dataExts = `.txt .csv .tsv .dat .log .out .ndjson .jsonl`
)

// Globs that match paths or names. Each list is compiled when it is first used.
var (
	// documentFiles are documents, and git's lists of ignored files, which are as harmless.
	documentFiles = sync.OnceValue(func() Globs {
		return compileList(`**/{README,LICENSE,LICENCE,COPYING,NOTICE,AUTHORS,CONTRIBUTORS,CHANGELOG,CHANGES,HISTORY,TODO,CODEOWNERS}{,.*}
		**/.gitignore **/.mailmap {docs,doc}/**/*.{txt,json,yml,yaml,xml}`)
	})
	// assetFolders hold parts of the program in any format.
	assetFolders = sync.OnceValue(func() Globs {
		return compileList(`**/{templates,views,partials,layouts,public,static,assets,resources,migrations,locales,locale,i18n,lang,translations,l10n,messages,images,icons,fonts,styles}/**`)
	})
	// lockFiles change with the dependencies of a manifest.
	lockFiles = sync.OnceValue(func() Globs {
		return compileList(`go.sum go.work.sum package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock{,b} Cargo.lock poetry.lock
		uv.lock pdm.lock Pipfile.lock Gemfile.lock composer.lock mix.lock pubspec.lock gradle.lockfile packages.lock.json
		requirements*.txt Podfile.lock flake.lock`)
	})
	// gateInputs have the extension of source code, but tools read them or tests load them: settings
	// written as code, hooks, vendored libraries.
	gateInputs = sync.OnceValue(func() Globs {
		return compileList(`**/*.{config,conf,setup,rc}.{js,cjs,mjs,ts,cts,mts} **/.*rc{,.*} **/{gulpfile,Gruntfile,karma.conf,noxfile,fabfile,dodo,wscript,setup,conftest,sitecustomize,usercustomize}.{py,js,ts}
		**/{jest,vitest,test,tests}{.setup,-setup,Setup}.* **/setup{Tests,Jest,-tests}.* **/{build.rs,magefile.go,build.sc,build.sbt,Package.swift,Rakefile.rb,mix.exs,build.zig,makefile.js}
		**/*.pth **/{.github,.gitlab,.circleci,.husky,.githooks,.buildkite,.ci,.devcontainer,.vscode,.idea,.cargo,.mvn,.yarn,.config,.pawl}/**
		**/{vendor,third_party,node_modules,site-packages,.venv,venv}/** {scripts,script,ci,hack}/**/*.{py,js,mjs,pl,rb}
		{unittest,pytest,_pytest,doctest,difflib,traceback,fnmatch,pprint,argparse,coverage,nose2,behave,mypy,ruff,flake8,pylint}{.py,/**}`)
	})
	// checkScripts are names of scripts that check work and report by their exit code.
	checkScripts = sync.OnceValue(func() Globs { return compileList(`*{check,test,verify,lint,validate,assert,gate,ci,spec}*`) })
)

func compileList(list string) Globs { return CompileGlobs(strings.Fields(list)) }
