package mcpsource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/mcpsource"
)

// weather starts a server in this process, which stands for one of others.
func weather() *httptest.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "2.1.0"}, nil)
	answer := func(text string) mcp.ToolHandler {
		return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		}
	}
	server.AddTool(&mcp.Tool{
		Name: "get_weather", Description: "Tells the weather of a city.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, answer(`{"sky":"clear","celsius":21}`))
	server.AddTool(&mcp.Tool{
		Name: "drop_station", Description: "Forgets a station.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Annotations: &mcp.ToolAnnotations{DestructiveHint: new(true)},
	}, answer("gone"))
	return httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
}

// The tools of a server, as a source beside others.
func ExampleSource_Tools() {
	web := weather()
	defer web.Close()
	source := mcpsource.Source{
		Server:  mcpsource.Server{URL: web.URL, Header: http.Header{"Authorization": {"Bearer " + os.Getenv("WEATHER_TOKEN")}}},
		License: "Apache-2.0",
	}
	for tool, err := range source.Tools(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		destructive := tool.Hints.Destructive != nil && *tool.Hints.Destructive
		fmt.Println(tool.Name, tool.ReadOnly, destructive, tool.Group, tool.Origin.Revision, tool.License, tool.LicenseFrom)
	}
	// Output:
	// drop_station false true weather 2.1.0 Apache-2.0 server
	// get_weather true false weather 2.1.0 Apache-2.0 server
}

// Calls are made once and recorded; later the recording answers, without a server.
func ExampleRecord() {
	folder, err := os.MkdirTemp("", "recording")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "answers.jsonl")

	ctx := context.Background()
	web := weather()
	server := mcpsource.Server{URL: web.URL}
	tools, err := midtool.ReadTools(ctx, mcpsource.Source{Server: server})
	if err != nil {
		log.Fatal(err)
	}
	tool, err := midtool.Normalize(tools[1])
	if err != nil {
		log.Fatal(err)
	}
	live, err := mcpsource.Record(file, mcpsource.Options{Servers: map[string]mcpsource.Server{"weather": server}})
	if err != nil {
		log.Fatal(err)
	}
	ask := func(e *mcpsource.Executor, city string) {
		session, err := e.Open(ctx, "sample-1", tools)
		if err != nil {
			log.Fatal(err)
		}
		arguments, err := json.Marshal(map[string]string{"city": city})
		if err != nil {
			log.Fatal(err)
		}
		result, err := session.Execute(ctx, tool, arguments)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %v\n", result.Value, result.IsError)
	}
	ask(live, "Oslo")
	if err := live.Close(); err != nil {
		log.Fatal(err)
	}
	web.Close()

	replay, err := mcpsource.Replay(file)
	if err != nil {
		log.Fatal(err)
	}
	defer replay.Close()
	ask(replay, "Oslo")
	ask(replay, "Bergen")
	// Output:
	// {"sky":"clear","celsius":21} false
	// {"sky":"clear","celsius":21} false
	// mcpsource: session "sample-1": tool "get_weather": the recording has no such call
}
