package mcpclient

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxPages  = 1000
	maxCursor = 64 << 10 // bytes; real ones are a few dozen
)

// Pages yields the results of tools/list as the server sent them, byte for byte, until no cursor follows. A cursor that comes again
// and more than 1,000 pages are errors, after which the sequence ends. The pages may be kept. Each range lists anew.
func (s *Session) Pages(ctx context.Context) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		seen := map[[sha256.Size]byte]bool{}
		cursor := ""
		for page := 1; ; page++ {
			what := fmt.Sprintf("list tools, page %d", page)
			raw, err := s.ask(ctx, what, func(ctx context.Context) error {
				_, err := s.sdk.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
				return err
			})
			if err == nil {
				cursor, err = nextCursor(raw)
				sum := sha256.Sum256([]byte(cursor))
				switch {
				case err != nil:
				case seen[sum]:
					err = errors.New("the cursor of an earlier page comes again")
				case cursor != "" && page == maxPages:
					err = fmt.Errorf("another page follows, want at most %d", maxPages)
				}
				if err != nil {
					err = fmt.Errorf("mcpclient: %s: %w: %w", what, ErrNoAnswer, err)
				}
				seen[sum] = true
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(raw, nil) || cursor == "" {
				return
			}
		}
	}
}

func nextCursor(page json.RawMessage) (cursor string, err error) {
	var m map[string]json.RawMessage
	if json.Unmarshal(page, &m) != nil {
		return "", errors.New("the result is not an object")
	}
	if raw := m["nextCursor"]; raw != nil && json.Unmarshal(raw, &cursor) != nil {
		return "", errors.New("nextCursor is not a string")
	}
	if len(cursor) > maxCursor {
		return "", fmt.Errorf("nextCursor has %d bytes, want at most %d", len(cursor), maxCursor)
	}
	return cursor, nil
}

// A Result is the answer to one call of a tool.
type Result struct {
	Text       string          // the parts of text, joined with a line break; other parts are named in brackets, such as [image image/png]
	Structured json.RawMessage // structuredContent; nil without
	IsError    bool            // the tool, or the server on behalf of the tool, reports a failure
	// BadArguments says that the failure is one of name or arguments: code -32602, as a JSON-RPC error or in the text of the result.
	BadArguments bool
}

// badArguments is how servers of the TypeScript SDK put code -32602 into the text of a result (measured with server-everything and
// server-memory).
const badArguments = "MCP error -32602:"

// Call calls a tool. Arguments are a JSON object; nil means none. A JSON-RPC error with code -32602 is a Result; any other is an [*Error].
// A broken connection, a message beyond the bounds and a result that is none are [ErrNoAnswer]; the end of the context is its error.
func (s *Session) Call(ctx context.Context, name string, arguments json.RawMessage) (*Result, error) {
	what := fmt.Sprintf("call %q", name)
	arguments = bytes.TrimSpace(arguments)
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	if arguments[0] != '{' || !json.Valid(arguments) {
		return nil, fmt.Errorf("mcpclient: %s: the arguments are no JSON object", what)
	}
	raw, err := s.ask(ctx, what, func(ctx context.Context) error {
		_, err := s.sdk.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
		return err
	})
	if e, ok := errors.AsType[*Error](err); ok && e.Code == -32602 {
		return &Result{Text: e.Message, IsError: true, BadArguments: true}, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := readResult(raw)
	if err != nil {
		return nil, fmt.Errorf("mcpclient: %s: %w: %w", what, ErrNoAnswer, err)
	}
	return r, nil
}

// readResult reads a result of tools/call. Keys that are not known are ignored.
func readResult(raw json.RawMessage) (*Result, error) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil, errors.New("the result is not an object")
	}
	r := new(Result)
	if v := m["isError"]; v != nil && json.Unmarshal(v, &r.IsError) != nil {
		return nil, errors.New("isError is not a boolean")
	}
	if v := m["structuredContent"]; string(v) != "null" {
		r.Structured = v
	}
	var parts []map[string]json.RawMessage
	if v := m["content"]; v != nil && json.Unmarshal(v, &parts) != nil {
		return nil, errors.New("content is not a list of objects")
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		var err error
		if texts[i], err = partText(p); err != nil {
			return nil, fmt.Errorf("content %d: %w", i, err)
		}
	}
	r.Text = strings.Join(texts, "\n")
	r.BadArguments = r.IsError && strings.HasPrefix(strings.TrimSpace(r.Text), badArguments)
	return r, nil
}

// partText returns the text of a part, or names it by its type, its media type and its address.
func partText(p map[string]json.RawMessage) (string, error) {
	var kind, text string
	if json.Unmarshal(p["type"], &kind) != nil {
		return "", errors.New("type is not a string")
	}
	if kind == "text" {
		if json.Unmarshal(p["text"], &text) != nil {
			return "", errors.New("text is not a string")
		}
		return text, nil
	}
	if inner := p["resource"]; kind == "resource" && inner != nil {
		if json.Unmarshal(inner, &p) != nil {
			return "", errors.New("resource is not an object")
		}
	}
	words := []string{kind}
	for _, key := range []string{"mimeType", "uri"} {
		var v string
		if raw := p[key]; raw != nil && json.Unmarshal(raw, &v) != nil {
			return "", fmt.Errorf("%s is not a string", key)
		}
		words = append(words, v)
	}
	for i, w := range words {
		words[i] = shortened(strings.TrimSpace(printable(w)))
	}
	return "[" + strings.Join(strings.Fields(strings.Join(words, " ")), " ") + "]", nil
}

// shortened cuts what names a part, such as an address that holds the data itself.
func shortened(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}
