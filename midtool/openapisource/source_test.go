package openapisource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// read collects the tools of one document and what is left out, as "name reason".
func read(t testing.TB, doc string, change ...func(*Source)) (tools []midtool.Tool, left []string) {
	t.Helper()
	s := Source{Locator: "api.yaml", FS: fstest.MapFS{"api.yaml": {Data: []byte(doc)}}}
	s.Skip = func(r midtool.Rejection) { left = append(left, strings.TrimSpace(r.Tool+" "+r.Reason)) }
	for _, f := range change {
		f(&s)
	}
	for tool, err := range s.Tools(context.Background()) {
		if err != nil {
			r, ok := errors.AsType[*midtool.Rejection](err)
			if !ok {
				t.Fatal(err)
			}
			left = append(left, r.Reason)
			break
		}
		tools = append(tools, tool)
	}
	return tools, left
}

// short is what the tests compare of a tool.
func short(t *midtool.Tool) string {
	s := t.Name + " " + string(t.Parameters)
	if len(t.Returns) > 0 {
		s += " -> " + string(t.Returns)
	}
	if len(t.Lossy) > 0 {
		s += " ! " + strings.Join(t.Lossy, " ")
	}
	return s
}

const (
	old = `
swagger: "2.0"
info: {title: Garden, version: "1.2"}
securityDefinitions: {key: {type: apiKey, name: k, in: header}}
security: [{key: []}]
parameters:
  bed: {name: bed, in: path, required: true, type: integer, format: int64, description: Number of the bed.}
definitions:
  Plant:
    type: object
    required: [name, id]
    properties:
      id: {type: string, readOnly: true}
      name: {type: string}
      parent: {$ref: "#/definitions/Plant"}
paths:
  /beds/{bed}/plants:
    parameters: [{$ref: "#/parameters/bed"}]
    post:
      operationId: addPlant
      summary: Add a plant.
      parameters:
        - {name: X-Trace, in: header, type: string}
        - {name: name, in: query, type: string}
        - {name: plant, in: body, required: true, schema: {$ref: "#/definitions/Plant"}}
      responses:
        "201": {description: made, schema: {$ref: "#/definitions/Plant"}}
        "200": {description: known, schema: {type: array, items: {type: string}}}
    get:
      security: []
      responses: {"204": {description: nothing}}
  /photo:
    put:
      consumes: [multipart/form-data]
      security: []
      parameters: [{name: file, in: formData, type: file, required: true}, {name: note, in: formData, type: string}]
      responses: {default: {description: any}}
`
	new30 = `
openapi: 3.0.3
info: {title: Garden, version: "1.2", license: {name: Apache 2.0}}
components:
  schemas:
    Base: {type: object, required: [name], properties: {name: {type: string, example: Fern}}}
    Plant:
      allOf:
        - {$ref: "#/components/schemas/Base"}
        - {type: object, required: [tags], properties: {tags: {type: array, items: {$ref: "#/components/schemas/a~1b%20c"}}, id: {type: string, readOnly: true}}}
    a/b c: {type: string, nullable: true}
  requestBodies:
    Plant: {required: true, content: {application/xml: {schema: {type: string}}, "application/json; charset=utf-8": {schema: {$ref: "#/components/schemas/Plant"}}}}
paths:
  /plants/{id}:
    summary: One plant.
    parameters: [{name: id, in: path, required: true, schema: {type: string}}, {name: q, in: query, description: Old., schema: {type: string}}]
    trace: {responses: {}}
    patch:
      operationId: changePlant
      description: Change a plant.
      parameters:
        - {name: q, in: query, required: true, description: New., schema: {$ref: "#/components/schemas/a~1b%20c"}, examples: {one: {value: x}, two: {value: 2}}}
        - {name: sid, in: cookie, schema: {type: string}}
      requestBody: {$ref: "#/components/requestBodies/Plant"}
      responses:
        default: {description: wrong, content: {application/json: {schema: {type: string}}}}
        2XX: {description: some, content: {application/json: {schema: {type: integer}}}}
        "202": {description: later, content: {text/plain: {schema: {type: string}}}}
        "203": {description: ok, content: {application/vnd.x+json: {schema: {type: boolean}}}}
    get:
      deprecated: true
      responses: {}
`
	new31 = `
openapi: 3.1.0
info: {title: Garden, version: "1.2", license: {name: whatever, identifier: MIT}}
paths:
  /water:
    post:
      operationId: water
      requestBody:
        content:
          application/json:
            schema: {type: array, items: {type: ["integer", "null"], exclusiveMinimum: 0, maximum: 12345678901234567890123}}
      responses: {200: {description: ok, content: {application/json: {schema: {$ref: "#/$defs/Ok", description: Said.}}}}}
    put:
      operationId: replace
      requestBody: {required: true, content: {application/octet-stream: {}}}
      responses: {}
    delete:
      operationId: stop
      requestBody: {content: {text/plain: {}}}
      responses: {}
$defs:
  Ok: {type: object, properties: {ok: {type: boolean}}, additionalProperties: false}
`
)

func TestVersions(t *testing.T) {
	tests := []struct {
		name, doc string
		tools     []string
		left      []string
		license   string
		reason    string
	}{
		{"2.0", old, []string{
			`get_beds_bed_plants {"type":"object","properties":{"bed":{"type":"integer","format":"int64","description":"Number of the bed."}},"required":["bed"]}`,
			`addPlant {"type":"object","properties":{"bed":{"type":"integer","format":"int64","description":"Number of the bed."},"name":{"type":"string"},` +
				`"body_name":{"type":"string"},"parent":{"$ref":"#/$defs/Plant"}},"required":["bed","body_name"],"$defs":{"Plant":{"type":"object","required":["name","id"],` +
				`"properties":{"id":{"type":"string","readOnly":true},"name":{"type":"string"},"parent":{"$ref":"#/$defs/Plant"}}}}} -> ` +
				`{"type":"array","items":{"type":"string"}} ! header_parameter:X-Trace read_only:id security:key`,
			`put_photo {"type":"object","properties":{"file":{"type":"string","format":"binary"},"note":{"type":"string"}},"required":["file"]}`,
		}, nil, "", "parameters of path, query, body and form; a recursive definition; the smallest status"},
		{"3.0", new30, []string{
			`changePlant {"type":"object","properties":{"id":{"type":"string"},"q":{"$ref":"#/$defs/a_1b_20c","description":"New.","examples":["x",2]},` +
				`"name":{"type":"string","examples":["Fern"]},"tags":{"type":"array","items":{"$ref":"#/$defs/a_1b_20c"}}},"required":["id","q","name","tags"],` +
				`"$defs":{"a_1b_20c":{"type":["string","null"]}}} -> {"type":"boolean"} ! cookie_parameter:sid read_only:id`,
			`trace_plants_id {"type":"object","properties":{"id":{"type":"string"},"q":{"type":"string","description":"Old."}},"required":["id"]}`,
		}, []string{"get_plants_id deprecated"}, "Apache-2.0", "allOf is flattened, the operation's parameter wins, pointers are unescaped"},
		{"3.1", new31, []string{
			`water {"type":"object","properties":{"body":{"type":"array","items":{"type":["integer","null"],"exclusiveMinimum":0,"maximum":12345678901234567890123}}}} -> ` +
				`{"$ref":"#/$defs/Ok","description":"Said.","$defs":{"Ok":{"type":"object","properties":{"ok":{"type":"boolean"}},"additionalProperties":false}}}`,
			`stop {"type":"object","properties":{}} ! body_dropped:text/plain`,
		}, []string{"replace body_type"}, "MIT", "a body that is no object, numbers with all digits, a body that cannot be sent"},
	}
	for _, tt := range tests {
		for _, form := range []string{"YAML", "JSON"} {
			t.Run(tt.name+" "+form, func(t *testing.T) {
				if tt.reason == "" {
					t.Fatal("no reason")
				}
				doc := tt.doc
				if form == "JSON" {
					n, f := decode([]byte(doc))
					if f != nil {
						t.Fatal(f)
					}
					doc = string(n.appendJSON(nil))
				}
				tools, left := read(t, doc)
				var got []string
				for _, tool := range tools {
					got = append(got, short(&tool))
					if tool.License != tt.license || tool.Group != "Garden" || tool.Origin.Revision != "1.2" || tool.Origin.Line == 0 || len(tool.Origin.SHA256) != 64 {
						t.Errorf("%s: license %q, group %q, origin %+v", tool.Name, tool.License, tool.Group, tool.Origin)
					}
					if want := strings.HasPrefix(tool.Name, "get") || strings.HasPrefix(tool.Name, "trace"); tool.ReadOnly != want {
						t.Errorf("%s: read-only %v", tool.Name, tool.ReadOnly)
					}
				}
				if diff := cmp.Diff(tt.tools, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
				}
				if diff := cmp.Diff(tt.left, left); diff != "" {
					t.Errorf("left out (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A fault costs the operation that has it, or nothing where it can be mended, and the others stay.
func TestBroken(t *testing.T) {
	const good = "\n  /good: {get: {operationId: good, responses: {}}}\n"
	tests := []struct {
		name, paths string // paths stands before a good operation
		left        string
		lossy       string // of the tool named x
		reason      string
	}{
		{"parameters no list", `/x: {get: {operationId: x, parameters: none}}`, "", "keyword_dropped:parameters", "there are none"},
		{"parameter without a name", `/x: {get: {operationId: x, parameters: [{in: query}, 7]}}`, "", "parameter_dropped: parameter_dropped:", "it could not be sent"},
		{"missing reference", `/x: {get: {operationId: x, parameters: [{$ref: "#/none"}]}}`, "x bad_ref", "", "nobody knows what it asks for"},
		{"remote reference", `/x: {get: {operationId: x, parameters: [{name: q, in: query, schema: {$ref: "other.yaml#/Q"}}]}}`, "x remote_ref", "", "it leaves the document"},
		{"remote answer", `/x: {get: {operationId: x, responses: {200: {content: {application/json: {schema: {$ref: "https://e.org/s"}}}}}}}`, "", "returns_dropped:remote_ref", "a tool is usable without"},
		{"circle of references", `/x: {get: {operationId: x, parameters: [{name: q, in: query, schema: {$ref: "#/paths/~1x/get/parameters/0/schema"}}]}}`, "x bad_ref", "", "it leads back to itself alone"},
		{"operation elsewhere", `/x: {get: {$ref: "#/x-ops/none"}, put: {$ref: "#/paths/~1good/get"}}`, "get_x bad_ref", "", "no version allows it, and some have it"},
		{"operation in a file", `/x: {get: {$ref: "ops.yaml"}}`, "get_x remote_ref", "", "it leaves the document"},
		{"operation no object", `/x: {get: [1], put: {operationId: x}}`, "bad_operation", "", "the other method stays"},
		{"path no object", `/x: 5`, "bad_operation", "", "the next path stays"},
		{"key twice", `/x: {get: {operationId: y, operationId: x}}`, "", "", "the last one counts"},
		{"undeclared variable", `/x/{id}: {get: {operationId: x}}`, "", "path_parameter_added:id", "without it there is no address"},
		{"no schema", `/x: {get: {operationId: x, parameters: [{name: q, in: query, schema: [4]}]}}`, "", "property_dropped:q", "Normalize says so"},
		{"version a number", `/x: {get: {operationId: x, summary: 5}}`, "", "", "texts come without quotes"},
		{"merge and alias", `/x: {get: &g {operationId: x, tags: [a]}, put: {<<: *g, operationId: x2}}`, "", "", "YAML as it is written by hand"},
		{"dropped kind", `/x: {get: {operationId: x, parameters: [{name: b, in: body, schema: {}}]}}`, "", "parameter_dropped:b", "version 3 has no such parameter"},
		{"required reads", `/x: {post: {operationId: x, requestBody: {content: {"*/*": {schema: {type: object}}}}}}`, "", "", "an object without properties is passed whole"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			tools, left := read(t, "openapi: 3.0.0\ninfo: {title: T, version: 1.10}\npaths:\n  "+tt.paths+good)
			if got := strings.Join(left, ", "); got != tt.left {
				t.Errorf("left out %q, want %q: %s", got, tt.left, tt.reason)
			}
			found := false
			for _, tool := range tools {
				if tool.Name == "x" {
					found = true
					if got := strings.Join(tool.Lossy, " "); got != tt.lossy {
						t.Errorf("lossy %q, want %q: %s", got, tt.lossy, tt.reason)
					}
				}
				if tool.Origin.Revision != "1.10" {
					t.Errorf("revision %q: a version keeps its digits", tool.Origin.Revision)
				}
			}
			if want := tt.left == "" || tt.name == "operation no object"; found != want || tools[len(tools)-1].Name != "good" {
				t.Errorf("tools %v: %s", tools, tt.reason)
			}
		})
	}
}

// Hostile documents end soon, with a reason.
func TestHostile(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("openapi: 3.0.0\nx-a: &a [l,l,l,l,l,l,l,l,l,l]\n")
	for c := 'b'; c <= 'i'; c++ {
		fmt.Fprintf(&bomb, "x-%c: &%c [%s]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 10))
	}
	tests := []struct{ name, doc, want, reason string }{
		{"aliases of aliases", bomb.String(), "too_large", "ten to the ninth values"},
		{"alias of itself", "openapi: 3.0.0\nx: &a [*a]\n", "too_deep", "endless"},
		{"deep JSON", `{"openapi":"3.0.0","x":` + strings.Repeat("[", 100000), "too_deep", "no stack is that deep"},
		{"deep YAML", "openapi: 3.0.0\nx: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "too_deep", "the same"},
		{"many values", `{"openapi":"3.0.0","x":[` + strings.Repeat("1,", maxNodes) + "1]}", "too_large", "they would take gigabytes"},
		{"many values in YAML", "openapi: 3.0.0\nx: [" + strings.Repeat("1,", 2*maxNodes) + "1]", "too_large", "the same"},
		{"half", `{"openapi":"3.0.0","paths":{`, "syntax", "it was cut"},
		{"two", `{"openapi":"3.0.0"} {"openapi":"3.0.0"}`, "syntax", "one document a file"},
		{"bytes", "openapi: 3.0.0\nx: \xff", "invalid_utf8", "not text"},
		{"other", `{"name":"package"}`, "not_openapi", "any JSON"},
		{"version 1", `{"swagger":"1.2"}`, "not_openapi", "another form"},
		{"empty", "", "not_openapi", "nothing"},
		{"key of a list", "openapi: 3.0.0\n? [a]\n: b\n", "syntax", "JSON has no such keys"},
		{"merge of a text", "openapi: 3.0.0\n<<: b\n", "syntax", "not a mapping"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			if tools, left := read(t, tt.doc); len(tools) > 0 || len(left) != 1 || left[0] != tt.want {
				t.Errorf("%d tools, left out %v, want %s: %s", len(tools), left, tt.want, tt.reason)
			}
		})
	}
	if _, left := read(t, "openapi: 3.0.0\n", func(s *Source) { s.MaxBytes = 5 }); len(left) != 1 || left[0] != "too_large" {
		t.Errorf("left out %v, want too_large: it is longer than the caller allows", left)
	}
}

// Of the definitions that do not fit, the far ones accept everything, and the schema still compiles.
func TestReferenceCut(t *testing.T) {
	var b strings.Builder
	b.WriteString("openapi: 3.0.0\npaths: {/x: {get: {operationId: x, parameters: [{name: q, in: query, schema: {$ref: '#/d/S0'}}]}}}\nd:\n")
	for i := range 100 {
		fmt.Fprintf(&b, "  S%d: {description: %s, properties: {a: {$ref: '#/d/S%d'}, b: {$ref: '#/d/S%d'}}}\n", i, strings.Repeat("x", 2000), (i+1)%100, (i*7+3)%100)
	}
	tools, left := read(t, b.String())
	if len(tools) != 1 || len(left) > 0 {
		t.Fatalf("%d tools, left out %v", len(tools), left)
	}
	if n := len(tools[0].Parameters); n > maxDefs+4096 || n < maxDefs/2 {
		t.Errorf("%d bytes of parameters, want about %d", n, maxDefs)
	}
	if !slices.ContainsFunc(tools[0].Lossy, func(s string) bool { return strings.HasPrefix(s, "reference_cut:S") }) {
		t.Errorf("lossy %v", tools[0].Lossy)
	}
	if _, err := midtool.CompileSchema(tools[0].Parameters); err != nil {
		t.Error(err)
	}
}

// What only a cut definition refers to can be referred to again by a later one.
func TestReferenceAfterCut(t *testing.T) {
	tools, left := read(t, "openapi: 3.0.0\npaths: {/x: {get: {operationId: x, parameters: [{name: q, in: query, schema: {$ref: '#/d/Big'}},"+
		"{name: r, in: query, schema: {$ref: '#/d/Next'}}]}}}\nd:\n  Next: {properties: {a: {$ref: '#/d/Small'}}}\n  Small: {type: string}\n"+
		"  Big: {description: "+strings.Repeat("x", maxDefs)+", properties: {a: {$ref: '#/d/Small'}}}\n")
	want := `x {"type":"object","properties":{"q":{"$ref":"#/$defs/Big"},"r":{"$ref":"#/$defs/Next"}},"$defs":{"Big":{},"Next":{"properties":` +
		`{"a":{"$ref":"#/$defs/Small_2"}}},"Small_2":{"type":"string"}}} ! reference_cut:Big`
	if len(tools) != 1 || short(&tools[0]) != want {
		t.Errorf("got %v, left out %v, want %s", tools, left, want)
	}
}

// What a body requires is required of a call alone where the body is.
func TestOptionalBody(t *testing.T) {
	tools, _ := read(t, `openapi: 3.0.0
paths: {/x: {post: {operationId: x, requestBody: {content: {application/json: {schema: {type: object, required: [a], properties: {a: {}}, additionalProperties: {type: string}}}}}}}}
`)
	want := `x {"type":"object","properties":{"a":{}},"additionalProperties":{"type":"string"}}`
	if len(tools) != 1 || short(&tools[0]) != want {
		t.Errorf("got %v, want %s", tools, want)
	}
}

// Operations that ask for the same large schema again and again come to an end.
func TestWorkBudget(t *testing.T) {
	doc := &document{root: &node{kind: object}, refs: map[string]*node{}}
	l := &loaded{document: doc, name: "x"}
	big := &node{kind: text, text: strings.Repeat("x", 8<<20)}
	op := &node{kind: object}
	schema := &node{kind: object}
	schema.add("description", big)
	param := &node{kind: object}
	param.add("name", &node{kind: text, text: "q"})
	param.add("in", &node{kind: text, text: "query"})
	param.add("schema", schema)
	op.add("parameters", &node{kind: list, items: []*node{param}})
	paths := &node{kind: object}
	for i := range 20 {
		item := &node{kind: object}
		item.add("get", op)
		paths.add(fmt.Sprintf("/p%d", i), item)
	}
	doc.root.add("paths", paths)
	made, refused := 0, 0
	s := Source{Skip: func(r midtool.Rejection) {
		if r.Reason != "too_large" {
			t.Errorf("left out: %v", &r)
		}
		refused++
	}}
	if err := s.tools(context.Background(), l, func(midtool.Tool, error) bool { made++; return true }); err != nil {
		t.Fatal(err)
	}
	if made == 0 || refused == 0 || made+refused != 20 {
		t.Errorf("%d made, %d refused, want some of each of 20", made, refused)
	}
}

func TestNewest(t *testing.T) {
	api := func(title, version string) *fstest.MapFile {
		return &fstest.MapFile{Data: fmt.Appendf(nil, "openapi: 3.0.0\ninfo: {title: %s, version: %q}\npaths: {/a: {get: {operationId: %q}}}\n", title, version, title+" "+version)}
	}
	fsys := fstest.MapFS{
		"APIs/shop.example/pay/1.9.0/openapi.yaml":  api("Pay", "1.9.0"),
		"APIs/shop.example/pay/1.10.0/openapi.yaml": api("Pay, renamed", "1.10.0"),
		"APIs/shop.example/pay/1.10.0/swagger.yaml": api("Pay, again", "1.10.0"),
		"APIs/shop.example/ship/v2/openapi.json":    api("Ship", "v2"),
		"APIs/bank.example/2020-08-27/openapi.yaml": api("Bank", "2020-08-27"),
		"APIs/bank.example/2022-11-15/openapi.yaml": api("Bank", "2022-11-15"),
		"own/a.yml":            api("A", "1.0.0-beta"),
		"own/a2.yml":           api("A", "1.0"),
		"own/b.yml":            api("B", "0.1"),
		"own/broken.yaml":      {Data: []byte("openapi: [")},
		"own/notes.md":         {Data: []byte("# Notes")},
		"own/.hidden/api.yaml": api("Hidden", "1"),
	}
	names := func(all bool) (got, left []string) {
		s := Source{Locator: ".", FS: fsys, AllVersions: all, Skip: func(r midtool.Rejection) { left = append(left, r.Origin.Locator+" "+r.Reason) }}
		for tool, err := range s.Tools(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, tool.Name)
		}
		return got, left
	}
	got, left := names(false)
	want := []string{"Bank 2022-11-15", "Pay, again 1.10.0", "Ship v2", "A 1.0", "B 0.1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("newest (-want +got):\n%s", diff)
	}
	wantLeft := []string{
		"APIs/bank.example/2020-08-27/openapi.yaml older_version", "APIs/shop.example/pay/1.10.0/openapi.yaml older_version",
		"APIs/shop.example/pay/1.9.0/openapi.yaml older_version", "own/a.yml older_version", "own/broken.yaml syntax",
	}
	if diff := cmp.Diff(wantLeft, left); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if got, left := names(true); len(got) != 9 || len(left) != 1 {
		t.Errorf("all versions: %v, left out %v", got, left)
	}
}

func TestCompareVersions(t *testing.T) {
	ordered := []string{"", "0.9", "1.0.0-beta", "1.0", "1.2", "v1.10.0", "2", "2020-08-27", "2020-11-01", "2022-01-01", "99999999999999999999999"}
	for i, a := range ordered {
		for j, b := range ordered {
			want := 0
			if i != j {
				want = 1
				if i < j {
					want = -1
				}
			}
			if got := compareVersions(a, b); got != want {
				t.Errorf("compareVersions(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
	if got := compareVersions("1.0", "v1"); got != 0 {
		t.Errorf("1.0 against v1: %d, want 0", got)
	}
}

func TestLicense(t *testing.T) {
	for _, tt := range []struct{ license, want, from, reason string }{
		{`{identifier: MIT, name: Other}`, "MIT", "info.license", "the identifier is exact"},
		{`{name: Apache, url: "https://www.apache.org/licenses/LICENSE-2.0.html"}`, "Apache-2.0", "info.license", "the address says which version"},
		{`{name: The MIT License}`, "MIT", "info.license", "a usual spelling"},
		{`{name: Terms of Use, url: "https://shop.example/terms"}`, "Terms of Use", "info.license", "as it is said"},
		{`{}`, "ISC", "file", "the caller knows"},
		{`7`, "ISC", "file", "no license at all"},
	} {
		tools, _ := read(t, "openapi: 3.0.0\ninfo: {title: T, license: "+tt.license+"}\npaths: {/a: {get: {}}}\n", func(s *Source) { s.License = "ISC" })
		if len(tools) != 1 || tools[0].License != tt.want || tools[0].LicenseFrom != tt.from {
			t.Errorf("%s: %+v, want %s from %s: %s", tt.license, tools, tt.want, tt.from, tt.reason)
		}
	}
	if tools, _ := read(t, "openapi: 3.0.0\npaths: {/a: {get: {}}}\n"); tools[0].License != "" || tools[0].LicenseFrom != "" {
		t.Errorf("license %q from %q where none is stated", tools[0].License, tools[0].LicenseFrom)
	}
}

// A folder of the system is read like any other, and a link does not lead out of it.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for name, doc := range map[string]string{"in/b.yaml": new31, "in/c/a.json": `{"name":"package"}`, "secret.yaml": new30} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(doc), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("../secret.yaml", filepath.Join(dir, "in", "a.yaml")), os.Symlink(".", filepath.Join(dir, "in", "loop"))); err != nil {
		t.Skip(err)
	}
	var left []string
	s := Source{Locator: filepath.Join(dir, "in"), Group: "g", Revision: "r", Skip: func(r midtool.Rejection) { left = append(left, r.Reason) }}
	tools, err := midtool.ReadTools(context.Background(), s)
	if err != nil || len(tools) != 2 || tools[0].Group != "g" || tools[0].Origin.Revision != "r" || tools[0].Origin.Locator != filepath.Join(dir, "in", "b.yaml") {
		t.Errorf("%+v, %v", tools, err)
	}
	if diff := cmp.Diff([]string{"unreadable", "body_type", "not_openapi"}, left); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	s.Locator = filepath.Join(dir, "in", "b.yaml")
	if tools, err := midtool.ReadTools(context.Background(), s); err != nil || len(tools) != 2 {
		t.Errorf("one file: %d tools, %v", len(tools), err)
	}
	for _, bad := range []Source{{}, {Locator: filepath.Join(dir, "none")}, {Locator: dir, MaxBytes: -1}} {
		if _, err := midtool.ReadTools(context.Background(), bad); err == nil {
			t.Errorf("%+v was read", bad)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, err := range s.Tools(ctx) {
		if cancel(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	for range s.Tools(context.Background()) {
		break
	}
}

// What YAML says in a way of its own is what JSON says.
func TestScalars(t *testing.T) {
	n, f := decodeYAML([]byte(`[0x1F, 1_000, +7, .5, 1e3, 1.10, .inf, yes, true, ~, 2020-01-01, "5", 12345678901234567890123]`))
	if f != nil {
		t.Fatal(f)
	}
	want := `[31,1000,7,0.5,1e3,1.10,".inf","yes",true,null,"2020-01-01","5",12345678901234567890123]`
	if got := string(n.appendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A name without an operationId has letters, digits and hyphens with one "_" between the words.
func TestNames(t *testing.T) {
	valid := regexp.MustCompile(`^get(_[A-Za-z0-9-]+)*$`)
	rapid.Check(t, func(t *rapid.T) {
		o := operation{path: rapid.String().Draw(t, "path"), method: "get", node: &node{kind: object}}
		if got := o.name(); !valid.MatchString(got) {
			t.Errorf("%q gives %q", o.path, got)
		}
	})
}

// Whatever a document says, its tools are normalized, compile and have their names; each operation is a tool or is left out; and JSON and
// YAML are read alike.
func TestEveryOperation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc, operations := drawDocument(t)
		tools, left := checked(t, doc)
		if len(tools)+len(left) != operations {
			t.Errorf("%d tools and %v of %d operations in %s", len(tools), left, operations, doc)
		}
		var tree any
		if err := json.Unmarshal(doc, &tree); err != nil {
			t.Fatal(err)
		}
		var same yaml.Node // yaml.Marshal of a map would sort the keys
		if err := yaml.Unmarshal(doc, &same); err != nil {
			t.Fatal(err)
		}
		block(&same)
		text, err := yaml.Marshal(&same)
		if err != nil {
			t.Fatal(err)
		}
		again, leftAgain := checked(t, text)
		if diff := cmp.Diff(tools, again); diff != "" {
			t.Errorf("YAML (-JSON +YAML):\n%s\n%s", diff, text)
		}
		if diff := cmp.Diff(left, leftAgain); diff != "" {
			t.Errorf("left out (-JSON +YAML):\n%s", diff)
		}
	})
}

// block clears the style of the nodes, so that they are written as people write YAML.
func block(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		n.Style = 0
	}
	for _, c := range n.Content {
		block(c)
	}
}

func checked(t *rapid.T, doc []byte) (tools []string, left []string) {
	s := Source{Locator: "a", FS: fstest.MapFS{"a": {Data: doc}}, Skip: func(r midtool.Rejection) { left = append(left, r.Tool+" "+r.Reason) }}
	for tool, err := range s.Tools(context.Background()) {
		if err != nil {
			t.Fatalf("%v: %s", err, doc)
		}
		if again, err := midtool.Normalize(tool); err != nil || !cmp.Equal(tool, again) {
			t.Fatalf("%+v is not normalized: %v", tool, err)
		}
		for _, schema := range []json.RawMessage{tool.Parameters, tool.Returns} {
			if len(schema) == 0 {
				continue
			}
			if _, err := midtool.CompileSchema(schema); err != nil {
				t.Fatalf("%s: %v", schema, err)
			}
		}
		tools = append(tools, tool.ID+" "+short(&tool))
	}
	return tools, left
}

// drawDocument makes a document with schemas that refer to one another and to nowhere.
func drawDocument(t *rapid.T) (doc []byte, operations int) {
	ref := func() any {
		where := []string{"#/components/schemas/S0", "#/components/schemas/S1", "#/components/schemas/S2", "#/none", "other.yaml"}
		return map[string]any{"$ref": rapid.SampledFrom(where).Draw(t, "ref")}
	}
	var schema func(depth int) any
	schema = func(depth int) any {
		switch rapid.IntRange(0, 9).Draw(t, "shape") {
		case 0, 1:
			return map[string]any{"type": rapid.SampledFrom([]string{"string", "integer", "boolean", "money"}).Draw(t, "type"), "nullable": rapid.Bool().Draw(t, "nullable")}
		case 2, 3:
			if depth > 2 {
				return true
			}
			return map[string]any{"type": "object", "required": []any{"a"}, "properties": map[string]any{"a": schema(depth + 1), "id": schema(depth + 1)}}
		case 4:
			if depth > 2 {
				return false
			}
			return map[string]any{"allOf": []any{schema(depth + 1), schema(depth + 1)}}
		case 5:
			if depth > 2 {
				return 5
			}
			return map[string]any{"type": "array", "items": schema(depth + 1)}
		case 6:
			return map[string]any{"readOnly": true, "type": "string", "example": "x"}
		case 7:
			return nil
		}
		return ref()
	}
	paths := map[string]any{}
	for _, path := range []string{"/", "/a/{id}", "/a/b"} {
		item := map[string]any{}
		for _, method := range []string{"get", "post"} {
			if !rapid.Bool().Draw(t, "has") {
				continue
			}
			operations++
			item[method] = map[string]any{
				"parameters": []any{
					map[string]any{"name": "id", "in": rapid.SampledFrom([]string{"path", "query", "header", "body"}).Draw(t, "in"), "schema": schema(0)},
					map[string]any{"name": "id", "in": "query", "schema": schema(0), "required": true},
				},
				"requestBody": map[string]any{"required": true, "content": map[string]any{"application/json": map[string]any{"schema": schema(0)}}},
				"responses":   map[string]any{"200": map[string]any{"content": map[string]any{"application/json": map[string]any{"schema": schema(0)}}}},
			}
		}
		paths[path] = item
	}
	schemas := map[string]any{"S0": schema(0), "S1": schema(0), "S2": schema(0)}
	doc, err := json.Marshal(map[string]any{"openapi": "3.0.0", "paths": paths, "components": map[string]any{"schemas": schemas}})
	if err != nil {
		t.Fatal(err)
	}
	return doc, operations
}

// No bytes make it panic or run away; the tools of what is read are normalized.
func FuzzSource(f *testing.F) {
	for _, doc := range []string{old, new30, new31, `{"openapi":"3.0.0","paths":{"/a":{"get":{"parameters":[{"$ref":"#"}]}}}}`, "openapi: 3.0.0\nx: &a [*a]\n"} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		s := Source{Locator: "a", FS: fstest.MapFS{"a": {Data: doc}}, Deprecated: true}
		for tool, err := range s.Tools(context.Background()) {
			if err != nil {
				return
			}
			again, err := midtool.Normalize(tool)
			if err != nil || again.ID != tool.ID {
				t.Fatalf("%+v is not normalized: %v", tool, err)
			}
		}
	})
}

func BenchmarkSource(b *testing.B) {
	for _, n := range []int{100, 1000} {
		var doc strings.Builder
		doc.WriteString(new30)
		for i := range n {
			fmt.Fprintf(&doc, "  /p%d: {post: {operationId: op%d, requestBody: {$ref: \"#/components/requestBodies/Plant\"}, responses: {}}}\n", i, i)
		}
		for _, form := range []string{"YAML", "JSON"} {
			data := []byte(doc.String())
			if form == "JSON" {
				tree, f := decode(data)
				if f != nil {
					b.Fatal(f)
				}
				data = tree.appendJSON(nil)
			}
			b.Run(fmt.Sprintf("%s/operations=%d", form, n), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(data)))
				s := Source{Locator: "a", FS: fstest.MapFS{"a": {Data: data}}}
				for b.Loop() {
					for _, err := range s.Tools(context.Background()) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}
