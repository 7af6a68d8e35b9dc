package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// A tree is a folder of files as far as a [store] needs one. Names are slash-separated and lie below its root. The store's
// rules are written once, over this interface; what differs between a disk and the process is below it.
type tree interface {
	shown(name string) string                         // for messages
	stat(name string) (fs.FileInfo, error)            // of the name itself: a link is not followed
	list(dir string) ([]fs.DirEntry, error)           // sorted by name
	open(name string) (io.ReadCloser, error)          // a regular file; anything else is an error and is not opened
	write(name string, data []byte) error             // a new file; its bytes are safe on return, its name after sync of the folder
	extend(name string, end int64, data []byte) error // cuts the file, which may be new, after end bytes, appends, makes it safe
	mkdir(name string) error                          // not its parents
	rename(from, to string) error                     // at once; replaces a file
	remove(name string) error                         // a file, or a folder with all below it; no error if there is none
	rmdir(name string) error                          // a folder that is empty, else an error
	sync(dir string) error                            // makes what happened to the names in dir safe
	close() error
}

var errNotRegular = errors.New("not a regular file")

// readAll reads a file of at most limit bytes.
func readAll(t tree, name string, limit int64) ([]byte, error) {
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", t.shown(name), limit)
	}
	return b.Bytes(), nil
}

// exists says whether there is anything under a name.
func exists(t tree, name string) (bool, error) {
	_, err := t.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
