package document

import (
	"context"
	"html"
	"maps"
	"strconv"
	"strings"
)

// ReadHTML is a [Reader] of HTML pages. It returns a document of kind web with the title, the language of <html lang> and the text:
// headings after "# " to "###### ", items of lists after "- " or "1. ", a row of a table on a line with " | " between its cells,
// <pre> as a fenced block with the language of a class "language-x", other <code> between backticks, and everything else as
// paragraphs with a blank line between.
//
// It drops script, style, nav, header, footer, aside, form, svg, noscript, template, iframe, textarea, button and select. A form that is
// all of a page is kept. A table whose cells hold headings, code or tables is layout: its cells are paragraphs.
//
// Broken pages lose little: what is dropped ends at its end tag, where an element around it ends, or at <main>; if none of these
// comes, it is kept, with all of its name that follow. The encodings are those of the house: UTF-8, UTF-16 with a byte order mark, and
// ISO-8859-1 or windows-1252 where they are declared. The faults are invalid_utf8, binary (a NUL) and no_text.
//
// Time and memory are linear in the page, whatever is open or nested. The standard library has no HTML parser, and
// golang.org/x/net would put five more modules into the graph of everyone who uses this one; this reader makes no tree, which
// is all that a text needs.
func ReadHTML(_ context.Context, name string, data []byte) (Document, error) {
	decoded, err := decodePage(data)
	if err != nil {
		return Document{}, err
	}
	source, err := clean(decoded)
	if err != nil {
		return Document{}, err
	}
	p := readPage(source, nil)
	if len(p.out) == 0 && p.sawForm {
		p = readPage(source, map[string]bool{"form": true})
	}
	text, err := clean(string(p.out))
	if err != nil {
		return Document{}, err
	}
	return Document{ID: name, Kind: Web, Title: p.title, Text: text, Language: p.language}, nil
}

// A page is the state of reading one.
type page struct {
	tags            tagReader
	out             []byte
	title, language string
	sawForm         bool

	keep    map[string]bool // elements that are not dropped
	dropped string          // the element that is dropped now; empty if none
	again   tagReader       // where to go on if it never ends
	inner   map[string]int  // elements that opened inside it
	open    map[string]int  // elements that are open outside it

	breaks int    // line breaks before the next text
	gap    bool   // white space before the next text
	fresh  bool   // nothing stands on the line or in the cell yet
	marker string // of an item or a heading, before the next text
	item   bool   // the marker is of an item

	heading bool
	code    int // where inline code starts in out; noCode or codeNext
	pre     *preformatted
	lists   []list
	tables  []table
}

const (
	noCode   = -1
	codeNext = -2 // it starts with the next text
)

type preformatted struct {
	text     []byte
	language string
}

type list struct {
	ordered       bool
	n             int // number of the last item
	indent, width int // columns before the marker, and of it
}

type table struct {
	cell    bool // inside a cell
	cells   int  // of the row
	missing int  // separators before the next text
	text    bool // the row has some
	start   int  // of the row in out
	layout  bool
}

const (
	maxIndent = 24   // columns; deeper lists are indented no further
	maxRow    = 4096 // bytes of a row after which its table is taken for layout
)

// Elements that are dropped; true for those that stand on lines of their own.
var droppedElements = map[string]bool{
	"nav": true, "header": true, "footer": true, "aside": true, "form": true,
	"svg": false, "noscript": false, "template": false, "button": false, "select": false,
}

// Elements whose end tag ends what is dropped inside.
var scopes = map[string]bool{
	"html": true, "body": true, "main": true, "div": true, "section": true, "article": true, "table": true, "tr": true, "td": true,
}

// Elements of which nothing but the line breaks around them are seen.
var blocks = map[string]int{
	"p": 2, "div": 2, "section": 2, "article": 2, "main": 2, "body": 2, "html": 2, "head": 2, "blockquote": 2, "figure": 2, "figcaption": 2,
	"details": 2, "summary": 2, "dl": 2, "hr": 2, "address": 2, "fieldset": 2, "center": 2, "caption": 2, "hgroup": 2, "search": 2,
	"nav": 2, "header": 2, "footer": 2, "aside": 2, "form": 2, "dt": 1, "dd": 1, "legend": 1, "option": 1,
}

func readPage(source string, keep map[string]bool) *page {
	p := &page{tags: tagReader{s: source}, keep: maps.Clone(keep), inner: map[string]int{}, open: map[string]int{}, code: noCode, fresh: true}
	if p.keep == nil {
		p.keep = map[string]bool{}
	}
	for {
		m, ok := p.tags.next()
		switch {
		case ok && m.name == "":
			if p.dropped == "" {
				p.text(m.text)
			}
		case ok:
			p.tag(m)
		case p.dropped != "":
			// It never ended: what followed it is read as if it had not been there. That happens once a name, so time stays linear.
			p.tags, p.keep[p.dropped], p.dropped = p.again, true, ""
		default:
			p.endPre()
			p.endCode()
			p.endRow()
			return p
		}
	}
}

// tag takes a start or an end tag.
func (p *page) tag(m markup) {
	switch m.name {
	case "script", "style", "iframe", "textarea", "title", "xmp", "noembed", "noframes":
		if !m.end && !m.empty {
			p.rawElement(m.name)
		}
		return
	}
	if p.dropped != "" && !p.ends(m) {
		return
	}
	if onLines, ok := droppedElements[m.name]; ok && !p.keep[m.name] {
		if m.name == "form" {
			p.sawForm = true
		}
		if onLines {
			p.block(2)
		}
		if !m.end && !m.empty {
			p.again = p.tags
			p.again.noEnd = maps.Clone(p.tags.noEnd)
			p.dropped = m.name
			clear(p.inner)
		}
		return
	}
	if scopes[m.name] {
		switch {
		case !m.end && !m.empty:
			p.open[m.name]++
		case m.end && p.open[m.name] > 0:
			p.open[m.name]--
		}
	}
	if p.pre != nil && p.inPre(m) {
		return
	}
	p.element(m)
}

// rawElement passes over an element without markup in it.
func (p *page) rawElement(name string) {
	content, ok := p.tags.raw(name)
	switch {
	case !ok && (name == "script" || name == "style"):
		p.tags.pos = len(p.tags.s) // the page was cut inside it
	case ok && name == "title" && p.title == "" && p.dropped == "":
		p.title = strings.Join(strings.Fields(html.UnescapeString(content)), " ")
	}
}

// ends says whether a tag ends what is dropped and is to be taken itself.
func (p *page) ends(m markup) bool {
	switch {
	case m.name == p.dropped && m.end && p.inner[m.name] == 0:
		p.dropped = ""
		if droppedElements[m.name] {
			p.block(2)
		}
		return false
	case m.name == "main" && !m.end:
		p.dropped = ""
		return true
	case m.name != p.dropped && !scopes[m.name] || m.empty:
		return false
	case !m.end:
		p.inner[m.name]++
	case p.inner[m.name] > 0:
		p.inner[m.name]--
	case p.open[m.name] > 0:
		p.dropped = ""
		return true
	}
	return false
}

// inPre takes a tag inside of <pre>, unless that ends it and is to be taken itself.
func (p *page) inPre(m markup) bool {
	switch m.name {
	case "pre":
		p.endPre()
		return m.end
	case "h1", "h2", "h3", "h4", "h5", "h6":
		p.endPre()
		return false
	case "br":
		p.pre.text = append(p.pre.text, '\n')
	case "code":
		if !m.end && p.pre.language == "" {
			p.pre.language = languageOf(m.attrs)
		}
	case "div", "p", "li", "tr":
		if n := len(p.pre.text); n > 0 && p.pre.text[n-1] != '\n' {
			p.pre.text = append(p.pre.text, '\n')
		}
	}
	return true
}

func (p *page) element(m markup) {
	switch m.name {
	case "html":
		if p.language == "" {
			p.language = attribute(m.attrs, "lang")
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		p.endHeading()
		if !m.end {
			p.layout()
			p.block(2)
			p.heading = true
			p.marker += strings.Repeat("#", int(m.name[1]-'0')) + " "
		}
		return
	case "pre":
		if !m.end {
			p.endHeading()
			p.layout()
			p.block(2)
			p.pre = &preformatted{language: languageOf(m.attrs)}
		}
		return
	case "code":
		p.endCode()
		if !m.end && !m.empty {
			p.code = codeNext
		}
		return
	case "br":
		p.block(min(p.breaks+1, 2))
		return
	case "ul", "ol", "menu":
		p.list(m)
		return
	case "li":
		p.listItem(m)
		return
	case "table", "tr", "td", "th":
		p.tableTag(m)
		return
	case "p":
		p.endHeading()
	}
	if n := blocks[m.name]; n > 0 {
		p.block(n)
	}
}

// block asks for line breaks before the next text. In a heading and a cell they are blanks.
func (p *page) block(n int) {
	p.endCode()
	if t := p.cell(); t != nil {
		if len(p.out)-t.start <= maxRow {
			p.gap = true
			return
		}
		p.layout()
	}
	switch {
	case p.heading:
		p.gap = true
	case p.marker == "": // else the item has no text yet
		p.breaks = max(p.breaks, n)
	}
}

func (p *page) endHeading() {
	if p.heading {
		p.endCode()
		p.heading, p.marker = false, ""
		p.block(2)
	}
}

// text takes characters outside of what is dropped.
func (p *page) text(s string) {
	if p.pre != nil {
		p.pre.text = append(p.pre.text, verbatim.Replace(s)...)
		return
	}
	for i := 0; i < len(s); {
		start := i
		for i < len(s) && !space(s[i]) && s[i] < 0x80 {
			i++
		}
		if i < len(s) && s[i] >= 0x80 {
			for i < len(s) && !space(s[i]) {
				i++
			}
			p.word(s[start:i])
			continue
		}
		if i > start {
			p.write(s[start:i])
		}
		for ; i < len(s) && space(s[i]); i++ {
			p.gap = true
		}
	}
}

// word takes a run that may hold blanks that HTML does not call white space, and characters that are not seen.
func (p *page) word(s string) {
	for i, part := range strings.Split(s, "\u00a0") {
		p.gap = p.gap || i > 0
		if part = unseen.Replace(part); part != "" {
			p.write(part)
		}
	}
}

// Line breaks and blanks as entities.
var verbatim = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u00a0", " ")

// A soft hyphen, a zero-width space and a byte order mark.
var unseen = strings.NewReplacer("\u00ad", "", "\u200b", "", "\ufeff", "")

// write appends a text without white space, after all that is due before it.
func (p *page) write(s string) {
	p.lead()
	if t := p.cell(); t != nil {
		t.text = true
		for ; t.missing > 0; t.missing-- {
			p.out = append(p.out, " | "...)
			p.fresh = true
		}
	}
	if p.marker != "" {
		p.out = append(p.out, p.marker...)
		p.marker, p.item, p.fresh = "", false, true
	}
	if p.gap && !p.fresh {
		p.out = append(p.out, ' ')
	}
	p.gap, p.fresh = false, false
	if p.code == codeNext {
		p.code = len(p.out)
	}
	p.out = append(p.out, s...)
}

// lead writes the line breaks that are due, and the columns of the lists that are open.
func (p *page) lead() {
	if p.breaks == 0 && len(p.out) > 0 {
		return
	}
	if len(p.out) > 0 {
		p.out = append(p.out, "\n\n"[:p.breaks]...)
	}
	p.breaks, p.fresh = 0, true
	if n := len(p.lists); n > 0 {
		l := p.lists[n-1]
		indent := l.indent
		if !p.item && l.n > 0 {
			indent += l.width
		}
		for range indent {
			p.out = append(p.out, ' ')
		}
	}
}

// endCode puts backticks around inline code, more than it holds in a row.
func (p *page) endCode() {
	start := p.code
	p.code = noCode
	if start < 0 {
		return
	}
	text := string(p.out[start:])
	sign := strings.Repeat("`", longestRun(text, '`')+1)
	p.out = append(p.out[:start], sign...)
	padded := text[0] == '`' || text[len(text)-1] == '`'
	if padded {
		p.out = append(p.out, ' ')
	}
	p.out = append(p.out, text...)
	if padded {
		p.out = append(p.out, ' ')
	}
	p.out = append(p.out, sign...)
}

// endPre writes the fenced block.
func (p *page) endPre() {
	if p.pre == nil {
		return
	}
	text, language := string(p.pre.text), p.pre.language
	p.pre = nil
	text = strings.TrimRight(strings.TrimPrefix(text, "\n"), " \t\n\f")
	if text == "" {
		return
	}
	if p.marker != "" {
		p.marker, p.item = "", false
	}
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	if len(p.out) > 0 {
		p.out = append(p.out, "\n\n"...)
	}
	p.breaks = 0
	p.out = append(p.out, fence...)
	p.out = append(p.out, language...)
	p.out = append(p.out, '\n')
	p.out = append(p.out, text...)
	p.out = append(p.out, '\n')
	p.out = append(p.out, fence...)
	p.block(2)
}

func longestRun(s string, c byte) int {
	longest, n := 0, 0
	for i := range len(s) {
		if s[i] == c {
			n++
			longest = max(longest, n)
		} else {
			n = 0
		}
	}
	return longest
}

// languageOf returns the language of code that a class states as "language-x" or "lang-x".
func languageOf(attrs string) string {
	for class := range strings.FieldsSeq(attribute(attrs, "class")) {
		for _, prefix := range []string{"language-", "lang-"} {
			if l, ok := strings.CutPrefix(class, prefix); ok && l != "" && len(l) <= 20 && run(l, 0, "+-#", len(l)) == len(l) {
				return l
			}
		}
	}
	return ""
}

func (p *page) list(m markup) {
	p.endHeading()
	if p.cell() != nil {
		p.block(1)
		return
	}
	if m.end {
		p.marker, p.item = "", false
		p.lists = p.lists[:max(len(p.lists)-1, 0)]
	}
	breaks := 2
	if len(p.lists) > 0 {
		breaks = 1
	}
	p.block(breaks)
	if m.end {
		return
	}
	l := list{ordered: m.name == "ol", width: 2}
	if l.ordered {
		l.width = 3
		if n, err := strconv.Atoi(attribute(m.attrs, "start")); err == nil && n > 0 && n < 1_000_000 {
			l.n = n - 1
		}
	}
	if n := len(p.lists); n > 0 {
		l.indent = min(p.lists[n-1].indent+p.lists[n-1].width, maxIndent)
	}
	p.lists = append(p.lists, l)
}

func (p *page) listItem(m markup) {
	p.endHeading()
	if p.cell() != nil {
		if p.block(1); !m.end && p.cell() != nil {
			p.write("-")
			p.gap = true
		}
		return
	}
	p.marker, p.item = "", false
	p.block(1)
	if m.end {
		return
	}
	if len(p.lists) == 0 {
		p.lists = append(p.lists, list{width: 2})
	}
	l := &p.lists[len(p.lists)-1]
	l.n++
	p.marker, p.item = "- ", true
	if l.ordered {
		p.marker = strconv.Itoa(l.n) + ". "
	}
}

// cell returns the table in a cell of which the text goes, nil if there is none or it is layout.
func (p *page) cell() *table {
	if n := len(p.tables); n > 0 && p.tables[n-1].cell && !p.tables[n-1].layout {
		return &p.tables[n-1]
	}
	return nil
}

// layout makes the cells of the table around paragraphs.
func (p *page) layout() {
	if t := p.cell(); t != nil {
		p.endCode()
		t.layout = true
		p.breaks = 2
	}
}

func (p *page) tableTag(m markup) {
	p.endHeading()
	if m.name == "table" {
		if m.end {
			p.endRow()
			p.tables = p.tables[:max(len(p.tables)-1, 0)]
			p.block(2)
			return
		}
		p.layout()
		p.block(2)
		p.tables = append(p.tables, table{start: len(p.out)})
		return
	}
	n := len(p.tables)
	if n == 0 {
		p.block(2)
		return
	}
	t := &p.tables[n-1]
	p.endCode()
	switch {
	case m.name == "tr":
		p.endRow()
		p.block(1)
	case m.end:
		t.cell = false
	case t.layout:
		p.block(2)
	default:
		if t.cells++; t.cells > 1 {
			t.missing++
		} else {
			p.block(1)
		}
		t.cell = true
		p.gap = true
	}
}

// endRow ends the row of the innermost table: empty cells at its end leave their separators.
func (p *page) endRow() {
	n := len(p.tables)
	if n == 0 {
		return
	}
	p.endCode()
	t := &p.tables[n-1]
	if t.text && !t.layout {
		p.out = append(p.out, strings.Repeat(" |", t.missing)...)
	}
	*t = table{layout: t.layout, start: len(p.out)}
}

var _ Reader = ReadHTML
