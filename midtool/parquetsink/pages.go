package parquetsink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	metadata "github.com/parquet-go/parquet-go/format"
)

// Bounds of what is read.
const (
	maxFooter = 64 << 20
	maxHeader = 64 << 10  // of a page
	maxPage   = 256 << 20 // uncompressed
	maxValues = 1 << 24   // of a page
)

// checkFooter says what is wrong with the end of a file: the metadata, its length and a mark.
func checkFooter(r io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return fmt.Errorf("%d bytes are no Parquet file", size)
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > min(size-12, maxFooter) {
		return fmt.Errorf("a footer of %d bytes in a file of %d, at most %d", n, size, maxFooter)
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-8-n); err != nil {
		return err
	}
	_, err := structSize(footer)
	return err
}

// A pageChecker looks at the pages of a row group before the Parquet library reads them, which believes what their headers say.
type pageChecker struct {
	r     io.ReaderAt
	size  int64
	zstd  *zstd.Decoder
	raw   []byte
	plain []byte
}

func newPageChecker(r io.ReaderAt, size int64) (*pageChecker, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage))
	return &pageChecker{r: r, size: size, zstd: d}, err
}

// group checks a row group.
func (c *pageChecker) group(g *metadata.RowGroup) error {
	for i := range g.Columns {
		if err := c.column(&g.Columns[i].MetaData); err != nil {
			return err
		}
	}
	return nil
}

// column checks a column of a row group.
func (c *pageChecker) column(m *metadata.ColumnMetaData) error {
	name := strings.Join(m.PathInSchema, ".")
	switch m.Codec {
	case metadata.Uncompressed, metadata.Snappy, metadata.Zstd:
	default:
		return fmt.Errorf("column %s is compressed by %s, want Zstandard, Snappy or nothing", name, m.Codec)
	}
	at := m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		at = m.DictionaryPageOffset
	}
	length := m.TotalCompressedSize
	if at < 0 || at > c.size || length < 0 || length > c.size-at {
		return fmt.Errorf("column %s has %d bytes at byte %d of a file of %d", name, length, at, c.size)
	}
	begun := false
	for end := at + length; at < end; {
		begun = begun || at == m.DataPageOffset
		n, err := c.page(m.Codec, at, end)
		if err != nil {
			return fmt.Errorf("column %s: page at byte %d: %w", name, at, err)
		}
		at += n
	}
	if !begun && length > 0 {
		return fmt.Errorf("column %s has no page at byte %d, where its first should be", name, m.DataPageOffset)
	}
	return nil
}

// page checks the page at a byte of the file and returns its length with its header.
func (c *pageChecker) page(codec metadata.CompressionCodec, at, end int64) (int64, error) {
	data, err := c.read(at, min(end-at, maxHeader))
	if err != nil {
		return 0, err
	}
	n, err := structSize(data)
	if err != nil {
		return 0, err
	}
	var h metadata.PageHeader
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), data[:n], &h); err != nil {
		return 0, err
	}
	length, levels, values, packed := int64(h.CompressedPageSize), int64(0), int32(0), codec != metadata.Uncompressed
	switch {
	case h.DataPageHeader.Valid:
		values = h.DataPageHeader.V.NumValues
	case h.DictionaryPageHeader.Valid:
		values = h.DictionaryPageHeader.V.NumValues
	case h.DataPageHeaderV2.Valid:
		v2 := &h.DataPageHeaderV2.V
		values = v2.NumValues
		if v2.DefinitionLevelsByteLength < 0 || v2.RepetitionLevelsByteLength < 0 || v2.NumNulls < 0 || v2.NumNulls > values {
			return 0, errors.New("a count in its header is out of range")
		}
		levels = int64(v2.DefinitionLevelsByteLength) + int64(v2.RepetitionLevelsByteLength)
		packed = packed && (!v2.IsCompressed.Valid || v2.IsCompressed.V)
	}
	at += int64(n)
	switch {
	case length < 0 || length > end-at || levels > length:
		return 0, fmt.Errorf("%d bytes, %d of them levels, and %d are left", length, levels, end-at)
	case length > maxPage || h.UncompressedPageSize < 0 || h.UncompressedPageSize > maxPage:
		return 0, fmt.Errorf("%d bytes, %d uncompressed, at most %d", length, h.UncompressedPageSize, maxPage)
	case values < 0 || values > maxValues:
		return 0, fmt.Errorf("%d values, at most %d", values, maxValues)
	}
	if packed {
		if data, err = c.read(at+levels, length-levels); err == nil {
			err = c.unpacks(codec, data)
		}
	}
	return int64(n) + length, err
}

// unpacks says what is wrong with compressed data: that it is broken, or would have more than maxPage.
func (c *pageChecker) unpacks(codec metadata.CompressionCodec, data []byte) (err error) {
	if codec == metadata.Zstd {
		c.plain, err = c.zstd.DecodeAll(data, c.plain[:0])
		return err
	}
	if n, k := binary.Uvarint(data); k <= 0 || n > maxPage {
		return fmt.Errorf("%d bytes uncompressed, at most %d", n, maxPage)
	}
	return nil
}

// read returns bytes of the file, which are valid until the next call.
func (c *pageChecker) read(at, n int64) ([]byte, error) {
	if int64(cap(c.raw)) < n {
		c.raw = make([]byte, n)
	}
	data := c.raw[:n]
	if _, err := c.r.ReadAt(data, at); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data, nil
}
