// Package mcpenv makes an environment of any server of the Model Context Protocol.
package mcpenv

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/mcpclient"
)

// A Server says how to reach a server: Command or URL.
type Server struct {
	Command []string // program and arguments; the server speaks on its standard streams
	Dir     string   // working folder of the program; empty means that of the caller
	// Env is the whole environment of the program. Nil means the few variables without which programs do not run, as this process has
	// them, and none that may hold a secret.
	Env    []string
	Grace  time.Duration // how long the program may take to end by itself before it is killed; zero means 2 seconds
	Stderr io.Writer     // gets what the program writes there; nil discards it

	URL        string       // address of a streamable HTTP endpoint
	Header     http.Header  // sent with each request, such as Authorization
	HTTPClient *http.Client // nil means a client of its own without a proxy or cookies

	MaxMessage int // longest message of the server in bytes; zero means 4 MiB
}

// A Task is one problem: what the policy is told, how the server's world starts, and how it must end.
type Task struct {
	envharness.Task
	Prompt string              // what the policy is shown first
	Start  []envharness.Action // calls on the fresh server before the first turn
	Goal   json.RawMessage     // the state that the read tool must show in the end; nil if Judge needs none
}

// Config describes a world.
type Config struct {
	// Server returns the server of one episode. Dir is a new empty folder that is removed with the environment: for a server that keeps
	// its state in files.
	Server func(dir string) Server
	Tasks  []Task
	// Read is the call that shows the state; it is never shown to the policy as a call, and its tool must be read-only.
	Read envharness.Action
	// Judge compares the state in the end with the goal; nil means that they are equal as JSON, lists of objects in any order.
	Judge func(t Task, state json.RawMessage, answer string) (envharness.Verdict, error)
	// Answer adds a tool submit{answer} of the adapter's own, which ends the episode. Without it the policy ends by stopping.
	Answer   bool
	MaxTurns int // zero means 50
}

// World makes a world of the servers that c describes.
func World(c Config) (envharness.World, error) {
	return envharness.World{}, errors.New("mcpenv: not implemented")
}

var (
	_ = mcpclient.Server(Server{})
	_ context.Context
)
