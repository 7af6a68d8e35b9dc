package midtool_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/names"
)

func object(required string, properties ...string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + required + `]}`)
}

func edgeText(tools []midtool.Tool, edges []midtool.Edge) string {
	var lines []string
	for _, e := range edges {
		lines = append(lines, fmt.Sprintf("%s.%s > %s.%s %s %g", tools[e.Producer].Name, e.Field, tools[e.Consumer].Name, e.Parameter, e.Rule, e.Confidence))
	}
	return strings.Join(lines, "\n")
}

func TestDependencies(t *testing.T) {
	user := object(``, `"id":{"type":"string"}`, `"city":{"type":"string"}`)
	for _, tt := range []struct {
		name    string
		tools   []midtool.Tool
		options midtool.DependencyOptions
		want    string
		reason  string
	}{
		{"field", []midtool.Tool{
			{Name: "get_account", Returns: object(``, `"cityName":{"type":"string"}`, `"order-id":{"type":"integer"}`)},
			{Name: "forecast", Parameters: object(`"city_name"`, `"city_name":{"type":"string"}`, `"orderId":{"type":"integer"}`)},
		}, midtool.DependencyOptions{}, "get_account.cityName > forecast.city_name field 0.6\nget_account.order-id > forecast.orderId field 0.9",
			"equal words, whatever joins them; an identifier counts more"},
		{"types and formats differ", []midtool.Tool{
			{Name: "a", Returns: object(``, `"day":{"type":"string","format":"date"}`, `"n":{"type":"integer"}`, `"x":{}`, `"m":{"type":"string"}`)},
			{Name: "b", Parameters: object(``, `"day":{"type":"string","format":"time"}`, `"n":{"type":"number"}`, `"x":{"type":"integer"}`, `"m":{"type":["string","null"],"format":"date"}`)},
		}, midtool.DependencyOptions{}, "a.x > b.x field 0.6\na.m > b.m field 0.6", "what one side leaves open, and null, are no difference"},
		{"noun and id", []midtool.Tool{
			{Name: "get_users", Returns: json.RawMessage(`{"type":"array","items":` + string(user) + `}`)},
			{Name: "find_team", Returns: object(``, `"total":{"type":"integer"}`, `"teams":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"}}}}`)},
			{Name: "mail", Parameters: object(``, `"user_id":{"type":"string"}`, `"team_id":{"type":"string"}`, `"total":{"type":"integer"}`, `"id":{"type":"string"}`)},
		}, midtool.DependencyOptions{}, "get_users.id > mail.user_id field 0.9\nget_users.id > mail.id field 0.9\n" +
			"find_team.id > mail.team_id field 0.9\nfind_team.total > mail.total field 0.6\nfind_team.id > mail.id field 0.9", "the id of an item is that of the noun, in the singular"},
		{"identifier", []midtool.Tool{
			{Name: "list_orders"}, {Name: "searchOrder"}, {Name: "create_order"}, {Name: "get_orders"},
			{Name: "cancel_order", Parameters: object(`"id"`, `"id":{}`)},
			{Name: "delete_order", Parameters: object(`"order_key","shop_id"`, `"shop_id":{}`, `"order_key":{}`)},
			{Name: "update_order", Parameters: object(``, `"id":{}`)},
			{Name: "get_order", Parameters: object(`"shop_id","shelf_id"`, `"shop_id":{}`, `"shelf_id":{}`)},
			{Name: "read_order", Parameters: object(`"slug"`, `"slug":{}`)},
		}, midtool.DependencyOptions{}, "list_orders. > delete_order.order_key identifier 0.7\nlist_orders. > read_order.slug identifier 0.7\n" +
			"searchOrder. > delete_order.order_key identifier 0.7\nsearchOrder. > read_order.slug identifier 0.7\n" +
			"create_order. > delete_order.order_key identifier 0.7\ncreate_order. > read_order.slug identifier 0.7",
			"not from get, not to another verb, required, named after the noun or the only one"},
		{"mention", []midtool.Tool{
			{Name: "list_open_orders"}, {Name: "open"},
			{Name: "pay", Parameters: object(``, `"order":{"description":"Take it from listOpenOrders, if open."}`, `"other":{"description":"list of open orders"}`)},
		}, midtool.DependencyOptions{}, "list_open_orders. > pay.order mention 0.8\nopen. > pay.order mention 0.5\nopen. > pay.other mention 0.5",
			"the words of the name in a row; one word may be just a word"},
		{"the most confident reason", []midtool.Tool{
			{Name: "list_orders", Returns: object(``, `"note":{}`)},
			{Name: "get_order", Parameters: object(`"order_id"`, `"order_id":{"description":"see list_orders"}`, `"note":{"description":"see list_orders"}`)},
		}, midtool.DependencyOptions{}, "list_orders. > get_order.order_id mention 0.8\nlist_orders. > get_order.note mention 0.8", "0.8 beats 0.7 and 0.6"},
		{"least confidence", []midtool.Tool{
			{Name: "list_orders", Returns: object(``, `"note":{}`)}, {Name: "get_order", Parameters: object(`"id"`, `"id":{}`, `"note":{}`)},
		}, midtool.DependencyOptions{MinConfidence: new(0.7)}, "list_orders. > get_order.id identifier 0.7", "0.6 falls, 0.7 stays"},
		{"groups", []midtool.Tool{
			{Name: "get_user", Group: "a", Returns: user},
			{Name: "get_city", Group: "b", Parameters: object(``, `"user_id":{"description":"see get_user"}`, `"city":{}`)},
		}, midtool.DependencyOptions{}, "", "each group by itself"},
		{"across groups", []midtool.Tool{
			{Name: "get_user", Group: "a", Returns: user},
			{Name: "get_city", Group: "b", Parameters: object(``, `"user_id":{"description":"see get_user"}`, `"city":{}`)},
		}, midtool.DependencyOptions{AcrossGroups: true}, "get_user.id > get_city.user_id field 0.9", "only identifiers by field"},
		{"cycle, not itself", []midtool.Tool{
			{Name: "step_a", Parameters: object(``, `"b":{}`, `"a":{}`), Returns: object(``, `"a":{}`)},
			{Name: "step_b", Parameters: object(``, `"a":{}`), Returns: object(``, `"b":{}`)},
		}, midtool.DependencyOptions{}, "step_a.a > step_b.a field 0.6\nstep_b.b > step_a.b field 0.6", "step_a takes its own a and gets no edge for it"},
	} {
		edges, err := midtool.Dependencies(tt.tools, &tt.options)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := gocmp.Diff(tt.want, edgeText(tt.tools, edges)); diff != "" || tt.reason == "" {
			t.Errorf("%s (%s) (-want +got):\n%s", tt.name, tt.reason, diff)
		}
	}
}

func TestDependenciesErrors(t *testing.T) {
	for _, tt := range []struct {
		tools []midtool.Tool
		least float64
		want  string
	}{
		{nil, -0.1, "midtool: DependencyOptions.MinConfidence -0.1 is outside [0, 1]"},
		{nil, math.NaN(), "midtool: DependencyOptions.MinConfidence NaN is outside [0, 1]"},
		{[]midtool.Tool{{Name: "a"}, {Name: "b", Parameters: json.RawMessage(`{`)}}, 0.5, `midtool: tool 1 "b": parameters: `},
		{[]midtool.Tool{{Name: "a", Returns: json.RawMessage(`{"$ref":"#/x"}`)}}, 0.5, `midtool: tool 0 "a": returns: bad_ref`},
	} {
		edges, err := midtool.Dependencies(tt.tools, &midtool.DependencyOptions{MinConfidence: &tt.least})
		if err == nil || edges != nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("got %v, %v; want %q", edges, err, tt.want)
		}
	}
}

// Tools of few words, so that the rules meet.
var smallTools = rapid.Custom(func(t *rapid.T) []midtool.Tool {
	schemas := []string{`{}`, `{"type":"string"}`, `{"type":["integer","null"]}`, `{"type":"integer"}`, `{"type":"string","format":"date"}`, `{"type":"string","format":"time"}`}
	fields := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"id", "user_id", "userId", "team_id", "city", "name", "key", "user_key"}), 0, 4, rapid.ID)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) midtool.Tool {
		tool := midtool.Tool{
			Name:  rapid.SampledFrom([]string{"get", "list", "search", "create", "update", "delete", "send"}).Draw(t, "verb") + rapid.SampledFrom([]string{"_user", "_users", "Team", ""}).Draw(t, "noun"),
			Group: rapid.SampledFrom([]string{"", "g"}).Draw(t, "group"),
		}
		var required, properties []string
		for _, f := range fields.Draw(t, "parameters") {
			s := rapid.SampledFrom(schemas).Draw(t, "schema")
			about := rapid.SampledFrom([]string{"", "see get_user", "of listUsers, send"}).Draw(t, "about")
			properties = append(properties, fmt.Sprintf("%q:%s%q:%q}", f, strings.TrimSuffix(strings.TrimSuffix(s, "}")+",", "{,")+map[bool]string{true: "{"}[s == "{}"], "description", about))
			if rapid.Bool().Draw(t, "required") {
				required = append(required, fmt.Sprintf("%q", f))
			}
		}
		tool.Parameters = object(strings.Join(required, ","), properties...)
		if rapid.Bool().Draw(t, "returns") {
			var properties []string
			for _, f := range fields.Draw(t, "fields") {
				properties = append(properties, fmt.Sprintf("%q:%s", f, rapid.SampledFrom(schemas).Draw(t, "schema")))
			}
			tool.Returns = object("", properties...)
		}
		return tool
	}), 0, 8).Draw(t, "tools")
})

// The edges are those found by asking each rule about each producer, consumer and parameter.
func TestDependenciesBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tools := smallTools.Draw(t, "tools")
		across := rapid.Bool().Draw(t, "across")
		least := rapid.SampledFrom([]float64{0, 0.5, 0.65, 0.75, 0.85, 1}).Draw(t, "least")
		got, err := midtool.Dependencies(tools, &midtool.DependencyOptions{MinConfidence: &least, AcrossGroups: across})
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(edgeText(tools, bruteEdges(tools, least, across)), edgeText(tools, got)); diff != "" {
			t.Fatalf("%+v (-want +got):\n%s", tools, diff)
		}
	})
}

type plainSchema struct {
	Type        any                    `json:"type"`
	Format      string                 `json:"format"`
	Description string                 `json:"description"`
	Required    []string               `json:"required"`
	Properties  map[string]plainSchema `json:"properties"`
}

// keysOf lists the properties as they are written.
func keysOf(raw json.RawMessage) []string {
	var s struct{ Properties json.RawMessage }
	json.Unmarshal(raw, &s)
	var keys []string
	d := json.NewDecoder(strings.NewReader(string(s.Properties)))
	depth := 0
	for key := true; ; {
		tok, err := d.Token()
		if err != nil {
			return keys
		}
		switch v := tok.(type) {
		case json.Delim:
			depth += map[bool]int{true: 1, false: -1}[v == '{' || v == '[']
			key = depth == 1
		case string:
			if depth == 1 && key {
				keys = append(keys, v)
			}
		}
	}
}

func bruteEdges(tools []midtool.Tool, least float64, across bool) []midtool.Edge {
	kind := func(s plainSchema) string {
		for _, t := range []string{"string", "integer"} {
			if s.Type == t || s.Type != nil && strings.Contains(fmt.Sprint(s.Type), t) {
				return t
			}
		}
		return ""
	}
	alike := func(a, b string) bool { return a == "" || b == "" || a == b }
	words := func(s string) string { return strings.Join(names.Words(s), " ") }
	idLike := func(s string) bool { return strings.HasSuffix(words(s), "id") || strings.HasSuffix(words(s), "key") }
	var out []midtool.Edge
	for p := range tools {
		for c := range tools {
			var params, fields plainSchema
			json.Unmarshal(tools[c].Parameters, &params)
			json.Unmarshal(tools[p].Returns, &fields)
			pm, cm := names.MeaningOf(tools[p].Name), names.MeaningOf(tools[c].Name)
			identifier := ""
			var ids []string
			for _, n := range params.Required {
				if idLike(n) {
					ids = append(ids, n)
				}
			}
			slices.SortFunc(ids, func(a, b string) int {
				return slices.Index(keysOf(tools[c].Parameters), a) - slices.Index(keysOf(tools[c].Parameters), b)
			})
			if len(ids) == 1 {
				identifier = ids[0]
			}
			for _, test := range []func(string) bool{
				func(w string) bool { return w == "id" || w == "key" }, func(w string) bool { return w == cm.Stem+" id" || w == cm.Stem+" key" },
			} { // the later test wins, and of its names the first
				if i := slices.IndexFunc(ids, func(n string) bool { return test(words(n)) }); i >= 0 {
					identifier = ids[i]
				}
			}
			for _, name := range keysOf(tools[c].Parameters) {
				s := params.Properties[name]
				best := midtool.Edge{Producer: p, Consumer: c, Parameter: name}
				offer := func(field, rule string, confidence float64) {
					if (tools[p].Group == tools[c].Group || across && rule == "field" && confidence >= 0.9) && confidence > best.Confidence {
						best.Field, best.Rule, best.Confidence = field, rule, confidence
					}
				}
				for _, equal := range []bool{true, false} {
					for _, f := range keysOf(tools[p].Returns) {
						v := fields.Properties[f]
						if equal != (words(f) == words(name)) || !equal && (pm.Stem == "" || words(f) != "id" || words(name) != pm.Stem+" id") || !alike(kind(v), kind(s)) || !alike(v.Format, s.Format) {
							continue
						}
						offer(f, "field", map[bool]float64{true: 0.9, false: 0.6}[idLike(name)])
					}
				}
				if strings.Contains(" "+words(s.Description)+" ", " "+words(tools[p].Name)+" ") {
					offer("", "mention", map[bool]float64{true: 0.5, false: 0.8}[len(names.Words(tools[p].Name)) == 1])
				}
				if slices.Contains([]string{"list", "search", "create"}, string(pm.Class)) && slices.Contains([]string{"get", "update", "delete"}, string(cm.Class)) &&
					pm.Stem == cm.Stem && pm.Stem != "" && name == identifier {
					offer("", "identifier", 0.7)
				}
				if p != c && best.Rule != "" && best.Confidence >= least {
					out = append(out, best)
				}
			}
		}
	}
	return out
}

// The order of the tools changes nothing but their numbers.
func TestDependenciesPermuted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tools := smallTools.Draw(t, "tools")
		order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range tools {
				if !yield(i) {
					return
				}
			}
		})).Draw(t, "order")
		moved := make([]midtool.Tool, len(tools))
		for to, from := range order {
			moved[to] = tools[from]
		}
		want, _ := midtool.Dependencies(tools, nil)
		got, _ := midtool.Dependencies(moved, nil)
		for i := range got {
			got[i].Producer, got[i].Consumer = order[got[i].Producer], order[got[i].Consumer]
		}
		byEnds := func(a, b midtool.Edge) int {
			return cmp.Or(cmp.Compare(a.Producer, b.Producer), cmp.Compare(a.Consumer, b.Consumer))
		}
		slices.SortStableFunc(got, byEnds)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// realTools reads the tools of MCP servers that THROUGHLINE_DATA has; the test or benchmark is skipped without it.
func realTools(tb testing.TB) []midtool.Tool {
	tb.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		tb.Skip("THROUGHLINE_DATA names no folder with mcp/tools.jsonl")
	}
	path := filepath.Join(dir, "mcp", "tools.jsonl")
	source := midtool.ToolsJSONL{Locator: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
	raw, err := midtool.ReadTools(context.Background(), source)
	if err != nil {
		tb.Fatal(err)
	}
	var tools []midtool.Tool
	for _, t := range raw {
		if n, err := midtool.Normalize(t); err == nil {
			tools = append(tools, n)
		}
	}
	return tools
}

// Edges between real tools stay within a group, have no field (no tool states its result) and come from both rules on
// names.
func TestDependenciesOfRealTools(t *testing.T) {
	tools := realTools(t)
	edges, err := midtool.Dependencies(tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	rules, first := make(map[string]int), make(map[string]int)
	for _, tool := range tools {
		if w := names.Words(tool.Name); len(w) > 0 {
			first[w[0]]++
		}
	}
	for _, e := range edges {
		rules[e.Rule]++
		if tools[e.Producer].Group != tools[e.Consumer].Group || e.Producer == e.Consumer || e.Field != "" {
			t.Errorf("%+v", e)
		}
	}
	if first["get"] < 5*first["delete"] || first["list"] < first["update"] || rules["identifier"] < 300 || rules["mention"] < 50 || rules["field"] != 0 {
		t.Errorf("first words %v, edges by rule %v", first, rules)
	}
	t.Logf("%d tools, edges by rule %v", len(tools), rules)
}

func BenchmarkDependencies(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		var tools []midtool.Tool
		for i := range n {
			noun := fmt.Sprintf("thing%d", i/5)
			tool := midtool.Tool{
				Name: []string{"list", "get", "create", "update", "delete"}[i%5] + "_" + noun,
				Parameters: object(`"id"`, `"id":{"type":"string","description":"Identifier, as list_`+noun+` shows it."}`,
					`"`+noun+`_name":{"type":"string"}`),
			}
			if i%5 < 2 {
				tool.Returns = object(``, `"`+noun+`_id":{"type":"string"}`, `"`+noun+`_name":{"type":"string"}`)
			}
			tools = append(tools, tool)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := midtool.Dependencies(tools, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/tool")
		})
	}
}
