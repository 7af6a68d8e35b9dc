package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// formatVersion changes whenever the same options would give other bytes.
const formatVersion = 1

// ErrConfiguration says that a folder holds a corpus of another configuration.
var ErrConfiguration = errors.New("build: the folder belongs to another configuration")

// A configuration stands for all that decides the bytes of a corpus.
type configuration struct {
	Version int      `json:"version"`
	Parts   string   `json:"parts"`  // hash of what decides the parts
	Corpus  string   `json:"corpus"` // hash of that and of what decides the rest
	Outputs []string `json:"outputs"`
}

// configuration hashes the options. Fields are found by reflection, so that one that a package adds to its options is never
// forgotten; those that decide no bytes are named here.
func (o *Options) configuration() configuration {
	h := sha256.New()
	fmt.Fprintln(h, "throughline midtool build", formatVersion)
	put := func(name string, v any, without ...string) {
		fmt.Fprintf(h, "%s=", name)
		hashValue(h, reflect.ValueOf(v), without)
		fmt.Fprintln(h)
	}
	put("seed", o.Seed)
	for _, in := range o.Documents {
		put("input", in.Name)
	}
	put("tools", o.Tools)
	put("native", o.Native, "Seed", "Licenses", "Own", "Emit", "Workers", "Progress", "Answers")
	put("rules", o.Rules)
	put("classifier", o.Classifier != nil)
	put("min score", *o.MinScore)
	put("grounded", o.Grounded, "Seed", "Tokens", "Answers")
	put("licenses", o.Licenses)
	put("own", o.Own)
	put("benchmarks", o.Benchmarks)
	put("decontaminate", o.Decontaminate, "MaxRecords", "MaxShare", "ReportOnly")
	put("dedup", o.Dedup, "Seed", "Jaccard", "MaxCandidates", "ClusterCap", "MaxLoss", "Memory", "TempDir", "Workers", "Progress")
	put("shard records", o.ShardRecords)
	put("names", o.Names)
	c := configuration{Version: formatVersion, Parts: hex.EncodeToString(h.Sum(nil))}
	put("decontaminate", o.Decontaminate)
	put("dedup", o.Dedup, "Seed", "Memory", "TempDir", "Workers", "Progress")
	put("mix", o.Mix, "Seed")
	put("shards", o.Shards)
	for _, out := range o.Outputs {
		put("output", [2]string{out.Name, out.Ext})
		c.Outputs = append(c.Outputs, out.Name)
	}
	c.Corpus = hex.EncodeToString(h.Sum(nil))
	return c
}

// hashValue writes a value so that different ones differ, without the named fields of a struct. Of functions and of other
// values behind an interface only whether they are there counts: Options.Names tells them apart.
func hashValue(w io.Writer, v reflect.Value, without []string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			io.WriteString(w, "nil")
			return
		}
		io.WriteString(w, "&")
		hashValue(w, v.Elem(), nil)
	case reflect.Struct:
		t := v.Type()
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && !slices.Contains(without, f.Name) {
				fmt.Fprintf(w, "%s:", f.Name)
				hashValue(w, v.Field(i), nil)
				io.WriteString(w, ";")
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			io.WriteString(w, "nil")
			return
		}
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			fmt.Fprintf(w, "%q", v.Bytes())
			return
		}
		fmt.Fprintf(w, "%d[", v.Len())
		for i := range v.Len() {
			hashValue(w, v.Index(i), nil)
			io.WriteString(w, ",")
		}
		io.WriteString(w, "]")
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		fmt.Fprintf(w, "%d{", len(keys))
		for _, k := range keys {
			fmt.Fprintf(w, "%q:", fmt.Sprint(k))
			hashValue(w, v.MapIndex(k), nil)
			io.WriteString(w, ",")
		}
		io.WriteString(w, "}")
	case reflect.Func, reflect.Interface, reflect.Chan, reflect.UnsafePointer:
		fmt.Fprint(w, !v.IsNil())
	case reflect.String:
		fmt.Fprintf(w, "%q", v.String())
	case reflect.Float32, reflect.Float64:
		fmt.Fprintf(w, "%x", math.Float64bits(v.Float()))
	default:
		fmt.Fprint(w, v)
	}
}

// hashOf hashes texts, in order.
func hashOf(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// configure takes the folder for the configuration, or finds that it is taken already.
func (b *builder) configure() error {
	b.config = b.opts.configuration()
	var old configuration
	found, err := b.dir.readJSON(configFile, &old)
	if err != nil {
		return err
	}
	if found && old.Corpus != b.config.Corpus {
		switch {
		case old.Version != b.config.Version:
			return fmt.Errorf("%w: %s was made under version %d of the format, this is %d", ErrConfiguration, b.dir.path, old.Version, b.config.Version)
		case old.Parts != b.config.Parts:
			return fmt.Errorf("%w: %s was made with other inputs or options; use another folder", ErrConfiguration, b.dir.path)
		case !b.opts.Redo:
			return fmt.Errorf("%w: %s was mixed or written with other options; use another folder, or Redo, which keeps what was read and made",
				ErrConfiguration, b.dir.path)
		}
		if err := b.dir.undo(&old); err != nil {
			return err
		}
		found = false
	}
	if found {
		return nil
	}
	if err := b.dir.writeJSON(configFile, b.config); err != nil {
		return err
	}
	// Another process may have done the same meanwhile, with options of its own.
	var now configuration
	if _, err := b.dir.readJSON(configFile, &now); err != nil {
		return err
	}
	if now.Corpus != b.config.Corpus {
		return fmt.Errorf("%w: another process has taken %s", ErrConfiguration, b.dir.path)
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
