package mcptest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

// show calls a tool through a client of the SDK and prints what it says.
func show(t mcp.Transport, tool, args string) {
	ctx := context.Background()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil).Connect(ctx, t, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		fmt.Println(err)
	} else {
		fmt.Println(r.Content[0].(*mcp.TextContent).Text)
	}
	if err := session.Close(); err != nil {
		fmt.Println(err)
	}
}

func ExampleNewServer() {
	server, err := mcptest.NewServer(&mcptest.Options{Items: []mcptest.Item{{Name: "bolt", Shelf: "A1", Count: 5}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(context.Background(), there, nil); err != nil {
		fmt.Println(err)
		return
	}
	show(here, "move_item", `{"name":"bolt","shelf":"B2"}`)
	// Output:
	// {"name":"bolt","shelf":"B2","count":5}
}

// A test that starts itself again as a server. Its TestMain calls Serve, with the options that a variable holds:
//
//	if raw, ok := os.LookupEnv("STOCKROOM"); ok {
//		var o mcptest.Options
//		if err := errors.Join(json.Unmarshal([]byte(raw), &o), mcptest.Serve(context.Background(), &o)); err != nil {
//			os.Exit(1)
//		}
//		os.Exit(0)
//	}
func ExampleServe() {
	exe, err := os.Executable()
	if err != nil {
		fmt.Println(err)
		return
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), `STOCKROOM={"items":[{"name":"nut","shelf":"C3","count":7}]}`)
	show(&mcp.CommandTransport{Command: cmd}, "get_item", `{"name":"nut"}`)
	// Output:
	// {"name":"nut","shelf":"C3","count":7}
}

func ExampleHandler() {
	handler, err := mcptest.Handler(&mcptest.Options{Items: []mcptest.Item{{Name: "bolt", Shelf: "A1", Count: 5}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	srv := httptest.NewServer(handler)
	defer srv.Close()
	show(&mcp.StreamableClientTransport{Endpoint: srv.URL}, "search_items", `{"query":"a1"}`)
	// Output:
	// {"items":[{"name":"bolt","shelf":"A1","count":5}]}
}
