package memory

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"
	"time"
)

// inProcess is a tree that lives in the process. It is safe for concurrent use.
type inProcess struct {
	now  func() time.Time
	mu   sync.RWMutex
	root *node
}

// A node is a file, or a folder if sub is not nil. The bytes of a file are never changed in place.
type node struct {
	name string
	sub  map[string]*node
	data []byte
	time time.Time
}

func (n *node) Name() string               { return n.name }
func (n *node) Size() int64                { return int64(len(n.data)) }
func (n *node) ModTime() time.Time         { return n.time }
func (n *node) IsDir() bool                { return n.sub != nil }
func (n *node) Sys() any                   { return nil }
func (n *node) Type() fs.FileMode          { return n.Mode().Type() }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }

func (n *node) Mode() fs.FileMode {
	if n.sub != nil {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

func newTree(now func() time.Time) *inProcess {
	return &inProcess{now: now, root: &node{name: ".", sub: map[string]*node{}, time: now()}}
}

var (
	errNotDir   = errors.New("not a folder")
	errNotEmpty = errors.New("folder is not empty")
)

func (t *inProcess) shown(name string) string { return name }

// find returns the node of a name; t.mu is held.
func (t *inProcess) find(op, name string) (*node, error) {
	n := t.root
	for rest := name; rest != "." && rest != ""; {
		var first string
		first, rest = cutPath(rest)
		next, ok := n.sub[first]
		if !ok {
			return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
		n = next
	}
	return n, nil
}

func cutPath(name string) (first, rest string) {
	for i := range len(name) {
		if name[i] == '/' {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

// folder returns the node of the folder that a name lies in; t.mu is held.
func (t *inProcess) folder(op, name string) (*node, error) {
	n, err := t.find(op, path.Dir(name))
	if err == nil && n.sub == nil {
		err = &fs.PathError{Op: op, Path: name, Err: errNotDir}
	}
	return n, err
}

func (t *inProcess) stat(name string) (fs.FileInfo, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, err := t.find("stat", name)
	if err != nil {
		return nil, err
	}
	c := *n
	return &c, nil
}

func (t *inProcess) list(dir string) ([]fs.DirEntry, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, err := t.find("open", dir)
	if err != nil {
		return nil, err
	}
	if n.sub == nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errNotDir}
	}
	entries := make([]fs.DirEntry, 0, len(n.sub))
	for _, name := range slices.Sorted(maps.Keys(n.sub)) {
		c := *n.sub[name]
		entries = append(entries, &c)
	}
	return entries, nil
}

func (t *inProcess) open(name string) (io.ReadCloser, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.sub != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return io.NopCloser(bytes.NewReader(n.data)), nil
}

func (t *inProcess) write(name string, data []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.add("create", name, &node{data: slices.Clone(data)})
}

func (t *inProcess) mkdir(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.add("make", name, &node{sub: map[string]*node{}})
}

// add puts a node under a name that is free; t.mu is held.
func (t *inProcess) add(op, name string, n *node) error {
	parent, err := t.folder(op, name)
	if err != nil {
		return err
	}
	n.name, n.time = path.Base(name), t.now()
	if parent.sub[n.name] != nil {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrExist}
	}
	parent.sub[n.name] = n
	return nil
}

func (t *inProcess) extend(name string, end int64, data []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.find("write", name)
	if errors.Is(err, fs.ErrNotExist) {
		n = &node{}
		err = t.add("write", name, n)
	}
	switch {
	case err != nil:
		return err
	case n.sub != nil:
		return &fs.PathError{Op: "write", Path: name, Err: errNotRegular}
	case end > int64(len(n.data)):
		n.data = append(n.data, make([]byte, end-int64(len(n.data)))...)
	}
	// A reader may hold the old bytes: those before end stay, and those after it move to new ones if they change.
	old := n.data[:end]
	if end < int64(len(n.data)) {
		old = slices.Clip(old)
	}
	n.data, n.time = append(old, data...), t.now()
	return nil
}

func (t *inProcess) rename(from, to string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.find("replace", from)
	if err != nil {
		return err
	}
	parent, err := t.folder("replace", to)
	if err != nil {
		return err
	}
	if old := parent.sub[path.Base(to)]; old != nil && (old.sub != nil || n.sub != nil) {
		return &fs.PathError{Op: "replace", Path: to, Err: fs.ErrExist}
	}
	source, _ := t.folder("replace", from)
	delete(source.sub, n.name)
	n.name = path.Base(to)
	parent.sub[n.name] = n
	return nil
}

func (t *inProcess) remove(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if parent, err := t.folder("remove", name); err == nil {
		delete(parent.sub, path.Base(name))
	}
	return nil
}

func (t *inProcess) rmdir(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.find("remove", name)
	switch {
	case err != nil:
		return err
	case len(n.sub) > 0:
		return &fs.PathError{Op: "remove", Path: name, Err: errNotEmpty}
	case n.sub != nil:
		parent, _ := t.folder("remove", name)
		delete(parent.sub, n.name)
	}
	return nil
}

func (t *inProcess) sync(string) error { return nil }
func (t *inProcess) close() error      { return nil }
