package skillsource_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/skillsource"
)

// Two skills and a file that is none; on disk, set Dir in place of FS.
var skills = fstest.MapFS{
	"book/SKILL.md":  {Data: []byte("---\nname: book\ndescription: Books a table.\nlicense: MIT\n---\nAsk for the time, then book.\n")},
	"pay/SKILL.md":   {Data: []byte("---\nname: pay\ndescription: Pays an order.\nlicense: MIT\n---\nCheck the sum, then pay.\n")},
	"draft/SKILL.md": {Data: []byte("later")},
}

func ExampleSource_Documents() {
	s := skillsource.Source{Name: "desk", FS: skills}
	reject := func(r midtool.Rejection) { fmt.Println("not read:", r.Origin.Locator, r.Reason) }
	for d, err := range s.Documents(context.Background(), reject) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s %q\n", d.ID, d.License, d.Text)
	}
	// Output:
	// not read: desk/draft/SKILL.md no_frontmatter
	// desk/book/SKILL.md MIT "# book\n\nBooks a table.\n\nAsk for the time, then book.\n"
	// desk/pay/SKILL.md MIT "# pay\n\nPays an order.\n\nCheck the sum, then pay.\n"
}

func ExampleSource_Tools() {
	tools, err := midtool.ReadTools(context.Background(), skillsource.Source{Name: "desk", FS: skills})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range tools {
		fmt.Println(t.Name, t.Description, string(t.Parameters))
	}
	// Output:
	// load_skill_book Books a table. {"type":"object","properties":{}}
	// load_skill_pay Pays an order. {"type":"object","properties":{}}
}

func ExampleSource_Split() {
	s := skillsource.Source{Name: "desk", FS: skills}
	parts, err := s.Split(context.Background(), 1)
	if err != nil {
		log.Fatal(err)
	}
	digest, err := s.Digest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(parts), len(digest))
	// Output:
	// 2 64
}

func ExampleSource_Digest() {
	a, err := skillsource.Source{Name: "desk", FS: skills}.Digest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	b, err := skillsource.Source{Name: "desk", FS: skills, License: "MIT"}.Digest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a == b)
	// Output:
	// false
}
