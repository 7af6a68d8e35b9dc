package build

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/throughline-go/throughline/internal/filelock"
)

// Where things are in the folder of a corpus. What a person wants is at the top, one folder an output; the rest is in workDir.
const (
	workDir       = "work"
	configFile    = workDir + "/build.json"
	partsDir      = workDir + "/parts"
	selectionDir  = workDir + "/selection"
	doneOutputs   = workDir + "/outputs"
	reportJSON    = "report.json"
	reportText    = "report.md"
	doneExt       = ".done.json"
	temporaryName = "tmp-"
)

// ErrLocked says that another process builds in the folder under the same rank.
var ErrLocked = errors.New("build: another process has the same rank in the folder")

// A folder is where a corpus is built. All names in it have slashes.
type folder struct {
	path  string
	rank  int
	root  *os.Root
	lock  *os.File
	fault func(op, name string) error
	lazy  bool
}

// openFolder makes the folder and takes the lock of the rank. What a process of that rank left unfinished is removed.
func openFolder(o *Options) (*folder, error) {
	f := &folder{path: o.Dir, rank: o.Rank, fault: o.fault, lazy: o.lazy}
	for _, dir := range []string{"", partsDir, selectionDir, doneOutputs, workDir + "/locks"} {
		if err := os.MkdirAll(f.at(dir), 0o755); err != nil {
			return nil, fmt.Errorf("build: %w", err)
		}
	}
	var err error
	if f.root, err = os.OpenRoot(o.Dir); err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	if f.lock, err = f.take(fmt.Sprintf("rank-%05d", o.Rank)); err != nil {
		f.root.Close()
		if errors.Is(err, filelock.ErrLocked) {
			return nil, fmt.Errorf("%w: rank %d in %s", ErrLocked, o.Rank, o.Dir)
		}
		return nil, fmt.Errorf("build: %w", err)
	}
	if err := f.clean(o.World); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *folder) take(name string) (*os.File, error) {
	return filelock.Open(f.root, workDir+"/locks/"+name+".lock")
}

func (f *folder) temporary(rank int) string {
	return fmt.Sprintf("%s/%s%05d", workDir, temporaryName, rank)
}

// clean empties the folder of unfinished files. A process that is alone also removes those of ranks that nobody has any more.
func (f *folder) clean(world int) error {
	own := f.at(f.temporary(f.rank))
	if err := os.RemoveAll(own); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	if err := os.Mkdir(own, 0o755); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	if world > 1 {
		return nil
	}
	entries, err := os.ReadDir(f.at(workDir))
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	for _, e := range entries {
		var rank int
		if n, _ := fmt.Sscanf(e.Name(), temporaryName+"%d", &rank); n != 1 || rank == f.rank {
			continue
		}
		lock, err := f.take(fmt.Sprintf("rank-%05d", rank))
		if errors.Is(err, filelock.ErrLocked) {
			continue // a process of a larger world is at work
		}
		if err == nil {
			err = os.RemoveAll(f.at(f.temporary(rank)))
			lock.Close()
		}
		if err != nil {
			return fmt.Errorf("build: %w", err)
		}
	}
	return nil
}

func (f *folder) close() {
	os.RemoveAll(f.at(f.temporary(f.rank)))
	f.lock.Close()
	f.root.Close()
}

func (f *folder) at(name string) string { return filepath.Join(f.path, filepath.FromSlash(name)) }

// undo removes what depends on the options of the later stages.
func (f *folder) undo(old *configuration) error {
	for _, name := range append([]string{reportJSON, reportText, selectionDir, doneOutputs}, old.Outputs...) {
		if name != workDir && (plainName.MatchString(name) || name == selectionDir || name == doneOutputs) {
			if err := f.root.RemoveAll(name); err != nil {
				return fmt.Errorf("build: %w", err)
			}
		}
	}
	for _, dir := range []string{selectionDir, doneOutputs} {
		if err := os.MkdirAll(f.at(dir), 0o755); err != nil {
			return fmt.Errorf("build: %w", err)
		}
	}
	return nil
}

// A newFile takes its final name once it is complete and on disk. Until then it is in the temporary folder of the rank, so that a
// process that starts knows what nobody will finish.
type newFile struct {
	dir  *folder
	name string
	tmp  *os.File // nil once it is done with
	buf  *bufio.Writer
	hash hash.Hash
	size int64
}

// create starts a file. Abort it in every case: that does nothing after commit.
func (f *folder) create(name string) (*newFile, error) {
	if err := f.fails("create", name); err != nil {
		return nil, err
	}
	tmp, err := os.CreateTemp(f.at(f.temporary(f.rank)), "*")
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	n := &newFile{dir: f, name: name, tmp: tmp, hash: sha256.New()}
	n.buf = bufio.NewWriterSize((*rawFile)(n), 64<<10)
	return n, nil
}

func (f *folder) fails(op, name string) error {
	if f.fault == nil {
		return nil
	}
	return f.fault(op, name)
}

// rawFile is what the buffer of a newFile writes to.
type rawFile newFile

func (n *rawFile) Write(p []byte) (int, error) {
	if err := n.dir.fails("write", n.name); err != nil {
		return 0, err
	}
	k, err := n.tmp.Write(p)
	n.hash.Write(p[:k])
	n.size += int64(k)
	if err != nil {
		err = fmt.Errorf("build: write %s: %w", n.name, err)
	}
	return k, err
}

func (n *newFile) Write(p []byte) (int, error) { return n.buf.Write(p) }

// A writtenFile is what manifests know of a file.
type writtenFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// commit gives the file its name.
func (n *newFile) commit() (writtenFile, error) {
	defer n.abort()
	err := n.buf.Flush()
	if err == nil {
		err = n.dir.fails("commit", n.name)
	}
	if err == nil && !n.dir.lazy {
		err = n.tmp.Sync()
	}
	if err != nil {
		return writtenFile{}, err
	}
	// A file that is made for its owner alone is of no use to a trainer.
	if err := n.tmp.Chmod(0o644); err != nil {
		return writtenFile{}, fmt.Errorf("build: %w", err)
	}
	tmp := n.tmp.Name()
	err = n.tmp.Close() // before the rename: some systems do not rename an open file
	n.tmp = nil
	if err == nil {
		err = os.Rename(tmp, n.dir.at(n.name))
	}
	if err != nil {
		os.Remove(tmp)
		return writtenFile{}, fmt.Errorf("build: %w", err)
	}
	if n.dir.lazy {
		return n.written(), nil
	}
	if d, err := os.Open(filepath.Dir(n.dir.at(n.name))); err == nil {
		d.Sync() // not every system can sync a folder; the file is in place
		d.Close()
	}
	return n.written(), nil
}

func (n *newFile) written() writtenFile {
	return writtenFile{n.name, hex.EncodeToString(n.hash.Sum(nil)), n.size}
}

// abort removes the file unless it has its name.
func (n *newFile) abort() {
	if n.tmp != nil {
		n.tmp.Close()
		os.Remove(n.tmp.Name())
		n.tmp = nil
	}
}

func (f *folder) write(name string, data []byte) (writtenFile, error) {
	n, err := f.create(name)
	if err != nil {
		return writtenFile{}, err
	}
	defer n.abort()
	if _, err := n.Write(data); err != nil {
		return writtenFile{}, err
	}
	return n.commit()
}

func (f *folder) writeJSON(name string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("build: %s: %w", name, err)
	}
	_, err := f.write(name, b.Bytes())
	return err
}

// readJSON reads a file of this package; one that is not there, or is damaged, is not found.
func (f *folder) readJSON(name string, v any) (found bool, err error) {
	data, err := os.ReadFile(f.at(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("build: %w", err)
	}
	return json.Unmarshal(data, v) == nil, nil
}

// holds says whether a file is there as it was written; without bytes it is only measured.
func (f *folder) holds(w writtenFile, bytes bool) bool {
	in, err := os.Open(f.at(w.Name))
	if err != nil {
		return false
	}
	defer in.Close()
	if st, err := in.Stat(); err != nil || st.Size() != w.Bytes || !st.Mode().IsRegular() {
		return false
	}
	if !bytes {
		return true
	}
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return false
	}
	return hex.EncodeToString(h.Sum(nil)) == w.SHA256
}

// A done says that a file or a group of files is complete, and what they were made of. It holds no time, host or outside path.
type done struct {
	Stage  string        `json:"stage"`
	Shard  string        `json:"shard"`
	Config string        `json:"config"`
	Input  string        `json:"input"` // hash of what was read; empty if that is not known
	Files  []writtenFile `json:"files"`

	Records int   `json:"records"` // units, or what a file holds
	Tokens  int   `json:"tokens"`
	Drops   drops `json:"drops"`

	Part      *partCounts   `json:"part,omitempty"`
	Selection *selected     `json:"selection,omitempty"`
	Output    *outputCounts `json:"output,omitempty"`
}

// finished reads the manifest of a shard: nil unless it has the configuration and the input given and its files are there,
// as far as they are looked at.
func (f *folder) finished(name, config, input string, bytes bool) (*done, error) {
	var d done
	found, err := f.readJSON(name, &d)
	if err != nil || !found || d.Config != config || d.Input != input {
		return nil, err
	}
	for _, w := range d.Files {
		if !f.holds(w, bytes) {
			return nil, nil
		}
	}
	return &d, nil
}
