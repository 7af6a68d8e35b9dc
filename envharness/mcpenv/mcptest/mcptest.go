package mcptest

import (
	"context"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options adjusts a server. A nil *Options equals &Options{}. It can be written as JSON, which is how a parent may hand it to a child.
type Options struct {
	// File keeps the stock: it is read at the start if it exists, and written after each change. Empty means memory alone.
	File string `json:"file,omitempty"`
	// Items are the stock at the start where there is no File, or it does not exist.
	Items []Item `json:"items,omitempty"`
	// PageSize is the number of tools on a page of tools/list; zero or less means all seven.
	PageSize int   `json:"page_size,omitempty"`
	Fault    Fault `json:"fault,omitzero"`
}

// An Item is so many pieces of something on a shelf. The name is unique.
type Item struct {
	Name  string `json:"name"`
	Shelf string `json:"shelf"`
	Count int    `json:"count"`
}

// NewServer returns a server with a stock of its own, which its sessions share. Of the faults it has [Hang] and [Flood]; the others are
// those of a transport. An error is one of File: it cannot be read, or is none that a server has written.
func NewServer(o *Options) (*mcp.Server, error) {
	if o == nil {
		o = &Options{}
	}
	stock, err := openStock(o)
	if err != nil {
		return nil, err
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "stockroom", Version: "1.0.0"}, &mcp.ServerOptions{PageSize: max(o.PageSize, 0)})
	addTools(s, stock)
	s.AddReceivingMiddleware(o.Fault.middleware())
	return s, nil
}

// Serve serves one session on the standard streams of this process, until standard input ends or ctx is done. Nothing else may use
// these streams. It returns nil at the end of the input.
func Serve(ctx context.Context, o *Options) error {
	s, err := NewServer(o)
	if err != nil {
		return err
	}
	var t mcp.Transport = &mcp.StdioTransport{}
	if o != nil {
		t = o.Fault.transport(t, os.Stdout)
	}
	return s.Run(ctx, t)
}

// Handler returns a handler of streamable HTTP. All its sessions share one stock, as those of most servers do, so that a new session is
// no new world.
func Handler(o *Options) (http.Handler, error) {
	inner := Options{}
	if o != nil {
		inner = *o
	}
	fault := inner.Fault
	if fault.Kind == Hang {
		inner.Fault = Fault{} // the SDK does not end a call whose client went away, and would wait for it when the session is deleted
	}
	s, err := NewServer(&inner)
	if err != nil {
		return nil, err
	}
	return fault.handler(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)), nil
}
