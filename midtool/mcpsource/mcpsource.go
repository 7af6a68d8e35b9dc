package mcpsource

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/throughline-go/throughline/internal/mcpclient"
	"github.com/throughline-go/throughline/midtool"
)

// A Server says how to reach a server: Command or URL.
type Server struct {
	Command []string // program and arguments; the server speaks on its standard streams
	Dir     string   // working folder of the program; empty means that of the caller
	// Env are variables of the program, as "NAME=value", besides the few of this process without which programs do not run (PATH, HOME,
	// TMPDIR, ...). No other variable of this process is passed on, so that secrets go to those alone that they are given to.
	Env    []string
	Grace  time.Duration // how long the program may take to end by itself before it is killed; zero means 2 seconds
	Stderr io.Writer     // gets what the program writes there; nil discards it

	URL        string       // address of a streamable HTTP endpoint
	Header     http.Header  // sent with each request, such as Authorization
	HTTPClient *http.Client // nil means a client of its own without a proxy or cookies

	MaxMessage int // longest message of the server in bytes; zero means 4 MiB
}

// locator names the server without what may be a secret.
func (s *Server) locator() string {
	if len(s.Command) > 0 {
		return filepath.Base(s.Command[0])
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "" // which Connect rejects
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// A Source is a [midtool.Source]: the tools of one server. The zero value is not useful: set Server.
type Source struct {
	Server  Server
	Group   string // of the tools; empty means the name that the server gives itself, or the locator of its Origin
	License string // of the tools, which MCP does not state; LicenseFrom is then "server"
}

// maxListing bounds the pages of a server together, in bytes: as much as package midtool reads of one file without lines.
const maxListing = 64 << 20

// Tools connects, lists the tools, disconnects, and then yields them, sorted by name. They are as the server states them: use
// [midtool.Normalize]. Origin has the kind "mcp", the base name of the program or the URL without user, query and fragment, the page in
// place of the line, the version of the server as the revision, and the SHA-256 of the page.
//
// The error is that of ctx, of the connection, or of a page that is none, and comes before any tool. Each range connects anew; several may
// run at once.
func (s Source) Tools(ctx context.Context) iter.Seq2[midtool.Tool, error] {
	return func(yield func(midtool.Tool, error) bool) {
		tools, err := s.list(ctx)
		if err != nil {
			yield(midtool.Tool{}, err)
			return
		}
		for _, t := range tools {
			if err := ctx.Err(); err != nil {
				yield(midtool.Tool{}, err)
				return
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

func (s Source) list(ctx context.Context) ([]midtool.Tool, error) {
	locator := s.Server.locator()
	session, err := mcpclient.Connect(ctx, mcpclient.Server(s.Server))
	if err != nil {
		return nil, fmt.Errorf("mcpsource: %s: %w", locator, err)
	}
	defer session.Close()
	name, version := session.Name()
	var tools []midtool.Tool
	page, size := 0, 0
	for raw, err := range session.Pages(ctx) {
		page++
		if size += len(raw); err == nil && size > maxListing {
			err = fmt.Errorf("more than %d bytes of tools", maxListing)
		}
		if err != nil {
			return nil, fmt.Errorf("mcpsource: %s: %w", locator, err)
		}
		some, err := s.read(ctx, raw, locator, version)
		if err != nil {
			return nil, fmt.Errorf("mcpsource: %s: page %d: %w", locator, page, err)
		}
		for _, t := range some {
			t.Group = cmp.Or(s.Group, name, locator)
			t.Origin.Line = page
			if t.LicenseFrom == "file" {
				t.LicenseFrom = "server"
			}
			tools = append(tools, t)
		}
	}
	slices.SortStableFunc(tools, func(a, b midtool.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return tools, nil
}

// read reads one result of tools/list as if it had been saved.
func (s Source) read(ctx context.Context, page json.RawMessage, locator, version string) ([]midtool.Tool, error) {
	var result struct {
		Tools *json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(page, &result); err != nil || result.Tools == nil {
		return nil, fmt.Errorf(`%w: the result has no "tools"`, ErrNoAnswer)
	}
	return midtool.ReadTools(ctx, midtool.ToolsJSONL{
		Locator: locator, Revision: version, License: s.License, MaxLine: len(page) + 1,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(page)), nil },
	})
}
