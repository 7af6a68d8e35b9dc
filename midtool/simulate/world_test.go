package simulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/schema"
	"github.com/throughline-go/throughline/midtool/simulate"
)

const (
	noteFields = `"title":{"type":"string"},"stars":{"type":"integer","minimum":1,"maximum":3},"owner_id":{"type":"string"}`
	noteRecord = `{"type":"object","properties":{"id":{"type":"string"},` + noteFields + `},"required":["id","title","stars","owner_id"]}`
)

// shop is one set of tools about notes and owners, with result schemas.
func shop() []midtool.Tool {
	object := func(required, properties string) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)
	}
	return []midtool.Tool{
		{Name: "create_note", Parameters: object(`"title"`, noteFields), Returns: json.RawMessage(noteRecord)},
		{Name: "get_note", Parameters: object(`"note_id"`, `"note_id":{"type":"string"}`), Returns: json.RawMessage(noteRecord)},
		{Name: "update_note", Parameters: object(`"id"`, `"id":{"type":"string"},`+noteFields), Returns: object(`"note"`, `"note":`+noteRecord)},
		{Name: "delete_note", Parameters: object(`"id"`, `"id":{"type":"string"}`), Returns: object(`"success"`, `"success":{"type":"boolean"}`)},
		{Name: "list_notes", Parameters: object(``,
			`"stars":{"type":"integer"},"title":{"type":"string"},"limit":{},"offset":{},"owner_id":{"type":"string"}`),
			Returns: object(`"notes","total"`, `"notes":{"type":"array","items":`+noteRecord+`},"total":{"type":"integer"}`)},
		{Name: "list_owners", Parameters: object(``, `"city":{"type":"string"}`)},
		{Name: "get_owner", Parameters: object(`"owner_id"`, `"owner_id":{"type":"string"}`)},
	}
}

var sampleArguments = []string{`{"title":"Tea","stars":2}`, `{"note_id":"note_0002"}`, `{"id":"note_0001","stars":3}`,
	`{"id":"note_0003"}`, `{"limit":2}`, `{}`, `{"owner_id":"owner_0001"}`}

// A session as a map from identifier to record.
type model struct {
	t    *rapid.T
	s    midtool.Session
	by   map[string]midtool.Tool
	rows map[string]map[string]any
	ids  []string // alive, in order of making
	made int
}

// play calls a tool; a result comes decoded, a failure as its type.
func (m *model) play(tool string, args map[string]any) (map[string]any, string) {
	raw, _ := json.Marshal(args)
	text, failed := strings.CutPrefix(call(m.t, m.s, m.by[tool], string(raw)), "! ")
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		m.t.Fatal(err)
	}
	if failed {
		return nil, out["error"].(map[string]any)["type"].(string)
	}
	if s, err := schema.CompileRaw(m.by[tool].Returns); err == nil {
		if v, _ := jsonval.Parse([]byte(text)); !s.Accepts(&v) {
			m.t.Fatalf("%s%s: %s", tool, raw, text)
		}
	}
	return out, ""
}

func (m *model) equal(what string, want, got any) {
	if diff := cmp.Diff(want, got); diff != "" {
		m.t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// A session does what a map would do: create then get gives the record, a deleted one is not found, an update changes
// the given fields and is idempotent, a failure changes nothing, lists filter, page and keep the order.
func TestWorldModel(t *testing.T) {
	tools := shop()
	e := simulate.NewWorld(5)
	rapid.Check(t, func(t *rapid.T) {
		m := &model{t: t, s: open(t, e, rapid.StringMatching(`[a-z]{0,8}`).Draw(t, "session"), tools...), by: make(map[string]midtool.Tool),
			rows: make(map[string]map[string]any)}
		for _, tool := range tools {
			m.by[tool.Name] = tool
		}
		first, _ := m.play("list_notes", map[string]any{})
		for _, r := range first["notes"].([]any) {
			r := r.(map[string]any)
			m.rows[r["id"].(string)] = r
			m.ids = append(m.ids, r["id"].(string))
			m.made++
		}
		m.equal("start", []string{"note_0001", "note_0002", "note_0003"}, m.ids)
		fields := rapid.Custom(func(t *rapid.T) map[string]any {
			args := map[string]any{}
			if rapid.Bool().Draw(t, "with title") {
				args["title"] = rapid.SampledFrom([]string{"Tea", "Ink", "Öl"}).Draw(t, "title")
			}
			if rapid.Bool().Draw(t, "with stars") {
				args["stars"] = float64(rapid.IntRange(1, 3).Draw(t, "stars"))
			}
			return args
		})
		some := func() string {
			return rapid.SampledFrom(append([]string{"note_9999", "nobody", "note_0001", "note_0004"}, m.ids...)).Draw(t, "id")
		}
		t.Repeat(map[string]func(*rapid.T){
			"create": func(t *rapid.T) {
				args := fields.Draw(t, "fields")
				args["title"] = "New"
				r, failure := m.play("create_note", args)
				m.made++
				id := fmt.Sprintf("note_%04d", m.made)
				m.equal("create", []any{"", id}, []any{failure, r["id"]})
				for k, v := range args {
					m.equal("given "+k, v, r[k])
				}
				m.rows[id] = r
				m.ids = append(m.ids, id)
			},
			"get": func(t *rapid.T) {
				id := some()
				r, failure := m.play("get_note", map[string]any{"note_id": id})
				want, ok := m.rows[id]
				m.equal("get "+id, []any{want, map[bool]string{false: "not_found"}[ok]}, []any{r, failure})
			},
			"update": func(t *rapid.T) {
				id := some()
				args := fields.Draw(t, "fields")
				args["id"] = id
				for range 2 { // the second time changes nothing
					r, failure := m.play("update_note", args)
					if m.rows[id] == nil {
						m.equal("update "+id, "not_found", failure)
						return
					}
					maps.Copy(m.rows[id], args)
					m.equal("update "+id, map[string]any{"note": m.rows[id]}, r)
				}
			},
			"delete": func(t *rapid.T) {
				id := some()
				r, failure := m.play("delete_note", map[string]any{"id": id})
				if m.rows[id] == nil {
					m.equal("delete "+id, "not_found", failure)
					return
				}
				m.equal("delete "+id, map[string]any{"success": true}, r)
				delete(m.rows, id)
				m.ids = slices.DeleteFunc(m.ids, func(o string) bool { return o == id })
			},
			"bad": func(t *rapid.T) {
				_, failure := m.play("update_note", map[string]any{"id": "note_0001", "stars": 9.0, "title": "Gone"})
				m.equal("bad stars", "bad_argument", failure)
			},
			"list": func(t *rapid.T) {
				args := fields.Draw(t, "filter")
				odd := []any{nil, -1.0, 0.0, 1.0, 2.0, 2.5, 1e300, "2", true, []any{1.0}, map[string]any{}}
				limit, offset := rapid.SampledFrom(odd).Draw(t, "limit"), rapid.SampledFrom(odd).Draw(t, "offset")
				if limit != nil {
					args["limit"] = limit
				}
				if offset != nil {
					args["offset"] = offset
				}
				want := []any{}
				for _, id := range m.ids {
					r := m.rows[id]
					if (args["title"] == nil || args["title"] == r["title"]) && (args["stars"] == nil || args["stars"] == r["stars"]) {
						want = append(want, r)
					}
				}
				total := float64(len(want))
				size := func(v any) (int, bool) {
					f, ok := v.(float64)
					return int(min(f, 1e6)), ok && f >= 0 && f != 2.5
				}
				if n, ok := size(offset); ok {
					want = want[min(n, len(want)):]
				}
				if n, ok := size(limit); ok {
					want = want[:min(n, len(want))]
				}
				r, failure := m.play("list_notes", args)
				m.equal("list", []any{map[string]any{"notes": want, "total": total}, ""}, []any{r, failure})
			},
			"": func(t *rapid.T) {
				known := []string{}
				for _, raw := range m.s.(simulate.Knower).Known(m.by["get_note"], "note_id") {
					id, _ := strconv.Unquote(string(raw))
					known = append(known, id)
				}
				m.equal("known", append([]string{}, m.ids...), known)
			},
		})
	})
}

// The same seed, session, tools in any order and calls give the same answers; another session is another world, and
// what happens in one does not leak into another.
func TestWorldSessions(t *testing.T) {
	tools := shop()
	play := func(t *rapid.T, s midtool.Session, calls []int) (out []string) {
		for _, i := range calls {
			out = append(out, call(t, s, tools[i], sampleArguments[i]))
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.SliceOfN(rapid.IntRange(0, len(tools)-1), 0, 12).Draw(t, "calls")
		seed := rapid.Uint64().Draw(t, "seed")
		e := simulate.NewWorld(seed)
		want := play(t, open(t, e, "a", tools...), calls)
		other := open(t, e, "b", tools...)
		play(t, other, rapid.SliceOfN(rapid.IntRange(0, len(tools)-1), 0, 6).Draw(t, "other"))
		for _, e := range []midtool.Executor{e, simulate.NewWorld(seed)} {
			if diff := cmp.Diff(want, play(t, open(t, e, "a", rapid.Permutation(tools).Draw(t, "tools")...), calls)); diff != "" {
				t.Fatalf("(-first +again):\n%s", diff)
			}
		}
	})
	// Tools that tell the fields in different orders: the first by name decides, wherever it stands.
	var fetch [2]midtool.Tool
	for i, fields := range []string{`"a":{"type":"string"},"b":{"type":"string"}`, `"b":{"type":"string"},"a":{"type":"string"}`} {
		fetch[i] = midtool.Tool{Name: []string{"fetch_coin", "read_coin"}[i],
			Returns:    json.RawMessage(`{"type":"object","properties":{"id":{},` + fields + `}}`),
			Parameters: json.RawMessage(`{"type":"object","properties":{"id":{}}}`)}
	}
	one := call(t, open(t, simulate.NewWorld(1), "", fetch[0], fetch[1]), fetch[0], `{"id":"coin_0001"}`)
	if two := call(t, open(t, simulate.NewWorld(1), "", fetch[1], fetch[0]), fetch[0], `{"id":"coin_0001"}`); one != two {
		t.Errorf("%s, in another order %s", one, two)
	}
	lists := make(map[string]bool)
	for i := range 8 {
		lists[call(t, open(t, simulate.NewWorld(1), fmt.Sprint(i), tools...), tools[4], `{}`)] = true
		lists[call(t, open(t, simulate.NewWorld(uint64(i+2)), "", tools...), tools[4], `{}`)] = true
	}
	if len(lists) != 16 {
		t.Errorf("%d different worlds of 16", len(lists))
	}
}

func TestWorldRules(t *testing.T) {
	tool := func(name, required, properties, returns string) midtool.Tool {
		return midtool.Tool{Name: name, Returns: json.RawMessage(returns),
			Parameters: json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)}
	}
	user := tool("list_users", ``, ``, ``)
	type step struct{ tool, arguments, want string }
	for _, tt := range []struct {
		reason string
		tools  []midtool.Tool
		steps  []step // a want that ends in * is a beginning
	}{
		{"without result schemas: the record, a list, a status", []midtool.Tool{user, tool("get_user", `"id"`, `"id":{}`, ``),
			tool("delete_user", `"user_id"`, `"user_id":{}`, ``)}, []step{
			{"get_user", `{"id":"user_0002"}`, `{"id": "user_0002", "name": *`}, {"list_users", `{}`, `{"items": [{"id": "user_0001", *`},
			{"delete_user", `{"user_id":"user_0002"}`, `{"status": "ok", "user_id": "user_0002"}`},
			{"get_user", `{"id":"user_0002"}`, `! {"error": {"type": "not_found", "message": "user user_0002 does not exist"}}`},
			{"get_user", `{"id":"a\n<b>"}`, `! {"error": {"type": "not_found", "message": "this user does not exist"}}`}}},
		{"identifiers as the tools accept them", []midtool.Tool{tool("get_user", `"id"`, `"id":{"type":"integer"}`, ``)}, []step{
			{"get_user", `{"id":3}`, `{"id": 3, *`}, {"get_user", `{"id":3.0}`, `{"id": 3, *`}, {"get_user", `{"id":4}`, `! *`}}},
		{"identifiers of a pattern", []midtool.Tool{tool("create_tag", ``, `"word":{"type":"string"}`, ``),
			tool("get_tag", `"id"`, `"id":{"pattern":"^[0-9]{3}$"}`, ``)},
			[]step{{"get_tag", `{"id":"abc"}`, `! {"error": {"type": "bad_argument", *`}, {"get_tag", `{"id":KNOWN}`, `{"id": *`}}},
		{"the identifier of the caller's choice, once",
			[]midtool.Tool{tool("create_key", `"key"`, `"key":{"type":"string"},"note":{"type":"string"}`, ``),
				tool("delete_key", `"key"`, `"key":{}`, ``)}, []step{
				{"create_key", `{"key":"k","note":"n"}`, `{"id": "k", "note": "n"}`},
				{"create_key", `{"key":"k"}`, `! {"error": {"type": "conflict", "message": "key k was used before"}}`},
				{"delete_key", `{"key":"k"}`, `{"status": "ok", "key": "k"}`}, {"create_key", `{"key":"k"}`, `! {"error": {"type": "conflict", *`}}},
		{"a list of identifiers: all or none", []midtool.Tool{user,
			tool("delete_users", `"ids"`, `"ids":{"type":"array","items":{"type":"string"}}`, ``), tool("get_user", `"id"`, `"id":{}`, ``)}, []step{
			{"delete_users", `{"ids":["user_0001","user_0009"]}`, `! {"error": {"type": "not_found", *`},
			{"get_user", `{"id":"user_0001"}`, `{"id": *`},
			{"delete_users", `{"ids":["user_0001","user_0002"]}`, `{"status": "ok", *`}, {"get_user", `{"id":"user_0001"}`, `! *`},
			{"get_user", `{"id":"user_0003"}`, `{"id": *`}}},
		{"a get without identifier, in the plural, is a list", []midtool.Tool{tool("get_all_users", ``, ``, ``),
			tool("create_user", ``, `"name":{"type":"string"}`, ``)}, []step{
			{"create_user", `{"name":"Ada"}`, `{"id": "user_0004", "name": "Ada"}`}, {"get_all_users", `{}`, `{"items": [{"id": "user_0001"*`}}},
		{"the identifier of another noun reads its record", []midtool.Tool{user, tool("get_user_profile", `"user_id"`, `"user_id":{}`, ``),
			tool("update_user_mail", `"user_id"`, `"user_id":{},"mail":{"type":"string"}`, ``)}, []step{
			{"update_user_mail", `{"user_id":"user_0001","mail":"a@example.com"}`, `{"id": "user_0001", "mail": "a@example.com"}`},
			{"get_user_profile", `{"user_id":"user_0001"}`, `{"id": "user_0001", "mail": "a@example.com"}`},
			{"get_user_profile", `{"user_id":"user_0004"}`, `! *`}}},
		{"but what is deleted is not that record", []midtool.Tool{tool("get_user", `"id"`, `"id":{}`, ``),
			tool("delete_user_photo", `"user_id"`, `"user_id":{}`, ``)}, []step{
			{"delete_user_photo", `{"user_id":"user_0001"}`, `{"status": "ok", *`}, {"delete_user_photo", `{"user_id":"user_0001"}`, `! *`},
			{"get_user", `{"id":"user_0001"}`, `{"id": *`}}},
		{"nor does the plural speak of one", []midtool.Tool{user,
			tool("get_user_orders", `"user_id"`, `"user_id":{}`, `{"type":"object","properties":{"n":{"const":7}}}`)}, []step{
			{"get_user_orders", `{"user_id":"user_0001"}`, `{"n": 7}`}}},
		{"no identifier: as by schema", []midtool.Tool{tool("get_weather", `"city"`, `"city":{}`, ``), tool("list_cities", ``, ``, ``),
			tool("send_note", ``, ``, ``)}, []step{
			{"get_weather", `{"city":"Oslo"}`, `{"status": "ok", "city": "Oslo"}`}, {"list_cities", `{}`, `{"status": "ok", "items": *`},
			{"send_note", `{}`, `{"status": "ok"}`}}},
		{"a result schema without room: as by schema, though changes are made",
			[]midtool.Tool{tool("get_user", `"id"`, `"id":{}`, `{"type":"string","const":"x"}`),
				tool("delete_user", `"id"`, `"id":{}`, `{"const":true}`),
				tool("get_user_name", `"user_id"`, `"user_id":{}`, ``)}, []step{
				{"get_user", `{"id":"user_0009"}`, `"x"`}, {"delete_user", `{"id":"user_0001"}`, `true`},
				{"get_user_name", `{"user_id":"user_0001"}`, `! *`}}},
		{"an outcome that breaks the result schema is not made",
			[]midtool.Tool{tool("update_user", `"id"`, `"id":{},"age":{"type":"integer"}`, ``),
				tool("set_user", `"id"`, `"id":{},"age":{"type":"integer"}`,
					`{"type":"object","properties":{"id":{},"age":{"type":"integer","minimum":1,"maximum":1}},"required":["id","age"]}`)}, []step{
				{"set_user", `{"id":"user_0001","age":200}`, `! {"error": {"type": "bad_argument", "message": "age: want maximum 1, got 200"}}`},
				{"update_user", `{"id":"user_0001"}`, `{"id": "user_0001", "age": 1}`},
				{"set_user", `{"id":"user_0001","age":1}`, `{"id": "user_0001", "age": 1}`}}},
		{"nor told by the value of another field", []midtool.Tool{tool("update_user", `"id"`, `"id":{},"age":{"type":"integer"}`, ``),
			tool("set_user", `"id"`, `"id":{},"name":{"type":"string"}`,
				`{"type":"object","properties":{"id":{},"age":{"type":"integer","maximum":9},"name":{"type":"string"}},"required":["id"]}`)}, []step{
			{"update_user", `{"id":"user_0001","age":200}`, `{"id": "user_0001", "age": 200, *`},
			{"set_user", `{"id":"user_0001","name":"Ada"}`,
				`! {"error": {"type": "bad_argument", "message": "arguments: the result would break its schema"}}`},
			{"update_user", `{"id":"user_0001","age":7}`, `{"id": "user_0001", "age": 7, *`},
			{"set_user", `{"id":"user_0001","name":"Ada"}`, `{"id": "user_0001", "age": 7, "name": "Ada"}`}}},
		{"what breaks a result schema cannot be read through it",
			[]midtool.Tool{tool("update_user", `"id"`, `"id":{},"age":{"type":"integer"}`, ``),
				tool("get_user", `"id"`, `"id":{}`, `{"type":"object","properties":{"id":{},"age":{"type":"integer","maximum":9}},"required":["id","age"]}`)}, []step{
				{"update_user", `{"id":"user_0001","age":200}`, `{"id": "user_0001", "age": 200}`},
				{"get_user", `{"id":"user_0001"}`, `! {"error": {"type": "conflict", "message": "the result would break its schema"}}`}}},
		{"identifiers run out", []midtool.Tool{tool("create_tag", ``, `"word":{"type":"string"}`, ``),
			tool("get_tag", `"id"`, `"id":{"enum":["a","b","c","d"]}`, ``)}, []step{
			{"create_tag", `{"word":"x"}`, `{"id": *`},
			{"create_tag", `{"word":"y"}`, `! {"error": {"type": "conflict", "message": "no identifier of a tag is left"}}`}}},
		{"a change of no record in particular is none", []midtool.Tool{user, tool("get_user", ``, `"id":{}`, ``),
			tool("delete_user", ``, `"all":{}`, ``),
			tool("update_user", ``, `"age":{}`, ``), tool("remove_user", ``, `"id":{}`, ``)}, []step{
			{"delete_user", `{"all":true}`, `{"status": "ok", "all": true}`}, {"update_user", `{"age":5}`, `{"status": "ok", "age": 5}`},
			{"remove_user", `{}`, `! {"error": {"type": "bad_argument", "message": "id: is required"}}`},
			{"get_user", `{}`, `! {"error": {"type": "bad_argument", "message": "id: is required"}}`},
			{"get_user", `{"id":"user_0001"}`, `{"id": *`}}},
		{"nor is a record that cannot be told", []midtool.Tool{user, tool("create_user", ``, `"age":{"type":"integer"}`,
			`{"type":"object","properties":{"id":{},"age":{"type":"integer","minimum":1,"maximum":1}},"required":["id","age"]}`)}, []step{
			{"create_user", `{"age":200}`, `! {"error": {"type": "bad_argument", "message": "age: want maximum 1, got 200"}}`},
			{"list_users", `{}`, `{"items": [*`},
			{"create_user", `{"age":1}`, `{"id": "user_0004", "age": 1}`}}},
		{"identifiers of others exist", []midtool.Tool{tool("get_user", `"id"`, `"id":{"type":"integer"}`, ``),
			tool("get_order", `"id"`, `"id":{"type":"string"}`,
				`{"type":"object","properties":{"id":{"type":"string"},"user_id":{"type":"integer","minimum":1,"maximum":3}},"required":["id","user_id"]}`)}, []step{
			{"get_order", `{"id":"order_0001"}`, `{"id": "order_0001", "user_id": *`}}},
		{"a tool of no session knows no table", []midtool.Tool{user},
			[]step{{"get_user", `{"id":"user_0001"}`, `{"status": "ok", "id": "user_0001"}`}}},
	} {
		by := map[string]midtool.Tool{"get_user": tool("get_user", `"id"`, `"id":{}`, ``)}
		for _, tool := range tt.tools {
			by[tool.Name] = tool
		}
		s := open(t, simulate.NewWorld(1), "", tt.tools...)
		for _, st := range tt.steps {
			if ids := s.(simulate.Knower).Known(by[st.tool], "id"); len(ids) > 0 {
				st.arguments = strings.Replace(st.arguments, "KNOWN", string(ids[len(ids)-1]), 1)
			}
			got := call(t, s, by[st.tool], st.arguments)
			if want, beginning := strings.CutSuffix(st.want, "*"); got != want && !(beginning && strings.HasPrefix(got, want)) {
				t.Errorf("%s: %s%s = %s, want %s", tt.reason, st.tool, st.arguments, got, st.want)
			}
		}
	}
}

func TestKnown(t *testing.T) {
	tools := shop()
	s := open(t, simulate.NewWorld(1), "", tools...)
	known := func(tool int, parameter string) string {
		var out []string
		for _, raw := range s.(simulate.Knower).Known(tools[tool], parameter) {
			out = append(out, string(raw))
		}
		return strings.Join(out, " ")
	}
	const notes, owners = `"note_0001" "note_0002" "note_0003"`, `"owner_0001" "owner_0002" "owner_0003"`
	for _, tt := range []struct {
		tool                    int
		parameter, want, reason string
	}{
		{0, "title", "", "what is created is new"}, {0, "owner_id", owners, "but belongs to someone"}, {1, "note_id", notes, "identifiers"},
		{2, "id", notes, "identifiers"}, {2, "stars", "", "what is changed is new"}, {3, "id", notes, "identifiers"},
		{4, "limit", "", "no field"},
		{6, "owner_id", owners, "of another table"}, {6, "nothing", "", "no parameter"},
	} {
		if got := known(tt.tool, tt.parameter); got != tt.want {
			t.Errorf("%s of %s: %s, want %s (%s)", tt.parameter, tools[tt.tool].Name, got, tt.want, tt.reason)
		}
	}
	made := midtool.Tool{Name: "create_owner", Parameters: tools[6].Parameters}
	if got := open(t, simulate.NewWorld(1), "", append(tools, made)...).(simulate.Knower).Known(made, "owner_id"); got != nil {
		t.Errorf("identifiers to create under: %s", got)
	}
	for raw := range strings.FieldsSeq(known(4, "stars")) {
		if got := call(t, s, tools[4], `{"stars":`+raw+`}`); strings.Contains(got, `"total": 0`) {
			t.Errorf("no note has %s stars: %s", raw, got)
		}
	}
	call(t, s, tools[3], `{"id":"note_0002"}`)
	call(t, s, tools[0], `{"title":"x"}`)
	if got := known(1, "note_id"); got != `"note_0001" "note_0003" "note_0004"` {
		t.Errorf("after a delete and a create: %s", got)
	}
}

// Whatever tools and arguments come, there is an answer, it follows the result schema, and it is the same again.
func TestWorldOfAnything(t *testing.T) {
	part := rapid.SampledFrom([]string{`"id":{}`, `"ids":{"type":"array","items":{"type":"string"}}`, `"user_id":{"type":"string"}`,
		`"user_key":{"type":"integer"}`, `"name":{"type":"string"}`,
		`"error":{}`, `"total":{"type":"integer"}`, `"data":{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"}}}`,
		`"items":{"type":"array","items":{"type":"object","properties":{"user_id":{},"name":{}},"required":["user_id"]}}`,
		`"limit":{"type":"integer"}`, `"success":{"type":"boolean"}`, `"tags":{"type":"array"}`})
	object := func(t *rapid.T, label string) json.RawMessage {
		parts := rapid.SliceOfNDistinct(part, 0, 4, rapid.ID).Draw(t, label)
		return json.RawMessage(`{"type":"object","properties":{` + strings.Join(parts, ",") + `}}`)
	}
	rapid.Check(t, func(t *rapid.T) {
		var tools []midtool.Tool
		for range rapid.IntRange(1, 6).Draw(t, "tools") {
			tool := midtool.Tool{Name: rapid.SampledFrom([]string{"get", "list", "search", "create", "update", "delete", "send", ""}).Draw(t,
				"verb") +
				rapid.SampledFrom([]string{"_user", "_users", "_user_photo", ""}).Draw(t, "noun"), Parameters: object(t, "parameters")}
			if rapid.Bool().Draw(t, "returns") {
				tool.Returns = object(t, "fields")
			}
			tools = append(tools, tool)
		}
		e := simulate.NewWorld(rapid.Uint64().Draw(t, "seed"))
		s, again := open(t, e, "a", tools...), open(t, e, "a", tools...)
		for range rapid.IntRange(0, 8).Draw(t, "calls") {
			tool := rapid.SampledFrom(tools).Draw(t, "tool")
			args := map[string]any{}
			for _, name := range []string{"id", "ids", "user_id", "user_key", "name", "limit", "tags"} {
				values := []any{nil, "user_0001", 1.0, []any{"user_0001", "user_0002"}, []any{}, "x"}
				for _, raw := range s.(simulate.Knower).Known(tool, name) {
					values = append(values, raw)
				}
				if strings.Contains(string(tool.Parameters), `"`+name+`"`) && rapid.Bool().Draw(t, "with "+name) {
					args[name] = rapid.SampledFrom(values).Draw(t, name)
				}
			}
			raw, _ := json.Marshal(args)
			got := call(t, s, tool, string(raw))
			if other := call(t, again, tool, string(raw)); got != other {
				t.Fatalf("%s%s: %s, again %s", tool.Name, raw, got, other)
			}
			if returns, err := schema.CompileRaw(tool.Returns); err == nil && !strings.HasPrefix(got, "!") {
				if v, _ := jsonval.Parse([]byte(got)); !returns.Accepts(&v) {
					t.Fatalf("%s%s: %s does not follow %s", tool.Name, raw, got, tool.Returns)
				}
			}
		}
	})
}

// A canceled context ends the work; nothing else does.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, e := range []midtool.Executor{simulate.NewSchema(1), simulate.NewWorld(1)} {
		if _, err := open(t, e, "", shop()...).Execute(ctx, shop()[0], nil); err != context.Canceled {
			t.Errorf("%v", err)
		}
	}
}

func BenchmarkWorld(b *testing.B) {
	tools := shop()
	for i := range 30 {
		tools = append(tools, midtool.Tool{Name: fmt.Sprintf("get_thing%d", i), Parameters: json.RawMessage(`{"type":"object","properties":{}}`)})
	}
	w := simulate.NewWorld(1)
	ctx := context.Background()
	b.Run("open and get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s, _ := w.Open(ctx, "sample", tools)
			s.Execute(ctx, tools[1], json.RawMessage(sampleArguments[1]))
		}
	})
	b.Run("list", func(b *testing.B) {
		s, _ := w.Open(ctx, "sample", tools)
		b.ReportAllocs()
		for b.Loop() {
			s.Execute(ctx, tools[4], json.RawMessage(sampleArguments[4]))
		}
	})
	b.Run("update", func(b *testing.B) {
		s, _ := w.Open(ctx, "sample", tools)
		b.ReportAllocs()
		for b.Loop() {
			s.Execute(ctx, tools[2], json.RawMessage(sampleArguments[2]))
		}
	})
}
