// Command mcptools chooses among the tools of several servers of the Model Context Protocol those that a request calls for, under one token
// budget.
//
//	go run ./examples/quickstart/mcptools [-query TEXT] [-budget N] [-license SPDX] [-server 'COMMAND ...' | -server URL] ...
//
// Each -server is one server: a program that speaks on its standard streams, its arguments between spaces, or the address of a
// streamable HTTP endpoint. Without any there are three, which this program itself is when it is started for that. Each is asked for its
// tools once; none is called.
//
// The protocol has no field for a license, so what a server's descriptions may be used for is a matter between its operator and whoever
// reads them: to show them to a model is what they are for, to train on them may not be.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/mcpsource"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) == 3 && os.Args[1] == serve {
		err = serveTools(ctx, os.Args[2])
	} else {
		err = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mcptools:", err)
		os.Exit(1)
	}
}

const request = "Book a flight to Oslo, put the event into my calendar, then mail the file of the invoice to an address."

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	set := flag.NewFlagSet("mcptools", flag.ContinueOnError)
	set.SetOutput(errs)
	query := set.String("query", request, "what tools are `for`")
	tokens := set.Int("budget", 300, "most `tokens` of tools")
	license := set.String("license", "", "`SPDX` identifier of what the servers say, if their operators state one elsewhere")
	var servers []mcpsource.Server
	set.Func("server", "`command` or URL of a server; may be given more than once", func(s string) error {
		switch words := strings.Fields(s); {
		case len(words) == 0:
			return errors.New("want a command or a URL")
		case len(words) == 1 && (strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")):
			servers = append(servers, mcpsource.Server{URL: s})
		default:
			servers = append(servers, mcpsource.Server{Command: words, Stderr: errs})
		}
		return nil
	})
	if err := set.Parse(args); err != nil {
		return err
	}
	if len(servers) == 0 {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		for _, name := range ownServers() {
			servers = append(servers, mcpsource.Server{Command: []string{self, serve, name}})
		}
	}

	var tools []midtool.Tool
	var texts []bps.Text
	var from []int // the server of a tool
	for i, server := range servers {
		list, err := midtool.ReadTools(ctx, mcpsource.Source{Server: server, License: *license})
		if err != nil {
			return fmt.Errorf("server %d: %w", i+1, err)
		}
		for _, t := range list {
			from, tools = append(from, i), append(tools, t)
			texts = append(texts, bps.Text{Name: t.Name, Description: t.Description, Body: string(t.Parameters)})
		}
	}
	index, err := bps.NewIndex(texts, nil) // serves any number of queries
	if err != nil {
		return err
	}
	chosen, err := index.Select(ctx, *query, *tokens, nil)
	if err != nil {
		return err
	}

	all := 0
	for _, t := range texts {
		all += bps.EstimateTokens(t.String())
	}
	fmt.Fprintf(out, "%s\n%d of %d tools: %d tokens, not %d\n", *query, len(chosen.Items), len(tools), chosen.Tokens, all)
	for i := range servers {
		var names []string
		group, terms, offered, spent := "", "none stated", 0, 0
		for k, t := range tools {
			if from[k] != i {
				continue
			}
			group, terms, offered = t.Group, cmp.Or(t.License, terms), offered+1
			if slices.Contains(chosen.Items, k) {
				names = append(names, t.Name)
				spent += bps.EstimateTokens(texts[k].String())
			}
		}
		fmt.Fprintf(out, "%d. %s, license: %s; %d of %d tools, %d tokens\n", i+1, group, terms, len(names), offered, spent)
		for _, name := range names {
			fmt.Fprintln(out, "  ", name)
		}
	}
	return nil
}
