package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/throughline-go/throughline/internal/mcpclient"
)

// A session with a server over HTTP: its name, its tools as it states them, a call, and a call that it refuses.
func Example() {
	server := mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1.0.0"}, nil)
	tool := &mcp.Tool{Name: "greet", InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"maximum":9007199254740993}}}`)}
	server.AddTool(tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		morning := []mcp.Content{&mcp.TextContent{Text: "Good morning"}}
		return &mcp.CallToolResult{Content: morning, StructuredContent: json.RawMessage(`{"n":1.0}`)}, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	defer web.Close()

	ctx := context.Background()
	session, err := mcpclient.Connect(ctx, mcpclient.Server{URL: web.URL})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	fmt.Println(session.Name())
	for page, err := range session.Pages(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", page)
	}
	answer, err := session.Call(ctx, "greet", json.RawMessage(`{"n":1}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %s\n", answer.Text, answer.Structured)
	answer, err = session.Call(ctx, "wave", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.BadArguments, session.Redact(answer.Text))

	// An error of the protocol has a code.
	fmt.Println(&mcpclient.Error{Code: -32601, Message: "method not found"})
	// Output:
	// desk 1.0.0
	// {"ttlMs":0,"cacheScope":"public","tools":[{"inputSchema":{"type":"object","properties":{"n":{"maximum":9007199254740993}}},"name":"greet"}]}
	// Good morning {"n":1.0}
	// true unknown tool "wave"
	// code -32601: method not found
}
