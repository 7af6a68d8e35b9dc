package decontaminate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	const function = `{"name":"area","description":"The area.","parameters":{"properties":{"w":{},"h":{}}}}`
	area := Item{Function: "area", Text: "area The area.", Description: "The area.", Parameters: []string{"w", "h"}}
	with := func(it Item, id string) Item { it.ID = id; return it }
	tests := []struct {
		name, file string
		want       []Item
		reason     string
	}{
		{"x.txt", "\ufeffone item\r\n\n  another \n{}",
			[]Item{{ID: "line 1", Text: "one item"}, {ID: "line 3", Text: "another"}, {ID: "line 4", Text: "{}"}},
			"a line each"},
		{"x.txt", "[see below] one item\n", []Item{{ID: "line 1", Text: "[see below] one item"}}, "a name says that it is plain text"},
		{"x", "no name\n", []Item{{ID: "line 1", Text: "no name"}}, "no brace: plain text"},
		{"x", "", nil, "an empty file"},
		{"turns",
			`{"id":"a_1","question":[[{"role":"system","content":"be nice"},{"role":"user","content":"one?"}],[],[{"role":"user","content":"two?"}]]}`,
			[]Item{{ID: "a_1/1", Text: "one?"}, {ID: "a_1/2", Text: "two?"}}, "turns of messages"},
		{"functions", `{"id":7,"question":[[{"role":"user","content":"one?"}]],"function":[` + function + `]}`,
			[]Item{{ID: "7/1", Text: "one?"}, with(area, "7/area")}, "a question and its functions"},
		{"one", "\n" + `{"prompt":"just this"}`, []Item{{ID: "line 2", Text: "just this"}}, "no id, and blank lines count"},
		{"several", `{"id":"q","instruction":"this","query":"that","text":"","messages":null}`,
			[]Item{{ID: "q/1", Text: "this"}, {ID: "q/2", Text: "that"}},
			"keys in one order, no empty text"},
		{"parts",
			`{"messages":[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image"},{"type":"text","text":"here"}]},{"role":"user"}]}`,
			[]Item{{ID: "line 1", Text: "look\nhere"}}, "the texts of a message in parts"},
		{"tool", `{"name":"area","description":"The area.","inputSchema":{"properties":{"w":{},"h":{}}}}`, []Item{with(area, "line 1")},
			"a row that is a function"},
		{"openai", `{"tools":[{"type":"function","function":` + function + `}]}`,
			[]Item{with(area, "line 1")}, "a function in its wrapping"},
		{"object", `{"function":{"name":"now"},"id":""}`, []Item{{ID: "line 1", Function: "now", Text: "now"}}, "one function without a list"},
		{"none", `{"id":"z","question":[]}`, nil, "a row may have no message"},
	}
	for _, tt := range tests {
		b, err := Read(tt.name, strings.NewReader(tt.file))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		sum := sha256.Sum256([]byte(tt.file))
		if diff := cmp.Diff(Benchmark{Name: tt.name, SHA256: hex.EncodeToString(sum[:]), Items: tt.want}, b); diff != "" {
			t.Errorf("%s: %s (-want +got)\n%s", tt.name, tt.reason, diff)
		}
	}
}

func TestReadErrors(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"x", "{\"text\":\"a\"}\n{", "line 2: offset 1"},
		{"x", `{"text":"a"}` + "\nplain", "line 2: offset 0"},
		{"x", "{\"text\":\"a\"}\n[]", "line 2: is of kind list, want an object a line"},
		{"x.json", `[{"text":"a"},{"text":"b"}]`, "line 1: is of kind list, want an object a line"},
		{"x.json", "[\n  {\"text\": \"a\"},\n  {\"text\": \"b\"}\n]", "line 1: offset 1"},
		{"x", `{"answer":"a"}`, "line 1: has none of the keys"},
		{"x", `{"text":5}`, "text: a value is of kind number, want a text or a list of messages"},
		{"x", `{"question":[[["deep"]]]}`, "question: a value is of kind list"},
		{"x", `{"prompt":{"role":"user","content":"a"}}`, "prompt: a value is of kind object"},
		{"x", `{"messages":[{"content":"a"}]}`, "messages: a message has no role"},
		{"x", `{"messages":[{"role":"user","content":5}]}`, "messages: the content of a message is of kind number, want a string"},
		{"x", `{"tools":"a"}`, "tools: is of kind string, want a list of functions"},
		{"x", `{"tools":[{"name":""}]}`, "tools: a function has no name"},
		{"x", `{"name":5}`, "the row: a function has no name"},
		{"x", "{\"text\":\"\xff\"}", "line 1: offset"},
		{"x.txt", "fine\n\xff", "line 2: invalid UTF-8"},
		{"x", `{"text":` + strings.Repeat("[", 99), "deeper than"},
	}
	for _, tt := range tests {
		b, err := Read(tt.name, strings.NewReader(tt.file))
		place := fmt.Sprintf("benchmark %q", tt.name)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), place) || b.Items != nil {
			t.Errorf("%.40q: %v, want %q", tt.file, err, tt.want)
		}
	}
	broken := errors.New("cable cut")
	if _, err := Read("x", io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

func TestEndlessLine(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 64 MiB")
	}
	if _, err := Read("x", endless{}); err == nil || !strings.Contains(err.Error(), "line 1: longer than 67108864 bytes") {
		t.Error(err)
	}
}

// Whatever is read can be indexed, and each of its messages is found if anything of it can be.
func FuzzRead(f *testing.F) {
	f.Add("x", []byte("{\"id\":\"a\",\"question\":[[{\"role\":\"user\",\"content\":\"what is the time now\"}]],\"function\":[{\"name\":\"f\"}]}\n"))
	f.Add("x.txt", []byte("one 2.5 three\nfour"))
	f.Add("x", []byte(`{"name":"f","description":"d","parameters":{"properties":{"a":1}}}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		b, err := Read(name, strings.NewReader(string(data)))
		if err != nil || name == "" {
			return
		}
		ix, err := NewIndex([]Benchmark{b}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range b.Items {
			if it.ID == "" {
				t.Fatalf("%+v has no ID", it)
			}
			n := len(strings.Fields(Normalize(it.Text)))
			found := ix.Scan(&Record{Messages: []string{it.Text}})
			if n > 0 && n < 13 && len(found) == 0 {
				t.Fatalf("%q is not found in itself", it.Text)
			}
			for _, m := range found {
				if m.Item >= len(b.Items) || m.Text == "" {
					t.Fatalf("%+v", m)
				}
			}
		}
	})
}
