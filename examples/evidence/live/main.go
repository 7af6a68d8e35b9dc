// Command live checks the connections to what is outside the library, all of it on this machine: servers of the Model Context Protocol as
// environments and as sources of tools, a model endpoint, and the wire of OpenEnv.
//
//	go run ./examples/evidence/live [-quick] [-json]
//
// The parts, in the order of the output:
//
//	mcp      servers that are started for it, each with an episode or more that must pass, one that must fail, and one whose server is
//	         killed, which must be neither: one written in Go that this program brings along, over standard streams and over HTTP, and
//	         the reference servers "everything" and "memory" where their programs mcp-server-everything and mcp-server-memory are installed;
//	         nothing is downloaded
//	openai   a policy, a generator and an embedder against a fake endpoint that refuses what the API would refuse: each case with answers
//	         in one piece and as a stream
//	openenv  client and server of this library against each other, frames as the reference writes them against both, and hostile peers
//
// In every part a secret is given to what needs one, and looked for in all errors and traces. All but the seconds is the same in every
// run. The exit status is 1 if anything failed. With -quick fewer sessions run at once.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"text/tabwriter"
	"time"
)

// evidence is what the parts found out.
type evidence struct {
	Quick   bool      `json:"quick"`
	MCP     mcpResult `json:"mcp"`
	OpenAI  caseTable `json:"openai"`
	OpenEnv caseTable `json:"openenv"`
	Seconds float64   `json:"seconds"`
}

// A testCase is one thing that must go right, or wrong in the right way.
type testCase struct {
	Name  string
	Check func(ctx context.Context) error
}

// caseTable counts cases.
type caseTable struct {
	Cases  int       `json:"cases"`
	Failed int       `json:"failed"`
	Rows   []caseRow `json:"rows"`
}

type caseRow struct {
	Name  string `json:"name"`
	Error string `json:"error,omitempty"` // what went wrong; empty if nothing did
}

// caseTime bounds one case: a hang is a failure, not a hang of this program.
const caseTime = 30 * time.Second

func runCases(ctx context.Context, cases []testCase) (caseTable, error) {
	var t caseTable
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		row := caseRow{Name: c.Name}
		within, cancel := context.WithTimeout(ctx, caseTime)
		if err := c.Check(within); err != nil {
			row.Error = err.Error()
			t.Failed++
		}
		cancel()
		t.Cases++
		t.Rows = append(t.Rows, row)
	}
	return t, ctx.Err()
}

func main() {
	if serveChild(os.Args[1:]) {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	quick := flag.Bool("quick", false, "run fewer sessions at once")
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "live: want no arguments")
		os.Exit(2)
	}
	progress := func(string) {}
	if info, err := os.Stderr.Stat(); !*asJSON || err == nil && info.Mode()&os.ModeCharDevice != 0 {
		progress = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	e, err := run(ctx, *quick, progress)
	if err == nil {
		err = e.write(os.Stdout, *asJSON)
	}
	if err == nil {
		err = e.failure()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		if errors.Is(err, context.Canceled) {
			os.Exit(130)
		}
		os.Exit(1)
	}
}

// run runs all parts.
func run(ctx context.Context, quick bool, progress func(string)) (*evidence, error) {
	start := time.Now()
	e := &evidence{Quick: quick}
	var err error
	progress("servers of the Model Context Protocol")
	if e.MCP, err = runMCP(ctx); err != nil {
		return nil, err
	}
	progress("model endpoint")
	if e.OpenAI, err = runCases(ctx, openaiCases(quick)); err != nil {
		return nil, err
	}
	progress("OpenEnv")
	if e.OpenEnv, err = runCases(ctx, openenvCases(quick)); err != nil {
		return nil, err
	}
	e.Seconds = time.Since(start).Seconds()
	return e, nil
}

// failure returns an error that says what failed, or nil.
func (e *evidence) failure() error {
	what := func(failed bool, format string, of ...any) error {
		if failed {
			return fmt.Errorf(format, of...)
		}
		return nil
	}
	return errors.Join(
		what(e.MCP.Verified < e.MCP.Episodes, "%d of %d episodes were not judged as they must be", e.MCP.Episodes-e.MCP.Verified, e.MCP.Episodes),
		what(e.MCP.Failed > 0, "%d servers failed", e.MCP.Failed),
		what(e.MCP.Servers == 0, "no server was reached"),
		what(e.OpenAI.Failed > 0, "%d of %d cases of the model endpoint failed", e.OpenAI.Failed, e.OpenAI.Cases),
		what(e.OpenEnv.Failed > 0, "%d of %d cases of OpenEnv failed", e.OpenEnv.Failed, e.OpenEnv.Cases),
	)
}

func (e *evidence) write(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(format string, of ...any) { fmt.Fprintf(t, format+"\n", of...) } // an error of w comes back from Flush
	m := e.MCP
	line("mcp: %d servers, %d tools, %d episodes, %d judged as they must be", m.Servers, m.Tools, m.Episodes, m.Verified)
	line("server\ttools\tepisodes\tas they must be\t")
	for _, r := range m.Rows {
		switch {
		case r.Skipped != "":
			line("%s\tskipped: %s", r.Server, r.Skipped)
		default:
			line("%s\t%d\t%d\t%d", r.Server, r.Tools, r.Episodes, r.Verified)
			for _, e := range r.Errors {
				line("FAILED %s", e)
			}
		}
	}
	for _, part := range []struct {
		name  string
		table caseTable
	}{{"openai", e.OpenAI}, {"openenv", e.OpenEnv}} {
		line("\n%s: %d cases, %d failed", part.name, part.table.Cases, part.table.Failed)
		for _, r := range part.table.Rows {
			if r.Error == "" {
				line("ok\t%s", r.Name)
			} else {
				line("FAILED\t%s\t%s", r.Name, r.Error)
			}
		}
	}
	line("\n%.1f s", e.Seconds)
	return t.Flush()
}
