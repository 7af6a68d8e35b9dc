package openaitest_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"

	"github.com/throughline-go/throughline/envharness/openai/openaitest"
)

// A request that the API would refuse is refused, and recorded.
func Example() {
	server := openaitest.New(func(r openaitest.Request) openaitest.Reply {
		return openaitest.Reply{Text: "You said: " + r.Messages[0].Content}
	}, &openaitest.Options{Model: "m"})
	defer server.Close()
	for _, body := range []string{
		`{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
		`{"model":"m","messages":[{"role":"user","content":"hi"}],"temprature":0}`,
	} {
		res, err := http.Post(server.BaseURL+"/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			log.Fatal(err)
		}
		answer, err := io.ReadAll(res.Body)
		if err != nil {
			log.Fatal(err)
		}
		_ = res.Body.Close()
		fmt.Println(res.StatusCode, strings.Contains(string(answer), "You said: hi"))
	}
	fmt.Println(server.Violations())
	// Output:
	// 200 true
	// 400 false
	// [request 1: temprature: there is no such field]
}

func ExampleNew() {
	server := openaitest.New(func(openaitest.Request) openaitest.Reply { return openaitest.Reply{Text: "x"} }, &openaitest.Options{Key: "k"})
	defer server.Close()
	res, err := http.Post(server.BaseURL+"/embeddings", "application/json", strings.NewReader(`{"model":"m","input":"a"}`))
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	fmt.Println(res.StatusCode)
	// Output: 401
}

func ExampleScript() {
	server := openaitest.New(openaitest.Script(openaitest.Reply{Status: 429}, openaitest.Reply{Text: "x"}), nil)
	defer server.Close()
	const body = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`
	for range 3 {
		res, err := http.Post(server.BaseURL+"/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			log.Fatal(err)
		}
		_ = res.Body.Close()
		fmt.Println(res.StatusCode)
	}
	// Output:
	// 429
	// 200
	// 400
}

func ExampleServer_Close() {
	server := openaitest.New(openaitest.Script(), nil)
	server.Close()
	_, err := http.Get(server.BaseURL)
	fmt.Println(err != nil)
	// Output: true
}

func ExampleServer_Requests() {
	server := openaitest.New(openaitest.Script(), nil)
	defer server.Close()
	res, err := http.Get(server.BaseURL + "/models")
	if err != nil {
		log.Fatal(err)
	}
	_ = res.Body.Close()
	fmt.Println(server.Requests(), server.Violations())
	// Output: 1 [request 0: there is no path /v1/models]
}

func ExampleServer_Violations() {
	server := openaitest.New(openaitest.Script(), nil)
	defer server.Close()
	res, err := http.Post(server.BaseURL+"/embeddings", "application/json", strings.NewReader(`{"model":"m","input":[""]}`))
	if err != nil {
		log.Fatal(err)
	}
	_ = res.Body.Close()
	fmt.Println(server.Violations())
	// Output: [request 0: input[0]: it is empty]
}
