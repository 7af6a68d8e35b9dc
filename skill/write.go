package skill

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Marshal returns the document as a SKILL.md file. The keys stand in the order name, description, license, compatibility,
// allowed-tools, metadata (its keys sorted bytewise), then the unknown ones in their order. Lines end in \n, or in \r\n if
// d.CRLF is set; there is no byte order mark. The same document gives the same bytes.
//
// A strict [Parse], apart from unknown keys, gives an equal document back, whatever runes its texts hold: the white space
// around the name, description, license and compatibility is dropped, \r\n in the content is \n, and the values of unknown
// keys have the form that Parse gives them.
//
// A document that breaks a rule of the format is an error, and nothing is returned: the text that would have been written
// is read strictly, and a field that it would not preserve, such as an allowed tool with a space outside parentheses, is
// named. The folder's name is not known here and not checked.
func Marshal(d *Document) ([]byte, error) {
	if d == nil {
		return nil, errors.New("skill: marshal: document is nil")
	}
	fail := func(err error) ([]byte, error) {
		return nil, fmt.Errorf("skill: marshal %q: %w", d.Frontmatter.Name, err)
	}
	for _, f := range []struct{ name, value string }{
		{"name", d.Frontmatter.Name}, {"description", d.Frontmatter.Description}, {"license", d.Frontmatter.License},
		{"compatibility", d.Frontmatter.Compatibility}, {"content", d.Content},
	} {
		if !utf8.ValidString(f.value) {
			return fail(fmt.Errorf("%s is not UTF-8", f.name))
		}
	}
	data, err := encode(d)
	if err != nil {
		return fail(err)
	}
	var p parser
	p.o = ParseOptions{Path: "SKILL.md", Strict: true, keepUnknown: true}
	got := p.parse(data)
	if err := joinErrors(p.diags); err != nil {
		return fail(err)
	}
	want := canonical(d)
	g, w := reflect.ValueOf(got.Frontmatter), reflect.ValueOf(want.Frontmatter)
	for i := range g.NumField() {
		if !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			return fail(fmt.Errorf("%s %q would be read back as %q", g.Type().Field(i).Name, w.Field(i), g.Field(i)))
		}
	}
	if got.Content != want.Content {
		return fail(errors.New("the content would not be read back as it is"))
	}
	return data, nil
}

// canonical returns d as Parse would have returned it.
func canonical(d *Document) Document {
	c := *d
	f := &c.Frontmatter
	for _, s := range []*string{&f.Name, &f.Description, &f.License, &f.Compatibility} {
		*s = strings.TrimSpace(*s)
	}
	if len(f.Metadata) == 0 {
		f.Metadata = nil
	}
	if len(f.Unknown) == 0 {
		f.Unknown = nil
	}
	f.Unknown = slices.Clone(f.Unknown)
	for i, u := range f.Unknown {
		switch v, err := decodeYAML(u.Value + "\n"); {
		case err == nil && v == nil:
			f.Unknown[i].Value = ""
		case err == nil:
			f.Unknown[i].Value = yamlText(v)
		}
	}
	c.Content = unixLines(c.Content)
	return c
}

// encode writes d without checking its values.
func encode(d *Document) ([]byte, error) {
	c := canonical(d)
	f := c.Frontmatter
	root := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, value *yaml.Node) { root.Content = append(root.Content, textNode(key), value) }
	add("name", textNode(f.Name))
	add("description", textNode(f.Description))
	if f.License != "" {
		add("license", textNode(f.License))
	}
	if f.Compatibility != "" {
		add("compatibility", textNode(f.Compatibility))
	}
	if f.AllowedTools != nil {
		add("allowed-tools", textNode(strings.Join(f.AllowedTools, " ")))
	}
	if f.Metadata != nil {
		m := &yaml.Node{Kind: yaml.MappingNode}
		for _, k := range slices.Sorted(maps.Keys(f.Metadata)) {
			m.Content = append(m.Content, textNode(k), textNode(f.Metadata[k]))
		}
		add("metadata", m)
	}
	for _, u := range f.Unknown {
		v, err := decodeYAML(u.Value + "\n")
		if err != nil {
			return nil, fmt.Errorf("value of unknown key %q is not YAML: %w", u.Key, err)
		}
		if v == nil {
			v = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
		}
		add(u.Key, v)
	}
	var b bytes.Buffer
	b.WriteString("---\n")
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	b.WriteString("---\n")
	b.WriteString(c.Content)
	if c.CRLF {
		return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte("\r\n")), nil
	}
	return b.Bytes(), nil
}

// plainText matches texts that every YAML reader takes as text whatever the version of its rules; the rest is quoted.
var (
	plainText = regexp.MustCompile(`^[\pL/][^\pC\p{Zl}\p{Zp}]*$`)
	lineText  = regexp.MustCompile(`^[^\pC\p{Zl}\p{Zp}]*$`)
	wordValue = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)
)

func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case plainText.MatchString(s) && !wordValue.MatchString(s) && s == strings.TrimSpace(s):
	case strings.ContainsAny(s, `"\`) && lineText.MatchString(s):
		n.Style = yaml.SingleQuotedStyle // JSON would be hard to read, and up to twice as long, with an escape for each quote
	default:
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// WriteDir saves every document as dir/NAME/SKILL.md, where NAME is its name, and creates the folders it needs. All
// documents are checked as by [Marshal] before the first byte is written, and two of one name are an error. Each file is
// replaced as a whole: a reader, or a crash, finds the old skill or the new one; a crash may leave a file that ends in .tmp
// behind, which nothing reads. Skills of other names and further files of a skill stay as they are. Nothing outside dir is
// written: dir/NAME that is a link, or SKILL.md that is a pipe or device, is an error. ctx is checked before each file.
func WriteDir(ctx context.Context, dir string, docs []*Document) error {
	files := make([][]byte, len(docs))
	seen := make(map[string]int)
	for i, d := range docs {
		b, err := Marshal(d)
		if err != nil {
			return err
		}
		name := strings.TrimSpace(d.Name())
		if j, ok := seen[name]; ok {
			return fmt.Errorf("skill: documents %d and %d have the same name %q", j, i, name)
		}
		seen[name] = i
		files[i] = b
	}
	if len(docs) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("skill: write skills: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("skill: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("skill: %w", err)
	}
	defer root.Close()
	for i, d := range docs {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("skill: write skills: %w", err)
		}
		if err := writeSkill(root, strings.TrimSpace(d.Name()), files[i]); err != nil {
			return fmt.Errorf("skill: write %q: %w", d.Name(), err)
		}
	}
	syncFolder(root)
	return nil
}

// writeSkill replaces name/SKILL.md below root, through folders that no link can redirect.
func writeSkill(root *os.Root, name string, data []byte) error {
	if err := root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// A link inside root could lead to the folder of another skill.
	if info, err := root.Lstat(name); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is no folder (%v)", name, info.Mode().Type())
	}
	folder, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	defer folder.Close()
	const special = fs.ModeDevice | fs.ModeNamedPipe | fs.ModeSocket
	if info, err := folder.Lstat("SKILL.md"); err == nil && info.Mode()&special != 0 {
		return fmt.Errorf("SKILL.md is no file (%v)", info.Mode().Type())
	}
	tmp := "." + rand.Text() + ".tmp"
	f, err := folder.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = folder.Rename(tmp, "SKILL.md")
	}
	if err != nil {
		return errors.Join(err, folder.Remove(tmp))
	}
	syncFolder(folder)
	return nil
}

// syncFolder makes renames in a folder survive a loss of power where the system can; not every one syncs folders.
func syncFolder(folder *os.Root) {
	if f, err := folder.Open("."); err == nil {
		f.Sync()
		f.Close()
	}
}
