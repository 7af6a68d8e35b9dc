package memory

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// disk is a tree in the file system. No name and no link leads out of its root.
type disk struct {
	dir    string // as the caller wrote it
	root   *os.Root
	noSync bool
}

func (d *disk) shown(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

// fail names the file as the caller knows it.
func (d *disk) fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	} else if l, ok := errors.AsType[*os.LinkError](err); ok {
		err = l.Err
	}
	return &fs.PathError{Op: op, Path: d.shown(name), Err: err}
}

func (d *disk) stat(name string) (fs.FileInfo, error) {
	info, err := d.root.Lstat(name)
	return info, d.fail("stat", name, err)
}

func (d *disk) list(dir string) ([]fs.DirEntry, error) {
	if info, err := d.root.Lstat(dir); err == nil && !info.IsDir() { // to open a pipe would wait for its other end
		return nil, d.fail("read", dir, errNotDir)
	}
	f, err := d.root.Open(dir)
	if err != nil {
		return nil, d.fail("open", dir, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, d.fail("read", dir, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func (d *disk) open(name string) (io.ReadCloser, error) {
	return d.openFile(name, os.O_RDONLY)
}

// openFile opens a regular file. The kind is looked at first: to open a pipe would wait for its other end.
func (d *disk) openFile(name string, flag int) (*os.File, error) {
	info, err := d.root.Lstat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, d.fail("open", name, errNotRegular)
	case err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)):
		return nil, d.fail("open", name, err)
	}
	f, err := d.root.OpenFile(name, flag, 0o644)
	if err != nil {
		return nil, d.fail("open", name, err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		if err == nil {
			err = errNotRegular
		}
		return nil, d.fail("open", name, err)
	}
	return f, nil
}

func (d *disk) write(name string, data []byte) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return d.fail("create", name, err)
	}
	return d.fill(f, name, data)
}

func (d *disk) extend(name string, end int64, data []byte) error {
	f, err := d.openFile(name, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	err = f.Truncate(end)
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return d.fail("cut", name, err)
	}
	return d.fill(f, name, data)
}

// fill writes data, waits for the disk and closes f.
func (d *disk) fill(f *os.File, name string, data []byte) error {
	_, err := f.Write(data)
	if err == nil && !d.noSync {
		err = f.Sync()
	}
	return d.fail("write", name, errors.Join(err, f.Close()))
}

func (d *disk) mkdir(name string) error { return d.fail("make", name, d.root.Mkdir(name, 0o755)) }

func (d *disk) rename(from, to string) error { return d.fail("replace", to, d.root.Rename(from, to)) }

func (d *disk) remove(name string) error { return d.fail("remove", name, d.root.RemoveAll(name)) }

func (d *disk) rmdir(name string) error {
	if info, err := d.stat(name); err != nil || !info.IsDir() {
		return err
	}
	return d.fail("remove", name, d.root.Remove(name))
}

func (d *disk) sync(dir string) error {
	if d.noSync || runtime.GOOS == "windows" { // which has no such call for folders
		return nil
	}
	f, err := d.root.Open(dir)
	if err != nil {
		return d.fail("sync", dir, err)
	}
	defer f.Close()
	return d.fail("sync", dir, f.Sync())
}

func (d *disk) close() error { return d.fail("close", ".", d.root.Close()) }
