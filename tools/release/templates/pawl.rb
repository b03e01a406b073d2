class Pawl < Formula
  desc "Runs a coding agent in a loop until your tests show that the work is done"
  homepage "{{.Page}}"
  version "{{.Version}}"
  license "MIT"
{{- define "archives"}}
    {{- range .}}
    on_{{.CPU}} do
      url "{{.URL}}"
      sha256 "{{.Sum}}"
    end
    {{- end}}
  end
{{- end}}
{{- with .MacOS}}

  on_macos do
  {{- template "archives" .}}
{{- end}}
{{- with .Linux}}

  on_linux do
  {{- template "archives" .}}
{{- end}}

  def install
    bin.install Dir["bin/*"]
    man1.install Dir["share/man/man1/*"]
    doc.install Dir["share/doc/pawl/*"]
    bash_completion.install "share/bash-completion/completions/pawl"
    zsh_completion.install "share/zsh/site-functions/_pawl"
    fish_completion.install "share/fish/vendor_completions.d/pawl.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/pawl version")
  end
end
