package rl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// dotLexer reads the tokens of Graphviz's language that WriteDOT may use. A string comes as a quote and its content.
func dotLexer(s string) (tokens []string, err error) {
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			return nil, fmt.Errorf("not UTF-8 at %.20q", s)
		case unicode.IsSpace(r):
			s = s[size:]
		case strings.HasPrefix(s, "->"):
			tokens, s = append(tokens, "->"), s[2:]
		case strings.ContainsRune("{}[]=,;", r):
			tokens, s = append(tokens, s[:1]), s[1:]
		case r == '"':
			end := 1
			for ; end < len(s) && s[end] != '"'; end++ {
				if s[end] == '\\' {
					end++
				}
				if end < len(s) && s[end] < ' ' {
					return nil, fmt.Errorf("control character in %.20q", s)
				}
			}
			if end >= len(s) {
				return nil, fmt.Errorf("open string %.20q", s)
			}
			tokens, s = append(tokens, s[:end]), s[end+1:]
		default:
			end := strings.IndexFunc(s, func(r rune) bool { return !(r == '_' || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r))) })
			if end <= 0 {
				return nil, fmt.Errorf("unexpected %.20q", s)
			}
			tokens, s = append(tokens, s[:end]), s[end:]
		}
	}
	return tokens, nil
}

// dotGraph is a parsed graph: attributes of nodes and edges by name, "a -> b" for edges.
type dotGraph map[string]map[string]string

// parseDOT parses one directed graph of statements name=value, name [attributes] and name -> name [attributes].
func parseDOT(s string) (dotGraph, error) {
	tokens, err := dotLexer(s)
	if err != nil {
		return nil, err
	}
	next := func() string {
		if len(tokens) == 0 {
			return ""
		}
		t := tokens[0]
		tokens = tokens[1:]
		return t
	}
	word := func(t string) bool { return t != "" && !strings.Contains("{}[]=,;->", t) }
	if next() != "digraph" || next() != "{" {
		return nil, errors.New("no digraph")
	}
	g := dotGraph{"": {}}
	for {
		name := next()
		if name == "}" {
			break
		}
		if !word(name) {
			return nil, fmt.Errorf("statement starts with %q", name)
		}
		after := next()
		if after == "=" {
			g[""][name] = next()
			continue
		}
		if after == "->" {
			to := next()
			if g[name] == nil || g[to] == nil || !strings.HasPrefix(name, "n") {
				return nil, fmt.Errorf("edge %s -> %s between nodes not known", name, to)
			}
			name, after = name+" -> "+to, next()
		}
		if after != "[" || g[name] != nil {
			return nil, fmt.Errorf("%q after %s, or a second one", after, name)
		}
		g[name] = map[string]string{}
		for {
			key, eq, value, sep := next(), next(), next(), next()
			if !word(key) || eq != "=" || !word(value) || sep != "," && sep != "]" {
				return nil, fmt.Errorf("%s: attribute %q %q %q %q", name, key, eq, value, sep)
			}
			g[name][key] = value
			if sep == "]" {
				break
			}
		}
	}
	if len(tokens) > 0 {
		return nil, fmt.Errorf("%q after the end", tokens[0])
	}
	return g, nil
}

// shown returns the lines that Graphviz draws for a label.
func shown(label string) []string {
	var lines []string
	var b strings.Builder
	for i := 1; i < len(label); i++ { // after the quote
		if label[i] != '\\' {
			b.WriteByte(label[i])
			continue
		}
		i++
		switch label[i] {
		case 'n':
			lines = append(lines, b.String())
			b.Reset()
		case '\\', '"':
			b.WriteByte(label[i])
		default:
			return []string{"unknown escape " + label[i-1:i+1]}
		}
	}
	lines = append(lines, b.String())
	for i := range lines {
		lines[i] = strings.NewReplacer("&amp;", "&", "&", "a bare ampersand").Replace(lines[i])
	}
	return lines
}

func draw(t interface{ Fatal(...any) }, g *MileGraph) (string, dotGraph) {
	var b strings.Builder
	if err := g.WriteDOT(&b); err != nil {
		t.Fatal(err)
	}
	parsed, err := parseDOT(b.String())
	if err != nil {
		t.Fatal(err, b.String())
	}
	return b.String(), parsed
}

func TestWriteDOT(t *testing.T) {
	g := mustMileGraphs(t, e11(), nil)[0]
	text, dot := draw(t, &g)
	if again, _ := draw(t, &g); again != text {
		t.Error("the same graph gives other bytes")
	}
	if diff := cmp.Diff([]string{"q", "2 successes, 3 failures, 6 of 9 pairs tied"}, shown(dot[""]["label"])); diff != "" {
		t.Errorf("title (-want +got):\n%s", diff)
	}
	tests := []struct {
		state, shape, fill, style string
		label                     []string
		reason                    string
	}{
		{"s0", "", "honeydew", `"filled,dashed`, []string{"s0", "3 to a goal", "2+ 3-", "milestone 1.167, calibrated 0", "potential +0.0568 -0.04"}, "dropped"},
		{"m", "", "palegreen", "", []string{"m", "1 to a goal", "2+ 0-", "milestone 1.85, calibrated 5.55", "potential +1 -0"}, "kept"},
		{"g", "doublecircle", "gold", "", []string{"g", "0 to a goal", "2+ 0-", "potential +0 -0"}, "goal"},
		{"y", "octagon", "lightpink", "", []string{"y", "no way to a goal", "0+ 1-", "trap 0.4833", "potential +0 -1"}, "trap"},
	}
	for _, tt := range tests {
		for v, n := range g.Nodes {
			if n.State != tt.state {
				continue
			}
			a := dot[fmt.Sprint("n", v)]
			if a["shape"] != tt.shape || a["fillcolor"] != tt.fill || a["style"] != tt.style {
				t.Errorf("%s, %s: %v", tt.state, tt.reason, a)
			}
			if diff := cmp.Diff(tt.label, shown(a["label"])); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.state, diff)
			}
		}
	}
	if len(dot) != 2+1+len(g.Nodes)+len(g.Edges) { // title, and defaults of nodes and edges
		t.Errorf("%d parts", len(dot))
	}
	am, ay := dot["n1 -> n2"], dot["n1 -> n5"]
	if diff := cmp.Diff([]string{"1× p 1", "r 2, shaped 3.79"}, shown(am["label"])); diff != "" || am["color"] != "forestgreen" || ay["color"] != "firebrick" {
		t.Errorf("edges %v and %v (-want +got):\n%s", am, ay, diff)
	}
	if _, dot := draw(t, new(MileGraph)); len(dot) != 3 {
		t.Errorf("empty graph: %v", dot)
	}
}

func TestWriteDOTText(t *testing.T) {
	tests := []struct{ name, state, want, reason string }{
		{"quote", `say "hi"`, `say "hi"`, "would end the string"},
		{"backslash", `C:\new\N`, `C:\new\N`, "\\N is the name of the node"},
		{"last backslash", `end\`, `end\`, "would take the quote with it"},
		{"backslash and quote", `\"`, `\"`, "both"},
		{"newline", "two\nlines\r\n", `two\nlines\u000d\n`, "lines of a label are ours"},
		{"tab", "a\tb", `a\tb`, "control character"},
		{"zero", "a\x00b\x7f", `a\u0000b\u007f`, "ends a string of C"},
		{"entity", "&lt;&amp;&", "&lt;&amp;&", "labels know the entities of HTML"},
		{"HTML", "<b>x</b>", "<b>x</b>", "in quotes no HTML"},
		{"not UTF-8", "a\xff", "a\ufffd", "replaced"},
		{"direction", "a\u202eb", `a\u202eb`, "would turn the rest of the line round"},
		{"long", strings.Repeat("ü", 41), strings.Repeat("ü", 40) + "…", "by characters, not bytes"},
		{"just fits", strings.Repeat("ü", 40), strings.Repeat("ü", 40), "40 characters"},
		{"statement", `"]; evil -> n0 [x="`, `"]; evil -> n0 [x="`, "a key is no statement"},
		{"empty", "", "(unknown)", "state without a key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			_, dot := draw(t, &MileGraph{Group: tt.state, Nodes: []MileNode{{State: tt.state}}})
			if got := shown(dot["n0"]["label"])[0]; got != tt.want {
				t.Errorf("%s: shows %q, want %q", tt.reason, got, tt.want)
			}
			if title := shown(dot[""]["label"])[0]; tt.state != "" && title != tt.want {
				t.Errorf("%s: title %q, want %q", tt.reason, title, tt.want)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[\\"&n\n{}<>;\[\]]{0,12}`)).Draw(t, "state")
		_, dot := draw(t, &MileGraph{Nodes: []MileNode{{State: s}, {State: "other"}}, Edges: []MileEdge{{From: 0, To: 1}}})
		if got := shown(dot["n0"]["label"]); len(dot) != 6 || len(got) != 4 || strings.HasPrefix(got[0], "unknown escape") {
			t.Fatalf("%q: %v, %q", s, dot, got)
		}
	})
}

// halfWriter fails after some bytes.
type halfWriter int

var errFull = errors.New("full")

func (w *halfWriter) Write(p []byte) (int, error) {
	if len(p) > int(*w) {
		return int(*w), errFull
	}
	*w -= halfWriter(len(p))
	return len(p), nil
}

func TestWriteDOTError(t *testing.T) {
	g := mustMileGraphs(t, gridWalks(16, 50, 16), nil)[0]
	for _, room := range []halfWriter{0, 100, 5000} {
		if err := g.WriteDOT(&room); !errors.Is(err, errFull) {
			t.Errorf("got %v", err)
		}
	}
}

// Graphs come by group in order of first appearance; voteless trajectories are in none.
func TestMileGraphs(t *testing.T) {
	out := walk("out", 1, "s", "g")
	out.Excluded = "crashed"
	batch := []Trajectory{out, walk("b", 1, "s", "", "g"), walk("a", 0, "s", "s", "s"), walk("b", 0, "s", ""), walk("c", 0, "s", "x")}
	batch[4].Turns[0].Tokens = nil
	graphs := mustMileGraphs(t, batch, &MileGPOOptions{GraphGPOOptions: GraphGPOOptions{Norm: Norm{Singleton: SingletonError}}})
	type summary struct {
		Group               string
		Successes, Failures int
		States              []string
		Edges               []string
	}
	var got []summary
	for _, g := range graphs {
		s := summary{Group: g.Group, Successes: g.Successes, Failures: g.Failures}
		for _, n := range g.Nodes {
			s.States = append(s.States, n.State)
		}
		for _, e := range g.Edges {
			s.Edges = append(s.Edges, strconv.Itoa(e.From)+"-"+strconv.Itoa(e.To)+" "+strconv.Itoa(e.Turns))
		}
		got = append(got, s)
	}
	want := []summary{
		{"b", 1, 1, []string{"s", "", "g", ""}, []string{"0-1 1", "0-3 1", "1-2 1"}},
		{"a", 0, 1, []string{"s"}, []string{"0-0 2"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := graphs[1].Nodes[0]; n.Visits != 3 || n.Revisits != 2 || n.Failures != 1 || n.Loop != 2 || n.TrapScore != .5 || !n.Trap {
		t.Errorf("a state that is never left: %+v", n)
	}
	if graphs := mustMileGraphs(t, nil, nil); len(graphs) != 0 {
		t.Errorf("empty batch: %v", graphs)
	}
}

// Ties are counted over pairs of turns from one state to different ones.
func TestMileGraphTies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyWalks(t, false)
		for _, g := range mustMileGraphs(t, batch, nil) {
			var all []MileEdge // one per turn
			for _, e := range g.Edges {
				for range e.Turns {
					all = append(all, e)
				}
			}
			pairs, ties := 0, 0
			for i, a := range all {
				for _, b := range all[:i] {
					if a.From == b.From && a.To != b.To {
						pairs++
						if a.GoalReturn == b.GoalReturn {
							ties++
						}
					}
				}
			}
			if g.Pairs != pairs || g.Ties != ties {
				t.Fatalf("%d of %d, want %d of %d", g.Ties, g.Pairs, ties, pairs)
			}
		}
	})
}
