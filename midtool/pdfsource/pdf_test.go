package pdfsource

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
)

// A pdfFile is a PDF in the making: the first object is the catalog.
type pdfFile struct {
	objects []string // without their numbers
	trailer string   // more entries
}

// add adds an object and returns a reference to it.
func (f *pdfFile) add(object string) string {
	f.objects = append(f.objects, object)
	return fmt.Sprintf("%d 0 R", len(f.objects))
}

func (f *pdfFile) bytes() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	offsets := make([]int, len(f.objects))
	for i, object := range f.objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, f.trailer, start)
	return b.Bytes()
}

// stream is an object with data.
func stream(entries string, data []byte) string {
	return fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(data), entries, data)
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// textContent shows lines one below the other.
func textContent(lines []string) []byte {
	var b bytes.Buffer
	b.WriteString("BT /F1 12 Tf 14 TL 50 780 Td\n")
	for _, line := range lines {
		fmt.Fprintf(&b, "(%s) Tj T*\n", strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(line))
	}
	b.WriteString("ET\n")
	return b.Bytes()
}

// textPDF is a file of pages, each of which has the lines of one text. It is compressed if asked for.
func textPDF(title string, compress bool, pages ...string) []byte {
	contents := make([]string, len(pages))
	for i, page := range pages {
		content, filter := textContent(strings.Split(page, "\n")), ""
		if compress {
			content, filter = deflated(content), "/Filter /FlateDecode"
		}
		contents[i] = stream(filter, content)
	}
	return contentPDF(title, contents...)
}

// contentPDF is a file of pages with the given objects as their contents.
func contentPDF(title string, contents ...string) []byte {
	f := &pdfFile{objects: make([]string, 3)}
	f.objects[0] = "<< /Type /Catalog /Pages 2 0 R >>"
	f.objects[2] = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
	var kids []string
	for _, content := range contents {
		kids = append(kids, f.add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "+
			"/Contents "+f.add(content)+" >>"))
	}
	f.objects[1] = fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(kids), strings.Join(kids, " "))
	f.trailer = "/Info " + f.add(fmt.Sprintf("<< /Title (%s) >>", title))
	return f.bytes()
}
