package pdfsource_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"testing/fstest"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/pdfsource"
)

// valve is a whole PDF file, written by hand: one page with two lines.
const valve = `%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Count 1 /Kids [3 0 R] >>
endobj
3 0 obj
<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>
endobj
4 0 obj
<< /Length 82 >>
stream
BT /F 12 Tf 14 TL 20 150 Td (Turn the valve clock-) Tj T* (wise to close it.) Tj ET
endstream
endobj
5 0 obj
<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>
endobj
6 0 obj
<< /Title (The valve) >>
endobj
trailer
<< /Size 7 /Root 1 0 R /Info 6 0 R >>
%%EOF
`

func ExampleReader() {
	r, err := pdfsource.NewReader(&pdfsource.Options{MaxPages: 500, CacheDir: os.Getenv("PDFSOURCE_TEST_CACHE")})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	d, err := r.Read(context.Background(), "manuals/valve.pdf", []byte(valve))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.ID, d.Kind)
	fmt.Println(d.Title)
	fmt.Println(d.Text)
	// Output:
	// manuals/valve.pdf pdf
	// The valve
	// Turn the valve clockwise to close it.
}

func ExampleSource() {
	folder := fstest.MapFS{ // or os.OpenRoot(dir).FS()
		"valve.pdf":     {Data: []byte(valve)},
		"old/valve.pdf": {Data: []byte("%PDF-1.4\nwhat is left of it")},
	}
	r, err := pdfsource.NewReader(&pdfsource.Options{CacheDir: os.Getenv("PDFSOURCE_TEST_CACHE")})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	s := &pdfsource.Source{Name: "manuals", FS: folder, Reader: r, License: "CC0-1.0", LicenseFrom: "the publisher's page"}
	reject := func(r midtool.Rejection) { fmt.Println(r.Origin.Locator, r.Reason) }
	for d, err := range s.Documents(context.Background(), reject) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.ID, d.License)
	}
	parts, err := s.Split(context.Background(), 1)
	if err != nil {
		log.Fatal(err)
	}
	digest, err := s.Digest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(parts), "parts,", len(digest), "hex digits")
	// Output:
	// manuals/old/valve.pdf bad_pdf
	// manuals/valve.pdf CC0-1.0
	// 2 parts, 64 hex digits
}
