package document

import (
	"path"
	"strings"
	"unicode"
)

// Languages of code by the extension of a file.
var syntaxes = map[string]string{
	".go": "go", ".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
	".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescript", ".c": "c", ".h": "c", ".cc": "cpp",
	".cpp": "cpp", ".cxx": "cpp",
	".hh": "cpp", ".hpp": "cpp", ".cs": "csharp", ".java": "java", ".kt": "kotlin", ".kts": "kotlin", ".scala": "scala",
	".groovy": "groovy",
	".rs":     "rust", ".rb": "ruby", ".php": "php", ".swift": "swift", ".m": "objective-c", ".dart": "dart", ".lua": "lua",
	".pl": "perl", ".pm": "perl",
	".r": "r", ".jl": "julia", ".hs": "haskell", ".ml": "ocaml", ".ex": "elixir", ".exs": "elixir", ".erl": "erlang", ".clj": "clojure",
	".fs": "fsharp", ".zig": "zig", ".nim": "nim", ".sh": "shell", ".bash": "shell", ".zsh": "shell", ".fish": "shell",
	".ps1": "powershell",
	".bat": "batch", ".sql": "sql", ".graphql": "graphql", ".gql": "graphql", ".proto": "protobuf", ".thrift": "thrift",
	".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml", ".ini": "ini", ".cfg": "ini", ".xml": "xml", ".css": "css",
	".scss": "css",
	".vue":  "vue", ".svelte": "svelte", ".tf": "terraform", ".hcl": "terraform", ".cmake": "cmake", ".mk": "make", ".gradle": "groovy",
	".http": "http", ".rest": "http",
}

// Languages of code by the whole name of a file, in lower case.
var syntaxNames = map[string]string{
	"makefile": "make", "gnumakefile": "make", "dockerfile": "dockerfile", "cmakelists.txt": "cmake", "rakefile": "ruby", "gemfile": "ruby",
	"jenkinsfile": "groovy", "go.mod": "go", "justfile": "make",
}

// Extensions of prose without or with light markup.
var prose = map[string]bool{".md": true, ".markdown": true, ".mdx": true, ".rst": true, ".adoc": true, ".txt": true, ".text": true}

// Whole names, in lower case, of prose without an extension.
var proseNames = map[string]bool{
	"readme": true, "changelog": true, "changes": true,
	"contributing": true, "install": true, "usage": true, "news": true, "faq": true,
}

// Files that package managers write.
var lockNames = map[string]bool{
	"package-lock.json": true, "npm-shrinkwrap.json": true, "yarn.lock": true, "pnpm-lock.yaml": true, "bun.lockb": true, "go.sum": true,
	"go.work.sum": true, "cargo.lock": true, "poetry.lock": true, "pipfile.lock": true, "uv.lock": true, "composer.lock": true,
	"gemfile.lock":       true,
	"packages.lock.json": true, "flake.lock": true, "mix.lock": true, "pubspec.lock": true, "podfile.lock": true,
}

// Folders of others' files, or of what tools made.
var vendorNames = map[string]bool{
	"vendor": true, "node_modules": true, "bower_components": true, "third_party": true, "third-party": true, "site-packages": true,
	"__pycache__": true, "venv": true,
}

// Words of paths that teach.
var teachingWords = map[string]bool{
	"doc": true, "docs": true, "documentation": true, "example": true, "examples": true, "tutorial": true, "tutorials": true,
	"guide": true, "guides": true,
	"sample": true, "samples": true, "cookbook": true, "cookbooks": true,
}

// teaches says whether a part of a path has one of the words.
func teaches(name string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if teachingWords[word] {
			return true
		}
	}
	return false
}

// DefaultBlocked returns the names of repositories of benchmarks for tool use, which a corpus must not learn by heart: BFCL,
// tau-bench, ToolBench and others. That they are left out is MidTool's; the list is ours.
func DefaultBlocked() []string {
	return []string{
		"ShishirPatil/gorilla", "berkeley-function-call-leaderboard", "bfcl", "bfcl-eval", "tau-bench", "tau2-bench", "ToolBench",
		"StableToolBench",
		"API-Bank", "MCP-Universe", "MCP-Bench", "MCPMark", "ACEBench", "ToolSandbox", "NexusRaven", "Seal-Tools", "AppWorld", "AgentBench",
	}
}

// foldName makes names equal that differ in case and signs alone.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// A blockList knows names of folders, and of two folders in one another.
type blockList map[string]bool

func newBlockList(names []string) blockList {
	b := make(blockList)
	for _, n := range names {
		parent, name := path.Split(n)
		b[foldName(parent)+"/"+foldName(name)] = true
	}
	return b
}

// has says whether a folder in a parent is on the list.
func (b blockList) has(parent, name string) bool {
	name = foldName(name)
	return name != "" && (b["/"+name] || b[foldName(parent)+"/"+name])
}

// skipFile returns the reason why a file is not read for its name, "" if there is none.
func skipFile(name string) string {
	low := strings.ToLower(name)
	ext := path.Ext(low)
	switch {
	case strings.HasPrefix(name, "."):
		return "hidden"
	case lockNames[low] || ext == ".lock":
		return "lock_file"
	case ext == ".map", strings.Contains(low, ".min."), strings.Contains(low, "-min."), strings.Contains(low, ".bundle."):
		return "minified"
	}
	return ""
}
