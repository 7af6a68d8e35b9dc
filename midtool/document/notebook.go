package document

import (
	"cmp"
	"context"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// ReadNotebook is a [Reader] of Jupyter notebooks, formats 3 and 4. It returns a document of kind code in the language of the kernel,
// Python if none is stated: the cells in order, each after a line "# %%", those of Markdown as comments, with blank lines between. The
// title is the first heading. Outputs, raw cells and empty cells are dropped. In a language whose comments start with another sign, such
// as "//", that sign stands for "#".
//
// The faults are those of [ReadHTML], and bad_notebook for what is no JSON, is nested deeper than 64, or has no list of cells. That
// notebooks become code is MidTool's; the form is that of the percent scripts of editors.
func ReadNotebook(_ context.Context, name string, data []byte) (Document, error) {
	source, err := clean(string(data))
	if err != nil {
		return Document{}, err
	}
	root, err := jsonval.ParseText(source)
	if err != nil {
		return Document{}, fault("bad_notebook", "%v", err)
	}
	cells, ok := cellsOf(&root)
	if !ok {
		return Document{}, fault("bad_notebook", `no list "cells"`)
	}
	d := Document{ID: name, Kind: Code, Syntax: kernelLanguage(&root)}
	sign := commentSign(d.Syntax)
	var b strings.Builder
	for i := range cells {
		kind := jsonval.StringOf(cells[i].Get("cell_type"))
		text := strings.Trim(sourceOf(&cells[i]), "\n")
		if kind != "code" && kind != "markdown" || strings.TrimSpace(text) == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(sign + " %%\n")
		if kind == "code" {
			b.WriteString(text)
			continue
		}
		d.Title = cmp.Or(d.Title, headingOf(text))
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) == "" {
				line = sign + "\n"
			} else {
				line = sign + " " + line
			}
			b.WriteString(line)
		}
	}
	d.Text, err = clean(b.String())
	return d, err
}

// cellsOf returns the cells of format 4, or of the work sheets of format 3.
func cellsOf(root *jsonval.Value) ([]jsonval.Value, bool) {
	if cells := root.Get("cells"); cells != nil && cells.Kind == jsonval.List {
		return cells.List, true
	}
	sheets := root.Get("worksheets")
	if sheets == nil || sheets.Kind != jsonval.List {
		return nil, false
	}
	var out []jsonval.Value
	for i := range sheets.List {
		if cells := sheets.List[i].Get("cells"); cells != nil {
			out = append(out, cells.List...)
		}
	}
	return out, true
}

// sourceOf returns the text of a cell, which is a string or a list of lines that end in \n.
func sourceOf(cell *jsonval.Value) string {
	v := cell.Get("source")
	if v == nil {
		v = cell.Get("input")
	}
	if v == nil {
		return ""
	}
	if v.Kind == jsonval.String {
		return v.Text
	}
	var b strings.Builder
	for i := range v.List {
		b.WriteString(jsonval.StringOf(&v.List[i]))
	}
	return b.String()
}

// kernelLanguage returns the language that a notebook states, as [Document] Syntax spells it.
func kernelLanguage(root *jsonval.Value) string {
	meta := root.Get("metadata")
	if meta == nil {
		return "python"
	}
	for _, at := range [][2]string{{"language_info", "name"}, {"kernelspec", "language"}} {
		if v := meta.Get(at[0]); v != nil {
			if name := strings.ToLower(strings.TrimSpace(jsonval.StringOf(v.Get(at[1])))); name != "" && len(name) <= 20 {
				switch name {
				case "ipython", "python3":
					return "python"
				case "c++", "c++11", "c++14", "c++17":
					return "cpp"
				case "c#":
					return "csharp"
				case "bash":
					return "shell"
				}
				return name
			}
		}
	}
	return "python"
}

// commentSign starts a comment that ends with its line.
func commentSign(syntax string) string {
	switch syntax {
	case "javascript", "typescript", "go", "java", "scala", "rust", "cpp", "csharp", "c", "kotlin", "groovy", "fsharp", "swift":
		return "//"
	case "sql", "haskell", "lua":
		return "--"
	}
	return "#"
}

// headingOf returns the text of the first heading of Markdown, "# X" or deeper, outside of fenced blocks; "" if there is none.
func headingOf(text string) string {
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(line, fence) {
				fence = ""
			}
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fence = line[:3]
		case strings.HasPrefix(line, "#"):
			if after := strings.TrimLeft(line, "#"); strings.HasPrefix(after, " ") && len(after) <= maxTitle {
				return strings.TrimSpace(strings.TrimRight(after, "#"))
			}
		}
	}
	return ""
}

// maxTitle is more than what a title holds: a longer line is none.
const maxTitle = 300

var _ Reader = ReadNotebook
