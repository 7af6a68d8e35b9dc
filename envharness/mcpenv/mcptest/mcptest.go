// Package mcptest is a server of the Model Context Protocol for tests: a small store of records, with switches for faults.
package mcptest

import "github.com/modelcontextprotocol/go-sdk/mcp"

// NewServer returns a server with a store of its own.
func NewServer() *mcp.Server { return nil }
