package parquetsink

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	metadata "github.com/parquet-go/parquet-go/format"
)

// last returns the last error of a sequence, and how many records came before it.
func last(data []byte) (n int, err error) {
	for _, e := range Read(bytes.NewReader(data), int64(len(data))) {
		if e != nil {
			err = e
		} else {
			n++
		}
	}
	return n, err
}

func TestFooters(t *testing.T) {
	good, _ := file(t, records(3))
	with := func(footer []byte, length int) []byte {
		out := append([]byte("PAR1"), footer...)
		return append(binary.LittleEndian.AppendUint32(out, uint32(length)), "PAR1"...)
	}
	list := []byte{0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07} // field 2, of 2^31-1 structs
	tests := []struct {
		name   string
		data   []byte
		want   string
		reason string
	}{
		{"nothing", nil, "no Parquet file", "no room for the marks"},
		{"length", with(list, 1<<32-1), "a footer of 4294967295 bytes in a file of 19", "the library makes room for it first"},
		{"list", with(append(list, 0), len(list)+1), "broken metadata", "the library makes room for its members first"},
		{"nested", with(bytes.Repeat([]byte{0x1c}, 100_000), 100_000), "broken metadata", "structs in structs, and a stack is finite"},
		{"lists", with(append([]byte{0x19}, bytes.Repeat([]byte{0x19}, 9999)...), 10_000), "broken metadata", "lists in lists"},
		{"text", with([]byte{0x18, 0xff, 0xff, 0xff, 0xff, 0x07}, 6), "broken metadata", "a text of 2^31-1 bytes"},
		{"map", with([]byte{0x1b, 0xff, 0xff, 0xff, 0xff, 0x07, 0x88}, 7), "broken metadata", "a map of 2^31-1 pairs"},
		{"cut", good[:len(good)-30], "", "no mark at the end"},
	}
	for _, tt := range tests {
		if _, err := last(tt.data); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q (%s)", tt.name, err, tt.want, tt.reason)
		}
	}
	length := int(binary.LittleEndian.Uint32(good[len(good)-8:]))
	footer := good[len(good)-8-length : len(good)-8]
	if n, err := structSize(append(bytes.Clone(footer), 1, 2, 3)); n != length || err != nil {
		t.Errorf("the footer has %d bytes, %v, want %d", n, err, length)
	}
	// A number in 30 lists or structs is metadata, and in 100 it is not.
	for depth, want := range map[int]bool{30: true, 100: false} {
		data := append([]byte{0x19}, bytes.Repeat([]byte{0x19}, depth-1)...)
		if n, err := structSize(append(data, 0x13, 7, 0)); (err == nil) != want || want && n != depth+3 {
			t.Errorf("%d lists: %d bytes, %v", depth, n, err)
		}
		data = append(bytes.Repeat([]byte{0x1c}, depth), make([]byte, depth+1)...)
		if n, err := structSize(data); (err == nil) != want || want && n != len(data) {
			t.Errorf("%d structs: %d bytes, %v", depth, n, err)
		}
	}
	for n := range footer {
		if _, err := structSize(footer[:n]); err == nil {
			t.Fatalf("the first %d bytes of a footer of %d are whole", n, length)
		}
	}
}

// Files by other writers are read with the usual compressions, and refused with those that can make any amount of memory out of a few bytes.
func TestCompressions(t *testing.T) {
	rows := []row{{ID: "a", Text: strings.Repeat("text ", 999), Meta: "{}"}, {ID: "b", Text: "x", Meta: "{}"}}
	for name, codec := range map[string]parquet.WriterOption{
		"": parquet.Compression(&parquet.Uncompressed), "Snappy": parquet.Compression(&parquet.Snappy), "Zstd": parquet.Compression(&parquet.Zstd),
		"LZ4_RAW": parquet.Compression(&parquet.Lz4Raw), "GZIP": parquet.Compression(&parquet.Gzip), "BROTLI": parquet.Compression(&parquet.Brotli),
	} {
		for _, version := range []int{1, 2} {
			var b bytes.Buffer
			if err := parquet.Write(&b, rows, codec, parquet.DataPageVersion(version)); err != nil {
				t.Fatal(err)
			}
			n, err := last(b.Bytes())
			if refused := name != "" && strings.ToUpper(name) == name; refused != (err != nil) || !refused && n != len(rows) ||
				refused && !strings.Contains(err.Error(), "is compressed by "+name) {
				t.Errorf("%q, pages of version %d: %d rows, %v", name, version, n, err)
			}
		}
	}
}

// zeros is a frame of Zstandard that has n blocks of 128 KiB zeros and does not say so before.
func zeros(n int) []byte {
	out := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3}
	for i := range n {
		block := 128<<10<<3 | 1<<1 // one byte many times
		if i == n-1 {
			block |= 1
		}
		out = append(out, byte(block), byte(block>>8), byte(block>>16), 0)
	}
	return out
}

func TestPages(t *testing.T) {
	v1 := func(values int32, length, plain int) *metadata.PageHeader {
		h := &metadata.PageHeader{Type: metadata.DataPage, CompressedPageSize: int32(length), UncompressedPageSize: int32(plain)}
		h.DataPageHeader = thrift.New(metadata.DataPageHeader{NumValues: values})
		return h
	}
	v2 := func(values, nulls, levels int32) *metadata.PageHeader {
		h := &metadata.PageHeader{Type: metadata.DataPageV2, CompressedPageSize: 4, UncompressedPageSize: 4}
		h.DataPageHeaderV2 = thrift.New(metadata.DataPageHeaderV2{NumValues: values, NumNulls: nulls, DefinitionLevelsByteLength: levels})
		return h
	}
	text := []byte("text")
	huge := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x40} // a frame that says it has 1 GiB
	tests := []struct {
		name   string
		codec  metadata.CompressionCodec
		header *metadata.PageHeader
		data   []byte
		want   string // "" for a sound page
		reason string
	}{
		{"sound", metadata.Uncompressed, v1(1, 4, 4), text, "", "as the header says"},
		{"sound, 2", metadata.Uncompressed, v2(1, 1, 4), text, "", "as the header says"},
		{"sound, zstd", metadata.Zstd, v1(1, len(zeros(2)), 256<<10), zeros(2), "", "as the header says"},
		{"longer than the column", metadata.Uncompressed, v1(1, 5, 5), text, "5 bytes, 0 of them levels, and 4 are left", "one byte is missing"},
		{"negative", metadata.Uncompressed, v1(1, -1, 4), text, "-1 bytes", "a size is none below 0"},
		{"large", metadata.Snappy, v1(1, 4, 1<<30), text, "1073741824 uncompressed", "the library makes room for it"},
		{"values", metadata.Uncompressed, v1(1<<30, 4, 4), text, "1073741824 values", "the library makes room for their levels"},
		{"nulls", metadata.Uncompressed, v2(1, 2, 0), text, "out of range", "more nulls than values"},
		{"levels", metadata.Uncompressed, v2(1, 0, 5), text, "4 bytes, 5 of them levels", "more levels than bytes"},
		{"snappy", metadata.Snappy, v1(1, 5, 9), []byte{0xff, 0xff, 0xff, 0xff, 7}, "2147483647 bytes uncompressed", "a block says that it has 2 GiB"},
		{"zstd says", metadata.Zstd, v1(1, len(huge), 9), huge, "decompressed size exceeds", "the frame says that it has 1 GiB"},
		{"zstd broken", metadata.Zstd, v1(1, 4, 4), text, "magic number", "no frame"},
		{"zstd has", metadata.Zstd, v1(1, len(zeros(2100)), 9), zeros(2100), "decompressed size exceeds", "8 KB become 262 MiB"},
	}
	for _, tt := range tests {
		if tt.name == "zstd has" && testing.Short() {
			continue // unpacks 256 MiB
		}
		head, err := thrift.Marshal(new(thrift.CompactProtocol), tt.header)
		if err != nil {
			t.Fatal(err)
		}
		data := append(append(make([]byte, 4), head...), tt.data...)
		c, err := newPageChecker(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		m := &metadata.ColumnMetaData{PathInSchema: []string{"text"}, Codec: tt.codec, DataPageOffset: 4, TotalCompressedSize: int64(len(data) - 4)}
		err = c.column(m)
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "text")) {
			t.Errorf("%s: %v, want %q (%s)", tt.name, err, tt.want, tt.reason)
		}
		m.DictionaryPageOffset, m.DataPageOffset = 4, 5
		if tt.want == "" && c.column(m) == nil {
			t.Errorf("%s: a page in a page is sound", tt.name)
		}
		m.DictionaryPageOffset = 0
		for _, bad := range []int64{-1, 1 << 62} {
			m.DataPageOffset = bad
			if err := c.column(m); err == nil || !strings.Contains(err.Error(), fmt.Sprint("at byte ", bad)) {
				t.Errorf("%s: a column at byte %d: %v", tt.name, bad, err)
			}
		}
		c.zstd.Close()
	}
}

// The rows before a broken row group are read, and the error says where it is.
func TestBrokenGroup(t *testing.T) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(2))
	for i := range 4 {
		if _, err := w.Write([]row{{ID: fmt.Sprint(i), Text: "a text", Meta: "{}"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(f.Metadata().RowGroups) != 2 {
		t.Fatal(err, "want two groups")
	}
	data[f.Metadata().RowGroups[1].Columns[1].MetaData.DataPageOffset] ^= 0xff
	if n, err := last(data); n != 2 || err == nil || !strings.Contains(err.Error(), "row 2: column text: page at byte") {
		t.Errorf("%d rows, %v", n, err)
	}
}
