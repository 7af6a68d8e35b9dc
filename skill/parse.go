package skill

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limits of the format, in runes, and of what is read.
const (
	maxName          = 64
	maxDescription   = 1024
	maxCompatibility = 500
	maxFile          = 2 << 20 // bytes
	maxYAMLDepth     = 8
	maxYAMLNodes     = 1000
	maxRepairs       = 1000 // so that no file has a diagnostic for each of a million lines
)

// ParseOptions adjusts [Parse]. A nil *ParseOptions equals &ParseOptions{}.
type ParseOptions struct {
	Path string // for the diagnostics; empty means "SKILL.md"
	Dir  string // name of the folder that holds the file, which the skill's name must equal; empty means unknown, not checked

	// Strict makes an error of every departure from the format. Otherwise what can be read without a guess that changes
	// its meaning is read, and reported as a warning.
	Strict bool

	ASCIINames  bool // names are a-z, 0-9 and '-' only; false allows the lower-case letters and digits of every script
	RejectAngle bool // '<' and '>' in the description are faults; false allows them

	keepUnknown bool // keys outside the format are no fault even if Strict: Marshal writes them back
}

// Parse reads one SKILL.md file: a YAML frontmatter between two lines "---", then a Markdown body, which is not
// interpreted. The frontmatter is read as text throughout ("name: 123" is the name "123"). White space around the name,
// description, license and compatibility is dropped, and so are comments. A byte order mark is dropped with an info; \r\n
// and, in the frontmatter, \r end a line as \n does, and nothing else starts a key; in the body \r\n becomes \n.
//
// These are errors, strict or not: more than 2 MiB, invalid UTF-8, a NUL byte; no frontmatter, or one that is not closed
// or not a map; a description that is missing, blank or no text; a name that is no text or cannot serve as a folder (it
// leads elsewhere, starts with a dot, holds a control character or is a device on Windows); a key that occurs twice;
// anchors, aliases, tags, merge keys and keys that are no text; more than 1,000 values, or nested deeper than 8; an
// allowed-tools that is stated but would not be read: as a key of another value, such as the metadata, at the left margin of a quoted
// text, as a map, or spelled differently ("Allowed_Tools"). So a file that states allowed-tools as a key is never returned without them.
//
// These are errors if o.Strict is set and otherwise warnings, with which the file is read as follows:
//
//   - Blank lines before the frontmatter are skipped.
//   - Malformed YAML is repaired: values at the left margin that need quotes, such as "description: Use when: x", get them,
//     together with the indented lines that continue them, unless these look like keys; tabs that indent become two spaces.
//     What stays malformed or needs more than 1,000 repairs is an error.
//   - A missing name becomes the folder's; without o.Dir it is an error.
//   - A name that differs from the folder's, is longer than 64 runes or has other runes than it may stays as it is, and so
//     does a description of more than 1,024 runes, a compatibility of more than 500, and '<' and '>' with o.RejectAngle.
//   - Unknown keys are kept in Unknown.
//   - A license or compatibility that is a list or a map, and such values in the metadata, are kept as their YAML text.
//   - Metadata that is null, a text or a list is left out.
//   - In allowed-tools a list counts as its items with spaces between, commas outside parentheses count as spaces, and
//     unbalanced parentheses make one tool of everything.
//
// An empty body, and a comment that ends an unquoted value ("use C # or not"), are warnings in both.
//
// The diagnostics are sorted by line. The error is nil exactly if the document is not; it joins the diagnostics of
// severity [SeverityError], which errors.As finds as a [Diagnostic]. Any input gives one or the other, in time and memory
// linear in its size. The rules are those of agentskills.io; leniency and limits on YAML are ours.
func Parse(data []byte, o *ParseOptions) (*Document, []Diagnostic, error) {
	var p parser
	if o != nil {
		p.o = *o
	}
	if p.o.Path == "" {
		p.o.Path = "SKILL.md"
	}
	doc := p.parse(data)
	return p.result(doc)
}

// result returns what Parse does.
func (p *parser) result(doc *Document) (*Document, []Diagnostic, error) {
	sortDiagnostics(p.diags)
	if err := joinErrors(p.diags); err != nil {
		return nil, p.diags, fmt.Errorf("skill: %w", err)
	}
	return doc, p.diags, nil
}

type parser struct {
	o     ParseOptions
	diags []Diagnostic

	head  head
	lines []int      // file line of each line as the YAML library counts them; nil if it counts as we do
	root  *yaml.Node // of the frontmatter
}

func (p *parser) report(line int, s Severity, code, field, format string, args ...any) {
	p.diags = append(p.diags, Diagnostic{p.o.Path, line, s, code, field, fmt.Sprintf(format, args...)})
}

// fault reports a departure from the format: an error if strict, else a warning.
func (p *parser) fault(line int, code, field, format string, args ...any) {
	s := SeverityWarning
	if p.o.Strict {
		s = SeverityError
	}
	p.report(line, s, code, field, format, args...)
}

// parse returns the document; it counts only if no error was reported.
func (p *parser) parse(data []byte) *Document {
	if len(data) > maxFile {
		p.report(0, SeverityError, "too-large", "", "file has %d bytes, want at most %d", len(data), maxFile)
		return nil
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		p.report(1+bytes.Count(data[:i], []byte("\n")), SeverityError, "nul-byte", "", "file holds a NUL byte at offset %d", i)
		return nil
	}
	if !utf8.Valid(data) {
		i := 0
		for i < len(data) {
			r, n := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			i += n
		}
		p.report(1+bytes.Count(data[:i], []byte("\n")), SeverityError, "invalid-utf8", "", "file is not UTF-8 at offset %d", i)
		return nil
	}
	src := string(data)
	if s, ok := strings.CutPrefix(src, "\ufeff"); ok {
		p.report(1, SeverityInfo, "bom", "", "byte order mark dropped")
		src = s
	}
	h, ok := p.cut(src)
	if !ok {
		return nil
	}
	p.head = h
	doc := &Document{Content: unixLines(h.body), CRLF: h.crlf}
	if strings.TrimSpace(doc.Content) == "" {
		p.report(0, SeverityWarning, "empty-body", "", "nothing follows the frontmatter")
	}
	p.root = p.decode(h)
	if p.root == nil || !p.vet(p.root) {
		return nil
	}
	p.fields(&doc.Frontmatter, p.root)
	return doc
}

// A head is a file cut at its fences.
type head struct {
	lines []string // of the frontmatter, without their ends
	fence int      // line number of the opening fence
	body  string
	crlf  bool
}

// cut finds the fences. The lines of the frontmatter end in \n, \r\n or \r.
func (p *parser) cut(src string) (h head, ok bool) {
	line, rest, end := cutLine(src)
	h.fence = 1
	for strings.TrimRight(line, " \t") == "" && end != "" {
		line, rest, end = cutLine(rest)
		h.fence++
	}
	if strings.TrimRight(line, " \t") != "---" {
		p.report(1, SeverityError, "no-frontmatter", "", `file does not start with a line "---"`)
		return h, false
	}
	if h.fence > 1 {
		p.fault(1, "leading-blank", "", "%d blank lines before the frontmatter", h.fence-1)
	}
	h.crlf = end == "\r\n"
	for end != "" {
		line, rest, end = cutLine(rest)
		if strings.TrimRight(line, " \t") == "---" {
			h.body = rest
			return h, true
		}
		h.lines = append(h.lines, line)
	}
	p.report(h.fence, SeverityError, "unclosed-frontmatter", "", `no line "---" closes the frontmatter`)
	return h, false
}

// cutLine returns the first line of s, what follows it, and its end, which is empty at the end of s only.
func cutLine(s string) (line, rest, end string) {
	i := strings.IndexAny(s, "\r\n")
	switch {
	case i < 0:
		return s, "", ""
	case strings.HasPrefix(s[i:], "\r\n"):
		return s[:i], s[i+2:], "\r\n"
	default:
		return s[:i], s[i+1:], s[i : i+1]
	}
}

var crlfRun = regexp.MustCompile(`\r+\n`)

// unixLines turns \r\n into \n. A run of \r before \n counts as one, so that no later reading finds another.
func unixLines(s string) string {
	if !strings.Contains(s, "\r\n") {
		return s
	}
	return crlfRun.ReplaceAllLiteralString(s, "\n")
}

// countLines sets p.lines. The YAML library ends lines at three more runes than an editor does.
func (p *parser) countLines(h head) {
	p.lines = nil
	if !slices.ContainsFunc(h.lines, func(l string) bool { return strings.ContainsAny(l, moreBreaks) }) {
		return
	}
	for i, l := range h.lines {
		p.lines = append(p.lines, h.fence+1+i)
		for _, r := range l {
			if strings.ContainsRune(moreBreaks, r) {
				p.lines = append(p.lines, h.fence+1+i)
			}
		}
	}
}

// at returns the line in the file of a line as the YAML library counts it, from 1.
func (p *parser) at(line int) int {
	switch {
	case p.lines == nil:
		return p.head.fence + line
	case line <= len(p.lines):
		return p.lines[max(line, 1)-1]
	}
	return p.head.fence + len(p.head.lines) + 1 // the closing fence
}

// locate returns the line in the file of a finding of [Document.Scan], given its field and its line there. In the frontmatter
// it is the line of the key; zero if the field does not say which key it is, or is not in the file.
func (p *parser) locate(field string, line int) int {
	if field == "body" {
		return p.head.fence + len(p.head.lines) + 1 + line
	}
	sub, inMetadata := strings.CutPrefix(field, "metadata.")
	unknown, isUnknown := strings.CutPrefix(field, "unknown.")
	for i := 0; i+1 < len(p.root.Content); i += 2 {
		k, v := p.root.Content[i], p.root.Content[i+1]
		switch {
		case k.Value == field && knownKeys[field], isUnknown && !knownKeys[k.Value] && keyLabel(k.Value) == unknown:
			return p.at(k.Line)
		case inMetadata && k.Value == "metadata" && v.Kind == yaml.MappingNode:
			for j := 0; j+1 < len(v.Content); j += 2 {
				if keyLabel(v.Content[j].Value) == sub {
					return p.at(v.Content[j].Line)
				}
			}
		}
	}
	return 0
}

var knownKeys = map[string]bool{"name": true, "description": true, "license": true, "compatibility": true, "metadata": true, "allowed-tools": true}

// decode reads the YAML, repaired if need be, and returns its root; nil after an error.
func (p *parser) decode(h head) *yaml.Node {
	p.countLines(h)
	text := func(lines []string) string { return strings.Join(lines, "\n") + "\n" } // the last end counts in a block scalar
	root, err := decodeYAML(text(h.lines))
	if err == nil {
		err = p.hiddenKey(root)
	}
	if err != nil {
		lines, fixes := repair(h.lines)
		repaired, err2 := decodeYAML(text(lines))
		read := p.lines
		p.countLines(head{lines: lines, fence: h.fence})
		if err2 == nil {
			err2 = p.hiddenKey(repaired)
		}
		p.lines = read // in which the first error counts
		switch line, msg := yamlError(err); {
		case err2 != nil || len(fixes) == 0 || len(fixes) > maxRepairs:
			p.report(p.at(line), SeverityError, "invalid-yaml", "", "%.200s", msg)
			return nil
		case p.o.Strict:
			// What would mend it names the line better than the library, which knows where the surrounding map begins.
			p.report(h.fence+1+fixes[0].line, SeverityError, "invalid-yaml", fixes[0].field, "%.200s: %s", msg, fixes[0].msg)
			return nil
		}
		for _, f := range fixes {
			p.report(h.fence+1+f.line, SeverityWarning, f.code, f.field, "%s; repaired", f.msg)
		}
		root = repaired
		p.countLines(head{lines: lines, fence: h.fence})
	}
	if root == nil || root.Kind != yaml.MappingNode {
		p.report(h.fence, SeverityError, "not-a-mapping", "", `frontmatter is not a list of "key: value" lines`)
		return nil
	}
	return root
}

// hiddenKey returns an error for a key that starts where no editor shows a new line, behind one of moreBreaks: to a person
// it is part of the value before it.
func (p *parser) hiddenKey(n *yaml.Node) error {
	if p.lines == nil || n == nil {
		return nil
	}
	for i, c := range n.Content {
		if l := c.Line; n.Kind == yaml.MappingNode && i%2 == 0 && l >= 2 && l <= len(p.lines) && p.lines[l-1] == p.lines[l-2] {
			return fmt.Errorf("yaml: line %d: a key starts behind a line separator", l)
		}
		if err := p.hiddenKey(c); err != nil {
			return err
		}
	}
	return nil
}

// decodeYAML returns the root node of the only document in src, nil if it is empty. Decoding into a node keeps the source
// text of scalars and expands no alias.
func decodeYAML(src string) (root *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("yaml: %v", r)
		}
	}()
	dec := yaml.NewDecoder(strings.NewReader(src))
	var doc, next yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	}
	switch err := dec.Decode(&next); {
	case err == nil:
		return nil, fmt.Errorf("yaml: line %d: a second YAML document starts", next.Line)
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	if len(doc.Content) != 1 {
		return nil, errors.New("yaml: no single root")
	}
	return doc.Content[0], nil
}

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// yamlError splits an error of the library into the line and the message. The library leaves the line out on the first
// line.
func yamlError(err error) (line int, msg string) {
	msg = strings.TrimPrefix(err.Error(), "yaml: ")
	line = 1
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		line, _ = strconv.Atoi(m[1])
		msg = msg[len(m[0]):]
	}
	return line, msg
}

// vet refuses what a list of plain settings has no use for: it could hide text from a reader, or grow without bound.
func (p *parser) vet(root *yaml.Node) bool {
	errs := len(p.diags)
	nodes, deep := 0, false
	var walk func(n *yaml.Node, depth int)
	walk = func(n *yaml.Node, depth int) {
		nodes++
		line := p.at(n.Line)
		refuse := func(code, format string, args ...any) { p.report(line, SeverityError, code, "", format, args...) }
		if nodes > maxYAMLNodes {
			if nodes == maxYAMLNodes+1 {
				refuse("yaml-size", "frontmatter has more than %d values", maxYAMLNodes)
			}
			return
		}
		if depth > maxYAMLDepth {
			if !deep {
				refuse("yaml-depth", "values are nested deeper than %d", maxYAMLDepth)
			}
			deep = true
			return
		}
		switch {
		case n.Kind == yaml.AliasNode:
			refuse("yaml-alias", "alias *%.80s is not allowed", n.Value)
			return
		case n.Anchor != "":
			refuse("yaml-anchor", "anchor &%.80s is not allowed", n.Anchor)
		case n.Style&yaml.TaggedStyle != 0:
			refuse("yaml-tag", "tag %.80s is not allowed", n.Tag)
		}
		if n.Kind == yaml.MappingNode {
			seen := make(map[string]bool)
			for i := 0; i+1 < min(len(n.Content), 2*maxYAMLNodes); i += 2 { // beyond it is too large anyway
				k := n.Content[i]
				line = p.at(k.Line)
				switch {
				case k.Kind != yaml.ScalarNode:
					refuse("yaml-key", "key is not a plain text")
				case k.Tag == "!!merge":
					refuse("yaml-merge", "merge key << is not allowed")
				case seen[k.Value]:
					refuse("duplicate-key", "key %.80q occurs twice", k.Value)
				}
				seen[k.Value] = true
			}
		}
		for _, c := range n.Content {
			walk(c, depth+1)
		}
	}
	walk(root, 1)
	return joinErrors(p.diags[errs:]) == nil
}

var toolsLine = regexp.MustCompile(`^allowed-tools[ \t]*:`)

// fields reads the values of a vetted root.
func (p *parser) fields(fm *Frontmatter, root *yaml.Node) {
	nameLine, descLine := 0, 0
	toolsSeen := false
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		line := p.at(k.Line)
		switch k.Value {
		case "name":
			nameLine = line
			fm.Name = p.text(k, v, line, true)
		case "description":
			descLine = line
			fm.Description = p.text(k, v, line, true)
		case "license":
			fm.License = p.text(k, v, line, false)
		case "compatibility":
			fm.Compatibility = p.text(k, v, line, false)
			if n := utf8.RuneCountInString(fm.Compatibility); n > maxCompatibility {
				p.fault(line, "compatibility-too-long", k.Value,
					"compatibility has %d characters, want at most %d", n, maxCompatibility)
			}
		case "allowed-tools":
			toolsSeen = true
			fm.AllowedTools = p.tools(v, line)
		case "metadata":
			fm.Metadata = p.metadata(v, line)
		default:
			if looksLikeTools(k.Value) {
				p.report(line, SeverityError, "lost-allowed-tools", "allowed-tools",
					"key %.80q is not allowed-tools, which it looks like, and would not be heeded", k.Value)
				continue
			}
			if !p.o.keepUnknown {
				p.fault(line, "unknown-key", k.Value, "key %.80q is not part of the format", k.Value)
			}
			fm.Unknown = append(fm.Unknown, Field{k.Value, yamlText(v)})
			continue // the value is kept as YAML, in which a comment is one
		}
		p.comments(k.Value, k, v)
	}
	if !toolsSeen {
		lost := make(map[int]bool) // by line
		// A quoted value over several lines can swallow the line of a restriction.
		for i, l := range p.head.lines {
			if toolsLine.MatchString(l) {
				lost[p.head.fence+1+i] = true
			}
		}
		for i := 1; i < len(root.Content); i += 2 {
			p.nestedTools(root.Content[i], lost)
		}
		for _, line := range slices.Sorted(maps.Keys(lost)) {
			p.report(line, SeverityError, "lost-allowed-tools", "allowed-tools",
				"allowed-tools is stated here but read as part of another value")
		}
	}
	p.name(fm, nameLine)
	p.description(fm.Description, descLine)
}

// comments warns of a comment that cuts off an unquoted value of the frontmatter or of a map in it. In a list a comment
// after an item is usual.
func (p *parser) comments(field string, k, v *yaml.Node) {
	if v.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(v.Content); i += 2 {
			p.comments(field, v.Content[i], v.Content[i+1])
		}
	}
	if v.Kind != yaml.ScalarNode || v.Style != 0 {
		return
	}
	c := v.LineComment
	if c == "" && v.Tag == "!!null" {
		c = k.LineComment // nothing is left of the value
	}
	if c != "" {
		p.report(p.at(k.Line), SeverityWarning, "comment-cut", field, "value ends before %.80q; quote it if that is part of it", c)
	}
}

// nestedTools adds the lines of the keys in a value that were meant as allowed-tools.
func (p *parser) nestedTools(v *yaml.Node, lost map[int]bool) {
	for i, c := range v.Content {
		if v.Kind == yaml.MappingNode && i%2 == 0 && looksLikeTools(c.Value) {
			lost[p.at(c.Line)] = true
		}
		p.nestedTools(c, lost)
	}
}

// looksLikeTools reports whether a key was meant as allowed-tools, letter case, separators and invisible runes aside.
func looksLikeTools(key string) bool {
	return len(key) < 100 && strings.EqualFold("allowedtools", strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, key))
}

// text returns the source text of a scalar, white space around it dropped; null is empty. A required text must be a
// scalar.
func (p *parser) text(k, v *yaml.Node, line int, required bool) string {
	switch {
	case v.Kind != yaml.ScalarNode && required:
		p.report(line, SeverityError, "not-a-text", k.Value, "%s is a list or a map, want a text", k.Value)
		return ""
	case v.Kind != yaml.ScalarNode:
		p.fault(line, "not-a-text", k.Value, "%s is a list or a map, want a text", k.Value)
		return flowText(v)
	case v.Tag == "!!null":
		return ""
	}
	return strings.TrimSpace(v.Value)
}

func (p *parser) description(d string, line int) {
	switch n := utf8.RuneCountInString(d); {
	case d == "":
		p.report(line, SeverityError, "missing-description", "description", "description is missing or blank")
	case n > maxDescription:
		p.fault(line, "description-too-long", "description", "description has %d characters, want at most %d", n, maxDescription)
	}
	if p.o.RejectAngle && strings.ContainsAny(d, "<>") {
		p.fault(line, "angle-bracket", "description", "description holds '<' or '>'")
	}
}

func (p *parser) name(fm *Frontmatter, line int) {
	if fm.Name == "" {
		if p.o.Dir == "" || p.o.Strict {
			p.report(line, SeverityError, "missing-name", "name", "name is missing or blank")
			return
		}
		p.report(line, SeverityWarning, "missing-name", "name", "name is missing; the folder's name %.80q is used", p.o.Dir)
		fm.Name = p.o.Dir
	} else if p.o.Dir != "" && fm.Name != p.o.Dir {
		p.fault(line, "name-mismatch", "name", "name %.80q differs from the folder's name %.80q", fm.Name, p.o.Dir)
	}
	if why := unsafeName(fm.Name); why != "" {
		p.report(line, SeverityError, "unsafe-name", "name", "name %.80q cannot serve as a folder: %s", fm.Name, why)
	} else if why := nameFault(fm.Name, p.o.ASCIINames); why != "" {
		p.fault(line, "invalid-name", "name", "name %.80q %s", fm.Name, why)
	}
}

// nameFault says which rule of the format a name breaks; empty if none.
func nameFault(name string, ascii bool) string {
	if n := utf8.RuneCountInString(name); n > maxName {
		return fmt.Sprintf("has %d characters, want at most %d", n, maxName)
	}
	for _, r := range name {
		lower := unicode.IsLetter(r) && unicode.ToLower(r) == r
		if r != '-' && !lower && !unicode.Is(unicode.Nd, r) || ascii && r >= utf8.RuneSelf {
			return fmt.Sprintf("holds %q, want lower-case letters, digits and '-'", r)
		}
	}
	if strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") || strings.Contains(name, "--") {
		return "has a hyphen at an end or two in a row"
	}
	return ""
}

var deviceName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|(com|lpt)[0-9¹²³]|conin\$|conout\$) *(\.|$)`)

// unsafeName says why a name must not become the name of a folder; empty if it may.
func unsafeName(name string) string {
	switch {
	case strings.HasPrefix(name, "."):
		return "it starts with '.'"
	case strings.ContainsAny(name, `/\:`):
		return `it holds '/', '\' or ':'`
	case strings.ContainsFunc(name, unicode.IsControl):
		return "it holds a control character"
	case deviceName.MatchString(name):
		return "it is a device name on Windows"
	}
	return ""
}

func (p *parser) tools(v *yaml.Node, line int) []string {
	const key = "allowed-tools"
	src := v.Value
	switch v.Kind {
	case yaml.SequenceNode:
		p.fault(line, "tools-list", key, "allowed-tools is a list, want tools separated by spaces")
		var items []string
		for _, c := range v.Content {
			if c.Kind != yaml.ScalarNode {
				p.report(line, SeverityError, "not-a-text", key, "an item of allowed-tools is not a text")
				return nil
			}
			if c.Tag != "!!null" {
				items = append(items, c.Value)
			}
		}
		src = strings.Join(items, " ")
	case yaml.MappingNode:
		p.report(line, SeverityError, "not-a-text", key, "allowed-tools is a map, want tools separated by spaces")
		return nil
	}
	if v.Tag == "!!null" {
		src = ""
	}
	tools, commas, balanced := splitTools(src)
	switch {
	case !balanced:
		p.fault(line, "tools-parentheses", key, "parentheses of %.80q are not balanced", src)
	case commas:
		p.fault(line, "tools-commas", key, "tools are separated by commas, want spaces")
	}
	return tools
}

// splitTools splits at white space and commas outside parentheses. Unbalanced parentheses make one tool of everything.
// The result is not nil.
func splitTools(s string) (tools []string, commas, balanced bool) {
	tools = []string{}
	depth, start := 0, 0
	take := func(end int) {
		if start < end {
			tools = append(tools, s[start:end])
		}
	}
	for i, r := range s {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth == 0 && (r == ',' || unicode.IsSpace(r)):
			take(i)
			start = i + utf8.RuneLen(r)
			commas = commas || r == ','
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		return []string{strings.TrimSpace(s)}, commas, false
	}
	take(len(s))
	return tools, commas, true
}

func (p *parser) metadata(v *yaml.Node, line int) map[string]string {
	const key = "metadata"
	if v.Kind != yaml.MappingNode {
		p.fault(line, "metadata-not-a-map", key, "metadata is not a map; it is left out")
		return nil
	}
	var m map[string]string
	for i := 0; i+1 < len(v.Content); i += 2 {
		k, e := v.Content[i], v.Content[i+1]
		val := e.Value
		if e.Kind != yaml.ScalarNode {
			p.fault(p.at(k.Line), "metadata-not-a-text", key, "metadata %.80q is a list or a map, want a text", k.Value)
			val = flowText(e)
		}
		if m == nil {
			m = make(map[string]string)
		}
		m[k.Value] = val
	}
	return m
}

// flowText returns the value as YAML on one line.
func flowText(n *yaml.Node) string {
	n.Style |= yaml.FlowStyle
	return yamlText(n)
}

// yamlText returns the value as YAML text without comments; empty for null.
func yamlText(n *yaml.Node) string {
	dropComments(n)
	b, err := yaml.Marshal(n)
	if err != nil {
		return "" // a node that the library itself has read and vet has passed
	}
	return strings.TrimSuffix(string(b), "\n")
}

func dropComments(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	for _, c := range n.Content {
		dropComments(c)
	}
}
