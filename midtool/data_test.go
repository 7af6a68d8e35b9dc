package midtool

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// The whole file of real MCP tools: read, normalize, generate, validate, write, read back.
func TestRealTools(t *testing.T) {
	dir := os.Getenv("THROUGHLINE_DATA")
	path := filepath.Join(dir, "mcp", "tools.jsonl")
	if _, err := os.Stat(path); dir == "" || err != nil {
		t.Skip("set THROUGHLINE_DATA to the folder of test data that holds mcp/tools.jsonl")
	}
	tools, err := ReadTools(context.Background(), ToolsJSONL{Locator: path})
	if err != nil {
		t.Fatal(err)
	}
	lossy := make(map[string]int)
	distinct := make(map[string]bool)
	for _, tool := range tools {
		checkNormalize(t, tool)
		n, err := Normalize(tool)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		distinct[n.ID] = true
		for _, l := range n.Lossy {
			lossy[l]++
		}
	}
	// Counted when the data was prepared: 3,404 tools, 2,876 of them distinct by name, description and schema.
	if len(tools) != 3404 || len(distinct) != 2876 {
		t.Errorf("%d tools, %d distinct", len(tools), len(distinct))
	}
	t.Logf("tools %d, distinct %d, lossy steps %v", len(tools), len(distinct), lossy)

	const perTool = 2
	c, err := Generate(context.Background(), tools, &GenerateOptions{PerTool: perTool})
	if err != nil {
		t.Fatal(err)
	}
	rejectedTools, rejectedSamples := 0, 0
	for _, r := range c.Rejected {
		if r.Sample == 0 {
			rejectedTools++
		} else {
			rejectedSamples++
		}
	}
	if c.Tools+rejectedTools != len(tools) || len(c.Samples)+rejectedSamples != c.Tools*perTool {
		t.Errorf("in is not out plus drops: %d tools, %d samples, %v", c.Tools, len(c.Samples), c.Reasons())
	}
	if len(c.Samples) < c.Tools*perTool*99/100 {
		t.Errorf("only %d samples of %d tools", len(c.Samples), c.Tools)
	}
	classes := make(map[EvidenceClass]int)
	requests := make(map[string]bool)
	for _, s := range c.Samples {
		if v := Validate(s); v != nil {
			t.Fatalf("%s: %v", s.ID, v)
		}
		for _, e := range s.Evidence {
			classes[e.Class]++
		}
		requests[s.Messages[0].Content] = true
	}
	t.Logf("samples %d, tokens %d, rejected %v, evidence %v, different requests %d", len(c.Samples), c.Tokens, c.Reasons(), classes, len(requests))

	// What is written and read back is written again as the same bytes.
	var b bytes.Buffer
	if err := WriteMessages(&b, c.Samples, nil); err != nil {
		t.Fatal(err)
	}
	read, err := readBack(b.Bytes())
	if err != nil || len(read) != len(c.Samples) {
		t.Fatalf("read %d of %d samples back: %v", len(read), len(c.Samples), err)
	}
	var again bytes.Buffer
	if err := WriteMessages(&again, read, nil); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("writing what was read back gives other bytes")
	}
	for _, s := range read {
		if v := Validate(s); v != nil {
			t.Fatalf("after reading back: %v", v)
		}
	}
}
