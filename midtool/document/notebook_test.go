package document

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestReadNotebook(t *testing.T) {
	for _, tt := range []struct{ name, in, want, syntax, title, fault string }{
		{"cells", `{"cells":[
			{"cell_type":"markdown","source":["# Orders\n","\n","See *below*."]},
			{"cell_type":"code","source":"x = 1\nprint(x)\n","outputs":[{"text":["no"]}]},
			{"cell_type":"code","source":[]},{"cell_type":"raw","source":"no"},
			{"cell_type":"code","source":["!pip install x"]}]}`,
			"# %%\n# # Orders\n#\n# See *below*.\n\n# %%\nx = 1\nprint(x)\n\n# %%\n!pip install x", "python", "Orders", ""},
		{"kernel", `{"metadata":{"kernelspec":{"language":"javascript"}},"cells":[{"cell_type":"markdown","source":"a"},{"cell_type":"code","source":"let x"}]}`,
			"// %%\n// a\n\n// %%\nlet x", "javascript", "", ""},
		{"info first", `{"metadata":{"kernelspec":{"language":"x"},"language_info":{"name":"C++17"}},"cells":[{"cell_type":"code","source":"int x;"}]}`,
			"// %%\nint x;", "cpp", "", ""},
		{"format 3", `{"worksheets":[{"cells":[{"cell_type":"code","input":"a"}]},{"cells":[{"cell_type":"code","input":["b"]}]},{}]}`, "# %%\na\n\n# %%\nb", "python", "", ""},
		{"no cells", `{"cells":[]}`, "", "python", "", "no_text"},
		{"no list", `{"cells":{}}`, "", "", "", "bad_notebook"},
		{"other", `[1]`, "", "", "", "bad_notebook"},
		{"wrong kinds", `{"metadata":[],"cells":[1,null,{"cell_type":7,"source":8},{"cell_type":"code","source":{"a":1}},{"cell_type":"code","source":["a",7,"b"]}]}`,
			"# %%\nab", "python", "", ""},
		{"cut", `{"cells":[`, "", "", "", "bad_notebook"},
		{"deep", `{"cells":` + strings.Repeat("[", 100_000), "", "", "", "bad_notebook"},
		{"UTF-8", "{\"cells\":\"\xff\"}", "", "", "", "invalid_utf8"},
		{"NUL", `{"cells":[{"cell_type":"code","source":"\u0000"}]}`, "", "python", "", "binary"},
	} {
		d, err := ReadNotebook(context.Background(), "n", []byte(tt.in))
		code := ""
		if f, ok := errors.AsType[*Fault](err); ok {
			code = f.Code
		}
		if d.Text != tt.want || code != tt.fault || d.Syntax != tt.syntax || d.Title != tt.title {
			t.Errorf("%s: %q, %q, %q, %v, want %q, %q, %q, %q", tt.name, d.Text, d.Syntax, d.Title, err, tt.want, tt.syntax, tt.title, tt.fault)
		}
	}
}

// The code of all cells stands in the text as it is, in order; and an output never does.
func TestReadNotebookCode(t *testing.T) {
	type cell struct {
		Kind    string `json:"cell_type"`
		Source  string `json:"source"`
		Outputs string `json:"outputs"`
	}
	rapid.Check(t, func(t *rapid.T) {
		var cells []cell
		code := rapid.StringOf(rapid.RuneFrom([]rune("ab \n\"#é"))).Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
		for range rapid.IntRange(1, 5).Draw(t, "cells") {
			cells = append(cells, cell{rapid.SampledFrom([]string{"code", "markdown"}).Draw(t, "kind"), code.Draw(t, "source"), "OUTPUT"})
		}
		raw, err := json.Marshal(map[string]any{"cells": cells})
		if err != nil {
			t.Fatal(err)
		}
		d, err := ReadNotebook(context.Background(), "n", raw)
		if err != nil || strings.Contains(d.Text, "OUTPUT") {
			t.Fatalf("%s: %q, %v", raw, d.Text, err)
		}
		rest := d.Text
		for _, c := range cells {
			_, after, ok := strings.Cut(rest, "# %%\n")
			if rest = after; !ok {
				t.Fatalf("%s: %q lacks a cell", raw, d.Text)
			}
			if c.Kind == "code" {
				if rest, ok = strings.CutPrefix(rest, strings.Trim(c.Source, "\n")); !ok {
					t.Fatalf("%s: %q lacks %q", raw, d.Text, c.Source)
				}
			}
		}
	})
}

func TestHeadingOf(t *testing.T) {
	for _, tt := range []struct{ in, want, reason string }{
		{"text\n\n## A b ##\n# C", "A b", "the first, of any level"}, {"```\n# no\n```\n# yes", "yes", "a comment in code is none"},
		{"#no\n#", "", "a blank must follow"},
		{"# " + strings.Repeat("x", 400), "", "too long"},
		{"", "", "none"},
		{"~~~\n# no", "", "an open fence"},
	} {
		if got := headingOf(tt.in); got != tt.want {
			t.Errorf("%.40q: %q, want %q (%s)", tt.in, got, tt.want, tt.reason)
		}
	}
}
