package mcpsource

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/throughline-go/throughline/internal/mcpclient"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// Options adjusts [Record].
type Options struct {
	Servers map[string]Server // by the Group of the tools that they have; needed

	// Allow says whether a tool that is not ReadOnly may be called; nil allows none. ReadOnly is what the server says of itself.
	Allow func(midtool.Tool) bool

	// Processes bounds the programs that are kept for sessions which have changed something, beside one for each server; zero means 4.
	Processes int
}

const defaultProcesses = 4

// An Executor is a [midtool.Executor] that answers from a recording, and what is not in it by live servers. It is made by [Record] or
// [Replay], is safe for concurrent use, and must be closed.
type Executor struct {
	opts    Options
	file    string // to be written; empty means that nothing is
	records *records

	slots chan struct{} // a token for each call on a process of a session

	life   context.Context // ends with Close
	end    context.CancelFunc
	asking sync.WaitGroup // calls on servers

	closing  sync.Once
	closeErr error

	mu     sync.Mutex
	closed bool
	shared map[string]*shared
	kept   []*private // processes of sessions, the least recently used first; those in use are not in it
}

// ErrNoAnswer says that a server gave no answer that can be used: it is gone, out of reach, or does not keep to the protocol.
var ErrNoAnswer = mcpclient.ErrNoAnswer

// A shared is the one connection to a server for all calls that change nothing.
type shared struct {
	connecting chan struct{} // a token for who connects
	session    *mcpclient.Session
}

// A private is a process of one session.
type private struct {
	owner   *session
	group   string
	session *mcpclient.Session
}

// Record returns an executor that answers from the recording in file, if there is one, and asks the servers for what is not in it. Close
// writes the recording, old answers and new ones, with the permissions 0600. No server is reached before the first call that needs it.
// The error says what is wrong with the options or the file, also that it could not be written.
func Record(file string, o Options) (*Executor, error) {
	var faults []error
	if file == "" {
		faults = append(faults, errors.New("file is empty"))
	}
	if len(o.Servers) == 0 {
		faults = append(faults, errors.New("Options.Servers is empty"))
	}
	if o.Processes < 0 {
		faults = append(faults, fmt.Errorf("Options.Processes is %d, want 0 or more", o.Processes))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("mcpsource: record: %w", err)
	}
	o.Processes = cmp.Or(o.Processes, defaultProcesses)
	o.Servers = maps.Clone(o.Servers)
	if err := writable(file); err != nil {
		return nil, fmt.Errorf("mcpsource: record: %w", err)
	}
	r, err := load(file, true)
	if err != nil {
		return nil, err
	}
	e := &Executor{opts: o, file: file, records: r, slots: make(chan struct{}, o.Processes), shared: map[string]*shared{}}
	e.life, e.end = context.WithCancel(context.Background())
	for group := range o.Servers {
		e.shared[group] = &shared{connecting: make(chan struct{}, 1)}
	}
	return e, nil
}

// Replay returns an executor that answers from the recording in file alone. A call that is not in it is an error, which ends the work.
func Replay(file string) (*Executor, error) {
	r, err := load(file, false)
	if err != nil {
		return nil, err
	}
	return &Executor{records: r, opts: Options{Allow: func(midtool.Tool) bool { return true }}}, nil
}

// Open starts a session. Nothing is asked of a server yet. Sessions start alike whatever their identifier and tools: on servers that
// nothing has been changed on, as far as that is in the hand of a client; see the package. The error is that of ctx, or says that the
// executor is closed.
func (e *Executor) Open(ctx context.Context, id string, tools []midtool.Tool) (midtool.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, fmt.Errorf("mcpsource: session %q: %w", id, errClosed)
	}
	return &session{e: e, id: id, count: map[key]int{}, changes: map[string][]change{}}, nil
}

var errClosed = errors.New("the executor is closed")

// Close disconnects from the servers, ends their programs, and writes the recording. Calls under way end with an error. It is idempotent,
// and waits where another Close is at work; the error is that of writing.
func (e *Executor) Close() error {
	e.closing.Do(func() { e.closeErr = e.shut() })
	return e.closeErr
}

func (e *Executor) shut() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	if e.file == "" {
		return nil
	}
	e.end()
	e.asking.Wait()
	var closing sync.WaitGroup
	for _, s := range e.shared {
		if s.session != nil {
			closing.Go(func() { s.session.Close() })
		}
	}
	for _, p := range e.kept {
		closing.Go(func() { p.session.Close() })
	}
	closing.Wait()
	return e.records.save(e.file)
}

// A session is the calls of one conversation.
type session struct {
	e       *Executor
	id      string
	after   string              // what it has changed, as a hash; empty for nothing
	count   map[key]int         // equal calls so far, by the key without its ordinal
	changes map[string][]change // what it has changed, by group, in order
}

// A change is a call of a tool that is not read-only.
type change struct {
	name      string
	arguments []byte
}

// Execute answers a call, from the recording if it is in it. Its value is the structured content, or else the text as JSON if it is some,
// or else the text as a JSON string. A failure that does not report itself in "error" becomes {"error": text}, or
// {"error": {"type": "bad_argument", "message": text}} where the server says that the name or the arguments are at fault.
//
// The error is that of ctx, or says that the tool may not be called, has no ID or no server, that the recording has no such call and there
// is no server, or that the server gave no answer. Nothing is recorded then, and the session can go on.
func (s *session) Execute(ctx context.Context, t midtool.Tool, arguments json.RawMessage) (midtool.Result, error) {
	r, err := s.execute(ctx, &t, arguments)
	if err != nil {
		return midtool.Result{}, fmt.Errorf("mcpsource: session %q: tool %q: %w", s.id, t.Name, err)
	}
	return r, nil
}

func (s *session) execute(ctx context.Context, t *midtool.Tool, arguments []byte) (midtool.Result, error) {
	if err := ctx.Err(); err != nil {
		return midtool.Result{}, err
	}
	v, err := jsonval.Parse(arguments)
	switch {
	case err != nil:
		return midtool.Result{}, fmt.Errorf("arguments: %w", err)
	case v.Kind != jsonval.Object:
		return midtool.Result{}, fmt.Errorf("arguments: want object, got %s", v.Kind)
	case !isID(t.ID):
		return midtool.Result{}, errors.New("it has no ID, as Normalize gives it")
	case !t.ReadOnly && (s.e.opts.Allow == nil || !s.e.opts.Allow(*t)):
		return midtool.Result{}, errors.New("it is not read-only, and not allowed")
	}
	k := key{tool: t.ID, after: s.after, arguments: string(v.Bytes(jsonval.Canonical))}
	asked := k
	k.ordinal = s.count[asked] + 1
	c := change{cmp.Or(t.Original, t.Name), []byte(k.arguments)}
	r, err := s.e.records.answer(ctx, k, c.name, func() (midtool.Result, error) { return s.ask(ctx, t, c) })
	if err != nil {
		return midtool.Result{}, err
	}
	s.count[asked] = k.ordinal
	if !t.ReadOnly {
		sum := sha256.Sum256([]byte(k.after + k.tool + k.arguments))
		s.after = hex.EncodeToString(sum[:8])
		s.changes[t.Group] = append(s.changes[t.Group], c)
	}
	return r, nil
}

// ask makes a call on a server.
func (s *session) ask(ctx context.Context, t *midtool.Tool, c change) (midtool.Result, error) {
	server, ok := s.e.opts.Servers[t.Group]
	switch {
	case s.e.file == "":
		return midtool.Result{}, errors.New("the recording has no such call")
	case !ok:
		return midtool.Result{}, fmt.Errorf("no server for the group %q", t.Group)
	}
	ctx, done, err := s.e.begin(ctx)
	if err != nil {
		return midtool.Result{}, err
	}
	defer done()
	var r midtool.Result
	if server.URL != "" || t.ReadOnly && len(s.changes[t.Group]) == 0 {
		r, err = s.e.askShared(ctx, t.Group, &server, c)
	} else {
		r, err = s.askPrivate(ctx, t.Group, &server, c)
	}
	if err != nil && s.e.life.Err() != nil {
		err = errClosed
	}
	return r, err
}

// begin starts a call on a server, which Close ends and waits for.
func (e *Executor) begin(ctx context.Context) (context.Context, func(), error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, nil, errClosed
	}
	e.asking.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(e.life, cancel)
	return ctx, func() { stop(); cancel(); e.asking.Done() }, nil
}

func (e *Executor) askShared(ctx context.Context, group string, server *Server, c change) (midtool.Result, error) {
	sh := e.shared[group]
	live, err := e.connectShared(ctx, sh, server)
	if err != nil {
		return midtool.Result{}, err
	}
	r, err := live.Call(ctx, c.name, c.arguments)
	if err == nil {
		return resultOf(r)
	}
	if errors.Is(err, ErrNoAnswer) { // the next call connects anew
		e.mu.Lock()
		if sh.session == live {
			sh.session = nil
		}
		e.mu.Unlock()
		live.Close()
	}
	return midtool.Result{}, err
}

func (e *Executor) connectShared(ctx context.Context, sh *shared, server *Server) (*mcpclient.Session, error) {
	select {
	case sh.connecting <- struct{}{}:
		defer func() { <-sh.connecting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	e.mu.Lock()
	live := sh.session
	e.mu.Unlock()
	if live != nil {
		return live, nil
	}
	live, err := mcpclient.Connect(ctx, mcpclient.Server(*server))
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	sh.session = live
	e.mu.Unlock()
	return live, nil
}

// askPrivate makes a call on a process of the session's own, which is started if there is none, and on which all that the session has
// changed is then done again.
func (s *session) askPrivate(ctx context.Context, group string, server *Server, c change) (midtool.Result, error) {
	select {
	case s.e.slots <- struct{}{}:
		defer func() { <-s.e.slots }()
	case <-ctx.Done():
		return midtool.Result{}, ctx.Err()
	}
	p := s.e.take(s, group)
	if p == nil {
		live, err := mcpclient.Connect(ctx, mcpclient.Server(*server))
		if err != nil {
			return midtool.Result{}, err
		}
		p = &private{s, group, live}
		for _, before := range s.changes[group] {
			if _, err := live.Call(ctx, before.name, before.arguments); err != nil {
				live.Close()
				return midtool.Result{}, fmt.Errorf("doing again what the session changed: %w", err)
			}
		}
	}
	r, err := p.session.Call(ctx, c.name, c.arguments)
	if err != nil { // whether it has changed something is not known
		p.session.Close()
		return midtool.Result{}, err
	}
	s.e.giveBack(p)
	return resultOf(r)
}

// take returns the process of a session, or nil, and then sees to it that there is room for another one.
func (e *Executor) take(owner *session, group string) *private {
	e.mu.Lock()
	at := slices.IndexFunc(e.kept, func(p *private) bool { return p.owner == owner && p.group == group })
	var p, old *private
	if at >= 0 {
		p = e.kept[at]
		e.kept = slices.Delete(e.kept, at, at+1)
	} else if len(e.kept)+len(e.slots) > e.opts.Processes { // those kept, and those in use or about to be, this one included
		old = e.kept[0]
		e.kept = slices.Delete(e.kept, 0, 1)
	}
	e.mu.Unlock()
	if old != nil {
		old.session.Close()
	}
	return p
}

// giveBack keeps a process for the next call of its session.
func (e *Executor) giveBack(p *private) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.kept = append(e.kept, p)
}

// resultOf gives a result the form that samples have.
func resultOf(r *mcpclient.Result) (midtool.Result, error) {
	text := []byte(r.Structured)
	if text == nil {
		text = []byte(r.Text)
	}
	v, err := jsonval.Parse(text)
	switch {
	case err != nil && r.Structured != nil:
		return midtool.Result{}, fmt.Errorf("structured content: %w", err)
	case err != nil:
		v = jsonval.NewString(r.Text)
	}
	if r.IsError && !jsonval.ReportsError(&v) {
		message := jsonval.NewString(r.Text)
		if r.BadArguments {
			message = jsonval.NewObject(jsonval.Pair("type", jsonval.NewString("bad_argument")), jsonval.Pair("message", message))
		}
		v = jsonval.NewObject(jsonval.Pair("error", message))
	}
	return midtool.Result{Value: v.Bytes(jsonval.Compact), IsError: r.IsError}, nil
}
