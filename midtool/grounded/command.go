package grounded

import (
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/wording"
)

// Words that begin a line of a shell and are no tool that a document is about; the second set runs another program.
var (
	plumbing = wordSet(`cd echo export source set alias ls cat mkdir rm cp mv pwd touch chmod chown if for while do done then fi
		return exit grep sed awk head tail sort uniq xargs test which curl wget http kill sleep read printf true false`)
	runners = wordSet("python python3 node bash sh ruby perl java deno bun tsx ts-node")
	// Before another command.
	fronts = wordSet("sudo time env npx uvx bunx")
	// Flags with which no program does what it is for.
	asideFlags = wordSet("--version -V -v --help -h")
	// Programs that do nothing without a command; the first ones have commands of commands.
	nesting = wordSet("docker gcloud aws kubectl az gh")
	nested  = wordSet("git npm pip pip3 go cargo uv helm brew apt apt-get yarn pnpm poetry terraform systemctl conda")
)

// codeLine reads a line of code: of a block, or of a document that is code.
func (r *reading) codeLine(line, s Span) {
	text := s.of(r.text)
	taken := r.scanEndpoints(line, true)
	r.scanValues(line, taken)
	if r.fence != "" {
		if r.shell && text[0] == '-' && line.Start >= r.until && r.flagLine(s) {
			return
		}
		if prompt, ok := strings.CutPrefix(text, "$ "); ok || r.shell && !strings.HasPrefix(text, "#") {
			r.command(line, Span{s.End - len(prompt), s.End}, ok)
			return
		}
		if r.shell {
			r.prose = r.trim(Span{s.Start + len(leading(text, '#')), s.End})
			return
		}
		if r.property(line, s) {
			return
		}
	}
	if line.Start < r.until {
		return // of the signature above
	}
	switch {
	case isDirective(text):
		return
	case isComment(text):
		r.comment = Span{min(s.Start, r.commentStart(s)), s.End}
		r.documented(line, s)
		return
	default:
		if !r.signature(line, s) && (r.lang == "python" || r.lang == "py" || r.code && strings.HasPrefix(r.doc.Syntax, "py")) {
			r.documented(line, s) // a docstring has no marks
		}
	}
	if !strings.HasPrefix(text, "@") { // a decorator stands between a comment and its declaration
		r.comment = Span{}
	}
}

func (r *reading) commentStart(s Span) int {
	if r.comment.empty() || s.Start-r.comment.Start > 4096 {
		return s.Start
	}
	return r.comment.Start
}

func isComment(s string) bool {
	return strings.HasPrefix(s, "//") || strings.HasPrefix(s, "#") || strings.HasPrefix(s, "/*") || strings.HasPrefix(s, "*") ||
		strings.HasPrefix(s, "--")
}

// isDirective holds for a comment that speaks to a compiler: //go:noinline, //export Name.
func isDirective(s string) bool {
	rest, ok := strings.CutPrefix(s, "//")
	n := 0
	for n < len(rest) && byteMarks[rest[n]]&(hasLower|hasDigit) != 0 {
		n++
	}
	if !ok || n == 0 {
		return false
	}
	word, after := rest[:n], rest[n:]
	return len(after) > 1 && after[0] == ':' && after[1] != ' ' || word == "export" || word == "line" || word == "extern" || word == "nolint"
}

// A word is one of a command line, with the quotes around it taken off.
type word struct {
	Span
	quoted bool
}

// words cuts a command line; it ends at a pipe, a redirection and the like.
func (r *reading) words(s Span) []word {
	var out []word
	for i := s.Start; i < s.End && len(out) < 64; {
		c := r.text[i]
		switch {
		case isBlank(c) || c == '\\' && (i+1 == s.End || r.text[i+1] == '\n' || r.text[i+1] == '\r'):
			i++
		case strings.IndexByte("|>&;#", c) >= 0:
			return out
		case c == '"' || c == '\'':
			n := strings.IndexByte(r.text[i+1:s.End], c)
			if n < 0 {
				return out
			}
			out = append(out, word{Span{i + 1, i + 1 + n}, true})
			i += n + 2
		default:
			start := i
			for i < s.End && !isBlank(r.text[i]) && strings.IndexByte("|>&;", r.text[i]) < 0 {
				if c := r.text[i]; (c == '"' || c == '\'') && r.text[i-1] == '=' {
					if n := strings.IndexByte(r.text[i+1:s.End], c); n >= 0 {
						i += n + 1
					}
				} else if c == '<' {
					if n := strings.IndexByte(r.text[i:s.End], '>'); n > 0 { // <name of a file>
						i += n
					} else if i > start {
						break
					}
				}
				i++
			}
			i = min(i, s.End)
			out = append(out, word{Span: Span{start, i}})
		}
	}
	return out
}

func isFlag(s string) bool {
	return len(s) > 1 && s[0] == '-' && (byteMarks[s[1]]&(hasLower|hasUpper) != 0 ||
		len(s) > 3 && s[1] == '-' && byteMarks[s[2]]&(hasLower|hasUpper) != 0)
}

// programName holds for what a program or its command can be named.
func programName(s string) bool {
	if len(s) < 2 || len(s) > 32 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		if byteMarks[s[i]]&(hasLower|hasDigit|hasJoin) == 0 {
			return false
		}
	}
	return true
}

// command reads a command line; prompted says that a prompt stands before it.
func (r *reading) command(line, s Span, prompted bool) {
	if line.Start < r.until {
		return
	}
	end := s.End
	for end < len(r.text) && end-s.Start < 2048 && r.text[end-1] == '\\' { // goes on in the next line
		if i := strings.IndexByte(r.text[min(end+1, len(r.text)):], '\n'); i >= 0 {
			end = min(end+1+i, len(r.text))
		} else {
			end = len(r.text)
		}
		for end > s.Start && (r.text[end-1] == '\r' || r.text[end-1] == ' ') {
			end--
		}
	}
	end = min(end, s.Start+4096)
	r.until = end
	words := r.words(Span{s.Start, end})
	for len(words) > 0 && (strings.Contains(words[0].of(r.text), "=") || fronts[words[0].of(r.text)]) {
		words = words[1:]
	}
	if len(words) > 2 && words[1].of(r.text) == "run" && (words[0].of(r.text) == "uv" || words[0].of(r.text) == "poetry") {
		words = words[2:]
	}
	if len(words) == 0 || words[0].quoted {
		return
	}
	flags := false
	for _, w := range words[1:] {
		flags = flags || !w.quoted && isFlag(w.of(r.text))
	}
	program := words[0].of(r.text)
	if !prompted && (!flags || !programName(program[strings.LastIndexByte(program, '/')+1:])) {
		return
	}
	r.note(Command, s.of(r.text))
	r.beside(words)
	r.commandTool(Span{s.Start, end}, words)
	r.prose = Span{}
}

// beside takes note of which commands stand under a heading and in a block: what is said above several of them is said of no
// single one.
func (r *reading) beside(words []word) {
	name := words[0].of(r.text)
	if len(words) > 1 && !words[1].quoted && !isFlag(words[1].of(r.text)) {
		name += " " + words[1].of(r.text)
	}
	if s := &r.sections[len(r.sections)-1]; s.command == "" {
		s.command = name
	} else if s.command != name {
		s.several = true
	}
	if r.lead.command == "" {
		r.lead.command = name
	} else if r.lead.command != name && r.lead.tells > 0 {
		c := &r.candidates[r.lead.tells-1]
		c.about, c.prose = Span{}, ""
		r.lead.tells = 0
	}
}

// commandTool makes a candidate of a command.
func (r *reading) commandTool(whole Span, words []word) {
	program := words[0].of(r.text)
	rest := words[1:]
	surface := words[0].Span
	var name string
	switch {
	case plumbing[program]:
		return
	case runners[program]:
		if len(rest) == 0 || rest[0].quoted {
			return
		}
		script := rest[0].of(r.text)
		base := script[strings.LastIndexByte(script, '/')+1:]
		stem, ext, ok := strings.Cut(base, ".")
		if !ok || !programName(stem) || len(ext) > 3 {
			return
		}
		name, surface.End, rest = stem, rest[0].End, rest[1:]
		if len(rest) > 0 && !rest[0].quoted && programName(rest[0].of(r.text)) {
			name, surface.End, rest = name+"_"+rest[0].of(r.text), rest[0].End, rest[1:]
		}
	case programName(program):
		name = program
		most := 1
		if nesting[program] {
			most = 2
		}
		for most > 0 && len(rest) > 0 && !rest[0].quoted && programName(rest[0].of(r.text)) && (len(rest) > 1 || flagless(name)) {
			name, surface.End, rest = name+"_"+rest[0].of(r.text), rest[0].End, rest[1:]
			most--
		}
	default:
		return
	}
	if (nested[program] || nesting[program]) && flagless(name) {
		return
	}
	if len(rest) == 1 && asideFlags[rest[0].of(r.text)] {
		return // what is said is of the flag
	}
	c := candidate{feature: Command, name: identifier(name), surface: surface, about: r.commandPurpose(whole), line: whole}
	if c.about.Start > whole.Start { // a comment behind it ends with the line
		c.prose = flat(c.about.of(r.text))
	}
	if last := words[len(words)-1]; r.piped(Span{last.End, whole.End}) {
		c.about, c.prose, c.partial = Span{}, "", true // what is said is of all of the pipe
	}
	for i := 0; i < len(rest); i++ {
		w := rest[i].of(r.text)
		if w == "--" {
			c.partial = true
			break
		}
		switch {
		case rest[i].quoted || strings.HasPrefix(w, "<<") || strings.Contains(w, "/..."):
			c.partial = true
		case isFlag(w):
			key, value, joined := strings.Cut(w, "=")
			bare := strings.TrimLeft(key, "-")
			id := identifier(bare)
			if id == "" || len(id) > 40 {
				continue
			}
			dashes := len(key) - len(bare)
			p := parameter{name: id, at: Span{rest[i].Start, rest[i].Start + len(key)}, flag: key[:dashes] + bare}
			switch {
			case joined:
				from := rest[i].Start + len(key) + 1
				v := Span{from, from + len(value)}
				if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
					v = Span{v.Start + 1, v.End - 1}
				}
				p.valued = true
				if !isPlaceholder(v.of(r.text)) {
					p.example = v
				}
			case i+1 < len(rest) && (rest[i+1].quoted || !positional(rest[i+1].of(r.text))) && (dashes == 2 || len(bare) == 1):
				i++
				p.valued = true
				given := rest[i].of(r.text)
				c.partial = c.partial || strings.Contains(given, "$(") || strings.HasPrefix(given, "<<") // an input of its own
				if v := rest[i].Span; !isPlaceholder(v.of(r.text)) {
					p.example = v
				}
			}
			c.params = append(c.params, p)
		case isPlaceholder(w):
			if v := strings.Trim(w, "<>{}[]$."); identifier(v) != "" && len(v) < 40 {
				k := strings.Index(w, v)
				c.params = append(c.params, parameter{name: strings.ToLower(identifier(v)), required: w[0] != '[', valued: true,
					at: Span{rest[i].Start + k, rest[i].Start + k + len(v)}})
			}
		default:
			c.partial = true
			c.poor = c.poor || i == 0 && programName(w) // a command of this command
		}
	}
	r.add(c)
	if r.current >= 0 && r.candidates[r.current].about == c.about && !c.about.empty() && r.lead.prose.has(c.about) {
		r.lead.tells = r.current + 1
	}
	if !c.partial {
		shown := whole
		if i := strings.Index(whole.of(r.text), " #"); i > 0 {
			shown.End = shown.Start + i
		}
		r.example(r.current, r.trim(shown))
	}
}

// positional holds for what does not belong to the flag before it.
func positional(s string) bool { return s[0] == '-' || s == "." || strings.HasPrefix(s, "./") }

// commandPurpose is what the comment behind a command, or the text before it, says that it does.
func (r *reading) commandPurpose(whole Span) Span {
	end := whole.End
	if i := strings.IndexByte(r.text[end:min(len(r.text), end+maxPiece)], '\n'); i >= 0 {
		end += i
	}
	if i := strings.Index(r.text[whole.Start:end], " # "); i >= 0 {
		if s := r.purpose(Span{whole.Start + i + 3, end}); !s.empty() && r.tells("", s) {
			return s
		}
	}
	if s := r.purpose(r.prose); !s.empty() && r.tells("", s) {
		return s
	}
	if !r.prose.empty() && r.text[max(0, r.prose.Start-2):r.prose.Start] != "# " {
		return Span{} // the text between says more than the heading
	}
	h := r.sections[len(r.sections)-1].heading
	if first, _, _ := strings.Cut(h.of(r.text), " "); strings.HasSuffix(first, "ing") || !isPhrase(h.of(r.text)) || !r.tells("", h) {
		return Span{}
	}
	return h
}

// piped says whether a command line goes on with another command behind a place.
func (r *reading) piped(s Span) bool {
	text := strings.TrimLeft(s.of(r.text), " \t\"'")
	return strings.HasPrefix(text, "|") || strings.HasPrefix(text, "&&") || strings.HasPrefix(text, ";")
}

// tells says whether a text is what a tool of a name does, as far as a request can be made of it.
func (r *reading) tells(name string, s Span) bool {
	return wording.About(name, flat(s.of(r.text))).Described()
}

// flagless says whether a name is that of a program alone.
func flagless(name string) bool { return !strings.Contains(name, "_") }

// A shownCall is an example of a call in the document.
type shownCall struct {
	owner int
	args  jsonval.Value
	shown Span
}

// example keeps the arguments of the candidate that was added last, as a part of its line shows them.
func (r *reading) example(owner int, shown Span) {
	if owner < 0 || len(r.examples) >= maxSpans || r.added == nil {
		return
	}
	args := jsonval.NewObject()
	for i := range r.added.params {
		p := &r.added.params[i]
		switch {
		case args.Get(p.name) != nil:
		case !p.example.empty():
			v := valueOf(p.example.of(r.text))
			if v.Kind == jsonval.Null {
				return
			}
			args.Set(p.name, v)
		case p.flag != "" && !p.valued:
			args.Set(p.name, jsonval.NewBool(true))
		default:
			return // a placeholder: no example
		}
	}
	if len(args.Members) > 0 {
		r.examples = append(r.examples, shownCall{owner, args, shown})
	}
}

// valueOf reads the value of an argument; null for what is too long to be one.
func valueOf(s string) jsonval.Value {
	switch {
	case s == "" || len(s) > 120 || strings.ContainsAny(s, "\r\n"):
		return jsonval.Value{}
	case s == "true" || s == "false":
		return jsonval.NewBool(s == "true")
	case isNumber(s) && !strings.Contains(s, ","):
		if v, err := jsonval.ParseText(s); err == nil && v.Kind == jsonval.Number && v.Text == s {
			return v
		}
	}
	return jsonval.NewString(s)
}
