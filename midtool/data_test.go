package midtool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// dataFile opens a file of the public test data, and skips the test where there is none.
func dataFile(t testing.TB, name ...string) *os.File {
	t.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA is not set")
	}
	f, err := os.Open(filepath.Join(append([]string{dir}, name...)...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// serverTools reads the tools of MCP servers.
func serverTools(t testing.TB) []Tool {
	t.Helper()
	tools, err := ReadTools(context.Background(), ToolsJSONL{Locator: dataFile(t, "mcp", "tools.jsonl").Name()})
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// sealTools reads the tools of Seal-Tools, whose rows have a shape of their own.
func sealTools(t testing.TB) []Tool {
	t.Helper()
	var tools []Tool
	scan := bufio.NewScanner(dataFile(t, "sealtools", "tool.jsonl"))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		row, err := jsonval.Parse(scan.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		tool := Tool{Name: jsonval.StringOf(row.Get("api_name")), Description: jsonval.StringOf(row.Get("api_description"))}
		if p := row.Get("parameters"); p != nil {
			parameters := jsonval.NewObject(jsonval.Pair("type", jsonval.NewString("dict")), jsonval.Pair("properties", *p))
			if r := row.Get("required"); r != nil {
				parameters.Set("required", *r)
			}
			tool.Parameters = parameters.Bytes(jsonval.Compact)
		}
		tools = append(tools, tool)
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return tools
}

// benchmarkTools reads the functions of all files of BFCL.
func benchmarkTools(t testing.TB) []Tool {
	t.Helper()
	dataFile(t, "bfcl")
	var sources []Source
	for _, pattern := range []string{"BFCL_v4_*.json", "multi_turn_func_doc/*.json"} {
		names, err := filepath.Glob(filepath.Join(os.Getenv("THROUGHLINE_DATA"), "bfcl", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names { // sorted
			if !strings.Contains(name, "BFCL_v4_multi_turn_") { // their rows name the functions of other files
				sources = append(sources, ToolsJSONL{Locator: name})
			}
		}
	}
	tools, err := ReadTools(context.Background(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// Every real tool is normalized and compiled, or rejected with a reason; what is made for it is accepted; its advice is
// found and its repairs keep it usable.
func TestRealTools(t *testing.T) {
	for _, tt := range []struct {
		name  string
		read  func(testing.TB) []Tool
		count int // tools in the file
		made  int // least number of those that arguments are made for
	}{
		{"servers", serverTools, 3404, 3403}, {"Seal-Tools", sealTools, 4076, 4076}, {"BFCL", benchmarkTools, 8888, 8885},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tools := tt.read(t)
			outcomes, codes := make(map[string]int), make(map[string]int)
			for _, raw := range tools {
				for _, a := range checkRepair(t, raw) {
					codes[a.Code]++
				}
				tool, err := Normalize(raw)
				var s *Schema
				var arguments []byte
				if err == nil {
					s, err = CompileSchema(tool.Parameters)
				}
				if err == nil {
					arguments, err = s.Instance(1, tool.Name)
				}
				switch r, ok := errors.AsType[*Rejection](err); {
				case err == nil:
					outcomes["arguments made"]++
					if found := s.Check(arguments); found != nil {
						t.Errorf("%s: %s: %v", tool.Name, arguments, found)
					}
				case !ok || r.Reason == "":
					t.Errorf("%s: no reason: %v", raw.Name, err)
				default:
					outcomes[r.Reason]++
					t.Logf("%s: %v", raw.Name, err)
				}
			}
			if len(tools) != tt.count || outcomes["arguments made"] < tt.made {
				t.Errorf("%d tools, %v, want %d and arguments for %d", len(tools), outcomes, tt.count, tt.made)
			}
			t.Logf("%d tools: %v", len(tools), outcomes)
			for _, code := range slices.Sorted(maps.Keys(codes)) {
				t.Log(fmt.Sprintf("%6d ", codes[code]) + code)
			}
		})
	}
}
