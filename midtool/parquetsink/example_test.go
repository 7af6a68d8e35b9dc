package parquetsink_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/midtool/format"
	"github.com/throughline-go/throughline/midtool/parquetsink"
)

func Example() {
	var b bytes.Buffer
	w, err := parquetsink.New(&b, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Write(&format.Record{ID: "d1", Source: "web", Text: "A page about weather."}); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Counts().Written, "row of", w.Counts().Tokens, "tokens")
	for r, err := range parquetsink.Read(bytes.NewReader(b.Bytes()), int64(b.Len())) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.ID, r.Source, r.Text)
	}
	// Output:
	// 1 row of 5 tokens
	// d1 web A page about weather.
}
