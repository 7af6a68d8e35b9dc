package quality

import (
	"strings"

	"github.com/throughline-go/throughline/midtool/document"
)

// A commentStyle is how a language marks comments.
type commentStyle struct {
	line   []string    // signs that make a comment of what follows
	blocks [][2]string // signs that a block begins and ends with
}

var (
	slashStyle      = &commentStyle{[]string{"//"}, [][2]string{{"/*", "*/"}}}
	phpStyle        = &commentStyle{[]string{"//", "#"}, [][2]string{{"/*", "*/"}}}
	pythonStyle     = &commentStyle{[]string{"#"}, [][2]string{{`"""`, `"""`}, {"'''", "'''"}}}
	hashStyle       = &commentStyle{[]string{"#"}, nil}
	rubyStyle       = &commentStyle{[]string{"#"}, [][2]string{{"=begin", "=end"}}}
	juliaStyle      = &commentStyle{[]string{"#"}, [][2]string{{"#=", "=#"}, {`"""`, `"""`}}}
	powershellStyle = &commentStyle{[]string{"#"}, [][2]string{{"<#", "#>"}}}
	sqlStyle        = &commentStyle{[]string{"--"}, [][2]string{{"/*", "*/"}}}
	luaStyle        = &commentStyle{[]string{"--"}, [][2]string{{"--[[", "]]"}}}
	haskellStyle    = &commentStyle{[]string{"--"}, [][2]string{{"{-", "-}"}}}
	mlStyle         = &commentStyle{nil, [][2]string{{"(*", "*)"}}}
	markupStyle     = &commentStyle{nil, [][2]string{{"<!--", "-->"}}}
	styleStyle      = &commentStyle{nil, [][2]string{{"/*", "*/"}}}
	lispStyle       = &commentStyle{[]string{";"}, [][2]string{{"#|", "|#"}}}
	percentStyle    = &commentStyle{[]string{"%"}, nil}
	batchStyle      = &commentStyle{[]string{"::", "rem ", "REM "}, nil}
	fortranStyle    = &commentStyle{[]string{"!"}, nil}
	iniStyle        = &commentStyle{[]string{";", "#"}, nil}
	vimStyle        = &commentStyle{[]string{`"`}, nil}
)

// commentStyles has the languages with a known sign, in lower case, under the names in use for them.
var commentStyles = map[string]*commentStyle{
	"c": slashStyle, "cpp": slashStyle, "c++": slashStyle, "cuda": slashStyle, "objective-c": slashStyle, "objectivec": slashStyle,
	"csharp": slashStyle, "c#": slashStyle, "java": slashStyle, "kotlin": slashStyle, "scala": slashStyle, "groovy": slashStyle,
	"go": slashStyle, "rust": slashStyle, "swift": slashStyle, "dart": slashStyle, "zig": slashStyle, "solidity": slashStyle,
	"js": slashStyle, "javascript": slashStyle, "jsx": slashStyle, "ts": slashStyle, "typescript": slashStyle, "tsx": slashStyle,
	"proto": slashStyle, "protobuf": slashStyle, "scss": slashStyle, "sass": slashStyle, "less": slashStyle, "d": slashStyle,
	"verilog": slashStyle, "systemverilog": slashStyle, "glsl": slashStyle, "hlsl": slashStyle, "thrift": slashStyle, "jsonc": slashStyle,
	"php": phpStyle, "hcl": phpStyle, "terraform": phpStyle,
	"python": pythonStyle, "py": pythonStyle, "starlark": pythonStyle, "cython": pythonStyle, "gdscript": pythonStyle,
	"sh": hashStyle, "shell": hashStyle, "bash": hashStyle, "zsh": hashStyle, "fish": hashStyle, "make": hashStyle,
	"makefile": hashStyle, "dockerfile": hashStyle, "docker": hashStyle, "yaml": hashStyle, "yml": hashStyle, "toml": hashStyle,
	"r": hashStyle, "perl": hashStyle, "elixir": hashStyle, "cmake": hashStyle, "nix": hashStyle, "tcl": hashStyle,
	"graphql": hashStyle, "awk": hashStyle, "crystal": hashStyle, "nim": hashStyle,
	"ruby": rubyStyle, "rb": rubyStyle, "julia": juliaStyle, "powershell": powershellStyle,
	"sql": sqlStyle, "ada": sqlStyle, "vhdl": sqlStyle, "lua": luaStyle, "haskell": haskellStyle, "elm": haskellStyle,
	"ocaml": mlStyle, "fsharp": {[]string{"//"}, mlStyle.blocks}, "f#": {[]string{"//"}, mlStyle.blocks},
	"html": markupStyle, "xml": markupStyle, "svg": markupStyle, "css": styleStyle,
	"vue":    {[]string{"//"}, [][2]string{{"<!--", "-->"}, {"/*", "*/"}}},
	"svelte": {[]string{"//"}, [][2]string{{"<!--", "-->"}, {"/*", "*/"}}},
	"lisp":   lispStyle, "clojure": lispStyle, "scheme": lispStyle, "elisp": lispStyle, "emacs-lisp": lispStyle, "racket": lispStyle,
	"erlang": percentStyle, "matlab": percentStyle, "latex": percentStyle, "tex": percentStyle, "prolog": percentStyle,
	"batch": batchStyle, "bat": batchStyle, "fortran": fortranStyle, "ini": iniStyle, "properties": iniStyle, "vim": vimStyle,
	"assembly": {[]string{";", "#", "//", "@"}, nil}, "asm": {[]string{";", "#", "//", "@"}, nil},
}

// commentLines returns the share of comment lines, false if the sign is not known.
func commentLines(d *document.Document) (float64, bool) {
	style := commentStyles[strings.ToLower(d.Syntax)]
	if style == nil {
		return 0, false
	}
	lines, comments := 0, 0
	closing := "" // what ends the block that goes on; empty outside of one
	for line := range strings.SplitSeq(d.Text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		lines++
		if closing != "" {
			comments++
			if strings.Contains(line, closing) {
				closing = ""
			}
			continue
		}
		comment := false
		for _, b := range style.blocks { // before the sign of a line, which can be the start of that of a block
			if rest, ok := strings.CutPrefix(line, b[0]); ok {
				if comment = true; !strings.Contains(rest, b[1]) {
					closing = b[1]
				}
				break
			}
		}
		for _, sign := range style.line {
			comment = comment || strings.HasPrefix(line, sign)
		}
		if comment {
			comments++
		}
	}
	return ratio(comments, lines), true
}
