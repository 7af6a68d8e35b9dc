package openaitest

import (
	"encoding/json"
	"net/http"
)

// A Request is what was sent, after it passed all checks.
type Request struct {
	Index  int // 0 for the first request to the server, whatever became of it
	Path   string
	Header http.Header
	Body   json.RawMessage // as it came
	Model  string

	Messages []Message // of a chat
	Tools    []Tool
	Stream   bool
	Usage    bool // the usage is asked for in a stream

	Input  []string // texts to embed
	Base64 bool     // vectors are asked for in base64
}

// A Message is one of a chat.
type Message struct {
	Role    string
	Content string // parts of text joined; empty for null
	Calls   []Call // of an assistant
	CallID  string // of the call that a tool answers
}

// A Tool is one that the model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // nil if there are none
}

// A Call is one tool call.
type Call struct {
	ID   string // empty in a reply means one of the server's
	Name string
	Args string // JSON; in a reply it is sent as it is
}
