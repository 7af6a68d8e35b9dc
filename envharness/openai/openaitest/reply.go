package openaitest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"net/http"
	"strconv"
	"unicode/utf8"
)

// A Reply says what a request is answered with: a chat with one choice, or vectors. The same one is sent in one body or, where a stream is
// asked for, in pieces, arguments of calls split as well. The zero value is an answer without content.
type Reply struct {
	Text    string // empty is null on the wire
	Calls   []Call
	Refusal string
	Finish  string // empty means "tool_calls" with calls, else "stop"
	Usage   *Usage // nil means a quarter of the bytes of what was sent and answered
	NoUsage bool   // none is told

	Vectors [][]float64 // nil means one of 8 numbers for each text, which follow from the text

	Status     int    // of an error; zero means none
	Error      Error  // its body
	RetryAfter string // its header
	Header     http.Header

	Raw         []byte // sent as it is, with Status and ContentType, in place of all of the above; nil means not
	ContentType string // of Raw; empty means "application/json"

	Piece int  // bytes of one write, each sent at once; zero means all
	Cut   *int // the connection is cut after so many bytes of the body, with 0 before the header; nil means not
	Hang  bool // in place of the cut, or of any answer, nothing more comes until the client goes away or the server is closed
}

// Usage is the tokens that a reply tells.
type Usage struct{ Input, Cached, Output int }

// An Error is the body of one, in the shape of OpenAI's.
type Error struct{ Message, Type, Code string }

type dict = map[string]any

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a vector with a number that JSON does not have
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func refuse(w http.ResponseWriter, status int, e Error, param string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(errorBody(e, param))
}

func errorBody(e Error, param string) []byte {
	return encode(dict{"error": dict{"message": e.Message, "type": e.Type, "code": orNull(e.Code), "param": orNull(param)}})
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// write sends a reply.
func (s *Server) write(w http.ResponseWriter, r *http.Request, q Request, p Reply) {
	status, kind := http.StatusOK, "application/json"
	if p.Status != 0 {
		status = p.Status
	}
	var body []byte
	switch {
	case p.Raw != nil:
		body = p.Raw
		if p.ContentType != "" {
			kind = p.ContentType
		}
	case status != http.StatusOK:
		body = errorBody(p.Error, "")
	case q.Path == "/embeddings":
		body = p.embeddings(q)
	case q.Stream:
		body, kind = p.stream(q), "text/event-stream; charset=utf-8"
	default:
		body = p.whole(q)
	}
	if p.Cut == nil && p.Hang || p.Cut != nil && *p.Cut <= 0 {
		s.breakOff(r, p)
		return
	}
	maps.Copy(w.Header(), p.Header)
	if p.RetryAfter != "" {
		w.Header().Set("Retry-After", p.RetryAfter)
	}
	w.Header().Set("Content-Type", kind)
	if kind == "application/json" {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	end := len(body)
	if p.Cut != nil {
		end = min(end, *p.Cut)
	}
	piece := p.Piece
	if piece <= 0 {
		piece = end
	}
	for rest := body[:end]; len(rest) > 0; {
		n := min(piece, len(rest))
		if _, err := w.Write(rest[:n]); err != nil {
			return
		}
		if p.Piece > 0 || p.Cut != nil {
			w.(http.Flusher).Flush()
		}
		rest = rest[n:]
	}
	if p.Cut != nil {
		s.breakOff(r, p)
	}
}

// breakOff hangs or cuts the connection.
func (s *Server) breakOff(r *http.Request, p Reply) {
	if !p.Hang {
		panic(http.ErrAbortHandler)
	}
	select {
	case <-r.Context().Done():
	case <-s.done:
	}
	panic(http.ErrAbortHandler)
}

func (p *Reply) finish() string {
	switch {
	case p.Finish != "":
		return p.Finish
	case len(p.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (p *Reply) id(q Request, i int) string {
	if id := p.Calls[i].ID; id != "" {
		return id
	}
	return fmt.Sprintf("call_%d_%d", q.Index, i)
}

func (p *Reply) usage(q Request) dict {
	u := p.Usage
	if u == nil {
		out := len(p.Text) + len(p.Refusal)
		for _, k := range p.Calls {
			out += len(k.Name) + len(k.Args)
		}
		u = &Usage{Input: (len(q.Body) + 3) / 4, Output: (out + 3) / 4}
	}
	return dict{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     dict{"cached_tokens": u.Cached, "audio_tokens": 0},
		"completion_tokens_details": dict{"reasoning_tokens": 0},
	}
}

// head is what all bodies of a chat have.
func (q Request) head(kind string) dict {
	return dict{
		"id": fmt.Sprintf("chatcmpl-%d", q.Index), "object": kind, "created": 1700000000, "model": q.Model,
		"service_tier": "default", "system_fingerprint": "fp_test",
	}
}

// whole is the answer in one body.
func (p *Reply) whole(q Request) []byte {
	m := dict{"role": "assistant", "content": orNull(p.Text), "refusal": orNull(p.Refusal), "annotations": []any{}}
	if len(p.Calls) > 0 {
		var list []dict
		for i, k := range p.Calls {
			list = append(list, dict{"id": p.id(q, i), "type": "function", "function": dict{"name": k.Name, "arguments": k.Args}})
		}
		m["tool_calls"] = list
	}
	d := q.head("chat.completion")
	d["choices"] = []dict{{"index": 0, "message": m, "logprobs": nil, "finish_reason": p.finish()}}
	if !p.NoUsage {
		d["usage"] = p.usage(q)
	}
	return encode(d)
}

// stream is the answer in pieces.
func (p *Reply) stream(q Request) []byte {
	var b bytes.Buffer
	event := func(d dict) {
		if _, ok := d["usage"]; !ok && q.Usage && !p.NoUsage {
			d["usage"] = nil
		}
		b.WriteString("data: ")
		b.Write(encode(d))
		b.WriteString("\n\n")
	}
	delta := func(d dict, finish any) {
		h := q.head("chat.completion.chunk")
		h["choices"] = []dict{{"index": 0, "delta": d, "logprobs": nil, "finish_reason": finish}}
		event(h)
	}
	delta(dict{"role": "assistant", "content": nil, "refusal": nil}, nil)
	for _, s := range pieces(p.Text) {
		delta(dict{"content": s}, nil)
	}
	for _, s := range pieces(p.Refusal) {
		delta(dict{"refusal": s}, nil)
	}
	for i, k := range p.Calls {
		f := dict{"name": k.Name, "arguments": ""}
		delta(dict{"tool_calls": []dict{{"index": i, "id": p.id(q, i), "type": "function", "function": f}}}, nil)
		for _, s := range pieces(k.Args) {
			delta(dict{"tool_calls": []dict{{"index": i, "function": dict{"arguments": s}}}}, nil)
		}
	}
	delta(dict{}, p.finish())
	if q.Usage && !p.NoUsage {
		h := q.head("chat.completion.chunk")
		h["choices"], h["usage"] = []any{}, p.usage(q)
		event(h)
	}
	b.WriteString("data: [DONE]\n\n")
	return b.Bytes()
}

// pieces cuts a text into those of about 5 bytes, between characters.
func pieces(s string) []string {
	var all []string
	for len(s) > 0 {
		n := min(5, len(s))
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		all, s = append(all, s[:n]), s[n:]
	}
	return all
}

func (p *Reply) embeddings(q Request) []byte {
	vectors := p.Vectors
	if vectors == nil {
		for _, text := range q.Input {
			vectors = append(vectors, vector(text))
		}
	}
	data := make([]dict, len(vectors))
	for i, v := range vectors {
		data[i] = dict{"object": "embedding", "index": i, "embedding": v}
		if q.Base64 {
			var b []byte
			for _, x := range v {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
			}
			data[i]["embedding"] = base64.StdEncoding.EncodeToString(b)
		}
	}
	d := dict{"object": "list", "data": data, "model": q.Model}
	if !p.NoUsage {
		u := p.Usage
		if u == nil {
			u = &Usage{}
			for _, text := range q.Input {
				u.Input += (len(text) + 3) / 4
			}
		}
		d["usage"] = dict{"prompt_tokens": u.Input, "total_tokens": u.Input}
	}
	return encode(d)
}

// vector is 8 numbers in [-1, 1) that follow from a text.
func vector(text string) []float64 {
	v := make([]float64, 8)
	for i := range v {
		h := fnv.New64a()
		_, _ = fmt.Fprintf(h, "%d %s", i, text)
		v[i] = float64(int16(h.Sum64()>>48)) / (1 << 15)
	}
	return v
}
